//! Conditions on what host code is not known to be given: one run takes one way at each, and another run another.
//!
//! A condition that is written the same twice is one condition: `bias is not None` in a function and in its helper.

/// The ways that one run takes.
#[derive(Clone, Debug, Default)]
pub struct Ways {
    /// Those that it was told to take at its first conditions.
    given: Vec<bool>,
    /// Conditions with the way that was taken, in order.
    taken: Vec<(u64, bool)>,
    /// How many conditions are told apart.
    most: usize,
}

impl Ways {
    /// Those of a run that was told these at its first conditions, of which so many are told apart.
    pub fn of(given: &[bool], most: usize) -> Ways {
        Ways { given: given.to_vec(), taken: Vec::new(), most }
    }

    /// Which way a condition is taken: as it was before, as it was told, or the likelier one.
    pub fn decide(&mut self, condition: u64, likely: bool) -> bool {
        if let Some(way) = self.taken(condition) {
            return way;
        }
        let way = self.given.get(self.taken.len()).copied().unwrap_or(likely);
        if self.taken.len() < self.most {
            self.taken.push((condition, way));
        }
        way
    }

    /// Which way a condition was taken; `None` where it was not asked for.
    pub fn taken(&self, condition: u64) -> Option<bool> {
        self.taken.iter().find(|(known, _)| *known == condition).map(|(_, way)| *way)
    }

    /// Which way was taken at each condition, in order.
    pub fn into_taken(self) -> Vec<bool> {
        self.taken.into_iter().map(|(_, way)| way).collect()
    }
}
