//! What each effect does to the state.

use super::barrier::{Arriving, Frontier, Waiter};
use super::clock::Channel;
use super::machine::{Machine, bad_slot};
use super::record::{Act, BarrierRecord, Record};
use super::shadow::{Event, Illegal, Observer};
use super::state::{State, unpack};
use super::violation::{BarrierPlace, Escape, Rule};
use crate::sync::{
    Access, Arrival, BufferId, CommitKind, Completion, Effect, EffectId, EffectKind, Issuer, Proxy, Var,
};
use smallvec::SmallVec;

/// The arrivals that come with an operation's completion.
pub(super) fn arrivals(completion: &Completion) -> &[Arrival] {
    match completion {
        Completion::Transaction(arrivals) | Completion::Frontier(arrivals) => arrivals,
        Completion::InOrder | Completion::Commit { .. } => &[],
    }
}

/// The op that a step executes.
struct At {
    thread: usize,
    id: EffectId,
    site: crate::sync::SiteId,
}

/// What an arrival publishes.
enum Publishes {
    /// All that the thread sees.
    Thread,
    /// That, and what its tensor core has done.
    TensorCore,
    /// That, and its `cp.async` operations.
    AsyncCopies,
    /// The operation itself only, by the barrier's own flip.
    Itself,
}

impl Machine<'_> {
    /// Executes one effect whose predicate holds.
    pub(super) fn execute(&self, state: &mut State, thread: usize, id: EffectId, effect: &Effect) -> Record {
        let at = At { thread, id, site: effect.site };
        let mut record = Record {
            thread: thread as u16,
            site: effect.site,
            effect: Some(id),
            places: SmallVec::new(),
            barriers: SmallVec::new(),
        };
        self.tick(state, thread);
        match &effect.kind {
            EffectKind::Allocate(buffer) => self.allocate(state, *buffer),
            EffectKind::Operation { issuer, accesses, completion } => {
                self.operate(state, &at, *issuer, accesses, completion, &mut record);
            }
            EffectKind::Init { barrier, count } => self.init(state, &at, *barrier, *count, &mut record),
            EffectKind::Invalidate { barrier } => self.invalidate(state, &at, *barrier, &mut record),
            EffectKind::Expect { barrier, bytes } => {
                self.arrive(state, &at, *barrier, 1, *bytes as i64, Publishes::Thread, &mut record);
            }
            EffectKind::Arrive { barrier, count } => {
                self.arrive(state, &at, *barrier, i64::from(*count), 0, Publishes::Thread, &mut record);
            }
            EffectKind::Wait { barrier, phase } => {
                let phase = (self.scalar(state, *phase) & 1) as u32;
                self.wait(state, &at, *barrier, phase, &mut record);
            }
            EffectKind::TensorCoreCommit { barrier } => {
                state.threads[thread].tensor_core += 1;
                self.arrive(state, &at, *barrier, 1, 0, Publishes::TensorCore, &mut record);
            }
            EffectKind::AsyncCopyArrive { barrier, increments } => {
                // Every thread of the partition executes it (PTX ISA, `cp.async.mbarrier.arrive`).
                let count = self.kernel.partitions.get(thread).map_or(1, |info| i64::from(info.warps) * 32);
                if *increments && let Some(number) = self.live(state, &at, *barrier) {
                    state.barriers[number].1.expect_more(count);
                }
                self.arrive(state, &at, *barrier, count, 0, Publishes::AsyncCopies, &mut record);
            }
            EffectKind::Commit(kind) => state.threads[thread].groups[*kind as usize].commit(),
            EffectKind::WaitGroup { kind, pending } => {
                let channel = self.channels.group(thread, *kind);
                let at = &mut state.threads[thread];
                if let Some(last) = at.groups[*kind as usize].wait(*pending) {
                    at.seen.see(channel, last);
                    at.order.see(channel, last);
                }
            }
            EffectKind::ProxyFence => {
                let at = &mut state.threads[thread];
                at.fenced.join(&at.seen);
            }
            EffectKind::ClusterBarrier { .. } => {}
            EffectKind::Unmodelled => state.unmodelled = true,
        }
        record
    }

    /// A new event in the thread's program order.
    fn tick(&self, state: &mut State, thread: usize) -> u32 {
        let channel = self.channels.base(thread);
        let at = &mut state.threads[thread];
        at.ticks += 1;
        at.seen.see(channel, at.ticks);
        at.order.see(channel, at.ticks);
        at.ticks
    }

    fn allocate(&self, state: &mut State, buffer: BufferId) {
        if let Some(Some(shape)) = self.bases.get(buffer.0 as usize) {
            let window = super::atoms::Window { buffer, start: 0, shape: *shape };
            let window = state.shadow.resolve(self.kernel, window);
            state.shadow.forget_contents(window);
        }
    }

    fn operate(
        &self,
        state: &mut State,
        at: &At,
        issuer: Issuer,
        accesses: &[Access],
        completion: &Completion,
        record: &mut Record,
    ) {
        let thread = at.thread;
        if issuer == Issuer::TensorCore {
            state.threads[thread].tensor_core += 1;
        }
        let own = (issuer == Issuer::TensorCore).then(|| self.channels.tensor_core(thread));
        let Some((channel, number)) = self.event(state, at, issuer, completion) else { return };
        for (index, access) in accesses.iter().enumerate() {
            let value = self.scalar(state, access.view);
            if let Some(slot) = bad_slot(value) {
                let rule = Rule::OutOfBounds { index: slot, count: self.slots_of(access.view) };
                self.violate(state, thread, at.site, Some(at.id), rule);
                state.stopped = true;
                return;
            }
            let (buffer, start) = unpack(value);
            record.places.push(BarrierPlace { buffer: BufferId(buffer), start });
            let Some(shape) = self.shape_of(access.view) else { continue };
            let window = super::atoms::Window { buffer: BufferId(buffer), start, shape };
            let window = state.shadow.resolve(self.kernel, window);
            let event = Event {
                channel,
                number,
                thread: thread as u16,
                mode: access.mode,
                generic: access.proxy == Proxy::Generic,
                effect: at.id,
                access: index as u16,
                step: state.step,
            };
            let known = &state.threads[thread];
            let observer = Observer { thread: thread as u16, seen: &known.seen, fenced: &known.fenced, own };
            let mut illegal: SmallVec<[Illegal; 2]> = SmallVec::new();
            state.shadow.access(window, event, access.proxy == Proxy::Async, &observer, |why| illegal.push(why));
            for why in illegal {
                let rule = match why {
                    Illegal::Unordered(earlier) => Rule::Race { earlier, later: event },
                    Illegal::Unfenced(earlier) => Rule::ProxyFence { earlier, later: event },
                    Illegal::Uninitialised => Rule::Uninitialised { read: event },
                };
                self.violate(state, thread, at.site, Some(at.id), rule);
            }
        }
        let publishes = || match completion {
            Completion::Transaction(_) => Publishes::Itself,
            _ => Publishes::TensorCore,
        };
        for arrival in arrivals(completion) {
            if self.holds(state, arrival.predicate) && !state.stopped {
                let (count, bytes) = (i64::from(arrival.count), -(arrival.bytes as i64));
                self.arrive(state, at, arrival.barrier, count, bytes, publishes(), record);
            }
        }
    }

    /// The channel and number under which an operation's accesses complete.
    fn event(&self, state: &mut State, at: &At, issuer: Issuer, completion: &Completion) -> Option<(Channel, u32)> {
        let thread = at.thread;
        Some(match completion {
            Completion::Commit { kind, implicit } => {
                let groups = &mut state.threads[thread].groups[*kind as usize];
                groups.issued += 1;
                if *implicit {
                    groups.commit();
                }
                (self.channels.group(thread, *kind), groups.issued)
            }
            Completion::Transaction(arrivals) => {
                let arrival = arrivals.iter().find(|arrival| self.holds(state, arrival.predicate));
                match arrival {
                    Some(arrival) => {
                        let number = self.live(state, at, arrival.barrier)?;
                        (self.channels.barrier(number), state.barriers[number].1.total + 1)
                    }
                    None => (self.channels.base(thread), state.threads[thread].ticks),
                }
            }
            Completion::InOrder | Completion::Frontier(_) if issuer == Issuer::TensorCore => {
                (self.channels.tensor_core(thread), state.threads[thread].tensor_core)
            }
            Completion::InOrder | Completion::Frontier(_) => (self.channels.base(thread), state.threads[thread].ticks),
        })
    }

    /// The number of the barrier that a memdesc names; a violation where it is not live.
    fn live(&self, state: &mut State, at: &At, barrier: Var) -> Option<usize> {
        if let Some(slot) = bad_slot(self.scalar(state, barrier)) {
            let rule = Rule::OutOfBounds { index: slot, count: self.slots_of(barrier) };
            self.violate(state, at.thread, at.site, Some(at.id), rule);
            state.stopped = true;
            return None;
        }
        let place = self.place(state, barrier);
        let number = state.barrier(place);
        if !state.barriers[number].1.live {
            let invalidated = state.barriers[number].1.initial > 0;
            self.violate(state, at.thread, at.site, Some(at.id), Rule::NotLive { invalidated });
            self.blame(state, place);
            state.stopped = true;
            return None;
        }
        let (channel, tick) = (self.channels.base(at.thread), state.threads[at.thread].ticks);
        state.barriers[number].1.used(at.thread as u16, channel, tick);
        Some(number)
    }

    fn blame(&self, state: &mut State, place: BarrierPlace) {
        if let Some(last) = state.violations.last_mut() {
            last.barrier = Some(place);
        }
    }

    fn note(&self, state: &State, number: usize, act: Act, record: &mut Record) {
        let (place, barrier) = &state.barriers[number];
        record.barriers.push(BarrierRecord {
            place: *place,
            act,
            flips: barrier.flips,
            pending: barrier.pending,
            bytes: barrier.bytes,
        });
    }

    fn init(&self, state: &mut State, at: &At, barrier: Var, count: u32, record: &mut Record) {
        if let Some(slot) = bad_slot(self.scalar(state, barrier)) {
            let rule = Rule::OutOfBounds { index: slot, count: self.slots_of(barrier) };
            self.violate(state, at.thread, at.site, Some(at.id), rule);
            state.stopped = true;
            return;
        }
        let place = self.place(state, barrier);
        let number = state.barrier(place);
        if state.barriers[number].1.live {
            self.violate(state, at.thread, at.site, Some(at.id), Rule::Reinit);
            self.blame(state, place);
            state.stopped = true;
            return;
        }
        let event = (self.channels.base(at.thread), state.threads[at.thread].ticks);
        state.barriers[number].1.init(i64::from(count), event);
        self.note(state, number, Act::Init, record);
    }

    fn invalidate(&self, state: &mut State, at: &At, barrier: Var, record: &mut Record) {
        if let Some(number) = self.live(state, at, barrier) {
            let order = &state.threads[at.thread].order;
            let escape = state.barriers[number].1.invalidate(order);
            state.escapes.extend(escape);
            self.note(state, number, Act::Invalidate, record);
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn arrive(
        &self,
        state: &mut State,
        at: &At,
        barrier: Var,
        count: i64,
        bytes: i64,
        publishes: Publishes,
        record: &mut Record,
    ) {
        let Some(number) = self.live(state, at, barrier) else { return };
        let thread = &state.threads[at.thread];
        let mut frontier =
            Frontier { seen: thread.seen.clone(), fenced: thread.fenced.clone(), order: thread.order.clone() };
        let event = match publishes {
            Publishes::Thread => Some((self.channels.base(at.thread), thread.ticks)),
            Publishes::TensorCore => {
                let channel = self.channels.tensor_core(at.thread);
                frontier.seen.see(channel, thread.tensor_core);
                frontier.order.see(channel, thread.tensor_core);
                Some((channel, thread.tensor_core))
            }
            Publishes::AsyncCopies => {
                let channel = self.channels.group(at.thread, CommitKind::AsyncCopy);
                let issued = thread.groups[CommitKind::AsyncCopy as usize].issued;
                frontier.seen.see(channel, issued);
                frontier.order.see(channel, issued);
                if issued > 0 { Some((channel, issued)) } else { Some((self.channels.base(at.thread), thread.ticks)) }
            }
            Publishes::Itself => {
                frontier.seen.clear();
                frontier.fenced.clear();
                None
            }
        };
        let channel = self.channels.barrier(number);
        let arriving = Arriving { count, bytes, frontier: &frontier, event, step: state.step, channel };
        let escapes = &mut state.escapes;
        match state.barriers[number].1.arrive(&arriving, |escape| escapes.push(escape)) {
            Ok(flipped) => self.note(state, number, Act::Arrive { flipped }, record),
            Err(_) => {
                self.violate(state, at.thread, at.site, Some(at.id), Rule::Overflow);
                let place = state.barriers[number].0;
                self.blame(state, place);
                state.stopped = true;
            }
        }
    }

    fn wait(&self, state: &mut State, at: &At, barrier: Var, phase: u32, record: &mut Record) {
        let Some(number) = self.live(state, at, barrier) else { return };
        let channel = self.channels.barrier(number);
        let base = self.channels.base(at.thread);
        let thread = &mut state.threads[at.thread];
        let known = &mut state.barriers[number].1;
        let waiter = Waiter { thread: at.thread as u16, channel: base, tick: thread.ticks, step: state.step };
        if known.flips == 0 && !known.last_flip_is_over(&thread.order, channel) {
            state.escapes.push(Escape::UnorderedInit);
        }
        state.escapes.extend(known.passed(waiter, &thread.order, channel));
        thread.seen.join(&known.released.seen);
        thread.fenced.join(&known.released.fenced);
        thread.order.join(&known.released.order);
        thread.seen.see(channel, known.total);
        thread.order.see(channel, known.total);
        self.note(state, number, Act::Wait { phase }, record);
    }
}
