//! Violations that say what another one of the run says index.

use kernel::{EffectId, Mode};
use machine::{Channel, Event, Rule, Violation};
use rustc_hash::{FxHashMap, FxHashSet};

/// What the races of a run, and the results it uses too early, are about.
#[derive(Default)]
pub(crate) struct RaceIndex {
    /// Accesses on either side of a race.
    raced: FxHashSet<(EffectId, u16)>,
    /// Effects on the earlier side.
    earlier: FxHashSet<EffectId>,
    /// Threads and steps of the earlier side.
    steps: FxHashSet<(u16, u32)>,
    /// Writes that another thread reads too early, by what ends them: their thread, and the step of the first such read.
    unread: FxHashMap<(Channel, u32, u16), u32>,
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
                    if earlier.mode == Mode::Write && later.mode == Mode::Read && earlier.thread != later.thread {
                        let first = index.unread.entry(ended(earlier)).or_insert(later.step);
                        *first = later.step.min(*first);
                    }
                }
                Rule::PendingResult { dot } => drop(index.dots.insert(*dot)),
                _ => {}
            }
        }
        index
    }

    /// Whether a violation follows from one of those: a read of unwritten memory whose write comes later, unordered, is a race and not
    /// an uninitialised read, what a race overwrites is not overwritten in order, a dot that races need not be over
    /// at the end too, and who writes again by leave of a reader that did not wait for the write before knows no more of
    /// its end than that reader.
    pub(crate) fn subsumes(&self, violation: &Violation) -> bool {
        let raced = |event: &Event| self.raced.contains(&access(event));
        match &violation.rule {
            Rule::Uninitialised { read } => raced(read),
            Rule::OverwrittenMember { earlier, later } => raced(earlier) || raced(later),
            Rule::Unfinished { access } => self.earlier.contains(&access.effect) || self.dots.contains(&access.effect),
            Rule::Race { earlier, later } => {
                let again = earlier.mode == Mode::Write && later.mode == Mode::Write && earlier.thread == later.thread;
                again && self.unread.get(&ended(earlier)).is_some_and(|read| *read < later.step)
            }
            Rule::InFlight { issuer, step, .. } => self.steps.contains(&(*issuer, *step)),
            _ => false,
        }
    }
}

fn access(event: &Event) -> (EffectId, u16) {
    (event.effect, event.access)
}

/// What ends an access: the sequence that it completes in, its number there, and who issued it.
fn ended(event: &Event) -> (Channel, u32, u16) {
    (event.channel, event.number, event.thread)
}
