//! Which races of the runs are reported, and what is said instead of those that are not.

use base::{Cancel, Cancelled};
use rustc_hash::FxHashSet;

use super::Decider;
use crate::report::{Race, Reason};
use crate::run::{Meeting, Outcome, Setting};
use crate::strides::{Pair, Strides, pair};
use terms::{Node, Variable};

/// A race with its pair of accesses; and whether it hangs on no chosen grid.
pub(super) type Shown = (Race, Pair, bool);

impl Decider<'_> {
    /// The races that launches show; beside each, whether it hangs on no chosen grid.
    pub(super) fn races(&self, outcomes: &[(Setting, Outcome)]) -> Vec<Shown> {
        let mut races: Vec<Shown> = Vec::new();
        let mut told: FxHashSet<(u32, u32)> = FxHashSet::default();
        let whole = self.is_whole();
        for (setting, outcome) in outcomes {
            // Sizes that nobody gave may be larger than the kernel is made for.
            for meeting in outcome.races.iter().filter(|race| whole || !wraps(race)) {
                let of = pair(meeting);
                if !told.insert(of) {
                    continue;
                }
                {
                    let all = outcomes.iter().flat_map(|(setting, outcome)| {
                        let same = outcome.races.iter().filter(|race| pair(race) == of);
                        same.map(move |race| (setting, race))
                    });
                    let sure = all.into_iter().any(|(setting, meeting)| self.is_sure(setting, meeting));
                    races.push((self.race(setting, meeting), of, sure));
                }
            }
        }
        races.sort_by_key(|(race, ..)| (race.second.range, race.first.range, race.first.writes && race.second.writes));
        races
    }

    /// Whether a race does not hang on a grid that was chosen. A kernel that asks for several axes may be launched with
    /// one program along some of them: then its addresses need not tell programs apart there.
    fn is_sure(&self, setting: &Setting, meeting: &Meeting) -> bool {
        let unknown = |axis: usize| self.launch.grid[axis].is_none() && !self.launch.host.is_sized(axis);
        if self.program.axes.len() < 2 || meeting.programs[0] == meeting.programs[1] {
            return true;
        }
        let (a, b) = (setting.place(meeting.programs[0]), setting.place(meeting.programs[1]));
        let differ: Vec<usize> = (0..3).filter(|axis| a[*axis] != b[*axis]).collect();
        if !differ.iter().any(|axis| unknown(*axis)) {
            return true;
        }
        let wide = (0..3).filter(|axis| setting.grid[*axis] > 1 && unknown(*axis)).count();
        let told = |axis: &usize| {
            let is =
                |node: &Node| matches!(node, Node::Variable(Variable::Program(of), _) if usize::from(*of) == *axis);
            [&meeting.first, &meeting.second].into_iter().any(|event| {
                let access = &self.program.accesses[event.access as usize];
                [access.offset, access.mask, access.path].into_iter().any(|term| self.program.terms.any_leaf(term, is))
            })
        };
        wide <= 1 && differ.iter().all(told)
    }

    /// An address that is cut off at its width, with sizes that nobody gave.
    pub(super) fn beyond_width(&self, outcomes: &[(Setting, Outcome)]) -> Option<Reason> {
        if self.is_whole() {
            return None;
        }
        let race = outcomes.iter().flat_map(|(_, outcome)| &outcome.races).find(|race| wraps(race))?;
        let text = "its address does not fit into its integers with the sizes that were tried";
        Some(self.at_access(race.second.access, text))
    }

    /// An access that goes to places before its tensor, with sizes that nobody gave.
    pub(super) fn before_tensor(&self, outcomes: &[(Setting, Outcome)]) -> Option<Reason> {
        let access = outcomes.iter().find_map(|(_, outcome)| outcome.before_tensor)?;
        Some(self.at_access(access, "with the sizes that were tried it goes to places before its tensor"))
    }

    /// The races that hang on nothing that was chosen. Where there are none, `reasons` tell what the others hang on.
    pub(super) fn reported(
        &mut self,
        races: Vec<Shown>,
        outcomes: &[(Setting, Outcome)],
        asked: &FxHashSet<u32>,
        reasons: &mut Vec<Reason>,
        cancel: &Cancel<'_>,
    ) -> Result<Vec<Race>, Cancelled> {
        let (sure, conditional): (Vec<_>, Vec<_>) = races.into_iter().partition(|(_, _, sure)| *sure);
        let mut shown: Vec<(Race, Pair)> = Vec::with_capacity(sure.len());
        let mut narrow = Vec::new();
        let tails = (!self.masks_tails()).then(|| (self.lengths(), crate::choose::block(&self.program)));
        let host = &self.launch.host;
        let whole = |setting: &Setting| {
            tails.as_ref().and_then(|(lengths, block)| host.in_whole_blocks(setting, lengths, *block))
        };
        let mut strides = Strides::new(&mut self.program, &self.launch);
        for (race, pair, _) in sure {
            match strides.hangs_on(outcomes, pair, (asked, &whole), cancel)? {
                Some(why) => narrow.push((race, why)),
                None => shown.push((race, pair)),
            }
        }
        let mut races: Vec<Race> = Vec::with_capacity(shown.len());
        let mut tails: Vec<Reason> = Vec::new();
        for (mut race, pair) in shown {
            race.same = self.writes_the_same(outcomes, pair, cancel)?;
            let tail = if race.same { None } else { self.of_tails(outcomes, pair, asked, cancel)? };
            match tail {
                Some(reason) => tails.push(reason),
                None => races.push(race),
            }
        }
        if races.is_empty() {
            reasons.extend(tails);
            for (race, text) in narrow {
                if !reasons.iter().any(|reason| reason.text == text) {
                    reasons.push(Reason { range: race.second.range, text });
                }
            }
            for (race, ..) in conditional {
                let text = "programs of one place along another axis of the grid would share this address; the grid is not known".to_owned();
                reasons.push(Reason { range: race.second.range, text });
            }
        }
        Ok(races)
    }
}

/// Whether the address of one side of a race is cut off at its width.
fn wraps(race: &Meeting) -> bool {
    race.first.wrapped || race.second.wrapped
}
