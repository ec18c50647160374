//! Inputs that lead to code which no run came to.
//!
//! From walks with the inputs at hand it is known which side of which branch was never taken though it leads to the
//! code, and how its condition was computed there. The condition is solved for inputs, a walk with them shows whether
//! they lead further, and the next branch is looked at from there. Nothing rests on what is found here: a run decides.

mod solve;
mod walk;

use crate::limits::directed::{COST as MOST_COST, STATES as MOST_STATES, TRIES as MOST_TRIES, WALKS as MOST_WALKS};
use kernel::{EffectId, InputKind, Kernel, Terminator};
use machine::Valuation;
use solve::Goal;
use std::collections::BTreeSet;
use walk::{Seen, Walk};

pub(super) use walk::{ReadWords, WordAt};

/// The words of memory that a kernel reads under a valuation.
pub(super) fn read_words(kernel: &Kernel, valuation: &Valuation) -> ReadWords {
    Walk::new(kernel, valuation).words()
}

/// Inputs that are worth a run.
#[derive(Clone, Debug)]
pub(super) struct Lead {
    pub(super) valuation: Valuation,
    /// Effects that no run executed and that these inputs lead to.
    pub(super) reaches: Vec<EffectId>,
    /// Whether inputs that the analysis knows nothing of differ in it.
    pub(super) apart: bool,
}

/// A branch that shall go another way than it went, or a predicate that shall hold.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Aim {
    /// A side that was never taken.
    Side { block: usize, holds: bool },
    /// A predicate that never held.
    Predicate { effect: usize },
    /// Further iterations of a loop around what is missing.
    More { block: usize, holds: bool },
}

/// A search.
#[derive(Debug)]
pub(super) struct Search<'k> {
    kernel: &'k Kernel,
    /// Slots of the deepest ring.
    depth: i64,
    missing: Vec<(EffectId, usize)>,
    /// By block: branches up to the nearest block of what is missing.
    distance: Vec<Option<usize>>,
    taken: BTreeSet<(usize, bool)>,
    reached: Vec<bool>,
    states: Vec<State>,
    walks: usize,
    cost: usize,
    tried: BTreeSet<(Aim, usize, bool)>,
}

#[derive(Debug)]
struct State {
    valuation: Valuation,
    walk: Walk,
    apart: bool,
}

impl<'k> Search<'k> {
    pub(super) fn new(kernel: &'k Kernel, depth: u64, missing: Vec<(EffectId, usize)>) -> Search<'k> {
        let distance = distances(kernel, &missing);
        Search {
            kernel,
            depth: i64::try_from(depth).unwrap_or(1),
            missing,
            distance,
            taken: BTreeSet::new(),
            reached: vec![false; kernel.effects.len()],
            states: Vec::new(),
            walks: 0,
            cost: 0,
            tried: BTreeSet::new(),
        }
    }

    /// Tries to reach all that is missing from these inputs; those that lead to some of it, most first.
    pub(super) fn leads(mut self, starts: &[Valuation]) -> Vec<Lead> {
        for valuation in starts {
            self.start(valuation);
        }
        for apart in [false, true] {
            if !apart || self.knows_nothing_of_several() {
                while self.has_budget() && self.is_open() && self.advance(apart) {}
            }
        }
        let reaches = |state: &State| -> Vec<EffectId> {
            let ids = self.missing.iter().map(|(id, _)| *id);
            ids.filter(|id| state.walk.executed.get(id.index()) == Some(&true)).collect()
        };
        let lead =
            |state: &State| Lead { valuation: state.valuation.clone(), reaches: reaches(state), apart: state.apart };
        let mut leads: Vec<Lead> = self.states.iter().map(lead).filter(|lead| !lead.reaches.is_empty()).collect();
        leads.sort_by_key(|lead| (lead.apart, std::cmp::Reverse(lead.reaches.len())));
        leads
    }

    /// Inputs with which loops that these walks leave are gone around once more, some for each loop. What nobody computes
    /// stays as it is, and nothing is below zero: what a launch may not have shows nothing.
    pub(super) fn again(mut self, loops: &[usize], starts: &[Valuation]) -> Vec<Valuation> {
        let mut all: Vec<Valuation> = Vec::new();
        let inputs = &self.kernel.inputs;
        for start in starts {
            let walk = self.walk(start);
            let may_be = |new: &Valuation| {
                let mut values = inputs.iter().zip(new.values.iter().zip(&start.values));
                values.all(|(info, (now, was))| *now >= 0 && (info.kind != InputKind::Free || now == was))
                    && new.words.iter().all(|word| word.value >= 0)
            };
            for &number in loops {
                let Some(block) = self.kernel.loops.get(number).map(|info| info.head.index()) else { continue };
                let Some(holds) = self.stays(block) else { continue };
                let left = walk.branches.get(&block).and_then(|sides| sides[usize::from(!holds)]);
                let margins = self.margins(Aim::More { block, holds });
                let places = left.into_iter().flat_map(|left| [left.last, left.first]);
                for formula in places.filter_map(|place| walk.formula(place)) {
                    let goal =
                        Goal { kernel: self.kernel, formula: &formula, wanted: holds, margins: &margins, apart: false };
                    let solved = goal.solve(start).into_iter().filter(|new| may_be(new) && !all.contains(new)).take(2);
                    all.extend(solved.collect::<Vec<_>>());
                }
            }
            if !self.has_budget() {
                break;
            }
        }
        all
    }

    /// Which outcome of the branch at a loop's head stays in the loop.
    fn stays(&self, head: usize) -> Option<bool> {
        let Terminator::Branch(_, yes, no) = &self.kernel.blocks.get(head)?.terminator else { return None };
        let before = crate::Slices::new(self.kernel).predecessors();
        let blocks = before.around(head);
        let inside = |target: &kernel::JumpTarget| blocks.contains(&target.block.index());
        match (inside(yes), inside(no)) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        }
    }

    /// Values that nobody computes are kept equal, since partitions that read one and the same agree on it. A kernel
    /// of one thread has nobody who could disagree.
    fn knows_nothing_of_several(&self) -> bool {
        let free = self.kernel.inputs.iter().filter(|input| input.kind == InputKind::Free);
        let forks = self.kernel.blocks.iter().any(|block| matches!(block.terminator, Terminator::Fork(_)));
        free.count() > 1 && !forks && self.kernel.ctas == 1
    }

    fn has_budget(&self) -> bool {
        self.walks < MOST_WALKS && self.cost < MOST_COST
    }

    fn is_open(&self) -> bool {
        self.missing.iter().any(|(id, _)| self.reached.get(id.index()) == Some(&false))
    }

    fn walk(&mut self, valuation: &Valuation) -> Walk {
        let walk = Walk::new(self.kernel, valuation);
        self.walks += 1;
        self.cost += walk.cost();
        walk
    }

    fn start(&mut self, valuation: &Valuation) {
        if !self.has_budget() || self.states.iter().any(|state| state.valuation == *valuation) {
            return;
        }
        let walk = self.walk(valuation);
        if self.gains(&walk) || self.states.is_empty() {
            self.keep(valuation.clone(), walk, false);
        }
    }

    /// Whether a walk does something on the way to what is missing that none did before.
    fn gains(&self, walk: &Walk) -> bool {
        let news = |(&block, sides): (&usize, &[Option<Seen>; 2])| {
            [false, true].into_iter().any(|holds| {
                sides[usize::from(holds)].is_some()
                    && !self.taken.contains(&(block, holds))
                    && self.side(block, holds).is_some()
            })
        };
        let reached = |(id, _): &(EffectId, usize)| {
            walk.executed.get(id.index()) == Some(&true) && self.reached.get(id.index()) == Some(&false)
        };
        self.missing.iter().any(reached) || walk.branches.iter().any(news)
    }

    fn keep(&mut self, valuation: Valuation, walk: Walk, apart: bool) {
        for (&block, sides) in &walk.branches {
            let sides = [false, true].into_iter().filter(|holds| sides[usize::from(*holds)].is_some());
            self.taken.extend(sides.map(|holds| (block, holds)));
        }
        for (known, executed) in self.reached.iter_mut().zip(&walk.executed) {
            *known |= executed;
        }
        self.states.push(State { valuation, walk, apart });
    }

    /// How far it is to what is missing behind one side of a branch.
    fn side(&self, block: usize, holds: bool) -> Option<usize> {
        let Terminator::Branch(_, yes, no) = &self.kernel.blocks.get(block)?.terminator else { return None };
        *self.distance.get(if holds { yes } else { no }.block.index())?
    }

    /// What to try next, nearest first.
    fn aims(&self) -> Vec<Aim> {
        let mut aims: Vec<(usize, Aim)> = Vec::new();
        let seen: BTreeSet<usize> = self.taken.iter().map(|(block, _)| *block).collect();
        for &block in &seen {
            for holds in [true, false] {
                let Some(distance) = self.side(block, holds) else { continue };
                if !self.taken.contains(&(block, holds)) {
                    aims.push((distance, Aim::Side { block, holds }));
                } else if self.taken.contains(&(block, !holds)) && self.is_loop(block) {
                    aims.push((distance + self.distance.len(), Aim::More { block, holds }));
                }
            }
        }
        for (id, _) in &self.missing {
            if self.reached.get(id.index()) == Some(&false) {
                aims.push((0, Aim::Predicate { effect: id.index() }));
            }
        }
        aims.sort_unstable();
        aims.into_iter().map(|(_, aim)| aim).collect()
    }

    fn is_loop(&self, block: usize) -> bool {
        self.kernel.loops.iter().any(|info| info.head.index() == block)
    }

    /// One step towards what is missing; whether there was one.
    fn advance(&mut self, apart: bool) -> bool {
        for aim in self.aims() {
            let states: Vec<usize> = (0..self.states.len()).rev().take(MOST_STATES).chain([0]).collect();
            for at in states {
                if self.tried.insert((aim, at, apart)) && self.attempt(aim, at, apart) {
                    return true;
                }
                if !self.has_budget() {
                    return false;
                }
            }
        }
        false
    }

    fn attempt(&mut self, aim: Aim, at: usize, apart: bool) -> bool {
        let Some(state) = self.states.get(at) else { return false };
        let (seen, wanted) = match aim {
            Aim::Side { block, holds } | Aim::More { block, holds } => {
                let sides = state.walk.branches.get(&block);
                (sides.and_then(|sides| sides[usize::from(!holds)]), holds)
            }
            Aim::Predicate { effect } => (state.walk.predicates.get(&effect).and_then(|sides| sides[0]), true),
        };
        let Some(seen) = seen else { return false };
        let margins = self.margins(aim);
        let mut candidates: Vec<Valuation> = Vec::new();
        for place in [seen.first, seen.last] {
            if let Some(formula) = state.walk.formula(place) {
                let goal = Goal { kernel: self.kernel, formula: &formula, wanted, margins: &margins, apart };
                candidates.extend(goal.solve(&state.valuation).into_iter().take(MOST_TRIES));
            }
            if seen.first == seen.last {
                break;
            }
        }
        let apart = apart || state.apart;
        for valuation in candidates {
            if !self.has_budget() {
                return false;
            }
            if self.states.iter().any(|state| state.valuation == valuation) {
                continue;
            }
            let walk = self.walk(&valuation);
            if self.gains(&walk) {
                self.keep(valuation, walk, apart);
                return true;
            }
        }
        false
    }

    /// By how much the sides of a comparison shall differ: a loop shall go once around its ring.
    fn margins(&self, aim: Aim) -> Vec<i64> {
        let head = match aim {
            Aim::Side { block, .. } | Aim::More { block, .. } => {
                self.kernel.loops.iter().find(|info| info.head.index() == block)
            }
            Aim::Predicate { .. } => None,
        };
        let around = self.depth.saturating_add(1);
        match head.and_then(|info| info.counted) {
            Some((_, _, _, step)) => {
                let step = constant(self.kernel, step).filter(|step| *step > 0).unwrap_or(1);
                [around, 4 * around, 1].iter().map(|times| step.saturating_mul(*times)).collect()
            }
            None if head.is_some() => vec![around, 1, 64 * around],
            None => vec![1, 16, 256, 4096],
        }
    }
}

fn constant(kernel: &Kernel, var: kernel::Var) -> Option<i64> {
    crate::Slices::new(kernel).constant(var)
}

/// By block: branches up to the nearest block of what is missing.
fn distances(kernel: &Kernel, missing: &[(EffectId, usize)]) -> Vec<Option<usize>> {
    let mut sources: Vec<Vec<usize>> = vec![Vec::new(); kernel.blocks.len()];
    for (number, block) in kernel.blocks.iter().enumerate() {
        for target in block.terminator.targets() {
            if let Some(sources) = sources.get_mut(target.block.index()) {
                sources.push(number);
            }
        }
    }
    let mut distance: Vec<Option<usize>> = vec![None; kernel.blocks.len()];
    let mut open: std::collections::VecDeque<usize> = std::collections::VecDeque::new();
    for &(_, block) in missing {
        if let Some(slot @ None) = distance.get_mut(block) {
            *slot = Some(0);
            open.push_back(block);
        }
    }
    while let Some(block) = open.pop_front() {
        let next = distance.get(block).copied().flatten().map(|distance| distance + 1);
        for &source in sources.get(block).map_or(&[][..], |sources| sources) {
            if let Some(slot @ None) = distance.get_mut(source) {
                *slot = next;
                open.push_back(source);
            }
        }
    }
    distance
}
