//! Equations taken apart by a stride: `stride·high + low = 0` with `|low| < stride` is `high = 0` and `low = 0`.

use base::linear::gcd;
use rustc_hash::{FxHashMap, FxHashSet};

use super::system::System;
use super::{Equation, Refuter, Spread, State, solved};
use crate::limits::proofs::BOUNDS;
use crate::prove::convert::Fact;
use crate::prove::poly::{Monomial, Poly};
use crate::say::end;
use terms::{BinOp, Node, Term, Variable};

impl Refuter<'_> {
    /// Adds equations for distances that are multiples of a stride which they are below: they are 0. Rounds of a
    /// persistent loop, which are as far apart as there are programs, are told from programs that way.
    pub(super) fn near(&mut self, state: &mut State) -> bool {
        let mut found = Vec::new();
        let mut system: Option<System> = None;
        for distance in state.distances.iter().filter(|distance| !distance.is_zero()) {
            for (stride, high, low) in self.by_strides(distance) {
                let zeros = state.equations.iter().map(|equation| &equation.zero);
                if !low.is_zero() || state.is_known(&high) {
                    continue;
                }
                let system = system.get_or_insert_with(|| System::new(&state.facts, zeros));
                if self.is_below(system, distance, &stride) {
                    found.push(Equation { zero: high, meets: false, rows: true });
                }
            }
        }
        // Tiles of one program after the other: a multiple of the distance is less than what it is multiplied by.
        for distance in state.distances.iter().filter(|distance| !state.is_known(distance)) {
            let mut strides: Vec<Monomial> = Vec::new();
            let facts = state.facts.iter().flat_map(|fact| fact.poly.terms()).map(|(monomial, _)| monomial);
            for monomial in facts.filter(|monomial| monomial.len() > 1) {
                let (shared, own): (Monomial, Monomial) =
                    monomial.iter().copied().partition(|atom| self.is_shared(*atom));
                if !shared.is_empty() && distance.coefficient(&own).is_some() && !strides.contains(&shared) {
                    strides.push(shared);
                }
            }
            for stride in strides {
                let stride = Poly::of(stride, 1);
                let Some(multiple) = distance.times(&stride) else { continue };
                let zeros = state.equations.iter().map(|equation| &equation.zero);
                let system = system.get_or_insert_with(|| System::new(&state.facts, zeros));
                if self.is_below(system, &multiple, &stride) {
                    found.push(Equation { zero: distance.clone(), meets: false, rows: true });
                    break;
                }
            }
        }
        let any = !found.is_empty();
        state.equations.extend(found);
        any
    }

    /// Ways to write an equation as `stride·high + low = 0` with a stride that all instances share, the ones that
    /// leave least for `low` first.
    pub(super) fn by_strides(&self, equation: &Poly) -> Vec<(Poly, Poly, Poly)> {
        let mut strides: Vec<Monomial> = Vec::new();
        for (monomial, _) in equation.terms() {
            let shared: Monomial = monomial.iter().copied().filter(|atom| self.is_shared(*atom)).collect();
            if !shared.is_empty() && !strides.contains(&shared) {
                strides.push(shared);
            }
        }
        let reads_any = self.has(equation, is_read);
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
            // What is read may be anything: it is a multiple of a stride, not what is left, unless strides are handed over
            // in the order in which they fall. The outermost stride is that of programs alone, and the next ones those
            // of programs and lanes.
            let (reads, programs) = (self.has(&low, is_read), self.has(&low, is_program));
            let data = match (reads, reads_any && !self.falls(&stride, &low)) {
                (false, false) => 0,
                (true, false) => 1,
                (false, true) => 2,
                (true, true) => 3,
            };
            let left = (data, self.has(&high, is_lane), programs, low.terms().len());
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
    pub(super) fn assume_one(&mut self, state: &mut State) -> bool {
        if !self.assume {
            return false;
        }
        let mut equations: Vec<(Poly, bool)> =
            state.equations.iter().filter(|one| one.meets).map(|one| (one.zero.clone(), one.rows)).collect();
        equations.sort();
        for (equation, rows) in equations {
            let mut overrun: Vec<Monomial> = Vec::new();
            for (stride, high, low) in self.by_strides(&equation) {
                // A caller chooses strides; how many programs there are is no stride.
                if !self.has(&stride, is_argument) {
                    continue;
                }
                // Rows that reach into the next one do so however the tensor lies that has such rows: that it lies the
                // other way round, so that a row is less than an element, is for nobody to assume.
                if overrun.iter().any(|rows| low.terms().any(|(product, _)| self.counts_programs(product, rows))) {
                    continue;
                }
                if self.counts_stretches(&low, &stride) {
                    continue;
                }
                let Some(spans) = self.spans(state, &stride, &low) else { continue };
                let of = |(span, access)| Spread { stride: stride.clone(), span, access, rows };
                let spreads: Vec<Spread> = spans.into_iter().map(of).collect();
                if self.has(&high, is_lane) && spreads.iter().any(|spread| self.leaves_gaps(spread)) {
                    continue;
                }
                if self.share_an_axis(&high, &low) && spreads.iter().any(|spread| end(self.program, spread).is_none()) {
                    continue;
                }
                if spreads.iter().any(|spread| self.is_broken(spread)) {
                    overrun.extend(stride.terms().map(|(monomial, _)| monomial.clone()).filter(|one| !one.is_empty()));
                    continue;
                }
                if spreads.iter().any(|spread| self.is_contradicted(spread)) {
                    continue;
                }
                self.spreads.extend(spreads);
                state.equations.retain(|other| other.zero != equation);
                let parts = [(high, true), (low, rows)].into_iter().filter(|(part, _)| !part.is_zero());
                state.equations.extend(parts.map(|(zero, rows)| Equation { zero, meets: true, rows }));
                return true;
            }
        }
        self.assume_plane(state)
    }

    /// Takes accesses of two planes apart, on the assumption that a plane is long enough; whether there were some.
    fn assume_plane(&mut self, state: &mut State) -> bool {
        let mut equations: Vec<Poly> =
            state.equations.iter().filter(|one| one.meets).map(|one| one.zero.clone()).collect();
        equations.sort();
        for equation in equations {
            for (stride, low) in self.planes(&equation) {
                let Some(spans) = self.spans(state, &stride, &low) else { continue };
                let of = |(span, access)| Spread { stride: stride.clone(), span, access, rows: false };
                let spreads: Vec<Spread> = spans.into_iter().map(of).collect();
                if self.counts_stretches(&low, &stride)
                    || spreads.iter().any(|spread| self.is_broken(spread) || self.is_contradicted(spread))
                {
                    continue;
                }
                self.spreads.extend(spreads);
                state.equations.push(Equation { zero: Poly::constant(1), meets: true, rows: false });
                return true;
            }
        }
        false
    }

    /// Ways to write an equation as `stride + low = 0` or `low = stride`, with a distance of two planes.
    pub(super) fn planes(&mut self, equation: &Poly) -> Vec<(Poly, Poly)> {
        let mut all = Vec::new();
        for (plane, times) in equation.terms().filter(|(monomial, _)| !monomial.is_empty()) {
            let low = equation.plus(&Poly::of(plane.clone(), times), -1);
            let again = low.terms().any(|(other, _)| quotient(other, plane).is_some());
            if !again && self.is_plane(plane) {
                all.push((Poly::of(plane.clone(), times.abs()), low));
            }
        }
        all
    }

    /// Whether what is added to an address is as long as a plane: a product of sizes, or what is added more than once, or is
    /// multiplied with an index, elsewhere. A number that is added once may be a distance of neighbours as well.
    fn is_plane(&mut self, of: &Monomial) -> bool {
        let all = |leaf: fn(&Node) -> bool| of.iter().all(|atom| self.program.terms.any_leaf(*atom, leaf));
        if !all(is_argument) || !of.iter().all(|atom| self.is_shared(*atom)) {
            return false;
        }
        let bases = self.accesses.map(|access| self.program.accesses[access as usize].base);
        let own = self.program.accesses.iter().filter(|access| bases.contains(&access.base));
        let places: Vec<(Term, i128)> = own.map(|access| (access.offset, i128::from(access.bytes))).collect();
        let is_stride = |place: Poly, bytes: i128| {
            place.terms().any(|(monomial, times)| match monomial == of {
                true => times.abs() > bytes,
                false => quotient(monomial, of).is_some(),
            })
        };
        of.len() > 1 || places.into_iter().any(|(offset, bytes)| is_stride(self.poly(offset), bytes))
    }

    /// Whether a sum has in it which stretch of that length a value of a table lies in: how many stretches there are is not
    /// less than how long one is.
    fn counts_stretches(&self, sum: &Poly, length: &Poly) -> bool {
        let terms = &self.program.terms;
        let is_length =
            |by: Term| length.atoms().any(|of| of == by || terms.any_leaf(by, |node| node == terms.node(of)));
        let is_read = |value: Term| terms.any_leaf(value, |node| matches!(node, Node::Read(..)));
        sum.atoms().any(|mut atom| {
            while let Node::Trunc(inner) | Node::ExtS(inner) | Node::ExtU(inner) = terms.node(atom) {
                atom = *inner;
            }
            match terms.node(atom) {
                Node::Binary(_, value, by) => self.is_quotient(atom) && is_length(*by) && is_read(*value),
                _ => false,
            }
        })
    }

    /// Whether programs of one axis are counted in both parts of an equation: unless a mask ends them, there are not fewer
    /// of them than rows are long.
    fn share_an_axis(&self, high: &Poly, low: &Poly) -> bool {
        let axis = |atom: Term| match self.program.terms.node(atom) {
            Node::Variable(Variable::Program(axis), _) => Some(*axis),
            _ => None,
        };
        let linear = |of: &Poly, wanted: u8| {
            of.terms().any(|(monomial, _)| matches!(monomial.as_slice(), [atom] if axis(*atom) == Some(wanted)))
        };
        (0..3).any(|axis| linear(high, axis) && linear(low, axis))
    }

    /// Whether a stride stands among the arguments before all those in what is left.
    fn falls(&self, stride: &Poly, low: &Poly) -> bool {
        let arguments = |of: &Poly| {
            let mut all = Vec::new();
            for atom in of.terms().flat_map(|(monomial, _)| monomial.iter()) {
                if let Node::Variable(Variable::Argument(at), _) = self.program.terms.node(*atom) {
                    all.push(*at);
                }
            }
            all
        };
        let (own, others) = (arguments(stride), arguments(low));
        own.iter().max().zip(others.iter().min()).is_none_or(|(own, other)| own < other)
    }

    /// Whether a product is a program's number times a stride.
    fn counts_programs(&self, product: &Monomial, stride: &Monomial) -> bool {
        let is_program = |atom: &Term| self.program.terms.any_leaf(*atom, is_program);
        quotient(product, stride).is_some_and(|rest| rest.iter().any(is_program))
    }

    /// Splits `stride·high + low = 0` where `|low| < stride`.
    pub(super) fn apart(
        &mut self,
        system: &mut System,
        equation: &Poly,
        ways: &[(Poly, Poly, Poly)],
    ) -> Option<(Poly, Poly)> {
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
        let rest = |this: &mut Self, at: usize, copy: u8, whole: bool| {
            let access = &this.program.accesses[this.accesses[at] as usize];
            let (offset, bytes) = (access.offset, i128::from(access.bytes));
            let own = this.program.terms.instance(offset, copy, &mut FxHashMap::default());
            let parts = this.poly(own).exactly_by(bytes)?;
            let rest = parts.terms().filter(|(monomial, _)| {
                let strides = part(this, monomial);
                let counted_from = whole && strides.len() == monomial.len();
                quotient(monomial, &shared).is_none() && (counted_from || strides.is_empty() || open.contains(&strides))
            });
            Some(Poly::sum(rest.map(|(monomial, coefficient)| (monomial.clone(), coefficient)).collect()))
        };
        // Two numbers below a stride are closer than it only where neither is negative. What both are counted down from
        // is a product that has gone: `n·64 - 64·i`.
        let mut parts = None;
        for whole in [false, true] {
            if let (Some(mine), Some(others), Some(second)) =
                (rest(self, 0, 1, whole), rest(self, 1, 2, whole), rest(self, 1, 1, whole))
                && solved(state, mine.minus(&others)).as_ref() == Some(low)
            {
                let [a, b] = self.accesses;
                let natural = self.is_natural_span(&mine, a) && self.is_natural_span(&second, b);
                if natural || parts.is_none() {
                    parts = Some((mine, second));
                }
                if natural {
                    break;
                }
            }
        }
        if let Some((mine, others)) = parts {
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
            |copy: u8| move |node: &Node| matches!(node, Node::Variable(_, of) | Node::Read(_, _, of) if *of == copy);
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

    /// Says of products with a stride what follows from the bounds of their other factor: `i < n` holds `i·stride`
    /// to `(n - 1)·stride`.
    pub(super) fn bound_products(&self, state: &mut State) -> bool {
        let mut bounds = Vec::new();
        let products =
            state.equations.iter().filter(|equation| equation.meets).flat_map(|equation| equation.zero.terms());
        for product in products.map(|(monomial, _)| monomial).filter(|monomial| monomial.len() > 1) {
            let (shared, own): (Monomial, Monomial) = product.iter().copied().partition(|atom| self.is_shared(*atom));
            let [index] = own.as_slice() else { continue };
            if state.bounded.contains(product) || !self.convert.natural_product(&self.program.terms, &shared) {
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
        bounds.extend(self.bound_quotients(state));
        let any = !bounds.is_empty();
        state.facts.extend(bounds);
        any
    }

    /// What is known of quotients that all instances share, said of their products with strides: of `c // 32` rows of `w`,
    /// 32 are no more than `c·w`.
    fn bound_quotients(&self, state: &mut State) -> Vec<Fact> {
        let zeros = state.equations.iter().filter(|equation| equation.meets).map(|equation| &equation.zero);
        let mut products: Vec<(Term, Monomial)> = Vec::new();
        for (monomial, _) in zeros.flat_map(Poly::terms).filter(|(monomial, _)| monomial.len() > 1) {
            let shared: Monomial = monomial.iter().copied().filter(|atom| self.is_shared(*atom)).collect();
            for atom in shared.iter().copied().filter(|atom| self.is_quotient(*atom)) {
                let rest = quotient(&shared, &[atom].into_iter().collect()).filter(|rest| !rest.is_empty());
                products.extend(rest.map(|rest| (atom, rest)));
            }
        }
        let mut bounds = Vec::new();
        for (atom, rest) in products {
            let mut product = rest.clone();
            product.push(atom);
            product.sort();
            if !state.bounded.insert(product) || !self.convert.natural_product(&self.program.terms, &rest) {
                continue;
            }
            let rest = Poly::of(rest, 1);
            let own = state.facts.iter().filter(|fact| fact.poly.mentions(atom) && !self.has_programs(&fact.poly));
            bounds.extend(own.take(BOUNDS).filter_map(|fact| fact.poly.times(&rest)).map(Fact::at_least_zero));
        }
        bounds
    }

    fn is_quotient(&self, atom: Term) -> bool {
        let divides = |op: BinOp| matches!(op, BinOp::DivS | BinOp::DivU | BinOp::FloorDivS);
        matches!(self.program.terms.node(atom), Node::Binary(op, ..) if divides(*op))
    }

    /// Whether a sum is made of what programs do not share, among others.
    pub(super) fn has_programs(&self, sum: &Poly) -> bool {
        sum.atoms().any(|atom| !self.is_shared(atom))
    }

    /// Whether a sum is made of such leaves, among others.
    fn has(&self, sum: &Poly, leaf: impl Fn(&Node) -> bool) -> bool {
        sum.atoms().any(|atom| self.program.terms.any_leaf(atom, &leaf))
    }

    pub(super) fn is_shared(&self, atom: Term) -> bool {
        !self.program.terms.any_leaf(atom, |node| match node {
            Node::Variable(variable, _) => !variable.is_shared(),
            Node::Read(..) => true,
            _ => false,
        })
    }

    /// Whether `|low| < stride` follows.
    pub(super) fn is_below(&mut self, system: &mut System, low: &Poly, stride: &Poly) -> bool {
        if low.as_constant() == Some(0) {
            return true;
        }
        self.excludes(system, &low.minus(stride)) && self.excludes(system, &low.scaled(-1).minus(stride))
    }
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

fn is_read(node: &Node) -> bool {
    matches!(node, Node::Read(..))
}

fn is_argument(node: &Node) -> bool {
    matches!(node, Node::Variable(Variable::Argument(_) | Variable::DescriptorSize(..), _))
}

fn is_program(node: &Node) -> bool {
    matches!(node, Node::Variable(Variable::Program(_), _))
}

fn is_lane(node: &Node) -> bool {
    matches!(node, Node::Variable(Variable::Lane(_), _))
}
