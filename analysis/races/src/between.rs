//! Races across what is not followed: a barrier of all programs may be behind it.

use crate::decide::Decider;
use crate::program::Unfollowed;
use crate::report::Reason;
use crate::run::{Meeting, Outcome, Setting};

impl Decider<'_> {
    /// Takes races out of runs between whose accesses something stands that is not followed. What is said of the first.
    pub(crate) fn clear_separated(&self, outcomes: &mut [(Setting, Outcome)]) -> Option<Reason> {
        let mut told = None;
        for (_, outcome) in outcomes {
            outcome.races.retain(|race| {
                let between = self.program.unfollowed.iter().find(|op| self.may_order(op, race));
                told = told.or(between.map(|op| op.range));
                between.is_none()
            });
        }
        let text = "this is not followed, and may order programs that race without it".to_owned();
        told.map(|range| Reason { range, text })
    }

    /// Whether an op may be executed between the two accesses of a race: it stands there in the text, or in a loop around
    /// one of them of which the other is in another round or no part.
    fn may_order(&self, op: &Unfollowed, race: &Meeting) -> bool {
        let (first, second) = (&race.first, &race.second);
        let (a, b) = (first.access.min(second.access), first.access.max(second.access));
        if race.programs[0] == race.programs[1] {
            return false;
        }
        let loops = |access: u32| &self.program.accesses[access as usize].loops;
        let round = |event: &crate::run::Event, of: u32| {
            let at = loops(event.access).iter().position(|own| *own == of)?;
            event.rounds.get(at).copied()
        };
        let apart = op.loops.iter().any(|of| round(first, *of) != round(second, *of));
        apart || (a < op.before && op.before <= b)
    }
}
