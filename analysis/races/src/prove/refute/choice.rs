//! What is tried both ways: which program is ahead, which ticket was drawn first, minima, selections.

use super::{Hypothesis, Refuter, State, solved};
use crate::prove::convert::Fact;
use crate::prove::poly::Poly;
use crate::prove::ticket::Counter;
use terms::{BinOp, Node, Term, Variable};

impl Refuter<'_> {
    /// Two tickets of one counter, drawn by the two instances: which was drawn first.
    fn drawn(&self, state: &mut State) -> Option<Vec<Hypothesis>> {
        let of = |copy: u8| {
            // Of numbers of programs, those that were granted are told from those that are launched.
            let grid = self.tickets.values().find(|counter| counter.axis().is_some());
            let drawn = |atom: &Term| match self.program.terms.node(*atom) {
                Node::Read(source, _, whose) if *whose == copy => Some((*atom, *self.tickets.get(source)?)),
                Node::Variable(Variable::Program(axis), whose) if *whose == copy => {
                    Some((*atom, *grid.filter(|grid| grid.axis() == Some(*axis))?))
                }
                _ => None,
            };
            let mut all: Vec<(Term, Counter)> = state.said.iter().filter_map(drawn).collect();
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
    pub(super) fn choice(&mut self, state: &mut State) -> Option<Vec<Hypothesis>> {
        if let Some(ways) = self.stretches(state) {
            return Some(ways);
        }
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
        if let Some(ways) = self.of_rounds(state) {
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
