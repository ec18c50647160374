//! What a thread is about to do: for words, asked before the step is taken, so that a run is never
//! changed by it.

use super::Machine;
use super::atoms::Window;
use super::shadow::{Event, Shadow};
use super::state::{State, remote_cta, unpack};
use super::violation::BarrierPlace;
use kernel::{BufferId, EffectId, EffectKind, Mode};

/// Unwritten bits under one operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unwritten {
    /// Which of the operation's accesses.
    pub access: u16,
    /// The allocation that holds it.
    pub buffer: BufferId,
    /// Ascending, disjoint ranges of bits from the allocation's start.
    pub bits: Vec<(u64, u64)>,
}

/// A wait that a thread stands before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PendingWait {
    /// The barrier that it waits for.
    pub barrier: BarrierPlace,
    /// The parity it names.
    pub phase: i64,
    /// Flips of the barrier so far.
    pub flips: u32,
}

impl Machine<'_> {
    /// The wait that a thread stands before, if its effect is one.
    pub fn pending_wait(&self, state: &State, thread: usize) -> Option<PendingWait> {
        let EffectKind::Wait { barrier, phase } = &self.next_effect(state, thread)?.1.kind else { return None };
        let barrier = self.place(state, thread, *barrier);
        let known = state.barriers.iter().find(|(known, _)| *known == barrier);
        let flips = known.map_or(0, |(_, known)| known.flips);
        Some(PendingWait { barrier, phase: self.scalar(state, thread, *phase) & 1, flips })
    }

    /// Lets a thread see what the partition of an access has done so far, and its operations of the access's kind:
    /// what a wait for it would let it see. For a look at what would come.
    pub fn see_done(&self, state: &mut State, thread: usize, access: &Event) {
        let partition = self.partition_of(usize::from(access.thread));
        let family = self.channels.family(access.channel);
        let others: Vec<usize> = (0..state.threads.len()).filter(|&it| self.partition_of(it) == partition).collect();
        for other in others {
            let known = state.threads[other].clone();
            let at = &mut state.threads[thread];
            at.seen.join(&known.seen);
            at.fenced.join(&known.fenced);
            at.order.join(&known.order);
            at.over.join(&known.over);
            let (channel, number) = match family {
                Some(kind) => (self.channels.group(other, kind), known.groups[kind as usize].issued),
                None => (self.channels.tensor_core(other), known.tensor_core),
            };
            at.seen.see(channel, number);
            at.order.see(channel, number);
        }
        let ring = self.channels.barrier_of(access.channel).and_then(|at| Some(state.barriers.get(at)?.0.buffer));
        for number in 0..state.barriers.len() {
            let (place, barrier) = &state.barriers[number];
            if Some(place.buffer) != ring {
                continue;
            }
            let begun = barrier.pending != barrier.initial || barrier.bytes != 0;
            let flip = barrier.total + u32::from(begun);
            let channel = self.channels.barrier(number);
            let at = &mut state.threads[thread];
            at.seen.see(channel, flip);
            at.order.see(channel, flip);
        }
    }

    /// What a thread's variables hold.
    pub fn vars<'s>(&self, state: &'s State, thread: usize) -> &'s [i64] {
        let first = self.position_of(thread) * state.stride;
        state.vars.get(first..first + state.stride).unwrap_or_default()
    }

    /// The effect that a thread stands at, if it stands at one.
    pub fn next_effect_id(&self, state: &State, thread: usize) -> Option<EffectId> {
        self.next_effect(state, thread).map(|(id, _)| id)
    }

    /// What the operation that a thread stands at will read though nobody has written it.
    pub fn unwritten(&self, state: &State, thread: usize) -> Vec<Unwritten> {
        let Some((_, effect)) = self.next_effect(state, thread) else { return Vec::new() };
        let EffectKind::Operation { accesses, .. } = &effect.kind else { return Vec::new() };
        let mut shadow: Shadow = state.shadow.clone();
        let mut out = Vec::new();
        for (number, access) in accesses.iter().enumerate().filter(|(_, access)| access.mode == Mode::Read) {
            let (value, shape) = (self.scalar(state, thread, access.view), self.shape_of(access.view));
            let Some(shape) = shape.filter(|_| value >= 0) else { continue };
            let (buffer, start) = unpack(value);
            let window = Window { buffer: BufferId(buffer), start, shape };
            let acting = remote_cta(value).unwrap_or_else(|| self.cta_of(thread));
            let ctas = access.ctas.of(acting).filter_map(|cta| self.cluster().position(cta));
            let mut bits: Vec<(u64, u64)> = ctas.flat_map(|cta| shadow.unwritten(self.kernel, window, cta)).collect();
            bits.sort_unstable();
            bits.dedup();
            if !bits.is_empty() {
                out.push(Unwritten { access: number as u16, buffer: BufferId(buffer), bits });
            }
        }
        out
    }
}
