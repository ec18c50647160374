//! Which of the ways through a function of host code its runs take, one after the other.

use std::collections::VecDeque;

/// The runs that follow a function's ways: the likeliest first, then those that differ from it in one condition,
/// and so on.
#[derive(Debug)]
pub(super) struct Runs {
    open: VecDeque<Vec<bool>>,
    /// How many runs are left.
    left: usize,
}

impl Runs {
    /// At most so many runs.
    pub(super) fn of(most: usize) -> Runs {
        Runs { open: [Vec::new()].into(), left: most }
    }

    /// The ways that the next run is told to take; `None` where there are no others, or enough were followed.
    pub(super) fn take_next(&mut self) -> Option<Vec<bool>> {
        self.left = self.left.checked_sub(1)?;
        self.open.pop_front()
    }

    /// Whether ways are left that are not followed.
    pub(super) fn is_cut(&self) -> bool {
        !self.open.is_empty()
    }

    /// Notes the other ways that a run that was told `given` has come by. Where it `failed`, the last of them is
    /// likeliest to be the one that would not have.
    pub(super) fn ran(&mut self, given: &[bool], taken: &[bool], failed: bool) {
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

    /// What a function takes at `a`, then at `b` where `a` holds; it is likelier that `a` holds and `b` does not.
    fn taken(given: &[bool]) -> Vec<bool> {
        let first = given.first().copied().unwrap_or(true);
        let second = given.get(1).copied().unwrap_or(false);
        if first { vec![first, second] } else { vec![first] }
    }

    #[test]
    fn all_ways_once() {
        let mut runs = Runs::of(8);
        let mut seen = Vec::new();
        while let Some(given) = runs.take_next() {
            let taken = taken(&given);
            runs.ran(&given, &taken, false);
            seen.push(taken);
        }
        assert_eq!(seen, [vec![true, false], vec![false], vec![true, true]]);
        assert!(!runs.is_cut());
    }

    #[test]
    fn what_is_not_pursued_has_no_further_ways() {
        let mut runs = Runs::of(8);
        let mut count = 0;
        while let Some(given) = runs.take_next() {
            if given.is_empty() {
                runs.ran(&given, &taken(&given), false);
            }
            count += 1;
        }
        assert_eq!(count, 3);
    }
}
