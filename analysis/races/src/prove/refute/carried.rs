//! What a loop carries that no formula gives: it is what the loop began with, or what some round made it, under the
//! conditions of that round. A search through a table tells of the place that it found.

use super::{Hypothesis, Refuter, State, solved};
use crate::limits::proofs::ROUND_WAYS;
use crate::program::Source;
use crate::prove::convert::Fact;
use crate::prove::poly::Poly;
use crate::prove::table::Trust;
use terms::{Node, Term, Variable};

/// The first number of an instance that stands for a round of a loop; the two programs are 1 and 2.
const ROUNDS_FROM: u8 = 3;

impl Refuter<'_> {
    /// A carried value that was not looked at yet: what it may be.
    pub(super) fn of_rounds(&mut self, state: &mut State) -> Option<Vec<Hypothesis>> {
        if self.trust == Trust::Nothing {
            return None;
        }
        for atom in self.places(state) {
            if state.chosen.contains(&atom) {
                continue;
            }
            let Node::Read(source, lanes, copy @ (1 | 2)) = self.program.terms.node(atom).clone() else { continue };
            let Some(Source::Carried) = self.program.sources.get(source as usize) else { continue };
            if !lanes.is_empty() || state.rounds >= u8::MAX - ROUNDS_FROM {
                continue;
            }
            let carried = |of: &crate::program::Loop| of.carried.iter().any(|carried| carried.source == source);
            let Some(number) = self.program.loops.iter().position(carried) else { continue };
            let own = self.program.loops[number].carried.iter().find(|carried| carried.source == source);
            let Some((first, next)) = own.map(|carried| (carried.first, carried.next)) else { continue };
            state.chosen.insert(atom);
            let mut ways = Vec::new();
            let itself = self.program.terms.read(source, [].into(), self.program.terms.bits(next));
            if !self.made(next, itself, &mut Vec::new(), &mut ways) {
                continue;
            }
            let round = ROUNDS_FROM + state.rounds;
            state.rounds += 1;
            let mut all =
                vec![self.is(state, atom, first, |this, term| this.in_round(term, number as u32, copy, copy))?];
            for (conditions, made) in ways {
                let mut way: Vec<Hypothesis> = Vec::new();
                for (condition, holds) in conditions {
                    let condition = self.in_round(condition, number as u32, copy, round);
                    way.push(Hypothesis::Condition(condition, holds));
                }
                way.push(self.is(state, atom, made, |this, term| this.in_round(term, number as u32, copy, round))?);
                all.push(Hypothesis::All(way));
            }
            return Some(all);
        }
        None
    }

    fn is(
        &mut self,
        state: &State,
        atom: Term,
        term: Term,
        make: impl FnOnce(&mut Self, Term) -> Term,
    ) -> Option<Hypothesis> {
        let term = make(self, term);
        let value = self.poly(term);
        let zero = solved(state, Poly::atom(atom).minus(&value))?;
        Some(Hypothesis::Relation(Fact::zero(zero)))
    }

    /// Under which conditions a round makes a value what; false where these are many, or no condition says anything.
    fn made(
        &self,
        next: Term,
        itself: Term,
        conditions: &mut Vec<(Term, bool)>,
        ways: &mut Vec<(Vec<(Term, bool)>, Term)>,
    ) -> bool {
        match *self.program.terms.node(next) {
            _ if next == itself => true,
            Node::Select(condition, yes, no) => [(yes, true), (no, false)].into_iter().all(|(way, holds)| {
                conditions.push((condition, holds));
                let few = self.made(way, itself, conditions, ways);
                conditions.pop();
                few
            }),
            _ => {
                ways.push((conditions.clone(), next));
                !conditions.is_empty() && ways.len() <= ROUND_WAYS
            }
        }
    }

    /// An expression of a loop's body as it is in one of its rounds: what is the same in all of them is that of `copy`.
    fn in_round(&mut self, term: Term, number: u32, copy: u8, round: u8) -> Term {
        let program = &mut *self.program;
        let (accesses, sources) = (&program.accesses, &program.sources);
        let outside = |source: u32| match sources.get(source as usize) {
            Some(Source::Access(access)) => !accesses[*access as usize].loops.contains(&number),
            _ => false,
        };
        program.terms.replace(term, &mut rustc_hash::FxHashMap::default(), &mut |terms, node, bits| match node {
            Node::Variable(variable, 0) if !variable.is_shared() => {
                let of = if matches!(variable, Variable::Round(own) if *own >= number) { round } else { copy };
                Some(terms.intern(Node::Variable(*variable, of), bits))
            }
            Node::Read(source, lanes, 0) => {
                let of = if outside(*source) { copy } else { round };
                Some(terms.intern(Node::Read(*source, lanes.clone(), of), bits))
            }
            _ => None,
        })
    }
}
