//! What is assumed of strides, against sizes that are no multiples of blocks.
//!
//! A block that no mask ends reaches into the next row unless rows are long enough. That they are is what a proof assumes;
//! where the host computes a stride from sizes that may be any, or a tensor may lie densely, its launches are not all so.

use std::collections::BTreeSet;

use base::{Cancel, Cancelled};

use crate::choose::{neighbours, ragged, reaches_over};
use crate::decide::Decider;
use crate::launch::Known;
use crate::limits::runs::OVERHANG;
use crate::prove::{Premise, Spread};
use crate::report::Reason;
use crate::run::{Allowance, Meeting, Setting, explore};

impl Decider<'_> {
    /// What is assumed that sizes which are no multiples of blocks do not fulfil.
    pub(crate) fn reaching_over(
        &self,
        spreads: &[Spread],
        premises: &BTreeSet<Premise>,
        cancel: &Cancel<'_>,
    ) -> Result<Option<Reason>, Cancelled> {
        if let Some(spread) = spreads.iter().find(|spread| reaches_over(&self.program, &self.launch, spread)) {
            let said = crate::say::spread(&self.program, spread);
            let text = format!(
                "with sizes that are no multiples of its blocks, which nothing rules out, it is not so that {said}"
            );
            let op = self.program.accesses[spread.access as usize].op;
            return Ok(Some(Reason { range: self.tree.op_header_range(op), text }));
        }
        for host in [&self.launch.host, &self.launch.dense] {
            if spreads.is_empty() || host.is_empty() {
                continue;
            }
            let launch = Known { host: host.clone(), ..self.launch.clone() };
            for mut setting in ragged(&self.program, &launch, spreads) {
                self.few(premises, &mut setting);
                if let Some((setting, meeting)) = self.meeting_in(setting, cancel)? {
                    return Ok(Some(self.met(&setting, &meeting)));
                }
            }
        }
        Ok(None)
    }

    /// Two programs of a launch that meet in it, one of them writing.
    fn meeting_in(&self, setting: Setting, cancel: &Cancel<'_>) -> Result<Option<(Setting, Meeting)>, Cancelled> {
        let all = (0u32..).take(self.program.accesses.len()).collect();
        let runs = match setting.programs() <= OVERHANG {
            true => vec![setting],
            false => neighbours(&setting).into_iter().map(|chosen| Setting { chosen, ..setting.clone() }).collect(),
        };
        let mut allowance = Allowance::whole();
        allowance.ration();
        for setting in runs {
            let outcome = explore(&self.program, &setting, &all, &mut allowance, cancel)?;
            let mut races = outcome.races.into_iter().filter(|race| race.programs[0] != race.programs[1]);
            if let Some(race) = races.find(|race| !race.first.wrapped && !race.second.wrapped) {
                return Ok(Some((setting, race)));
            }
        }
        Ok(None)
    }

    /// That two programs meet where sizes are no multiples of blocks.
    fn met(&self, setting: &Setting, meeting: &Meeting) -> Reason {
        let (range, they) = self.two_that_meet(setting, meeting);
        Reason {
            range,
            text: format!("with sizes that are no multiples of its blocks, which nothing rules out, {they}"),
        }
    }
}
