//! Whether what is assumed of a stride can hold of all that an access does.
//!
//! `stride` exceeds `span` for every lane, round and program that executes, or the assumption says nothing of the kernel:
//! under a mask `c < n` some lane has `c = n - 1`, and a stride `n` does not exceed `c + 1` there. So each bound of what
//! programs do not share is taken to be met, and if the span then leaves the stride whatever the arguments are, nobody
//! can launch the kernel as it is assumed.

use rustc_hash::FxHashMap;

use super::system::System;
use super::{Hypothesis, Refuter, Spread, State};
use crate::limits::proofs::BOUNDS;
use crate::prove::convert::Fact;
use crate::prove::poly::{Monomial, Poly};
use crate::term::{BinOp, Node, Symbol, Term};

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

    fn breaks(&mut self, spread: &Spread) -> bool {
        let Some(facts) = self.domain(spread.access, [&spread.span, &spread.stride]) else { return false };
        // It is negative, or no less than the stride.
        let ways = [spread.span.clone(), spread.stride.minus(&spread.span).shifted(-1)];
        let own: Vec<&Fact> = facts.iter().filter(|fact| self.has_programs(&fact.poly)).take(BOUNDS).collect();
        let minima: Vec<&Fact> = facts.iter().filter(|fact| self.is_minimum(&fact.poly)).take(BOUNDS).collect();
        let fails = |met: &[&Poly]| {
            let mut system = System::new(&facts, met.iter().copied());
            !system.simplex.contradictory()
                && ways.iter().any(|way| {
                    let row = system.row(way, false);
                    system.simplex.contradicts(row)
                })
        };
        fails(&[])
            || own.iter().any(|fact| {
                let with_minimum = |minimum: &&&Fact| {
                    let shared = minimum.poly.atoms().any(|atom| self.is_smaller(atom) && fact.poly.mentions(atom));
                    shared && minimum.poly != fact.poly
                };
                fails(&[&fact.poly])
                    || minima.iter().filter(with_minimum).any(|minimum| fails(&[&fact.poly, &minimum.poly]))
            })
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
        matches!(self.program.terms.node(atom), Node::Symbol(Symbol::Argument(_), _))
    }

    /// Whether a sum says of a minimum that it is no more than one of its sides.
    fn is_minimum(&self, sum: &Poly) -> bool {
        sum.atoms().any(|atom| self.is_smaller(atom) && sum.coefficient(&[atom].into_iter().collect()) == Some(-1))
    }

    fn is_smaller(&self, atom: Term) -> bool {
        matches!(self.program.terms.node(atom), Node::Binary(BinOp::MinS | BinOp::MinU, ..))
    }
}
