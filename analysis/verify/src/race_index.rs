//! Violations that say what another one of the run says index.

use kernel::EffectId;
use machine::{Event, Rule, Violation};
use rustc_hash::FxHashSet;

/// What the races of a run, and the results it uses too early, are about.
#[derive(Default)]
pub(crate) struct RaceIndex {
    /// Accesses on either side of a race.
    raced: FxHashSet<(EffectId, u16)>,
    /// Effects on the earlier side.
    earlier: FxHashSet<EffectId>,
    /// Threads and steps of the earlier side.
    steps: FxHashSet<(u16, u32)>,
    /// Dots whose result is used while they may not be over.
    dots: FxHashSet<EffectId>,
}

impl RaceIndex {
    pub(crate) fn of<'v>(all: impl IntoIterator<Item = &'v Violation>) -> RaceIndex {
        let mut index = RaceIndex::default();
        for violation in all {
            match &violation.rule {
                Rule::Race { earlier, later } => {
                    index.raced.extend([access(earlier), access(later)]);
                    index.earlier.insert(earlier.effect);
                    index.steps.insert((earlier.thread, earlier.step));
                }
                Rule::PendingResult { dot } => drop(index.dots.insert(*dot)),
                _ => {}
            }
        }
        index
    }

    /// Whether a violation follows from one of those: a read of unwritten memory whose write comes later, unordered, is a race and not
    /// an uninitialised read, what a race overwrites is not overwritten in order, and a dot that races need not be over
    /// at the end too.
    pub(crate) fn subsumes(&self, violation: &Violation) -> bool {
        let raced = |event: &Event| self.raced.contains(&access(event));
        match &violation.rule {
            Rule::Uninitialised { read } => raced(read),
            Rule::OverwrittenMember { earlier, later } => raced(earlier) || raced(later),
            Rule::Unfinished { access } => self.earlier.contains(&access.effect) || self.dots.contains(&access.effect),
            Rule::InFlight { issuer, step, .. } => self.steps.contains(&(*issuer, *step)),
            _ => false,
        }
    }
}

fn access(event: &Event) -> (EffectId, u16) {
    (event.effect, event.access)
}
