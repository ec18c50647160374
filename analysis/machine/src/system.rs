//! The machine as something that can be explored: who may go on, and which steps others cannot notice.

use super::machine::Machine;
use super::state::State;
use super::thread::ThreadStatus;
use super::violation::{BarrierKind, Blocked, BlockedOn, Rule, ScheduleHazard};
use explore::{Readiness, System};
use kernel::{EffectKind, Terminator};

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

    fn status(&self, state: &State, thread: usize) -> Readiness {
        if state.threads[thread].life != ThreadStatus::Running {
            return Readiness::Idle;
        }
        if self.next_effect(state, thread).is_some() {
            return match self.awaited(state, thread) {
                Some((_, false)) => Readiness::Blocked,
                _ => Readiness::Ready,
            };
        }
        match self.terminator(state, thread) {
            Some(Terminator::Join(..)) if state.running[self.position_of(thread)] > 0 => Readiness::Blocked,
            _ => Readiness::Ready,
        }
    }

    fn is_local(&self, state: &State, thread: usize) -> bool {
        // Start and end of partitions order nothing but the threads themselves.
        let Some((_, effect)) = self.next_effect(state, thread) else { return true };
        match &effect.kind {
            EffectKind::Init { .. }
            | EffectKind::Invalidate { .. }
            | EffectKind::Expect { .. }
            | EffectKind::Arrive { .. }
            | EffectKind::Wait { .. }
            | EffectKind::ReadPhase { .. }
            | EffectKind::TensorCoreCommit { .. }
            | EffectKind::AsyncCopyArrive { .. }
            | EffectKind::ClusterArrive { .. }
            | EffectKind::ClusterWait
            | EffectKind::NamedArrive { .. }
            | EffectKind::NamedWait { .. } => false,
            EffectKind::Operation { completion, .. } => completion.arrivals().is_empty(),
            EffectKind::Allocate(_)
            | EffectKind::Commit(_)
            | EffectKind::WaitGroup { .. }
            | EffectKind::Use { .. }
            | EffectKind::ProxyFence
            | EffectKind::ClcLoad { .. }
            | EffectKind::Unmodelled => true,
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
        (self.status(state, thread) == Readiness::Blocked).then(|| self.blocked_on(state, thread)).flatten()
    }
}
