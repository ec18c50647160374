//! What has to wait for what: the accesses of buffers that share memory, run once through by the rules
//! of a sequential program.
//!
//! The accesses are put in order with every loop gone round twice. An access has to come after the
//! last write of what it touches, and a write after the reads since. What its task knows already, because
//! it or the task that told it has waited, needs no edge of its own; so the steps that are left are those
//! from one phase of the buffer to the next. The second round of a loop shows the steps that lead round it.

use std::collections::{BTreeMap, BTreeSet};

use super::access::{Access, Engine};
use ttgir::{BlockId, OpId};

/// Accesses in the nest of loops and branches that holds them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Item {
    /// By place in the list.
    Access(usize),
    /// The loop's body and what is in it; whether it is known to run at least once.
    Loop { body: BlockId, items: Vec<Item>, runs: bool },
    /// Regions of which one runs, or none of them unless they are all.
    Branch { ways: Vec<(BlockId, Vec<Item>)>, all: bool },
}

/// A step that one task has to wait for another with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Step {
    /// The access that has to be over, by place.
    pub(super) from: usize,
    /// The access that waits.
    pub(super) to: usize,
    /// The body of the loop round which it leads.
    pub(super) around: Option<BlockId>,
}

/// One access in one round of the loops around it.
#[derive(Clone)]
struct Event {
    access: usize,
    rounds: Vec<(BlockId, u32)>,
    /// What is known where it is over.
    knows: BTreeSet<usize>,
}

/// Who is where.
#[derive(Clone, Default)]
struct State {
    /// Of each member, the last writes and the reads since.
    members: Vec<(Vec<usize>, Vec<usize>)>,
    known: BTreeMap<(usize, Engine), BTreeSet<usize>>,
}

/// Finds the steps.
pub(super) struct Run<'a> {
    accesses: &'a [Access],
    /// Which part of the memory each member covers.
    extents: &'a [(u64, u64)],
    events: Vec<Event>,
    rounds: Vec<(BlockId, u32)>,
    steps: BTreeSet<Step>,
}

impl<'a> Run<'a> {
    /// The steps of `items`; where they are the body of a loop, `round` is that body.
    pub(super) fn steps(
        accesses: &'a [Access],
        extents: &'a [(u64, u64)],
        items: &[Item],
        round: Option<BlockId>,
    ) -> BTreeSet<Step> {
        let steps = BTreeSet::new();
        let mut run = Run { accesses, extents, events: Vec::new(), rounds: Vec::new(), steps };
        let mut state = State { members: vec![Default::default(); extents.len()], known: BTreeMap::new() };
        match round {
            Some(body) => run.loops(body, items, &mut state),
            None => run.items(items, &mut state),
        }
        run.steps
    }

    fn items(&mut self, items: &[Item], state: &mut State) {
        for item in items {
            match item {
                Item::Access(at) => self.access(*at, state),
                Item::Loop { body, items, .. } => self.loops(*body, items, state),
                Item::Branch { ways, all } => {
                    let before = state.clone();
                    let mut ends = Vec::new();
                    for (_, way) in ways {
                        let mut state = before.clone();
                        self.items(way, &mut state);
                        ends.push(state);
                    }
                    if !all {
                        ends.push(before);
                    }
                    *state = merge(ends);
                }
            }
        }
    }

    fn loops(&mut self, body: BlockId, items: &[Item], state: &mut State) {
        for round in 0..2 {
            self.rounds.push((body, round));
            self.items(items, state);
            self.rounds.pop();
        }
    }

    fn access(&mut self, at: usize, state: &mut State) {
        let access = &self.accesses[at];
        let Access { task, engine, member, .. } = *access;
        let event = self.events.len();
        let overlap = |other: usize| {
            let (a, b) = (self.extents[member], self.extents[other]);
            a.0 < b.1 && b.0 < a.1
        };
        let mut before: BTreeSet<usize> = state.members[member].0.iter().copied().collect();
        if access.writes {
            let others = (0..self.extents.len()).filter(|other| overlap(*other));
            for (writes, reads) in others.map(|other| &state.members[other]) {
                before.extend(writes.iter().chain(reads));
            }
        }
        // Latest first: what that one has waited for needs no edge of its own.
        for &earlier in before.iter().rev() {
            let of = |engine| state.known.get(&(task, engine)).is_some_and(|known| known.contains(&earlier));
            if of(Engine::Warps) || engine == Engine::TensorCore && of(Engine::TensorCore) {
                continue;
            }
            self.steps.insert(self.step(earlier, at));
            let learnt = self.events[earlier].knows.clone();
            state.known.entry((task, Engine::Warps)).or_default().extend(learnt);
        }
        if engine == Engine::TensorCore {
            let warps = state.known.get(&(task, Engine::Warps)).cloned().unwrap_or_default();
            state.known.entry((task, Engine::TensorCore)).or_default().extend(warps);
        }
        let known = state.known.entry((task, engine)).or_default();
        known.insert(event);
        let knows = known.clone();
        self.events.push(Event { access: at, rounds: self.rounds.clone(), knows });
        if access.writes {
            let extent = self.extents[member];
            for other in 0..self.extents.len() {
                let part = self.extents[other];
                let (writes, reads) = &mut state.members[other];
                if other == member || extent.0 <= part.0 && part.1 <= extent.1 {
                    (*writes, *reads) = (vec![event], Vec::new());
                } else if extent.0 < part.1 && part.0 < extent.1 {
                    writes.push(event);
                }
            }
        } else {
            let events = &self.events;
            let (_, reads) = &mut state.members[member];
            let accesses = self.accesses;
            reads.retain(|read| {
                let other = &accesses[events[*read].access];
                (other.task, other.engine) != (task, engine)
            });
            reads.push(event);
        }
    }

    fn step(&self, earlier: usize, to: usize) -> Step {
        let from = &self.events[earlier];
        let turned = from.rounds.iter().zip(&self.rounds).find(|(a, b)| a != b);
        let around = turned.filter(|(a, b)| a.0 == b.0).map(|(a, _)| a.0);
        Step { from: from.access, to, around }
    }
}

/// What holds whichever way was taken.
fn merge(ends: Vec<State>) -> State {
    let mut ends = ends.into_iter();
    let Some(mut all) = ends.next() else { return State::default() };
    for end in ends {
        for ((writes, reads), (more, others)) in all.members.iter_mut().zip(end.members) {
            let missing: Vec<usize> = more.into_iter().filter(|event| !writes.contains(event)).collect();
            writes.extend(missing);
            let missing: Vec<usize> = others.into_iter().filter(|event| !reads.contains(event)).collect();
            reads.extend(missing);
        }
        for (who, known) in &mut all.known {
            match end.known.get(who) {
                Some(other) => known.retain(|event| other.contains(event)),
                None => known.clear(),
            }
        }
    }
    all
}

/// The op of `path` that stands in `block`.
pub(super) fn anchor(path: &[(BlockId, OpId)], block: BlockId) -> Option<OpId> {
    path.iter().find(|(at, _)| *at == block).map(|(_, op)| *op)
}

/// The innermost block that holds both.
pub(super) fn common(a: &[(BlockId, OpId)], b: &[(BlockId, OpId)]) -> Option<BlockId> {
    a.iter().zip(b).take_while(|(a, b)| a.0 == b.0).last().map(|(a, _)| a.0)
}
