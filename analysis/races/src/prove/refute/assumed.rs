//! Whether what is assumed of a stride can hold of all that an access does.
//!
//! `stride` exceeds `span` for every lane, round and program that executes, or the assumption says nothing of the kernel:
//! under a mask `c < n` some lane has `c = n - 1`, and a stride `n` does not exceed `c + 1` there. So each bound of what
//! programs do not share is taken to be met, behind the first row as well, and if the span then leaves the stride whatever
//! the arguments are, nobody can launch the kernel as it is assumed.

use rustc_hash::FxHashMap;

use super::system::System;
use super::{Hypothesis, Refuter, Spread, State};
use crate::choose::is_contradicted;
use crate::expressions::used;
use crate::limits::proofs::BOUNDS;
use crate::program::Source;
use crate::prove::convert::Fact;
use crate::prove::poly::{Monomial, Poly};
use terms::{BinOp, Node, Term, Variable};

impl Refuter<'_> {
    /// Whether a spread fails wherever some bound of a lane, a round or a program is met.
    pub(super) fn is_broken(&mut self, spread: &Spread) -> bool {
        if let Some(known) = self.broken.get(spread) {
            return *known;
        }
        let broken = self.breaks(spread);
        self.broken.insert(spread.clone(), broken);
        broken
    }

    /// Whether launches that the host makes speak against a spread.
    pub(super) fn is_contradicted(&mut self, spread: &Spread) -> bool {
        if self.launch.host.is_empty() {
            return false;
        }
        if let Some(known) = self.contradicted.get(spread) {
            return *known;
        }
        let contradicted = is_contradicted(self.program, self.launch, spread);
        self.contradicted.insert(spread.clone(), contradicted);
        contradicted
    }

    fn breaks(&mut self, spread: &Spread) -> bool {
        if self.is_computed(spread) || self.leaves_out_dense(spread) {
            return true;
        }
        let Some(mut facts) = self.domain(spread.access, [&spread.span, &spread.stride]) else { return false };
        facts.extend(self.several_of_each());
        // It is negative, or no less than the stride.
        let ways = [spread.span.clone(), spread.stride.minus(&spread.span).shifted(-1)];
        let own: Vec<&Fact> = facts.iter().filter(|fact| self.has_programs(&fact.poly)).take(BOUNDS).collect();
        let minima: Vec<&Fact> = facts.iter().filter(|fact| self.is_minimum(&fact.poly)).take(BOUNDS).collect();
        let fails = |met: &[&Poly], further: Option<&Fact>| {
            let mut system = System::new(&facts, met.iter().copied());
            if let Some(further) = further {
                let row = system.row(&further.poly, further.equal);
                system.simplex.assert(row);
            }
            !system.simplex.contradictory()
                && ways.iter().any(|way| {
                    let row = system.row(way, false);
                    system.simplex.contradicts(row)
                })
        };
        fails(&[], None)
            || self.is_negative_at_start(&spread.span, &facts)
            || self.is_of_first_alone(spread, &facts)
            || own.iter().any(|fact| {
                let with_minimum = |minimum: &&&Fact| {
                    let shared = minimum.poly.atoms().any(|atom| self.is_smaller(atom) && fact.poly.mentions(atom));
                    shared && minimum.poly != fact.poly
                };
                // A row of which there is but one tells nothing of how far apart rows are.
                let is_further = Fact::at_least_zero(self.own_part(&fact.poly).scaled(-1).shifted(-1));
                fails(&[&fact.poly], None)
                    || fails(&[&fact.poly], Some(&is_further))
                    || minima.iter().filter(with_minimum).any(|minimum| fails(&[&fact.poly, &minimum.poly], None))
            })
    }

    /// Whether what is added to an index of rows is a number that an op makes of data in registers, such as the place of
    /// the largest: how large that is no size says.
    fn is_computed(&self, spread: &Spread) -> bool {
        let terms = &self.program.terms;
        let is_op = |source: u32| matches!(self.program.sources.get(source as usize), Some(Source::Op));
        spread
            .span
            .atoms()
            .any(|atom| terms.any_leaf(atom, |node| matches!(node, Node::Read(source, ..) if is_op(*source))))
    }

    /// That of a number which is divided by another one, and then something by the quotient, there are several times as many:
    /// heads that share a head, of which one alone is a launch among others.
    fn several_of_each(&mut self) -> Vec<Fact> {
        let all = used(self.program);
        let ratio = |term: Term| match *self.program.terms.node(term) {
            Node::Binary(BinOp::DivS | BinOp::DivU | BinOp::FloorDivS, many, few) => Some((many, few)),
            _ => None,
        };
        let shared = |term: &Term| {
            !self.program.terms.any_leaf(*term, |node| match node {
                Node::Variable(variable, _) => !matches!(variable, Variable::Argument(_)),
                node => matches!(node, Node::Read(..)),
            })
        };
        let divisors = all.iter().filter_map(|term| match *self.program.terms.node(*term) {
            Node::Binary(BinOp::DivS | BinOp::DivU | BinOp::FloorDivS | BinOp::RemS | BinOp::RemU, _, by) => ratio(by),
            _ => None,
        });
        let pairs: Vec<(Term, Term)> = divisors.filter(|(many, few)| shared(many) && shared(few)).collect();
        let facts = pairs.into_iter().map(|(many, few)| Fact::at_least_zero(self.poly(many).plus(&self.poly(few), -2)));
        facts.collect()
    }

    /// What programs, lanes and rounds contribute to a sum.
    fn own_part(&self, sum: &Poly) -> Poly {
        let is_own = |monomial: &Monomial| monomial.iter().any(|atom| !self.is_shared(*atom));
        let own = sum.terms().filter(|(monomial, _)| is_own(monomial));
        Poly::sum(own.map(|(monomial, times)| (monomial.clone(), times)).collect())
    }

    /// Whether what is assumed leaves each sequence, row or tile but the first one without anything to do: with it no program
    /// executes the access but those whose number along some axis is 0, and without it others do.
    fn is_of_first_alone(&self, spread: &Spread, facts: &[Fact]) -> bool {
        let Spread { stride, span, .. } = spread;
        let mut assumed = vec![Fact::at_least_zero(span.clone()), Fact::at_least_zero(stride.minus(span).shifted(-1))];
        let base = |atom: &Term| match self.program.terms.node(*atom) {
            Node::Read(source, _, 1) => match self.program.sources.get(*source as usize) {
                Some(Source::Access(number)) => Some(self.program.accesses[*number as usize].base),
                _ => None,
            },
            _ => None,
        };
        let mut atoms: Vec<Term> = facts.iter().flat_map(|fact| fact.poly.atoms()).collect();
        atoms.sort();
        atoms.dedup();
        // What is said of a value of a table is said of all.
        for read in span.atoms().filter(|atom| base(atom).is_some()) {
            for other in atoms.iter().filter(|other| **other != read && base(other) == base(&read)) {
                let span = span.substitute(read, &Poly::atom(*other));
                assumed.extend(span.map(|span| Fact::at_least_zero(stride.minus(&span).shifted(-1))));
            }
        }
        let is_number =
            |atom: &&Term| matches!(self.program.terms.node(**atom), Node::Variable(Variable::Program(_), 1));
        atoms.iter().filter(is_number).any(|number| {
            let further = Poly::atom(*number).shifted(-1);
            let mut others = facts.to_vec();
            others.extend(further.times(stride).map(Fact::at_least_zero));
            others.push(Fact::at_least_zero(further));
            if System::new(&others, []).simplex.contradictory() {
                return false;
            }
            others.extend(assumed.iter().cloned());
            System::new(&others, []).simplex.contradictory()
        })
    }

    /// Whether a lane would lie behind all that programs write one by one, with gaps between these that nothing fills: no
    /// tensor has such rows.
    pub(super) fn leaves_gaps(&mut self, spread: &Spread) -> bool {
        let access = self.program.accesses[spread.access as usize].clone();
        // What other accesses touch may lie between.
        let others =
            self.program.accesses.iter().any(|other| other.base == access.base && other.offset != access.offset);
        let mut parts: Vec<(i128, Term)> = Vec::new();
        for (monomial, coefficient) in spread.span.terms().filter(|(monomial, _)| !monomial.is_empty()) {
            let [atom] = monomial.as_slice() else { return false };
            parts.push((coefficient.abs(), *atom));
        }
        parts.sort();
        let mut reach = 0;
        for (step, atom) in parts {
            match self.program.terms.node(atom) {
                Node::Variable(Variable::Lane(dim), _) => {
                    let lanes = access.lanes.get(usize::from(*dim)).copied().unwrap_or(1);
                    reach += step * (i128::from(lanes) - 1).max(0);
                }
                Node::Variable(Variable::Program(_), _) => return !others && step > reach + 1,
                _ => return false,
            }
        }
        false
    }

    /// Whether a span is nowhere negative where its access executes.
    pub(super) fn is_natural_span(&mut self, span: &Poly, access: u32) -> bool {
        if span.as_constant().is_some_and(|value| value >= 0) {
            return true;
        }
        let Some(facts) = self.domain(access, [span]) else { return true };
        let mut system = System::new(&facts, []);
        let row = system.row(&span.scaled(-1).shifted(-1), false);
        system.simplex.contradicts(row)
    }

    /// What holds where an access executes in the first instance, and the second of the pair in the other one; `None`
    /// where that contradicts itself.
    fn domain<const N: usize>(&mut self, access: u32, about: [&Poly; N]) -> Option<Vec<Fact>> {
        let mut state = State { distances: about.into_iter().cloned().collect(), ..State::default() };
        let lanes = self.lanes.clone();
        let accesses = [access, self.accesses[1]];
        self.lanes = accesses.map(|access| self.program.accesses[access as usize].lanes.clone());
        let mut holds = true;
        for (copy, access) in [1, 2].into_iter().zip(accesses) {
            let of = &self.program.accesses[access as usize];
            for term in [of.path, of.mask] {
                let term = self.program.terms.instance(term, copy, &mut FxHashMap::default());
                holds &= !self.assert(&mut state, Hypothesis::Condition(term, true));
            }
        }
        holds = holds && self.say(&mut state);
        self.lanes = lanes;
        let equations = state.equations.into_iter().map(|equation| Fact::zero(equation.zero));
        let mut facts: Vec<Fact> = state.facts.into_iter().chain(equations).collect();
        let products = self.products(&facts, about);
        facts.extend(products);
        holds.then_some(facts)
    }

    /// What is known of an index, said of its product with a stride, which is 1 at least.
    fn products<const N: usize>(&self, facts: &[Fact], about: [&Poly; N]) -> Vec<Fact> {
        let mut strides: Vec<(Monomial, Vec<Term>)> = Vec::new();
        for (monomial, _) in about.into_iter().flat_map(Poly::terms).filter(|(monomial, _)| monomial.len() > 1) {
            let (stride, own): (Monomial, Monomial) =
                monomial.iter().copied().partition(|atom| self.is_shared(*atom) && self.is_argument(*atom));
            if stride.is_empty() || own.is_empty() || !self.convert.natural_product(&self.program.terms, &stride) {
                continue;
            }
            match strides.iter_mut().find(|(known, _)| *known == stride) {
                Some((_, indices)) => indices.extend(own),
                None => strides.push((stride, own.to_vec())),
            }
        }
        let mut products = Vec::new();
        for (stride, indices) in strides {
            let stride = Poly::of(stride, 1);
            products.push(Fact::at_least_zero(stride.shifted(-1)));
            let own = facts.iter().filter(|fact| fact.poly.atoms().any(|atom| indices.contains(&atom)));
            for fact in own.take(BOUNDS) {
                products.extend(fact.poly.times(&stride).map(|poly| Fact { poly, equal: fact.equal }));
            }
        }
        products
    }

    fn is_argument(&self, atom: Term) -> bool {
        matches!(self.program.terms.node(atom), Node::Variable(Variable::Argument(_), _))
    }

    /// Whether a sum says of a minimum that it is no more than one of its sides.
    fn is_minimum(&self, sum: &Poly) -> bool {
        sum.atoms().any(|atom| self.is_smaller(atom) && sum.coefficient(&[atom].into_iter().collect()) == Some(-1))
    }

    fn is_smaller(&self, atom: Term) -> bool {
        matches!(self.program.terms.node(atom), Node::Binary(BinOp::MinS | BinOp::MinU, ..))
    }
}
