//! A barrier on which more threads arrive than a phase of it counts: its phases are over too early, and waits for others
//! hang or are lapped, though the phases that they name are right.

use super::super::replay::repeat;
use super::super::{Finding, Note};
use super::{Left, Search};
use base::{Cancelled, Message, message};
use explore::canonical;
use kernel::{EffectKind, Kernel, Lowered};
use machine::BarrierPlace;
use std::sync::Arc;
use verify::Outcome;

impl Search<'_> {
    /// Says of a finding that it comes from a barrier that counts fewer arrivals than come, where it is gone once the barrier
    /// counts them; whether it does.
    pub(super) fn tell_undercounted(
        &self,
        finding: &mut Finding<Message>,
        left: &mut Left,
        decide: &mut dyn FnMut(&Kernel) -> Result<Arc<Outcome>, Cancelled>,
    ) -> Result<bool, Cancelled> {
        let words = self.words;
        let (replay, _) = repeat(self.machine, &self.witness.run.schedule, u32::MAX);
        // Who comes late in the run of the finding arrives in another.
        let (other, _) = repeat(self.machine, &canonical(self.machine).schedule, u32::MAX);
        let mut tried: Vec<BarrierPlace> = Vec::new();
        for (place, barrier) in replay.end.barriers() {
            let mut arriving = replay.arriving(words.kernel, *place);
            arriving.extend(other.arriving(words.kernel, *place));
            arriving.sort_unstable();
            arriving.dedup();
            let more = barrier.initial > 0 && arriving.len() as i64 > barrier.initial;
            if !more || left.is_spent() || tried.iter().any(|known| known.buffer == place.buffer) {
                continue;
            }
            tried.push(*place);
            let mut kernel = words.kernel.clone();
            let mut site = None;
            for effect in &mut kernel.effects {
                if let EffectKind::Init { barrier, count } = &mut effect.kind
                    && words.buffer_of(*barrier) == Some(place.buffer)
                {
                    *count = arriving.len() as u32;
                    site.get_or_insert(effect.site);
                }
            }
            let Some(site) = site else { continue };
            let (gets_through, steps) = self.run(&kernel);
            left.spend(steps);
            if !gets_through {
                continue;
            }
            left.decided -= 1;
            let outcome = decide(&kernel)?;
            left.spend(outcome.steps);
            let lowered = Lowered { kernel, map: self.lowered.map.clone(), unmodelled: Vec::new() };
            if !outcome.gaps.is_empty() || !self.heals(&lowered, &outcome, (finding.kind, finding.range)) {
                continue;
            }
            let name = words.barrier(*place);
            let arrivals = if barrier.initial == 1 { "arrival" } else { "arrivals" };
            let who = words.all_partitions(&arriving);
            let why = message!(
                "{who} arrive on `{name}`, but a phase of it is over with {} {arrivals}, so it may turn over twice",
                who,
                name,
                barrier.initial,
                arrivals
            );
            // The cause of a deadlock may have told it.
            if !finding.message.to_string().contains(&why.to_string()) {
                finding.message = message!("{what}{:}{why}", finding.message.claim(), why);
            }
            let text = message!("`{name}` is initialised for {} {arrivals} here", name, barrier.initial, arrivals);
            let range = words.site_range(site);
            if finding.sites.iter().all(|known| known.range != range) {
                finding.sites.push(Note::new(range, text));
            }
            return Ok(true);
        }
        Ok(false)
    }
}
