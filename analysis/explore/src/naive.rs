//! All schedules, one step at a time, with no reduction but the recognition of equal states.

use super::{Explored, Schedule, System};
use base::{Cancel, Cancelled, Limits};

/// Visits schedules depth first; `end` sees each last state with its schedule.
pub fn naive<M: System>(
    machine: &M,
    limits: &Limits,
    cancel: &Cancel<'_>,
    mut end: impl FnMut(&M::State, &Schedule),
) -> Result<Explored, Cancelled> {
    super::search::walk(machine, limits, cancel, false, &mut end)
}
