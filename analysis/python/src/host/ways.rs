//! Conditions on what host code is not known to be given: one run takes one way at each, and another run another.
//!
//! A condition that is written the same twice is one condition: `bias is not None` in a function and in its helper.

use crate::limits::tests::WAYS as DEPTH;

/// The ways that one run takes.
#[derive(Clone, Debug, Default)]
pub struct Ways {
    /// Those that it was told to take at its first conditions.
    given: Vec<bool>,
    /// Conditions with the way that was taken, in order.
    taken: Vec<(u64, bool)>,
}

impl Ways {
    pub(super) fn of(given: &[bool]) -> Ways {
        Ways { given: given.to_vec(), taken: Vec::new() }
    }

    /// Which way a condition is taken: as it was before, as it was told, or the likelier one.
    pub fn decide(&mut self, condition: u64, likely: bool) -> bool {
        if let Some((_, way)) = self.taken.iter().find(|(known, _)| *known == condition) {
            return *way;
        }
        let way = self.given.get(self.taken.len()).copied().unwrap_or(likely);
        if self.taken.len() < DEPTH {
            self.taken.push((condition, way));
        }
        way
    }

    pub(super) fn into_taken(self) -> Vec<bool> {
        self.taken.into_iter().map(|(_, way)| way).collect()
    }
}
