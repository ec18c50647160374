//! Whether hypotheses about two program instances contradict each other.
//!
//! Equations are taken apart where their parts cannot make up for each other (`64·a + b = 0` with `|b| < 64` is
//! `a = 0` and `b = 0`; so is `stride·a + b = 0` with `|b| < stride`), solved, and carried into quotients,
//! remainders and reads, which are equal where what they are made of is. What is left is linear. A choice (minimum,
//! selection, a disjunction) is tried both ways.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

mod assumed;
mod carried;
mod choice;
mod chunks;
mod congruent;
mod programs;
mod quotient;
mod short;
mod strides;
mod system;
mod table;

use self::system::System;
use super::convert::{Converter, Fact};
use super::poly::{Monomial, Poly};
use super::table::{Premise, Table, Trust};
use super::ticket::Counter;
use crate::launch::Known;
use crate::limits::proofs::ROUNDS;
use crate::program::Program;
use terms::{BinOp, Node, Term, Variable};

/// `span` is not negative and stays below `stride`: what a product with a stride needs to be told from what is added to it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Spread {
    pub(crate) stride: Poly,
    pub(crate) span: Poly,
    /// The access of which `span` is.
    pub(crate) access: u32,
    /// Whether it says how numbers of rows lie, which a stride is multiplied with, and not how elements do.
    pub(crate) rows: bool,
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
    pub(crate) known: &'p FxHashMap<Variable, i64>,
    /// The launch, for what its numbers speak against.
    pub(crate) launch: &'p Known,
    /// Along which axes of the grid a launch says how many programs there are, be it by a formula.
    pub(crate) sized: [bool; 3],
    /// What is drawn from counters, by its source.
    pub(crate) tickets: &'p FxHashMap<u32, Counter>,
    /// Whether spreads may be assumed that are not known.
    pub(crate) assume: bool,
    /// How tables of indices are read, by argument.
    pub(crate) tables: &'p FxHashMap<u32, Table>,
    /// What may be assumed of such kernels.
    pub(crate) trust: Trust,
    /// The table that says how long stretches are, where one is assumed to.
    pub(crate) length: Option<u32>,
    /// Tables that could have said it where none is assumed to.
    pub(crate) asked: &'p mut FxHashSet<u32>,
    /// Arguments whose tensors nothing writes.
    pub(crate) constant: &'p FxHashSet<u32>,
    /// Axes of the grid on which programs may differ.
    pub(crate) axes: &'p [u8],
    /// Choices inside choices that are tried.
    pub(crate) depth: usize,
    /// What was assumed on the way.
    pub(crate) spreads: Vec<Spread>,
    /// Of each spread that was thought of, whether it fails somewhere in any launch.
    pub(crate) broken: &'p mut FxHashMap<Spread, bool>,
    /// The same, whether launches of the host speak against it.
    pub(crate) contradicted: &'p mut FxHashMap<Spread, bool>,
    /// What was assumed beside.
    pub(crate) premises: BTreeSet<Premise>,
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
    /// Whether nothing but that the accesses meet is left to be worked with.
    settled: bool,
    /// Conditions that hold.
    held: FxHashSet<Term>,
    /// Values of tables of which it was said that they are not negative.
    natural: FxHashSet<Term>,
    /// Values of tables of which the second was said to be no less.
    ascending: FxHashSet<(Term, Term)>,
    /// Axes along which it was assumed how many programs there are.
    few: Vec<u8>,
    /// How many rounds of loops are spoken of.
    rounds: u8,
    /// Places in tables of which it was decided which is ahead.
    compared: FxHashSet<(Term, Term)>,
    /// By how much the one was behind the other.
    apart_by: Vec<Poly>,
}

impl State {
    /// Whether it is said already that this is 0.
    fn is_known(&self, zero: &Poly) -> bool {
        let said = |of: &Poly| self.equations.iter().any(|equation| equation.zero == *of);
        zero.is_zero() || said(zero) || said(&zero.scaled(-1))
    }
}

/// A polynomial that is 0.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Equation {
    zero: Poly,
    /// Whether it follows from the two accesses meeting: of these, spreads may be assumed.
    meets: bool,
    /// Whether it is of what a stride is multiplied with, or a number.
    rows: bool,
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
            if let Node::Variable(variable, _) = self.program.terms.node(atom)
                && let Some(value) = self.known.get(variable)
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
                    state.equations.push(Equation { zero: fact.poly, meets: false, rows: false });
                } else {
                    state.facts.push(fact);
                }
                false
            }
            Hypothesis::Meeting(difference) => match difference.as_constant() {
                Some(value) => value != 0,
                None => {
                    state.equations.push(Equation { zero: difference, meets: true, rows: false });
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
        if holds {
            state.held.insert(term);
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
                    let assumed = self.by_tables(&mut state)
                        || self.assume_one(&mut state)
                        || self.assume_few(&mut state)
                        || self.assume_programs(&mut state);
                    if !assumed {
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
            let mut next = State { settled: false, ..state.clone() };
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
            if self.trust != Trust::Nothing {
                self.reads_within(state, &mut fresh);
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
                if state.products.insert(product.clone()) && self.convert.natural_product(&self.program.terms, &product)
                {
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

    /// Adds the values of tables of which quotients and remainders are made.
    fn reads_within(&mut self, state: &State, fresh: &mut Vec<Term>) {
        let mut at = 0;
        while let Some(&atom) = fresh.get(at) {
            at += 1;
            let Node::Binary(_, a, b) = *self.program.terms.node(atom) else { continue };
            for part in [a, b] {
                let poly = self.poly(part);
                let read = |atom: &Term| matches!(self.program.terms.node(*atom), Node::Read(..));
                let new = poly.atoms().filter(read).filter(|atom| !state.said.contains(atom) && !fresh.contains(atom));
                let new: Vec<Term> = new.collect();
                fresh.extend(new);
            }
        }
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
        // Which stretches meet, and what follows from it, comes first.
        let open_stretches = self.trust != Trust::Nothing && self.open_stretches(state).is_some();
        let hold = self.trust != Trust::Nothing && (open_stretches || !state.settled);
        while let Some(Equation { zero, meets, mut rows }) = equations.pop() {
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
            rows |= common > 1;
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
                let parts = [(high, true), (low, rows)].into_iter().filter(|(part, _)| !part.is_zero());
                equations.extend(parts.map(|(zero, rows)| Equation { zero, meets, rows }));
                moved = true;
                continue;
            }
            // What may come apart by an assumption is kept for that.
            let waits = meets && (hold || (self.assume && (!ways.is_empty() || !self.planes(&zero).is_empty())));
            let Some((atom, value)) = (!waits).then(|| solvable(&self.program.terms, &zero)).flatten() else {
                left.push(Equation { zero, meets, rows });
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
            state.equations.extend(same.into_iter().map(|zero| Equation { zero, meets: false, rows: false }));
            return Progress::Moved;
        }
        if moved || self.near(state) || self.near_quotients(state) || self.pinned(state) {
            return Progress::Moved;
        }
        let settles = hold && !open_stretches && state.equations.iter().any(|equation| equation.meets);
        state.settled = true;
        if settles { Progress::Moved } else { Progress::Stuck }
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
}

/// With what was solved put in; `None` where that would be large.
fn solved(state: &State, mut poly: Poly) -> Option<Poly> {
    for (atom, value) in &state.solved {
        if poly.mentions(*atom) {
            poly = poly.substitute(*atom, value)?;
        }
    }
    Some(poly)
}

/// An atom that an equation gives, and what it is.
fn solvable(terms: &terms::Terms, equation: &Poly) -> Option<(Term, Poly)> {
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
fn nesting(terms: &terms::Terms, of: Term, depth: u32) -> u32 {
    if depth > 6 {
        return depth;
    }
    match terms.node(of) {
        Node::Const(_) | Node::Variable(..) => depth,
        Node::Read(..) => depth + 1,
        Node::Trunc(a) | Node::ExtS(a) | Node::ExtU(a) => nesting(terms, *a, depth),
        Node::Binary(_, a, b) => nesting(terms, *a, depth + 1).max(nesting(terms, *b, depth + 1)),
        Node::Select(c, a, b) => {
            let arms = nesting(terms, *a, depth + 1).max(nesting(terms, *b, depth + 1));
            arms.max(nesting(terms, *c, depth + 1))
        }
    }
}
