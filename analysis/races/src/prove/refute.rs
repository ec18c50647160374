//! Whether hypotheses about two program instances contradict each other.
//!
//! Equations are taken apart where their parts cannot make up for each other (`64·a + b = 0` with `|b| < 64` is
//! `a = 0` and `b = 0`; so is `stride·a + b = 0` with `|b| < stride`), solved, and carried into quotients,
//! remainders and reads, which are equal where what they are made of is. What is left is linear. A choice (minimum,
//! selection, a disjunction) is tried both ways.

use rustc_hash::{FxHashMap, FxHashSet};

use super::convert::{Converter, Fact, natural_product};
use super::linear::{Linear, Simplex};
use super::poly::{Monomial, Poly, gcd};
use super::ticket::Counter;
use crate::program::{Base, Program, Source};
use crate::term::{BinOp, Node, Symbol, Term};

/// Rounds of taking equations apart.
const ROUNDS: usize = 40;

/// `span` is not negative and stays below `stride`: what a product with a stride needs to be told from what is added to it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Spread {
    pub(crate) stride: Poly,
    pub(crate) span: Poly,
    /// The access of which `span` is.
    pub(crate) access: u32,
}

/// What is tried, and what came of it.
pub(crate) struct Refuter<'p> {
    pub(crate) program: &'p mut Program,
    pub(crate) convert: &'p mut Converter,
    /// Lanes along each dimension of the access of each instance.
    pub(crate) lanes: [Box<[i64]>; 2],
    /// The access of each instance.
    pub(crate) accesses: [u32; 2],
    /// Values of arguments and of the grid, where a launch gives them.
    pub(crate) known: &'p FxHashMap<Symbol, i64>,
    /// What is drawn from counters, by its source.
    pub(crate) tickets: &'p FxHashMap<u32, Counter>,
    /// Whether spreads may be assumed that are not known.
    pub(crate) assume: bool,
    /// Choices inside choices that are tried.
    pub(crate) depth: usize,
    /// What was assumed on the way.
    pub(crate) spreads: Vec<Spread>,
    /// Rows of constraints that may still be decided.
    pub(crate) budget: usize,
}

/// Hypotheses.
#[derive(Clone, Default)]
struct State {
    facts: Vec<Fact>,
    equations: Vec<Equation>,
    /// How far apart the two instances are along each axis: not all of these are 0.
    distances: Vec<Poly>,
    /// Of each: one holds.
    choices: Vec<Vec<Hypothesis>>,
    /// Atoms of which all is said.
    said: FxHashSet<Term>,
    /// Products of which it is said that they are not negative, where they are not.
    products: FxHashSet<Monomial>,
    /// Products of which it is said how far they go.
    bounded: FxHashSet<Monomial>,
    /// Atoms and what they are.
    solved: Vec<(Term, Poly)>,
    /// Truth values by their atom.
    truths: FxHashMap<Term, bool>,
    /// Tickets of which it was decided which was drawn first.
    drawn: FxHashSet<(Term, Term)>,
    /// Minima and selections that were decided.
    chosen: FxHashSet<Term>,
}

/// A polynomial that is 0.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Equation {
    zero: Poly,
    /// Whether it follows from the two accesses meeting: of these, spreads may be assumed.
    meets: bool,
}

/// A condition and whether it holds, or a relation.
#[derive(Clone, Debug)]
pub(crate) enum Hypothesis {
    Condition(Term, bool),
    Relation(Fact),
    /// The addresses are equal: this is 0.
    Meeting(Poly),
    /// One of these is not 0.
    Distinct(Vec<Poly>),
    All(Vec<Hypothesis>),
}

/// Linear constraints over monomials.
#[derive(Default)]
struct System {
    numbers: FxHashMap<Monomial, u32>,
    simplex: Simplex,
}

impl System {
    fn new<'p>(facts: &'p [Fact], zeros: impl IntoIterator<Item = &'p Poly>) -> System {
        let mut system = System::default();
        let facts = facts.iter().map(|fact| (&fact.poly, fact.equal));
        for (poly, equal) in facts.chain(zeros.into_iter().map(|poly| (poly, true))) {
            let row = system.row(poly, equal);
            system.simplex.assert(row);
        }
        system
    }

    fn row(&mut self, poly: &Poly, equal: bool) -> Linear {
        let mut sum = Vec::new();
        for (monomial, coefficient) in poly.terms().filter(|(monomial, _)| !monomial.is_empty()) {
            let number = match self.numbers.get(monomial) {
                Some(number) => *number,
                None => {
                    let number = self.simplex.variable();
                    self.numbers.insert(monomial.clone(), number);
                    number
                }
            };
            sum.push((number, coefficient));
        }
        sum.sort_unstable();
        Linear { sum, constant: poly.offset(), equal }
    }
}

/// What a step of the work came to.
#[derive(PartialEq, Eq)]
enum Progress {
    Refuted,
    Moved,
    Stuck,
}

impl Refuter<'_> {
    /// Whether the hypotheses contradict each other.
    pub(crate) fn refute(&mut self, hypotheses: Vec<Hypothesis>) -> bool {
        let mut state = State::default();
        for hypothesis in hypotheses {
            if self.assert(&mut state, hypothesis) {
                return true;
            }
        }
        self.search(state, 0)
    }

    fn poly(&mut self, term: Term) -> Poly {
        let poly = self.convert.poly(&mut self.program.terms, term);
        self.with_known(poly)
    }

    /// With what a launch gives.
    fn with_known(&self, poly: Poly) -> Poly {
        if self.known.is_empty() {
            return poly;
        }
        let mut made = poly.clone();
        for atom in poly.atoms() {
            if let Node::Symbol(symbol, _) = self.program.terms.node(atom)
                && let Some(value) = self.known.get(symbol)
                && let Some(next) = made.substitute(atom, &Poly::constant((*value).into()))
            {
                made = next;
            }
        }
        made
    }

    /// Adds a hypothesis; true where it contradicts at once.
    fn assert(&mut self, state: &mut State, hypothesis: Hypothesis) -> bool {
        match hypothesis {
            Hypothesis::Relation(fact) => {
                match fact.poly.as_constant() {
                    Some(value) if value < 0 || (fact.equal && value != 0) => return true,
                    Some(_) => return false,
                    None => {}
                }
                if fact.equal {
                    state.equations.push(Equation { zero: fact.poly, meets: false });
                } else {
                    state.facts.push(fact);
                }
                false
            }
            Hypothesis::Meeting(difference) => match difference.as_constant() {
                Some(value) => value != 0,
                None => {
                    state.equations.push(Equation { zero: difference, meets: true });
                    false
                }
            },
            Hypothesis::Distinct(distances) => {
                state.distances = distances;
                state.distances.is_empty()
            }
            Hypothesis::All(all) => all.into_iter().any(|one| self.assert(state, one)),
            Hypothesis::Condition(term, holds) => self.condition(state, term, holds),
        }
    }

    fn condition(&mut self, state: &mut State, term: Term, holds: bool) -> bool {
        let terms = &self.program.terms;
        if let Some(value) = terms.constant(term) {
            return (value != 0) != holds;
        }
        match terms.node(term).clone() {
            Node::Binary(op @ (BinOp::And | BinOp::Or), a, b) if terms.bits(term) == 1 => {
                let parts = vec![Hypothesis::Condition(a, holds), Hypothesis::Condition(b, holds)];
                if (op == BinOp::And) == holds {
                    return self.assert(state, Hypothesis::All(parts));
                }
                state.choices.push(parts);
                false
            }
            Node::Binary(BinOp::Xor, a, b) if terms.bits(term) == 1 => {
                if let Some(value) = terms.constant(b) {
                    return self.condition(state, a, (value != 0) != holds);
                }
                let both = |x, y| Hypothesis::All(vec![Hypothesis::Condition(a, x), Hypothesis::Condition(b, y)]);
                state.choices.push(vec![both(true, !holds), both(false, holds)]);
                false
            }
            Node::Binary(op, a, b) if op.is_question() => self.question(state, op, a, b, holds),
            Node::Select(c, a, b) => {
                let way = |taken, value| {
                    Hypothesis::All(vec![Hypothesis::Condition(c, taken), Hypothesis::Condition(value, holds)])
                };
                state.choices.push(vec![way(true, a), way(false, b)]);
                false
            }
            _ => match state.truths.insert(term, holds) {
                Some(before) => before != holds,
                None => {
                    let value = self.poly(term).shifted(-i128::from(holds));
                    self.assert(state, Hypothesis::Relation(Fact::zero(value)))
                }
            },
        }
    }

    fn question(&mut self, state: &mut State, op: BinOp, a: Term, b: Term, holds: bool) -> bool {
        if self.program.terms.bits(a) == 1 {
            let same = (op == BinOp::Eq) == holds;
            if !matches!(op, BinOp::Eq | BinOp::Ne) {
                return false;
            }
            let both = |x, y| Hypothesis::All(vec![Hypothesis::Condition(a, x), Hypothesis::Condition(b, y)]);
            state.choices.push(vec![both(true, same), both(false, !same)]);
            return false;
        }
        let (x, y) = (self.poly(a), self.poly(b));
        let below = |x: &Poly, y: &Poly| Hypothesis::Relation(Fact::ordered(&x.shifted(1), y));
        let at_most = |x: &Poly, y: &Poly| Hypothesis::Relation(Fact::ordered(x, y));
        let made = match (op, holds) {
            (BinOp::Eq, true) | (BinOp::Ne, false) => Hypothesis::Relation(Fact::zero(x.minus(&y))),
            (BinOp::Eq | BinOp::Ne, _) => {
                state.choices.push(vec![below(&x, &y), below(&y, &x)]);
                return false;
            }
            (BinOp::Slt, true) => below(&x, &y),
            (BinOp::Slt, false) => at_most(&y, &x),
            (BinOp::Sle, true) => at_most(&x, &y),
            (BinOp::Sle, false) => below(&y, &x),
            // An unsigned number below one that is not negative is not negative either.
            (BinOp::Ult, true) => Hypothesis::All(vec![below(&x, &y), Hypothesis::Relation(Fact::at_least_zero(x))]),
            (BinOp::Ule, true) => Hypothesis::All(vec![at_most(&x, &y), Hypothesis::Relation(Fact::at_least_zero(x))]),
            (BinOp::Ult, false) => {
                state.choices.push(vec![at_most(&y, &x), below(&x, &Poly::default())]);
                return false;
            }
            (BinOp::Ule, false) => {
                state.choices.push(vec![below(&y, &x), below(&x, &Poly::default())]);
                return false;
            }
            _ => return false,
        };
        self.assert(state, made)
    }

    fn search(&mut self, mut state: State, depth: usize) -> bool {
        for _ in 0..ROUNDS {
            if !self.say(&mut state) {
                return true;
            }
            match self.deduce(&mut state) {
                Progress::Refuted => return true,
                Progress::Moved => {}
                Progress::Stuck => {
                    if state.equations.is_empty() && self.budget > 0 {
                        self.budget -= 1;
                        if System::new(&state.facts, []).simplex.contradictory() {
                            return true;
                        }
                    }
                    // Only what nothing else decides is assumed.
                    if !self.assume_one(&mut state) {
                        break;
                    }
                }
            }
        }
        if depth >= self.depth || self.budget == 0 {
            return false;
        }
        let Some(ways) = self.choice(&mut state) else { return false };
        ways.into_iter().all(|way| {
            let mut next = state.clone();
            self.assert(&mut next, way) || self.search(next, depth + 1)
        })
    }

    /// Says of each atom what is known of it, and of products that they are not negative; false where that
    /// contradicts.
    fn say(&mut self, state: &mut State) -> bool {
        loop {
            let zeros = state.equations.iter().map(|equation| &equation.zero);
            let polys = state.facts.iter().map(|fact| &fact.poly).chain(zeros).chain(&state.distances);
            let (mut fresh, mut products) = (Vec::new(), Vec::new());
            for (monomial, _) in polys.flat_map(Poly::terms) {
                fresh.extend(monomial.iter().copied().filter(|atom| !state.said.contains(atom)));
                if monomial.len() > 1 && !state.products.contains(monomial) {
                    products.push(monomial.clone());
                }
            }
            fresh.sort();
            fresh.dedup();
            if fresh.is_empty() && products.is_empty() {
                if self.bound_products(state) {
                    continue;
                }
                return true;
            }
            for product in products {
                if state.products.insert(product.clone()) && natural_product(&self.program.terms, &product) {
                    state.facts.push(Fact::at_least_zero(Poly::of(product, 1)));
                }
            }
            for atom in fresh {
                state.said.insert(atom);
                let lanes = self.lanes.clone();
                let size = move |dim: u8, copy: u8| {
                    let of = lanes.get(usize::from(copy.saturating_sub(1)))?;
                    of.get(usize::from(dim)).copied()
                };
                for mut fact in self.convert.facts(self.program, atom, &size) {
                    fact.poly = self.with_known(fact.poly);
                    let Some(poly) = solved(state, fact.poly.clone()) else { continue };
                    fact.poly = poly;
                    if self.assert(state, Hypothesis::Relation(fact)) {
                        return false;
                    }
                }
            }
        }
    }

    /// Says of products with a stride what follows from the bounds of their other factor: `i < n` holds `i·stride`
    /// to `(n - 1)·stride`.
    fn bound_products(&self, state: &mut State) -> bool {
        let mut bounds = Vec::new();
        let products =
            state.equations.iter().filter(|equation| equation.meets).flat_map(|equation| equation.zero.terms());
        for product in products.map(|(monomial, _)| monomial).filter(|monomial| monomial.len() > 1) {
            let (shared, own): (Monomial, Monomial) = product.iter().copied().partition(|atom| self.is_shared(*atom));
            let [index] = own.as_slice() else { continue };
            if state.bounded.contains(product) || !natural_product(&self.program.terms, &shared) {
                continue;
            }
            state.bounded.insert(product.clone());
            let stride = Poly::of(shared, 1);
            let upper = state.facts.iter().filter(|fact| {
                let others = fact.poly.terms().filter(|(monomial, _)| monomial.as_slice() != [*index]);
                let index = fact.poly.coefficient(&own);
                index.is_some_and(|by| by < 0)
                    && others.flat_map(|(monomial, _)| monomial).all(|atom| self.is_shared(*atom))
            });
            bounds.extend(upper.filter_map(|fact| fact.poly.times(&stride)).map(Fact::at_least_zero));
        }
        let any = !bounds.is_empty();
        state.facts.extend(bounds);
        any
    }

    /// Takes an equation apart, or solves it, or finds two atoms that are one.
    fn deduce(&mut self, state: &mut State) -> Progress {
        let mut left = Vec::new();
        let mut moved = false;
        let mut equations = std::mem::take(&mut state.equations);
        equations.sort();
        equations.dedup_by(|next, kept| {
            let same = next.zero == kept.zero;
            kept.meets |= same && next.meets;
            same
        });
        // What follows from it now follows from what is left behind it too, until atoms are replaced.
        let mut system: Option<System> = None;
        while let Some(Equation { zero, meets }) = equations.pop() {
            let common = zero.content();
            if common == 0 {
                if zero.offset() != 0 {
                    return Progress::Refuted;
                }
                continue;
            }
            if zero.offset() % common != 0 {
                return Progress::Refuted;
            }
            let zero = if common == 1 { zero } else { zero.exactly_by(common).unwrap_or(zero) };
            let now = system.get_or_insert_with(|| {
                let zeros = left.iter().chain(&equations).map(|equation: &Equation| &equation.zero);
                System::new(&state.facts, zeros.chain([&zero]))
            });
            if now.simplex.contradictory() {
                return Progress::Refuted;
            }
            let ways = self.by_strides(&zero);
            if let Some((high, low)) = self.apart(now, &zero, &ways) {
                let parts = [high, low].into_iter().filter(|part| !part.is_zero());
                equations.extend(parts.map(|zero| Equation { zero, meets }));
                moved = true;
                continue;
            }
            // What may come apart by an assumption is kept for that.
            let waits = self.assume && meets && !ways.is_empty();
            let Some((atom, value)) = (!waits).then(|| solvable(&self.program.terms, &zero)).flatten() else {
                left.push(Equation { zero, meets });
                continue;
            };
            let put = |poly: &mut Poly| {
                if poly.mentions(atom)
                    && let Some(next) = poly.substitute(atom, &value)
                {
                    *poly = next;
                }
            };
            state.facts.iter_mut().for_each(|fact| put(&mut fact.poly));
            equations.iter_mut().chain(&mut left).for_each(|equation| put(&mut equation.zero));
            state.solved.iter_mut().for_each(|(_, known)| put(known));
            state.distances.iter_mut().for_each(put);
            state.solved.push((atom, value));
            system = None;
            if state.facts.iter().any(|fact| fact.poly.as_constant().is_some_and(|value| value < 0)) {
                return Progress::Refuted;
            }
            state.facts.retain(|fact| fact.poly.as_constant().is_none());
            if !state.distances.is_empty() && state.distances.iter().all(Poly::is_zero) {
                return Progress::Refuted;
            }
            moved = true;
        }
        state.equations = left;
        let same = self.congruent(state);
        if !same.is_empty() {
            state.equations.extend(same.into_iter().map(|zero| Equation { zero, meets: false }));
            return Progress::Moved;
        }
        if moved || self.near(state) { Progress::Moved } else { Progress::Stuck }
    }

    /// Adds equations for distances that are multiples of a stride which they are below: they are 0. Rounds of a
    /// persistent loop, which are as far apart as there are programs, are told from programs that way.
    fn near(&mut self, state: &mut State) -> bool {
        let mut found = Vec::new();
        let mut system: Option<System> = None;
        for distance in state.distances.iter().filter(|distance| !distance.is_zero()) {
            for (stride, high, low) in self.by_strides(distance) {
                let zeros = state.equations.iter().map(|equation| &equation.zero);
                let known = state.equations.iter().any(|equation| equation.zero == high);
                if !low.is_zero() || known {
                    continue;
                }
                let system = system.get_or_insert_with(|| System::new(&state.facts, zeros));
                if self.is_below(system, distance, &stride) {
                    found.push(Equation { zero: high, meets: false });
                }
            }
        }
        let any = !found.is_empty();
        state.equations.extend(found);
        any
    }

    /// Ways to write an equation as `stride·high + low = 0` with a stride that all instances share, the ones that
    /// leave least for `low` first.
    fn by_strides(&self, equation: &Poly) -> Vec<(Poly, Poly, Poly)> {
        let mut strides: Vec<Monomial> = Vec::new();
        for (monomial, _) in equation.terms() {
            let shared: Monomial = monomial.iter().copied().filter(|atom| self.is_shared(*atom)).collect();
            if !shared.is_empty() && !strides.contains(&shared) {
                strides.push(shared);
            }
        }
        let mut ways = Vec::new();
        for shared in strides {
            let (mut high, mut low) = (Vec::new(), Vec::new());
            for (monomial, coefficient) in equation.terms() {
                match quotient(monomial, &shared) {
                    Some(rest) => high.push((rest, coefficient)),
                    None => low.push((monomial.clone(), coefficient)),
                }
            }
            let (high, mut low) = (Poly::sum(high), Poly::sum(low));
            let content = high.terms().fold(0, |all, (_, coefficient)| gcd(all, coefficient)).max(1);
            let Some(high) = high.exactly_by(content) else { continue };
            if high.as_constant().is_some() {
                continue;
            }
            let degree = shared.len();
            let mut stride = Poly::of(shared.clone(), content);
            // Rows of `n + 1` elements: what is left holds the row once more.
            if let Some((monomial, coefficient)) = high.terms().next_back()
                && let Some(again) = low.coefficient(monomial).filter(|again| again % coefficient == 0)
            {
                let rest = low.plus(&high, -again / coefficient);
                if rest.terms().len() < low.terms().len() {
                    (stride, low) = (stride.shifted(again / coefficient), rest);
                }
            }
            // What is read may be anything: it is a multiple of a stride, not what is left. The outermost stride is that
            // of programs alone, and the next ones those of programs and lanes.
            let (reads, programs) = (self.has(&low, is_read), self.has(&low, is_program));
            let left = (reads, self.has(&high, is_lane), programs, low.terms().len());
            // A stride by itself may belong to what is left: the last row is counted from, `stride - 1 - i`.
            let whole = high.offset();
            if whole != 0 && high.terms().len() > 1 {
                let other = (high.shifted(-whole), low.plus(&stride, whole));
                ways.push(((true, left, degree, shared.clone()), (stride.clone(), other.0, other.1)));
            }
            ways.push(((false, left, degree, shared), (stride, high, low)));
        }
        ways.sort_by(|a, b| a.0.cmp(&b.0));
        ways.into_iter().map(|(_, way)| way).collect()
    }

    /// Takes one equation apart on the assumption that a stride is large enough; whether there was one.
    fn assume_one(&mut self, state: &mut State) -> bool {
        if !self.assume {
            return false;
        }
        let mut equations: Vec<Poly> =
            state.equations.iter().filter(|one| one.meets).map(|one| one.zero.clone()).collect();
        equations.sort();
        for equation in equations {
            for (stride, high, low) in self.by_strides(&equation) {
                // A caller chooses strides; how many programs there are is no stride.
                if !self.has(&stride, is_argument) {
                    continue;
                }
                let Some(spans) = self.spans(state, &stride, &low) else { continue };
                self.spreads.extend(spans.into_iter().map(|(span, access)| Spread {
                    stride: stride.clone(),
                    span,
                    access,
                }));
                state.equations.retain(|other| other.zero != equation);
                let parts = [high, low].into_iter().filter(|part| !part.is_zero());
                state.equations.extend(parts.map(|zero| Equation { zero, meets: true }));
                return true;
            }
        }
        false
    }

    /// Splits `stride·high + low = 0` where `|low| < stride`.
    fn apart(&mut self, system: &mut System, equation: &Poly, ways: &[(Poly, Poly, Poly)]) -> Option<(Poly, Poly)> {
        for (stride, high, low) in ways {
            let apart = match low.is_zero() {
                // A product is 0: one of its factors is.
                true => self.excludes(system, &stride.scaled(-1)),
                false => self.is_below(system, low, stride),
            };
            if apart {
                return Some((high.clone(), low.clone()));
            }
        }
        // By numbers.
        let mut sizes: Vec<i128> = equation.terms().filter(|(m, _)| !m.is_empty()).map(|(_, c)| c.abs()).collect();
        sizes.sort_unstable();
        sizes.dedup();
        for size in sizes.into_iter().rev().filter(|size| *size > 1) {
            let (mut high, mut low) = (Vec::new(), Vec::new());
            for (monomial, coefficient) in equation.terms() {
                if !monomial.is_empty() && coefficient % size == 0 {
                    high.push((monomial.clone(), coefficient / size));
                } else {
                    low.push((monomial.clone(), coefficient));
                }
            }
            let (high, low) = (Poly::sum(high), Poly::sum(low));
            // A constant may belong to either side.
            let constant = low.offset();
            let near = constant - constant.rem_euclid(size);
            let mut ways = vec![(high.shifted(near / size), low.shifted(-near))];
            if constant % size != 0 {
                ways.push((high.shifted(near / size + 1), low.shifted(-near - size)));
            }
            for (high, low) in ways {
                if low.is_zero() || high.is_zero() {
                    continue;
                }
                let stride = Poly::constant(size);
                if self.is_below(system, &low, &stride) {
                    return Some((high, low));
                }
            }
        }
        None
    }

    /// Whether a sum is made of such leaves, among others.
    fn has(&self, sum: &Poly, leaf: impl Fn(&Node) -> bool) -> bool {
        sum.atoms().any(|atom| self.program.terms.any_leaf(atom, &leaf))
    }

    fn is_shared(&self, atom: Term) -> bool {
        !self.program.terms.any_leaf(atom, |node| match node {
            Node::Symbol(symbol, _) => !symbol.is_shared(),
            Node::Read(..) => true,
            _ => false,
        })
    }

    /// What a stride has to exceed for `|low| < stride`: what each access adds to its multiple of the stride, or,
    /// where that is not what is left of the difference, what is added in it and what is subtracted.
    fn spans(&mut self, state: &State, stride: &Poly, low: &Poly) -> Option<Vec<(Poly, u32)>> {
        if low.is_zero() {
            return Some(vec![(Poly::default(), self.accesses[0])]);
        }
        let shared = stride.terms().next_back()?.0.clone();
        let part = |this: &Self, monomial: &Monomial| -> Monomial {
            monomial.iter().copied().filter(|atom| this.is_shared(*atom)).collect()
        };
        // Products with other strides that are equal for both have gone.
        let open: FxHashSet<Monomial> = low.terms().map(|(monomial, _)| part(self, monomial)).collect();
        let rest = |this: &mut Self, at: usize, copy: u8| {
            let access = &this.program.accesses[this.accesses[at] as usize];
            let (offset, bytes) = (access.offset, i128::from(access.bytes));
            let own = this.program.terms.instance(offset, copy, &mut FxHashMap::default());
            let parts = this.poly(own).exactly_by(bytes)?;
            let rest = parts.terms().filter(|(monomial, _)| {
                let strides = part(this, monomial);
                quotient(monomial, &shared).is_none() && (strides.is_empty() || open.contains(&strides))
            });
            Some(Poly::sum(rest.map(|(monomial, coefficient)| (monomial.clone(), coefficient)).collect()))
        };
        if let (Some(mine), Some(others)) = (rest(self, 0, 1), rest(self, 1, 2))
            && solved(state, mine.minus(&others)).as_ref() == Some(low)
        {
            let others = rest(self, 1, 1)?;
            let mut spans = vec![(mine, self.accesses[0]), (others, self.accesses[1])];
            spans.dedup_by(|next, kept| {
                let [next, kept] = [next.1, kept.1].map(|access| &self.program.accesses[access as usize]);
                (next.offset, next.mask, next.path) == (kept.offset, kept.mask, kept.path)
            });
            return Some(spans);
        }
        // A difference of two sums that are not negative is no further from 0 than the larger one.
        let parts = |sign: i128| {
            let parts = low.terms().filter(|(_, coefficient)| coefficient.signum() == sign);
            Poly::sum(parts.map(|(monomial, coefficient)| (monomial.clone(), coefficient.abs())).collect())
        };
        let spans = [parts(1), parts(-1)].into_iter().filter(|span| !span.is_zero());
        Some(spans.map(|span| self.of_first(span)).collect())
    }

    /// A sum of the second instance alone as one of the first, and the access that it is of.
    fn of_first(&mut self, sum: Poly) -> (Poly, u32) {
        let of =
            |copy: u8| move |node: &Node| matches!(node, Node::Symbol(_, of) | Node::Read(_, _, of) if *of == copy);
        if !self.has(&sum, of(2)) || self.has(&sum, of(1)) {
            return (sum, self.accesses[0]);
        }
        let mut renamed = Vec::new();
        for (monomial, coefficient) in sum.terms() {
            let atoms = monomial.iter().map(|atom| self.program.terms.renamed(*atom, 2, 1));
            let mut atoms: Monomial = atoms.collect();
            atoms.sort();
            renamed.push((atoms, coefficient));
        }
        (Poly::sum(renamed), self.accesses[1])
    }

    /// Whether `|low| < stride` follows.
    fn is_below(&mut self, system: &mut System, low: &Poly, stride: &Poly) -> bool {
        if low.as_constant() == Some(0) {
            return true;
        }
        self.excludes(system, &low.minus(stride)) && self.excludes(system, &low.scaled(-1).minus(stride))
    }

    /// Whether a polynomial at least 0 contradicts a system.
    fn excludes(&mut self, system: &mut System, poly: &Poly) -> bool {
        if self.budget == 0 {
            return false;
        }
        self.budget -= 1;
        if system.simplex.contradictory() {
            return true;
        }
        let row = system.row(poly, false);
        system.simplex.contradicts(row)
    }

    /// Equations between atoms that are made alike of equal parts.
    fn congruent(&mut self, state: &State) -> Vec<Poly> {
        let mut known: FxHashMap<(u8, u32, Vec<Poly>), Term> = FxHashMap::default();
        let mut same = Vec::new();
        let mut atoms: Vec<Term> = state.said.iter().copied().collect();
        atoms.sort();
        for atom in atoms {
            let parts = match self.program.terms.node(atom).clone() {
                Node::Binary(op, a, b) => vec![op as u32, a.0, b.0].into_boxed_slice(),
                Node::Select(c, a, b) => vec![u32::MAX, c.0, a.0, b.0].into_boxed_slice(),
                Node::Read(source, ..) => {
                    let Some((base, offset)) = self.constant_word(atom, source) else { continue };
                    let Some(offset) = solved(state, offset) else { continue };
                    let key = (2, base, vec![offset]);
                    match known.get(&key) {
                        Some(other) => self.alike(state, atom, *other, &mut same),
                        None => {
                            known.insert(key, atom);
                        }
                    }
                    continue;
                }
                _ => continue,
            };
            let (op, arguments) = (parts[0], &parts[1..]);
            let polys = arguments.iter().map(|term| {
                let poly = self.poly(Term(*term));
                solved(state, poly)
            });
            let Some(polys) = polys.collect::<Option<Vec<Poly>>>() else { continue };
            let key = (1, op, polys);
            match known.get(&key) {
                Some(other) => self.alike(state, atom, *other, &mut same),
                None => {
                    known.insert(key, atom);
                }
            }
        }
        same
    }

    fn alike(&self, state: &State, a: Term, b: Term, same: &mut Vec<Poly>) {
        let difference = Poly::atom(a).minus(&Poly::atom(b));
        if let Some(poly) = solved(state, difference)
            && !poly.is_zero()
        {
            same.push(poly);
        }
    }

    /// The address of a read of a tensor that the kernel never writes: what it gives hangs on nothing else.
    fn constant_word(&mut self, atom: Term, source: u32) -> Option<(u32, Poly)> {
        let Source::Access(number) = *self.program.sources.get(source as usize)? else { return None };
        let access = self.program.accesses.get(number as usize)?;
        let Base::Argument(base) = access.base else { return None };
        let written = |other: &crate::program::Access| other.base == access.base && other.action.writes();
        if self.program.accesses.iter().any(written) {
            return None;
        }
        let (offset, mask) = (access.offset, access.mask);
        if self.program.terms.constant(mask) != Some(1) {
            return None;
        }
        let Node::Read(_, lanes, copy) = self.program.terms.node(atom).clone() else { return None };
        let own = self.program.terms.instance(offset, copy, &mut FxHashMap::default());
        let at = self.program.terms.replace(own, &mut FxHashMap::default(), &mut |_, node, _| match node {
            Node::Symbol(Symbol::Lane(dim), _) => lanes.get(usize::from(*dim)).copied(),
            _ => None,
        });
        Some((base, self.poly(at)))
    }

    /// Two tickets of one counter, drawn by the two instances: which was drawn first.
    fn drawn(&self, state: &mut State) -> Option<Vec<Hypothesis>> {
        let of = |copy: u8| {
            let mut all: Vec<(Term, Counter)> = Vec::new();
            for atom in &state.said {
                if let Node::Read(source, _, whose) = self.program.terms.node(*atom)
                    && *whose == copy
                    && let Some(counter) = self.tickets.get(source)
                {
                    all.push((*atom, *counter));
                }
            }
            all.sort_by_key(|(atom, _)| *atom);
            all
        };
        let (mine, others) = (of(1), of(2));
        let pairs = mine.iter().flat_map(|one| others.iter().map(move |other| (one, other)));
        let mut open = pairs.filter(|((a, x), (b, y))| x.is(*y) && !state.drawn.contains(&(*a, *b)));
        let ((a, counter), (b, _)) = open.next()?;
        let distance = solved(state, Poly::atom(*a).minus(&Poly::atom(*b)))?;
        let step = i128::from(counter.step);
        let ways = [distance.shifted(-step), distance.scaled(-1).shifted(-step)];
        let pair = (*a, *b);
        state.drawn.insert(pair);
        Some(ways.map(|way| Hypothesis::Relation(Fact::at_least_zero(way))).to_vec())
    }

    /// Something to try both ways.
    fn choice(&mut self, state: &mut State) -> Option<Vec<Hypothesis>> {
        // The programs differ along one axis, to one side.
        let distances = std::mem::take(&mut state.distances);
        if !distances.is_empty() {
            let open = distances.iter().filter(|distance| !distance.is_zero());
            let sides = open.flat_map(|distance| [distance.shifted(-1), distance.scaled(-1).shifted(-1)]);
            return Some(sides.map(|side| Hypothesis::Relation(Fact::at_least_zero(side))).collect());
        }
        if let Some(choice) = state.choices.pop() {
            return Some(choice);
        }
        if let Some(ways) = self.drawn(state) {
            return Some(ways);
        }
        let mut atoms: Vec<Term> = state.said.difference(&state.chosen).copied().collect();
        atoms.sort();
        for atom in atoms {
            let this = Poly::atom(atom);
            let node = self.program.terms.node(atom).clone();
            let ways = match node {
                Node::Binary(op @ (BinOp::MinS | BinOp::MinU | BinOp::MaxS | BinOp::MaxU), a, b) => {
                    let (x, y) = (self.poly(a), self.poly(b));
                    let smaller = matches!(op, BinOp::MinS | BinOp::MinU);
                    let way = |is: &Poly, other: &Poly| {
                        let order = if smaller { Fact::ordered(is, other) } else { Fact::ordered(other, is) };
                        [Fact::zero(this.minus(is)), order]
                    };
                    vec![way(&x, &y).to_vec(), way(&y, &x).to_vec()]
                }
                Node::Select(c, a, b) => {
                    let (x, y) = (self.poly(a), self.poly(b));
                    state.chosen.insert(atom);
                    let way = |holds, is: &Poly| {
                        let equal = solved(state, this.minus(is)).map(|poly| Hypothesis::Relation(Fact::zero(poly)));
                        let mut all = vec![Hypothesis::Condition(c, holds)];
                        all.extend(equal);
                        Hypothesis::All(all)
                    };
                    return Some(vec![way(true, &x), way(false, &y)]);
                }
                _ => continue,
            };
            state.chosen.insert(atom);
            let ways = ways.into_iter().map(|facts| {
                let facts = facts.into_iter().filter_map(|fact| {
                    Some(Hypothesis::Relation(Fact { poly: solved(state, fact.poly)?, equal: fact.equal }))
                });
                Hypothesis::All(facts.collect())
            });
            return Some(ways.collect());
        }
        None
    }
}

fn is_read(node: &Node) -> bool {
    matches!(node, Node::Read(..))
}

fn is_argument(node: &Node) -> bool {
    matches!(node, Node::Symbol(Symbol::Argument(_) | Symbol::DescriptorSize(..), _))
}

fn is_program(node: &Node) -> bool {
    matches!(node, Node::Symbol(Symbol::Program(_), _))
}

fn is_lane(node: &Node) -> bool {
    matches!(node, Node::Symbol(Symbol::Lane(_), _))
}

/// What is left of a product without the factors of another; `None` where it does not have them all.
fn quotient(product: &Monomial, factors: &Monomial) -> Option<Monomial> {
    let mut rest = product.clone();
    for factor in factors {
        let at = rest.iter().position(|atom| atom == factor)?;
        rest.remove(at);
    }
    Some(rest)
}

/// With what was solved put in; `None` where that would be large.
fn solved(state: &State, mut poly: Poly) -> Option<Poly> {
    for (atom, value) in &state.solved {
        poly = poly.substitute(*atom, value)?;
    }
    Some(poly)
}

/// An atom that an equation gives, and what it is.
fn solvable(terms: &crate::term::Terms, equation: &Poly) -> Option<(Term, Poly)> {
    let alone = equation.terms().filter(|(monomial, coefficient)| monomial.len() == 1 && coefficient.abs() == 1);
    let candidates = alone.filter(|(monomial, _)| {
        let others = equation.terms().filter(|(other, _)| other.contains(&monomial[0])).count();
        others == 1
    });
    // What others are made of goes first: digits stay, and the number that they are of goes.
    let (monomial, coefficient) =
        candidates.min_by_key(|(monomial, _)| (nesting(terms, monomial[0], 0), monomial[0]))?;
    let atom = monomial[0];
    let rest = equation.minus(&Poly::atom(atom).scaled(coefficient));
    Some((atom, rest.scaled(-coefficient)))
}

/// How deep an atom's expression goes, up to a bound.
fn nesting(terms: &crate::term::Terms, of: Term, depth: u32) -> u32 {
    if depth > 6 {
        return depth;
    }
    match terms.node(of) {
        Node::Const(_) | Node::Symbol(..) => depth,
        Node::Read(..) => depth + 1,
        Node::Trunc(a) | Node::ExtS(a) | Node::ExtU(a) => nesting(terms, *a, depth),
        Node::Binary(_, a, b) => nesting(terms, *a, depth + 1).max(nesting(terms, *b, depth + 1)),
        Node::Select(c, a, b) => {
            let arms = nesting(terms, *a, depth + 1).max(nesting(terms, *b, depth + 1));
            arms.max(nesting(terms, *c, depth + 1))
        }
    }
}
