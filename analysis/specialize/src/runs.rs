//! Which of the ways through a function of host code its runs take, one after the other.

use std::collections::VecDeque;

use crate::limits::discover::FRUITLESS;

/// The runs that follow a function's ways: the likeliest first, then those that differ from it in one condition,
/// and so on. What differs further from a run that launched nothing new comes last, and is followed least.
#[derive(Debug)]
pub(super) struct Runs {
    open: VecDeque<Vec<bool>>,
    /// Those that differ from runs which launched nothing new.
    later: VecDeque<Vec<bool>>,
    /// How many runs are left.
    left: usize,
    /// How many of them may be of those.
    left_later: usize,
}

impl Runs {
    /// At most so many runs.
    pub(super) fn of(most: usize) -> Runs {
        Runs { open: [Vec::new()].into(), later: VecDeque::new(), left: most, left_later: FRUITLESS }
    }

    /// The ways that the next run is told to take; `None` where there are no others, or enough were followed.
    pub(super) fn take_next(&mut self) -> Option<Vec<bool>> {
        self.left = self.left.checked_sub(1)?;
        if let Some(next) = self.open.pop_front() {
            return Some(next);
        }
        self.left_later = self.left_later.checked_sub(1)?;
        self.later.pop_front()
    }

    /// Whether ways are left that are not followed.
    pub(super) fn is_cut(&self) -> bool {
        !self.open.is_empty() || !self.later.is_empty()
    }

    /// Notes the other ways that a run that was told `given` has come by. Where it `failed`, the last of them is
    /// likeliest to be the one that would not have. A run is `fruitful` unless all that it launched was known.
    pub(super) fn ran(&mut self, given: &[bool], taken: &[bool], failed: bool, fruitful: bool) {
        let Runs { open, later, left, .. } = self;
        let to = if fruitful { open } else { later };
        let mut other = |at: usize, first: bool| {
            let Some((way, before)) = taken.get(..=at).and_then(<[bool]>::split_last) else { return };
            let ways = before.iter().copied().chain([!way]).collect();
            match first {
                true => to.push_front(ways),
                false if to.len() <= *left => to.push_back(ways),
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
            runs.ran(&given, &taken, false, true);
            seen.push(taken);
        }
        assert_eq!(seen, [vec![true, false], vec![false], vec![true, true]]);
        assert!(!runs.is_cut());
    }

    #[test]
    fn ways_that_change_nothing_are_followed_last_and_least() {
        let mut runs = Runs::of(64);
        let mut seen = Vec::new();
        while let Some(given) = runs.take_next() {
            let taken: Vec<bool> = (0..5).map(|at| given.get(at).copied().unwrap_or(false)).collect();
            runs.ran(&given, &taken, false, given.is_empty());
            seen.push(taken);
        }
        let changed = |ways: &Vec<bool>| ways.iter().filter(|way| **way).count();
        let counts: Vec<usize> = seen.iter().map(changed).collect();
        assert_eq!(counts.get(..6), Some(&[0, 1, 1, 1, 1, 1][..]));
        assert_eq!(seen.len(), 6 + FRUITLESS);
        assert!(runs.is_cut());
    }
}
