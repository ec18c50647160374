//! A violation's run, repeated with its records kept.

use std::borrow::Cow;

use base::Limits;
use explore::{Readiness, Schedule, System};
use kernel::{EffectKind, Kernel};
use machine::{BarrierAction, BarrierPlace, BarrierRecord, Event, Machine, Record, State};
use verify::Found;

/// The records of a run, one a step, and the states that matter.
#[derive(Debug)]
pub struct ReplayedRun {
    /// Who stepped when.
    pub schedule: Schedule,
    /// What each step did; the step numbered `n` in events is `records[n - 1]`.
    pub records: Vec<Record>,
    /// The state after the step of the violation.
    pub at_violation: State,
    /// The state at the end.
    pub end: State,
}

/// Repeats the run of a violation; `None` if it does not lead there again, which would be a
/// defect of the machine.
pub fn replay(machine: &Machine<'_>, found: &Found) -> Option<ReplayedRun> {
    let (replay, again) = repeat(machine, &found.schedule, found.violation.step);
    let all = [again.violations(), again.remarks()];
    all.iter().any(|known| known.contains(&found.violation)).then_some(replay)
}

/// Repeats a schedule; `step` is the one at which a copy of the state is kept.
pub(crate) fn repeat(machine: &Machine<'_>, schedule: &[u16], step: u32) -> (ReplayedRun, State) {
    let mut state = machine.initial();
    let mut records = Vec::new();
    let mut at_violation = None;
    for &thread in schedule {
        let thread = usize::from(thread);
        if machine.stopped(&state) || machine.status(&state, thread) != Readiness::Ready {
            break;
        }
        let Some(record) = machine.take(&mut state, thread) else { break };
        records.push(record);
        if state.step() == step {
            at_violation = Some(state.clone());
        }
    }
    if !machine.stopped(&state) {
        machine.finish(&mut state);
    }
    let end = state.clone();
    (
        ReplayedRun {
            schedule: schedule.to_vec(),
            records,
            at_violation: at_violation.unwrap_or_else(|| end.clone()),
            end,
        },
        state,
    )
}

/// Repeats a schedule; `before` is shown the state before each step and who takes it, `after` what
/// it said and what the step did.
pub(crate) fn walk<T>(
    machine: &Machine<'_>,
    schedule: &[u16],
    mut before: impl FnMut(&State, usize) -> T,
    mut after: impl FnMut(T, &Record),
) -> State {
    let mut state = machine.initial();
    for &thread in schedule {
        let thread = usize::from(thread);
        if machine.stopped(&state) || machine.status(&state, thread) != Readiness::Ready {
            break;
        }
        let seen = before(&state, thread);
        let Some(record) = machine.take(&mut state, thread) else { break };
        after(seen, &record);
    }
    state
}

impl ReplayedRun {
    /// The record of a numbered step.
    pub fn record(&self, step: u32) -> Option<&Record> {
        self.records.get((step as usize).checked_sub(1)?)
    }

    /// The wait by which a thread guards its step: its last wait before it that no step of the
    /// same op lies between. Gives the barrier, the flips that it is sure to have seen, and its step.
    pub fn guard(&self, kernel: &Kernel, event: &Event) -> Option<(BarrierPlace, u32, u32)> {
        let before = self.records.get(..(event.step as usize).checked_sub(1)?)?;
        for (index, record) in before.iter().enumerate().rev() {
            if record.thread != event.thread {
                continue;
            }
            if record.effect == Some(event.effect) {
                return None;
            }
            if let Some(id) = record.effect
                && matches!(kernel.effect(id).kind, EffectKind::Wait { .. })
                && let Some(barrier) = record.barriers.first()
            {
                return Some((barrier.place, barrier.seen(), index as u32 + 1));
            }
        }
        None
    }

    /// How many arrivals a phase of a barrier counts.
    pub fn initial(&self, place: BarrierPlace) -> Option<i64> {
        self.end.barriers().iter().find(|(known, _)| *known == place).map(|(_, barrier)| barrier.initial)
    }

    /// The threads whose arrivals a barrier counts, in order; what only brings bytes is none.
    pub fn arriving(&self, kernel: &Kernel, place: BarrierPlace) -> Vec<u16> {
        let counted = |record: &Record| match record.effect.and_then(|id| kernel.effects.get(id.index()))?.kind {
            EffectKind::Expect { .. } | EffectKind::Arrive { .. } | EffectKind::TensorCoreCommit { .. } => Some(()),
            EffectKind::AsyncCopyArrive { increments, .. } => (!increments).then_some(()),
            EffectKind::Operation { ref completion, .. } => {
                completion.arrivals().iter().any(|arrival| arrival.count > 0).then_some(())
            }
            _ => None,
        };
        let arrives = |at: &BarrierRecord| at.place == place && matches!(at.act, BarrierAction::Arrive { .. });
        let records = self.records.iter().filter(|record| record.barriers.iter().any(arrives));
        let mut threads: Vec<u16> =
            records.filter(|record| counted(record).is_some()).map(|record| record.thread).collect();
        threads.sort_unstable();
        threads.dedup();
        threads
    }

    /// The last flip of a barrier that a thread has waited for; `None` where it has not waited on it.
    pub fn last_seen(&self, thread: u16, place: BarrierPlace) -> Option<u32> {
        let waits = |at: &&BarrierRecord| at.place == place && matches!(at.act, BarrierAction::Wait { .. });
        let own = self.records.iter().filter(|record| record.thread == thread);
        own.filter_map(|record| record.barriers.iter().find(waits)).map(BarrierRecord::seen).max()
    }

    /// The arrival by which a thread completes a second phase of a barrier with no wait of its own since the first.
    pub fn completed_twice(&self, place: BarrierPlace) -> Option<&Record> {
        let mut last: Option<u16> = None;
        for record in &self.records {
            let flips = record
                .barriers
                .iter()
                .any(|at| at.place == place && matches!(at.act, BarrierAction::Arrive { flipped: true }));
            let waits = record.barriers.iter().any(|at| matches!(at.act, BarrierAction::Wait { .. }));
            match last {
                Some(thread) if flips && thread == record.thread => return Some(record),
                _ if flips => last = Some(record.thread),
                Some(thread) if waits && thread == record.thread => last = None,
                _ => {}
            }
        }
        None
    }

    /// The last of several flips of a barrier that a thread has caused itself since it waited there last, with how many
    /// they are: of the phases before the last nothing was waited for.
    pub fn unseen_flips(&self, thread: u16, place: BarrierPlace) -> Option<(&Record, u32)> {
        let (mut last, mut flips) = (None, 0);
        for record in self.records.iter().filter(|record| record.thread == thread) {
            for at in record.barriers.iter().filter(|at| at.place == place) {
                match at.act {
                    BarrierAction::Arrive { flipped: true } => (last, flips) = (Some(record), flips + 1),
                    BarrierAction::Arrive { flipped: false } => {}
                    _ => (last, flips) = (None, 0),
                }
            }
        }
        last.filter(|_| flips > 1).map(|record| (record, flips))
    }

    /// The first arrival by a thread after a step.
    pub fn next_arrival(&self, thread: u16, step: u32) -> Option<NextArrival> {
        let after = self.records.get(step as usize..)?;
        after.iter().enumerate().find_map(|(index, record)| {
            let mut barriers = record.barriers.iter().filter(|_| record.thread == thread);
            barriers.find_map(|barrier| {
                let BarrierAction::Arrive { flipped } = barrier.act else { return None };
                let flip = if flipped { barrier.flips } else { barrier.flips + 1 };
                Some(NextArrival { place: barrier.place, flip, step: step + index as u32 + 1 })
            })
        })
    }

    /// The bytes that a barrier was told to expect and those that came, in the phase that the run ends in.
    pub fn bytes(&self, place: BarrierPlace) -> (i64, i64) {
        let (mut expected, mut came, mut last) = (0, 0, 0);
        for record in &self.records {
            for barrier in record.barriers.iter().filter(|barrier| barrier.place == place) {
                match barrier.act {
                    BarrierAction::Init | BarrierAction::Arrive { flipped: true } => (expected, came, last) = (0, 0, 0),
                    BarrierAction::Arrive { flipped: false } => {
                        let more = barrier.bytes - last;
                        expected += more.max(0);
                        came -= more.min(0);
                        last = barrier.bytes;
                    }
                    _ => {}
                }
            }
        }
        (expected, came)
    }

    /// The bytes that a barrier is told to expect in its first round and those that come in it: from its
    /// first arrivals, as many as it counts a phase, up to the next one.
    pub fn round_bytes(&self, kernel: &Kernel, place: BarrierPlace) -> Option<(i64, i64)> {
        let initial = self.end.barriers().iter().find(|(known, _)| *known == place)?.1.initial;
        let (mut expected, mut came, mut last, mut arrived) = (0, 0, 0, 0);
        for record in &self.records {
            let effect = record.effect.and_then(|id| kernel.effects.get(id.index())).map(|effect| &effect.kind);
            for barrier in record.barriers.iter().filter(|barrier| barrier.place == place) {
                let (count, bytes) = match (barrier.act, effect) {
                    (BarrierAction::Init, _) => (0, 0),
                    (BarrierAction::Arrive { .. }, Some(EffectKind::Expect { bytes, .. })) => (1, *bytes as i64),
                    (BarrierAction::Arrive { .. }, Some(EffectKind::Arrive { count, .. })) => (i64::from(*count), 0),
                    (BarrierAction::Arrive { .. }, Some(EffectKind::Operation { completion, .. })) => {
                        came += match completion.arrivals() {
                            [one] => one.bytes as i64,
                            _ => last - barrier.bytes,
                        };
                        (0, 0)
                    }
                    _ => continue,
                };
                if count > 0 && arrived >= initial {
                    return Some((expected, came));
                }
                arrived += count;
                expected += bytes;
                last = barrier.bytes;
            }
        }
        (arrived > 0).then_some((expected, came))
    }

    /// The state after a step, or at the end where there is no such step.
    fn state_at(&self, machine: &Machine<'_>, step: u32) -> Cow<'_, State> {
        if self.at_violation.step() == step {
            return Cow::Borrowed(&self.at_violation);
        }
        let steps = self.schedule.get(..step as usize).filter(|_| step as usize <= self.records.len());
        let Some(steps) = steps else { return Cow::Borrowed(&self.end) };
        Cow::Owned(walk(machine, steps, |_, _| (), |(), _| ()))
    }

    /// Whether a thread has seen an event complete by a step.
    pub fn has_seen(&self, machine: &Machine<'_>, thread: u16, event: &Event, step: u32) -> bool {
        let at = self.state_at(machine, step);
        let thread = at.threads().get(usize::from(thread));
        thread.is_some_and(|thread| thread.seen.get(event.channel) >= event.number)
    }

    /// Whether a thread has waited for an operation by a step, and half of its warps, a stage behind, has not.
    pub fn lags(&self, machine: &Machine<'_>, thread: u16, event: &Event, step: u32) -> bool {
        let at = self.state_at(machine, step);
        let thread = at.threads().get(usize::from(thread));
        let lags = |&(channel, last): &(_, u32)| channel == event.channel && last >= event.number;
        thread.is_some_and(|thread| thread.lagging.iter().any(lags))
    }
}

/// An arrival that follows a step.
#[derive(Clone, Copy, Debug)]
pub struct NextArrival {
    /// On which barrier.
    pub place: BarrierPlace,
    /// The flip it counts for.
    pub flip: u32,
    /// Its step.
    pub step: u32,
}

/// A machine for replays and what-if runs, with the default limits.
pub fn machine<'k>(kernel: &'k Kernel, found: &'k machine::Valuation) -> Machine<'k> {
    Machine::new(kernel, found, &Limits::default())
}
