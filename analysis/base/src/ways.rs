//! Conditions on what host code is not known to be given: one run takes one way at each, and another run another.
//!
//! A condition that is written the same twice is one condition: `bias is not None` in a function and in its helper.

use std::collections::VecDeque;

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

/// The runs that follow a function's ways: the likeliest first, then those that differ from it in one condition,
/// and so on.
#[derive(Debug)]
pub struct Runs {
    open: VecDeque<Vec<bool>>,
    /// How many runs are left.
    left: usize,
}

impl Runs {
    /// At most so many runs.
    pub fn of(most: usize) -> Runs {
        Runs { open: [Vec::new()].into(), left: most }
    }

    /// The ways that the next run is told to take; `None` where there are no others, or enough were followed.
    pub fn take_next(&mut self) -> Option<Vec<bool>> {
        self.left = self.left.checked_sub(1)?;
        self.open.pop_front()
    }

    /// Whether ways are left that are not followed.
    pub fn is_cut(&self) -> bool {
        !self.open.is_empty()
    }

    /// Notes the other ways that a run that was told `given` has come by. Where it `failed`, the last of them is
    /// likeliest to be the one that would not have.
    pub fn ran(&mut self, given: &[bool], taken: &[bool], failed: bool) {
        let mut other = |at: usize, first: bool| {
            let Some((way, before)) = taken.get(..=at).and_then(<[bool]>::split_last) else { return };
            let ways = before.iter().copied().chain([!way]).collect();
            match first {
                true => self.open.push_front(ways),
                false if self.open.len() <= self.left => self.open.push_back(ways),
                false => {}
            }
        };
        let new = given.len()..taken.len();
        let last = if failed { new.clone().next_back() } else { None };
        for at in new.filter(|at| Some(*at) != last) {
            other(at, false);
        }
        if let Some(last) = last {
            other(last, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_once() {
        let mut runs = Runs::of(8);
        let mut seen = Vec::new();
        while let Some(given) = runs.take_next() {
            let mut ways = Ways::of(&given, 64);
            let first = ways.decide(1, true);
            let second = if first { ways.decide(2, false) } else { ways.decide(1, true) };
            seen.push((first, second));
            runs.ran(&given, &ways.into_taken(), false);
        }
        assert_eq!(seen, [(true, false), (false, false), (true, true)]);
        assert!(!runs.is_cut());
    }
}
