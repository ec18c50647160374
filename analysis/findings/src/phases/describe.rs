//! The sentences about a phase that is wrong.

use super::super::deadlock::times;
use super::super::minimal::Goal;
use super::super::replay::repeat;
use super::super::{Finding, Kind, Note};
use super::{CorrectedPhases, Divergence, PhaseFormula, Search, Suspect, drive};
use base::{Message, TextRange, message};
use machine::{BarrierAction, BarrierRecord, Blocked, BlockedOn, PendingWait, Rule};

/// Waits that are told of.
const WAITS: usize = 4;

/// A ring whose slots start again.
struct Restart {
    /// The slot after which they do.
    after: i64,
    /// Slots of the ring.
    depth: i64,
}

/// Draws a finding at another of its places, or at one more.
fn draw_at(finding: &mut Finding<Message>, range: TextRange, text: Message) {
    finding.sites.iter_mut().for_each(|site| site.primary = false);
    match finding.sites.iter_mut().find(|site| site.range == range) {
        Some(site) => site.primary = true,
        None => finding.sites.push(Note::primary(range, text)),
    }
    finding.range = range;
}

impl Search<'_> {
    /// Says of a wait that is lapped who flips its barrier past it, where no phase explains it.
    pub(super) fn tell_early_flip(&self, finding: &mut Finding<Message>) {
        let words = self.words;
        let Goal::Broken(violation) = &self.witness.run.goal else { return };
        let Rule::Deadlock(blocked) = &violation.rule else { return };
        let own = |stuck: &&Blocked| words.site_range(stuck.site) == finding.range;
        let Some(stuck) = blocked.iter().find(own).filter(|_| finding.kind == Kind::LappedWait) else { return };
        let BlockedOn::Barrier { barrier, .. } = stuck.on else { return };
        let (replay, _) = repeat(self.machine, &self.witness.run.schedule, u32::MAX);
        let flips = |at: &BarrierRecord| at.place == barrier && at.act == BarrierAction::Arrive { flipped: true };
        let last = replay.records.iter().rfind(|record| record.barriers.iter().any(flips));
        let Some(last) = last.filter(|last| last.thread != stuck.thread) else { return };
        let range = words.site_range(last.site);
        if finding.sites.iter().all(|site| site.range != range) {
            let (by, who, name) = (words.partition(last.thread), words.partition(stuck.thread), words.barrier(barrier));
            let text = message!("{by} flips `{name}` here, before {who} has come to its wait", by, name, who);
            finding.sites.push(Note::new(range, text));
        }
    }

    /// Says of a ring whose slot starts again while its phase runs on that this is what hangs; whether it is one.
    pub(super) fn tell_restart(&self, finding: &mut Finding<Message>) -> bool {
        let Goal::Broken(violation) = &self.witness.run.goal else { return false };
        if !matches!(violation.rule, Rule::Deadlock(_)) {
            return false;
        }
        let words = self.words;
        let restarted = self.suspects().into_iter().find_map(|suspect| Some((suspect, self.restart(&suspect)?)));
        let Some((suspect, Restart { after, depth })) = restarted else { return false };
        let bar = message!("`{}`", words.buffer(suspect.place.buffer));
        let who = words.partition(suspect.thread);
        finding.message = message!(
            "{who} never gets past this wait: its slot starts again at 0 after slot {after} of {depth}, while the phase of \
             {bar} runs on; this holds only where the steps before it are a multiple of {depth}",
            who,
            after,
            depth,
            bar,
            depth
        );
        let range = words.site_range(words.kernel.effect(suspect.wait).site);
        draw_at(finding, range, message!("{who} waits here with a slot that starts again", who));
        true
    }

    /// Where the slots of a wait start again before the end of the ring, and its phases go on as if they did not.
    fn restart(&self, suspect: &Suspect) -> Option<Restart> {
        let depth = self.depth(suspect.place);
        let slot_bits = self.words.kernel.buffers.get(suspect.place.buffer.0 as usize)?.slot_bits.max(1);
        let mut visits: Vec<(i64, i64)> = Vec::new();
        self.visits(suspect, |standing, _| {
            visits.push(((standing.barrier.start / slot_bits) as i64, standing.phase));
        });
        if depth < 2 || visits.is_empty() {
            return None;
        }
        let steps = visits.windows(2);
        let broken = steps.clone().filter(|two| two[1].0 != (two[0].0 + 1) % depth);
        let mut after = None;
        for two in broken {
            if two[1].0 != 0 || two[0].0 == depth - 1 {
                return None;
            }
            after.get_or_insert(two[0].0);
        }
        let first = visits.first()?.1;
        let runs_on = visits.iter().zip(0..).all(|(&(_, phase), number)| phase == (first + number / depth) & 1);
        after.filter(|_| runs_on).map(|after| Restart { after, depth })
    }

    /// Puts the explanation into a finding.
    pub(super) fn tell(&self, finding: &mut Finding<Message>, corrected: &CorrectedPhases) {
        let words = self.words;
        let CorrectedPhases { change, flips } = corrected;
        let parted = change.iter().filter_map(|(suspect, form)| Some((suspect, form, self.divergence(suspect, form)?)));
        let parted: Vec<(&Suspect, &PhaseFormula, Divergence)> = parted.collect();
        let site_of = |suspect: &Suspect| words.kernel.effect(suspect.wait).site;
        let own = |suspect: &Suspect| words.site_range(site_of(suspect)) == finding.range;
        // The wait of the finding itself, where it is among the changed.
        let first = parted.iter().find(|(suspect, ..)| own(suspect)).or_else(|| parted.first());
        let Some((suspect, form, divergence)) = first else { return };
        let bar = message!("`{}`", words.barrier(divergence.standing.barrier));
        let who = words.partition(suspect.thread);
        let cause = self.cause(suspect, form, &bar, flips);
        let stuck = match &self.witness.run.goal {
            Goal::Broken(violation) => match &violation.rule {
                Rule::Deadlock(blocked) => blocked
                    .iter()
                    .find(|stuck| words.site_range(stuck.site) == finding.range)
                    .or_else(|| blocked.iter().find(|stuck| matches!(stuck.on, BlockedOn::Barrier { .. }))),
                _ => None,
            },
            Goal::Lapped { .. } => None,
        };
        finding.message = match (stuck, &self.witness.run.goal) {
            (Some(_), _) if own(suspect) => message!("{who} never gets past this wait: its phase {cause}", who, cause),
            (Some(stuck), _) => message!(
                "{} never gets past its wait: at fault is the wait on {bar} in {who}, whose phase {cause}",
                words.partition(stuck.thread),
                bar,
                who,
                cause
            ),
            (None, Goal::Lapped { .. }) => {
                message!("{who} may miss the flip that it waits for here: its phase {cause}", who, cause)
            }
            (None, Goal::Broken(_)) => {
                message!("{what}: the phase of the wait on {bar} {cause}", finding.message.claim(), bar, cause)
            }
        };
        let note = |range, text| Note::new(range, text);
        let range = words.site_range(words.kernel.effect(flips.effect).site);
        let by = words.partition(flips.thread);
        let mut notes = vec![note(range, message!("{by} flips {bar} here, {}", by, bar, flips.often))];
        for (suspect, form, divergence) in parted.iter().take(WAITS) {
            let site = &words.map.sites[site_of(suspect).index()];
            let operand = site.operands.iter().find(|(role, _)| role == "phase").map(|(_, range)| *range);
            let PendingWait { barrier, phase, flips } = divergence.standing;
            let flipped = match flips {
                0 => "has not flipped yet".into(),
                many => message!("has flipped {}", times(many)),
            };
            let right = form.text(words, suspect.named).map(|text| message!("; `{text}` would be right", text));
            let right = right.or_else(|| form.goes_on(words));
            let text = message!(
                "names phase {phase}{}, when `{}` {flipped} and completes phase {} next{}",
                phase,
                divergence.place,
                words.barrier(barrier),
                flipped,
                flips & 1,
                right.unwrap_or_default()
            );
            notes.push(note(operand.unwrap_or(site.name), text));
        }
        finding.phases = change.iter().map(|(suspect, form)| (suspect.wait, form.clone())).collect();
        notes.retain(|note| finding.sites.iter().all(|site| site.range != note.range));
        finding.sites.extend(notes);
        if matches!(finding.kind, Kind::Deadlock | Kind::PhaseMismatch) && stuck.is_some() {
            draw_at(finding, words.site_range(site_of(suspect)), message!("{who} waits here with this phase", who));
        }
    }

    /// Why a phase is wrong, as a predicate: `is %i & 1, but %full flips once an iteration of %j`.
    fn cause(&self, suspect: &Suspect, form: &PhaseFormula, bar: &Message, flips: &drive::Flips) -> Message {
        let words = self.words;
        let loops = &self.loops;
        let named = drive::phase(words, loops, suspect.named);
        let opposite = {
            let (mut same, mut other) = (0, 0);
            self.visits(suspect, |standing, vars| match form.value(loops, vars, standing.phase) {
                Some(right) if right == standing.phase => same += 1,
                _ => other += 1,
            });
            same == 0 && (other > 1 || *form == PhaseFormula::Other)
        };
        if opposite {
            return message!("is the opposite of the right one in every iteration: {named}", named);
        }
        let drivers = drive::drivers(words.kernel, suspect.named);
        let counted = form.loops();
        let missing = counted.iter().position(|number| !drivers.contains(number)).filter(|_| !drivers.is_empty());
        let counter = missing.and_then(|at| loops.counter(words, counted[at]));
        let often = &flips.often;
        match (missing, counter) {
            (Some(at), Some(counter)) if counted[at + 1..].iter().any(|inner| drivers.contains(inner)) => message!(
                "is {named}, which starts again in each iteration of {counter}, but {bar} flips {often} and goes on \
                 through all of them",
                named,
                counter,
                bar,
                often
            ),
            (Some(_), Some(counter)) => {
                message!(
                    "is {named}, which stays the same through all iterations of {counter}, but {bar} flips {often}",
                    named,
                    counter,
                    bar,
                    often
                )
            }
            _ => message!("is {named}, but {bar} flips {often}", named, bar, often),
        }
    }
}
