//! Pointers that point into one of several tensors, by conditions: each way is an access of its own, under its condition.

use rustc_hash::FxHashMap;
use ttgir::{OpId, ValueId};

use super::memory::Place;
use super::{Choice, Extractor, Target, Value};
use crate::limits::extract::WAYS;
use crate::program::{Action, Base, Completion, Step};
use terms::{Node, Term, Variable};

impl Extractor<'_> {
    /// What a pointer points into that is one of two.
    pub(super) fn one_of(&mut self, condition: Term, yes: Target, no: Target) -> Target {
        match self.program.terms.constant(condition) {
            Some(0) => return no,
            Some(_) => return yes,
            None if yes == no => return yes,
            None => {}
        }
        let unknown = Target::Tensor(Base::Unknown);
        if yes == unknown || no == unknown || self.ways(yes) + self.ways(no) > WAYS {
            return unknown;
        }
        let choice = Choice { condition, yes, no };
        let known = self.choices.iter().position(|other| *other == choice);
        let at = known.unwrap_or_else(|| {
            self.choices.push(choice);
            self.choices.len() - 1
        });
        Target::Choice(at as u32)
    }

    fn ways(&self, target: Target) -> usize {
        match target {
            Target::Tensor(_) => 1,
            Target::Choice(at) => {
                self.choices.get(at as usize).map_or(1, |choice| self.ways(choice.yes) + self.ways(choice.no))
            }
        }
    }

    /// The same with its conditions made into others.
    pub(super) fn retarget(&mut self, target: Target, make: &mut dyn FnMut(&mut Self, Term) -> Term) -> Target {
        let Target::Choice(at) = target else { return target };
        let Some(&Choice { condition, yes, no }) = self.choices.get(at as usize) else { return target };
        let condition = make(self, condition);
        let yes = self.retarget(yes, make);
        let no = self.retarget(no, make);
        self.one_of(condition, yes, no)
    }

    /// An access through a pointer that is one of two: two accesses, of which each lane does one. Gives the number of
    /// the last.
    pub(super) fn either_access(
        &mut self,
        op: OpId,
        choice: u32,
        place: &Place,
        action: Action,
        completion: Completion,
        value: Option<ValueId>,
    ) -> u32 {
        let Some(&Choice { condition, yes, no }) = self.choices.get(choice as usize) else {
            return self.access(op, place.with(Target::Tensor(Base::Unknown)), action, completion, value);
        };
        let result = self.tree.results(op).first().copied();
        let not = self.program.terms.not(condition);
        let by_lane =
            self.program.terms.any_leaf(condition, |node| matches!(node, Node::Variable(Variable::Lane(_), _)));
        let (path, mut made) = (self.path, Vec::new());
        let mut last = 0;
        for (target, holds, taken) in [(yes, condition, true), (no, not, false)] {
            let (here, elsewhere) = (self.program.terms.truth(taken), self.program.terms.truth(!taken));
            let mut known = FxHashMap::from_iter([(condition, here), (not, elsewhere)]);
            let mut way = place.with(target);
            for term in [&mut way.offset, &mut way.mask] {
                *term = self.program.terms.replace(*term, &mut known, &mut |_, _, _| None);
            }
            if by_lane {
                way.mask = self.program.terms.and(way.mask, holds);
            } else {
                self.path = self.program.terms.and(path, holds);
            }
            let outer = std::mem::take(&mut self.steps);
            last = self.access(op, way, action, completion, value);
            let steps = std::mem::replace(&mut self.steps, outer);
            let read = result.and_then(|result| self.values.get(&result).cloned());
            made.push((steps, read));
        }
        self.path = path;
        let (Some((otherwise, no)), Some((then, yes))) = (made.pop(), made.pop()) else { return last };
        if by_lane {
            self.steps.extend(then.into_iter().chain(otherwise));
        } else {
            self.steps.push(Step::If(condition, then, otherwise));
        }
        if let (Some(result), Some(yes @ Value::Int(_)), Some(no)) = (result, yes, no)
            && let Some(read) = self.choose(condition, yes, no)
        {
            self.bind(result, read);
        }
        last
    }
}
