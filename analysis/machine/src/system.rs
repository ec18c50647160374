//! The machine as something that can be explored: who may go on, and what a step touches.

use super::machine::Machine;
use super::state::State;
use super::thread::ThreadStatus;
use super::violation::{BarrierKind, BarrierPlace, Blocked, BlockedOn, Rule, ScheduleHazard};
use explore::{Status, System, Touches};
use kernel::{EffectKind, Terminator, Var};

impl System for Machine<'_> {
    type State = State;

    fn initial(&self) -> State {
        let mut state = self.seed.clone();
        for thread in (0..state.threads.len()).step_by(self.partitions()) {
            state.threads[thread].life = ThreadStatus::Running;
            state.threads[thread].block = self.kernel.entry;
            self.advance(&mut state, thread);
        }
        state
    }

    fn threads(&self) -> usize {
        self.partitions() * self.cluster.len()
    }

    fn status(&self, state: &State, thread: usize) -> Status {
        if state.threads[thread].life != ThreadStatus::Running {
            return Status::Idle;
        }
        if self.next_effect(state, thread).is_some() {
            return match self.awaited(state, thread) {
                Some((_, false)) => Status::Blocked,
                _ => Status::Ready,
            };
        }
        match self.terminator(state, thread) {
            Some(Terminator::Join(..)) if state.running[self.position_of(thread)] > 0 => Status::Blocked,
            _ => Status::Ready,
        }
    }

    fn touches(&self, state: &State, thread: usize) -> Touches {
        let Some((_, effect)) = self.next_effect(state, thread) else {
            // Start and end of partitions order nothing but the threads themselves.
            return Touches::Nothing;
        };
        let number = |place: BarrierPlace| state.barrier_number(place).map(|number| number as u32);
        let changes = |place: BarrierPlace| number(place).map_or(Touches::Anything, Touches::Changes);
        let at = |var: Var| self.place(state, thread, var);
        match &effect.kind {
            EffectKind::Wait { .. } | EffectKind::ClusterWait | EffectKind::NamedWait { .. } => self
                .awaited(state, thread)
                .and_then(|(place, _)| number(place))
                .map_or(Touches::Anything, Touches::Looks),
            EffectKind::ReadPhase { barrier, .. } => number(at(*barrier)).map_or(Touches::Anything, Touches::Looks),
            EffectKind::Init { barrier, .. } | EffectKind::Invalidate { barrier } => changes(at(*barrier)),
            EffectKind::Expect { barrier, to, .. }
            | EffectKind::Arrive { barrier, to, .. }
            | EffectKind::TensorCoreCommit { barrier, to }
            | EffectKind::AsyncCopyArrive { barrier, to, .. } => match to.of(at(*barrier).cta).as_slice() {
                [cta] => changes(BarrierPlace { cta: *cta, ..at(*barrier) }),
                _ => Touches::Anything,
            },
            EffectKind::Operation { completion, .. } => match completion.arrivals() {
                [] => Touches::Nothing,
                [one] => match one.to.of(at(one.barrier).cta).as_slice() {
                    [cta] => changes(BarrierPlace { cta: *cta, ..at(one.barrier) }),
                    _ => Touches::Anything,
                },
                _ => Touches::Anything,
            },
            EffectKind::ClusterArrive { .. } => changes(BarrierPlace::cluster(self.partition_of(thread))),
            EffectKind::NamedArrive { id, .. } => {
                changes(BarrierPlace::named(self.cta_of(thread), self.scalar(state, thread, *id)))
            }
            _ => Touches::Nothing,
        }
    }

    fn step(&self, state: &mut State, thread: usize) {
        self.take(state, thread);
    }

    fn finish(&self, state: &mut State) {
        let blocked: Vec<Blocked> = (0..state.threads.len()).filter_map(|thread| self.stuck(state, thread)).collect();
        if let Some(first) = blocked.iter().find(|blocked| matches!(blocked.on, BlockedOn::Barrier { .. })) {
            let (thread, site) = (usize::from(first.thread), first.site);
            for stuck in &blocked {
                let BlockedOn::Barrier { barrier, flips, .. } = stuck.on else { continue };
                let Some(number) = state.barrier_number(barrier) else { continue };
                let order = &state.threads[usize::from(stuck.thread)].order;
                // A rendezvous is waited for by its round: nothing of it can be missed.
                if flips > 0
                    && barrier.kind() == BarrierKind::Barrier
                    && !state.barriers[number].1.last_flip_is_over(order, self.channels.barrier(number))
                {
                    state.schedule_hazards.push(ScheduleHazard::Missed { thread: stuck.thread });
                }
            }
            self.violate(state, thread, site, None, Rule::Deadlock(blocked));
        }
        state.stopped = true;
    }

    fn stopped(&self, state: &State) -> bool {
        state.stopped
    }

    fn digest(&self, state: &State) -> u128 {
        state.digest()
    }
}

impl Machine<'_> {
    /// Whether a thread stands at a wait.
    pub fn waits(&self, state: &State, thread: usize) -> bool {
        self.awaited(state, thread).is_some()
    }

    fn stuck(&self, state: &State, thread: usize) -> Option<Blocked> {
        (self.status(state, thread) == Status::Blocked).then(|| self.blocked_on(state, thread)).flatten()
    }
}
