//! Which steps of a minimal run are told.
//!
//! A thread takes many steps only because they are on its way. Description are the accesses of the
//! violation, or the waits that never end; from the first of them on the waits that their threads
//! passed, and the arrivals without which those would not have passed, and so on backwards; and the
//! last wait before each access, since it is what let the access happen. For a barrier's life told
//! is what happened to the barrier.

use super::limits::words;
use super::minimal::{Goal, MinimalRun};
use kernel::{CommitKind, EffectKind, Kernel, SiteId};
use machine::{BarrierAction, BarrierPlace, BlockedOn, Channels, Record, Rule};

/// A line of the run as told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ListedStep {
    /// The step of the schedule, from 1; `None` for a thread that stands there when the run ends.
    pub step: Option<u32>,
    /// Who.
    pub thread: u16,
    /// The op.
    pub site: SiteId,
    /// Which of the finding's notes it is.
    pub note: Option<usize>,
}

/// The lines to tell, in the order of the run; those who stand and wait come last. `waits` are the
/// places of the notes on waits that never end, by position in the goal's list; of the note on the
/// read for one of what nobody wrote.
pub(crate) fn listed_steps(
    kernel: &Kernel,
    channels: Channels,
    shown: &MinimalRun,
    records: &[Record],
    waits: &[Option<usize>],
) -> Vec<ListedStep> {
    let run = Run { kernel, records };
    let last = records.len() as u32;
    let mut steps = Vec::new();
    let mut notes = Vec::new();
    let mut standing = Vec::new();
    match &shown.goal {
        Goal::Broken(violation) => match &violation.rule {
            Rule::Race { earlier, .. } | Rule::ProxyFence { earlier, .. } => {
                notes = vec![(earlier.step, 0), (last, 1)];
                steps = run.closure(vec![earlier.step, last], earlier.step);
                steps.extend([earlier.step, last].iter().filter_map(|&step| run.guard(step)));
                if let Some(kind) = channels.family(earlier.channel) {
                    steps.extend(run.group_waits(earlier.thread, kind, earlier.step));
                }
            }
            Rule::OverwrittenMember { earlier, .. } => {
                notes = vec![(earlier.step, 0), (last, 1)];
                steps = vec![earlier.step, last];
                steps.extend([earlier.step, last].iter().filter_map(|&step| run.guard(step)));
            }
            Rule::Unfinished { access } => {
                notes = vec![(access.step, 0), (last, 1)];
                steps = run.group_waits(access.thread, CommitKind::Wgmma, access.step).collect();
                steps.extend([access.step, last]);
            }
            Rule::Outlives { access } => {
                notes = vec![(access.step, 0), (last, 1)];
                steps = vec![access.step, last];
            }
            Rule::PendingResult { dot } => {
                let started =
                    records.iter().rposition(|record| record.effect == Some(*dot)).map_or(last, |at| at as u32 + 1);
                notes = vec![(started, 0), (last, 1)];
                steps = run.group_waits(violation.thread, CommitKind::Wgmma, started).collect();
                steps.extend([started, last]);
            }
            Rule::Uninitialised { .. } => {
                notes = vec![(last, waits.first().copied().flatten().unwrap_or(0))];
                steps = vec![last];
                if let Some(guard) = run.guard(last) {
                    steps.push(guard);
                    steps.extend(run.needs(guard));
                }
            }
            Rule::OutOfBounds { .. } => {
                notes = vec![(last, 0)];
                steps = vec![last];
            }
            Rule::NotLive { .. }
            | Rule::Reinit
            | Rule::Overflow(_)
            | Rule::BarrierStorage
            | Rule::WaitedOn { .. }
            | Rule::InFlight { .. }
            | Rule::NotArrived
            | Rule::ArrivedTwice => {
                notes = vec![(last, 0)];
                if let Rule::InFlight { step, .. } = violation.rule {
                    notes.push((step, 1));
                    steps.push(step);
                }
                steps.extend(violation.barrier.map_or_else(Vec::new, |place| run.life(place, &violation.rule)));
                steps.push(last);
                if let Rule::WaitedOn { waiter, at } = violation.rule {
                    standing.push(ListedStep { step: None, thread: waiter, site: at, note: Some(1) });
                }
            }
            Rule::Deadlock(blocked) => {
                for (at, stuck) in blocked.iter().enumerate() {
                    let BlockedOn::Barrier { barrier, .. } = stuck.on else { continue };
                    steps.extend(run.phase(barrier, stuck.thread));
                    let note = waits.get(at).copied().flatten();
                    standing.push(ListedStep { step: None, thread: stuck.thread, site: stuck.site, note });
                }
            }
        },
        Goal::Lapped { thread, site, place, flips } => {
            notes = vec![(last, 1)];
            let arrivals: Vec<u32> =
                run.arrivals(*place, flips.saturating_sub(1)).chain(run.arrivals(*place, *flips)).collect();
            let from = arrivals.iter().min().copied().unwrap_or(last);
            steps = run.closure(arrivals, from);
            standing.push(ListedStep { step: None, thread: *thread, site: *site, note: Some(0) });
        }
    }
    steps.sort_unstable();
    steps.dedup();
    if steps.len() > words::STEPS {
        // Of a run so long the ends tell the most: where it starts, and how it comes to what is found.
        let later = steps.len() - words::STEPS + 1;
        let noted = |step: u32| notes.iter().any(|(at, _)| *at == step);
        let kept = steps.iter().enumerate().filter(|&(at, &step)| at == 0 || at >= later || noted(step));
        steps = kept.map(|(_, &step)| step).collect();
    }
    let note = |step: u32| notes.iter().find(|(at, _)| *at == step).map(|(_, note)| *note);
    let stop = |step: u32| {
        let record = records.get((step as usize).checked_sub(1)?)?;
        Some(ListedStep { step: Some(step), thread: record.thread, site: record.site, note: note(step) })
    };
    steps.into_iter().filter_map(stop).chain(standing).collect()
}

struct Run<'a> {
    kernel: &'a Kernel,
    records: &'a [Record],
}

impl Run<'_> {
    fn record(&self, step: u32) -> Option<&Record> {
        self.records.get((step as usize).checked_sub(1)?)
    }

    fn kind(&self, record: &Record) -> Option<&EffectKind> {
        record.effect.map(|id| &self.kernel.effect(id).kind)
    }

    /// Whether a step could only be taken once others had been.
    fn waits(&self, record: &Record) -> bool {
        matches!(
            self.kind(record),
            Some(EffectKind::Wait { .. } | EffectKind::ClusterWait | EffectKind::NamedWait { .. })
        )
    }

    /// Steps from `from` on that `steps` need, and they.
    fn closure(&self, steps: Vec<u32>, from: u32) -> Vec<u32> {
        let mut told = Vec::new();
        let mut open = steps;
        while let Some(step) = open.pop() {
            if told.contains(&step) {
                continue;
            }
            told.push(step);
            let Some(record) = self.record(step) else { continue };
            let on_the_way = (from..step)
                .filter(|&at| self.record(at).is_some_and(|other| other.thread == record.thread && self.waits(other)));
            open.extend(on_the_way);
            for need in self.needs(step) {
                // What came before is told, but not what it needed in turn.
                if need >= from { open.push(need) } else { told.push(need) }
            }
        }
        told
    }

    /// The arrivals that made a wait pass.
    fn needs(&self, step: u32) -> Vec<u32> {
        let Some(record) = self.record(step).filter(|record| self.waits(record)) else { return Vec::new() };
        let Some(barrier) = record.barriers.first() else { return Vec::new() };
        let arrivals = self.arrivals(barrier.place, barrier.flips);
        arrivals.filter(|&arrival| arrival < step).collect()
    }

    /// The arrivals that count for a flip.
    fn arrivals(&self, place: BarrierPlace, flip: u32) -> impl Iterator<Item = u32> {
        let counts = move |record: &Record| {
            record.barriers.iter().any(|barrier| match barrier.act {
                BarrierAction::Arrive { flipped } => {
                    barrier.place == place && barrier.flips + u32::from(!flipped) == flip
                }
                _ => false,
            })
        };
        let steps = self.records.iter().enumerate().filter(move |(_, record)| counts(record));
        steps.map(|(at, _)| at as u32 + 1)
    }

    /// The last wait of a step's thread before it, unless the same op lies between.
    fn guard(&self, step: u32) -> Option<u32> {
        let record = self.record(step)?;
        let mut own = (1..step).rev().filter_map(|at| Some((at, self.record(at)?)));
        let (at, _) = own
            .find(|(_, other)| other.thread == record.thread && (other.effect == record.effect || self.waits(other)))?;
        self.waits(self.record(at)?).then_some(at)
    }

    /// Waits of a thread for its commit groups.
    fn group_waits(&self, thread: u16, kind: CommitKind, from: u32) -> impl Iterator<Item = u32> {
        let waits = move |record: &&Record| {
            let waited = self.kind(record);
            record.thread == thread
                && matches!(waited, Some(EffectKind::WaitGroup { kind: other, .. }) if *other == kind)
        };
        let later =
            (from as usize..self.records.len()).filter(move |&at| self.records.get(at).as_ref().is_some_and(waits));
        later.map(|at| at as u32 + 1)
    }

    /// What made a barrier what it is when it is used wrongly.
    fn life(&self, place: BarrierPlace, rule: &Rule) -> Vec<u32> {
        let acts = |at: &u32| {
            self.record(*at).and_then(|record| record.barriers.iter().rfind(|barrier| barrier.place == place))
        };
        let on: Vec<u32> = (1..=self.records.len() as u32).filter(|at| acts(at).is_some()).collect();
        let starts = |at: &u32| match (rule, acts(at).map(|barrier| barrier.act)) {
            (_, Some(BarrierAction::Init)) => true,
            (Rule::Overflow(_), Some(BarrierAction::Arrive { flipped })) => flipped,
            (Rule::NotLive { .. }, Some(BarrierAction::Invalidate)) => true,
            _ => false,
        };
        let from = on.iter().rposition(starts).unwrap_or(0);
        let until = if matches!(rule, Rule::Overflow(_)) { on.len() } else { (from + 1).min(on.len()) };
        on.get(from..until).unwrap_or_default().to_vec()
    }

    /// Why a barrier does not let a thread pass: what the thread saw last of it, and either the
    /// arrivals of the phase in progress or, where there are none, of the phases gone past.
    fn phase(&self, place: BarrierPlace, thread: u16) -> Vec<u32> {
        let flips =
            self.records.iter().rev().flat_map(|record| &record.barriers).find(|barrier| barrier.place == place);
        let Some(flips) = flips.map(|barrier| barrier.flips) else { return Vec::new() };
        let waited = |at: &u32| {
            let record = self.record(*at).filter(|record| record.thread == thread && self.waits(record))?;
            record.barriers.iter().find(|barrier| barrier.place == place)
        };
        let last = (1..=self.records.len() as u32).rev().find(|at| waited(at).is_some());
        let mut steps: Vec<u32> = self.arrivals(place, flips + 1).collect();
        if steps.is_empty() {
            let seen = last.as_ref().and_then(waited).map_or(flips.saturating_sub(1), |barrier| barrier.flips);
            steps.extend((seen.min(flips) + 1..=flips).flat_map(|flip| self.arrivals(place, flip)));
        }
        steps.extend(last);
        steps
    }
}
