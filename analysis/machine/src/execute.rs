//! What happens to barriers: init, invalidation, arrivals, waits, and the rendezvous without
//! storage (the cluster's and the named barriers).

use super::barrier::{Arriving, InFlight, Waiter};
use super::machine::{Machine, bad_slot};
use super::record::{BarrierAction, BarrierRecord, Record};
use super::shadow::{Event, Illegal, ImplicitOrder};
use super::state::State;
use super::storage;
use super::violation::{BarrierKind, BarrierPlace, CountOverrun, Rule, ScheduleHazard, Violation};
use kernel::{CommitKind, Effect, EffectId, EffectKind, Mode, Recipients, SiteId, Var};
use smallvec::SmallVec;

/// Threads of a warp, of the GPUs with named barriers.
const WARP: i64 = 32;

/// The op that a step executes.
pub(super) struct At {
    pub(super) thread: usize,
    pub(super) id: EffectId,
    pub(super) site: SiteId,
}

/// An arrival of an effect.
pub(super) struct Arrives<'a> {
    pub(super) barrier: Var,
    pub(super) count: i64,
    pub(super) bytes: i64,
    pub(super) to: &'a Recipients,
}

/// What an arrival publishes.
#[derive(Clone, Copy)]
pub(super) enum Publishes {
    /// All that the thread sees.
    Thread,
    /// That, and what its tensor core has done.
    TensorCore,
    /// That, and its operations of one commit family.
    Group(CommitKind),
    /// The operation itself only, by the barrier's own flip.
    Itself,
}

impl Machine<'_> {
    /// The number of the barrier that a memdesc names, in a given CTA or where the memdesc says; a
    /// violation where it is not live.
    pub(super) fn live(&self, state: &mut State, at: &At, barrier: Var, cta: Option<u16>) -> Option<usize> {
        if !self.in_bounds(state, at, barrier) {
            return None;
        }
        let named = self.place(state, at.thread, barrier);
        let place = BarrierPlace { cta: cta.unwrap_or(named.cta), ..named };
        let number = state.number_barrier(place);
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

    pub(super) fn in_bounds(&self, state: &mut State, at: &At, barrier: Var) -> bool {
        let Some(slot) = bad_slot(self.scalar(state, at.thread, barrier)) else { return true };
        let rule = Rule::OutOfBounds { index: slot, count: self.slots_of(barrier) };
        self.violate(state, at.thread, at.site, Some(at.id), rule);
        state.stopped = true;
        false
    }

    pub(super) fn blame(&self, state: &mut State, place: BarrierPlace) {
        if let Some(last) = state.violations.last_mut() {
            last.barrier = Some(place);
        }
    }

    pub(super) fn note(&self, state: &State, number: usize, act: BarrierAction, record: &mut Record) {
        let (place, barrier) = &state.barriers[number];
        record.barriers.push(BarrierRecord {
            place: *place,
            act,
            flips: barrier.flips,
            pending: barrier.pending,
            bytes: barrier.bytes,
        });
    }

    pub(super) fn init(&self, state: &mut State, at: &At, barrier: Var, count: u32, record: &mut Record) {
        if !self.in_bounds(state, at, barrier) {
            return;
        }
        let place = self.place(state, at.thread, barrier);
        let number = state.number_barrier(place);
        if state.barriers[number].1.live {
            self.violate(state, at.thread, at.site, Some(at.id), Rule::Reinit);
            self.blame(state, place);
            state.stopped = true;
            return;
        }
        if let Some(other) = self.barrier_below(state, barrier, place) {
            self.violate(state, at.thread, at.site, Some(at.id), Rule::BarrierStorage);
            self.blame(state, other);
            state.stopped = true;
            return;
        }
        let event = (self.channels.base(at.thread), state.threads[at.thread].ticks);
        self.store_barrier(state, at, barrier, place);
        state.barriers[number].1.init(i64::from(count), event);
        self.note(state, number, BarrierAction::Init, record);
    }

    /// A live barrier of another allocation that has some of the bytes of this one.
    fn barrier_below(&self, state: &State, barrier: Var, place: BarrierPlace) -> Option<BarrierPlace> {
        let buffer = self.kernel.buffers.get(place.buffer.0 as usize)?;
        if buffer.start.is_none() || !self.storage.uses_whole_cluster(place.buffer) {
            return None;
        }
        let window = super::atoms::Window { buffer: place.buffer, start: place.start, shape: self.shape_of(barrier)? };
        storage::covered(self.kernel, state, window, place.cta)
    }

    /// The write of a barrier's bytes by its init or invalidation, where others may touch them.
    fn store_barrier(&self, state: &mut State, at: &At, barrier: Var, place: BarrierPlace) {
        let shape = self.shape_of(barrier);
        let (Some(shape), Some(position)) = (shape, self.cluster.position(place.cta)) else { return };
        if !self.watches
            || !self.storage.uses_whole_cluster(place.buffer)
            || self.kernel.buffers.get(place.buffer.0 as usize).is_none_or(|buffer| buffer.start.is_none())
        {
            return;
        }
        let window = super::atoms::Window { buffer: place.buffer, start: place.start, shape };
        let window = state.shadow.resolve(self.kernel, window);
        let known = &state.threads[at.thread];
        let event = Event {
            channel: self.channels.base(at.thread),
            number: known.ticks,
            thread: at.thread as u16,
            mode: Mode::Write,
            generic: true,
            effect: at.id,
            access: 0,
            transaction: false,
            grants: false,
            step: state.step,
        };
        let stages = self.channels.group(at.thread, CommitKind::Stage);
        let observer = known.observer(at.thread as u16, ImplicitOrder::Nothing, stages);
        let mut illegal: SmallVec<[Illegal; 2]> = SmallVec::new();
        state.shadow.access(window, position, event, false, &observer, |why| illegal.push(why));
        for why in illegal {
            if let Illegal::Unordered(earlier) = why {
                let rule = Rule::Race { earlier, later: event };
                self.violate(state, at.thread, at.site, Some(at.id), rule);
            }
        }
    }

    pub(super) fn invalidate(&self, state: &mut State, at: &At, barrier: Var, record: &mut Record) {
        let Some(number) = self.live(state, at, barrier, None) else { return };
        let place = state.barriers[number].0;
        let waits = |thread: usize| self.awaited(state, thread).is_some_and(|(on, passes)| on == place && !passes);
        let waiter = (0..state.threads.len()).find(|&thread| {
            thread != at.thread && state.threads[thread].life == super::thread::ThreadStatus::Running && waits(thread)
        });
        if let Some(waiter) = waiter
            && let Some((_, effect)) = self.next_effect(state, waiter)
        {
            let rule = Rule::WaitedOn { waiter: waiter as u16, at: effect.site };
            self.violate(state, at.thread, at.site, Some(at.id), rule);
            self.blame(state, place);
            state.stopped = true;
            return;
        }
        let thread = &state.threads[at.thread];
        if let Some(completion) = state.barriers[number].1.still_in_flight(&thread.seen) {
            let InFlight { thread: issuer, site, step, event: (channel, _) } = *completion;
            let ending = self.last_invalidations.get(at.id.index()) == Some(&true)
                && self.position_of(usize::from(issuer)) == self.position_of(at.thread)
                && channel == self.channels.tensor_core(usize::from(issuer));
            let rule = Rule::InFlight { issuer, at: site, step, ending };
            if ending {
                let (step, thread, effect) = (state.step, at.thread as u16, Some(at.id));
                let remark = Violation { rule, step, thread, site: at.site, effect, barrier: Some(place) };
                state.remarks.push(remark);
            } else {
                self.violate(state, at.thread, at.site, Some(at.id), rule);
                self.blame(state, place);
            }
        }
        let order = &state.threads[at.thread].order;
        let escape = state.barriers[number].1.invalidate(order);
        state.schedule_hazards.extend(escape);
        self.store_barrier(state, at, barrier, place);
        self.note(state, number, BarrierAction::Invalidate, record);
    }

    /// An arrival in every CTA that it goes to.
    pub(super) fn arrive(
        &self,
        state: &mut State,
        at: &At,
        arrives: &Arrives<'_>,
        publishes: Publishes,
        record: &mut Record,
    ) {
        if !self.in_bounds(state, at, arrives.barrier) {
            return;
        }
        let acting = self.place(state, at.thread, arrives.barrier).cta;
        for cta in arrives.to.of(acting) {
            if self.cluster.position(cta).is_some() && !state.stopped {
                self.arrive_in(state, at, arrives, cta, publishes, record);
            }
        }
    }

    fn arrive_in(
        &self,
        state: &mut State,
        at: &At,
        arrives: &Arrives<'_>,
        cta: u16,
        publishes: Publishes,
        record: &mut Record,
    ) {
        let Some(number) = self.live(state, at, arrives.barrier, Some(cta)) else { return };
        let (count, bytes) = (arrives.count, arrives.bytes);
        let thread = &state.threads[at.thread];
        let mut published = thread.publishes();
        let event = match publishes {
            Publishes::Thread => Some((self.channels.base(at.thread), thread.ticks)),
            Publishes::TensorCore => {
                published.also = Some((self.channels.tensor_core(at.thread), thread.tensor_core));
                published.also
            }
            Publishes::Group(kind) => {
                let issued = thread.groups[kind as usize].issued;
                published.also = Some((self.channels.group(at.thread, kind), issued));
                published.also.filter(|_| issued > 0).or(Some((self.channels.base(at.thread), thread.ticks)))
            }
            Publishes::Itself => {
                // What was read before it was issued was read before it has come.
                published.over[1] = Some(&thread.seen);
                published.seen = None;
                None
            }
        };
        let channel = self.channels.barrier(number);
        if self.invalidates && !matches!(publishes, Publishes::Thread) {
            let flip = (channel, state.barriers[number].1.total + 1);
            let (event, thread) = (event.unwrap_or(flip), at.thread as u16);
            let completion = InFlight { event, thread, site: at.site, step: state.step };
            state.barriers[number].1.will_complete(completion);
        }
        let own = (self.channels.base(at.thread), state.threads[at.thread].ticks);
        let issued = (event != Some(own)).then_some(own);
        let arriving = Arriving { count, bytes, published, event, issued, step: state.step, channel };
        let schedule_hazards = &mut state.schedule_hazards;
        match state.barriers[number].1.arrive(&arriving, self.tx, |escape| schedule_hazards.push(escape)) {
            Ok(flipped) => self.note(state, number, BarrierAction::Arrive { flipped }, record),
            Err(overrun) => {
                self.violate(state, at.thread, at.site, Some(at.id), Rule::Overflow(overrun));
                let place = state.barriers[number].0;
                self.blame(state, place);
                state.stopped = true;
            }
        }
    }

    pub(super) fn wait(&self, state: &mut State, at: &At, barrier: Var, phase: u32, record: &mut Record) {
        let Some(number) = self.live(state, at, barrier, None) else { return };
        let channel = self.channels.barrier(number);
        let base = self.channels.base(at.thread);
        // A copy that overtakes its readers flips its barrier too often: what then passes early follows from that race.
        let raced = state.violations.raced();
        let thread = &mut state.threads[at.thread];
        let known = &mut state.barriers[number].1;
        let waiter = Waiter { thread: at.thread as u16, channel: base, tick: thread.ticks, step: state.step };
        if known.flips == 0 && !known.last_flip_is_over(&thread.order, channel) {
            state.schedule_hazards.push(ScheduleHazard::UnorderedInit);
        }
        let passed = known.wait_passed(waiter, &thread.order, channel, !raced);
        state.schedule_hazards.extend(passed.hazard);
        thread.learn(passed.published);
        thread.seen.see(channel, passed.total);
        thread.order.see(channel, passed.total);
        let ahead = passed.ahead;
        self.note(state, number, BarrierAction::Wait { phase, ahead }, record);
    }

    /// The phase that a barrier is in. Another schedule reads the same where the last flip is over
    /// and the next one comes after this, as for a wait.
    pub(super) fn read_phase(&self, state: &mut State, at: &At, barrier: Var, record: &mut Record) -> i64 {
        let Some(number) = self.live(state, at, barrier, None) else { return 0 };
        let channel = self.channels.barrier(number);
        let thread = &state.threads[at.thread];
        let known = &mut state.barriers[number].1;
        if !known.last_flip_is_over(&thread.order, channel) {
            let escape = if known.flips == 0 {
                ScheduleHazard::UnorderedInit
            } else {
                ScheduleHazard::EarlyWait { wait: state.step }
            };
            state.schedule_hazards.push(escape);
        }
        let base = self.channels.base(at.thread);
        known.phase_read(Waiter { thread: at.thread as u16, channel: base, tick: thread.ticks, step: state.step });
        let parity = known.parity();
        self.note(state, number, BarrierAction::Read { phase: parity }, record);
        i64::from(parity)
    }

    /// How many threads of the GPU the partition of a thread has.
    pub(super) fn lanes_of(&self, thread: usize) -> i64 {
        let partition = self.kernel.partitions.get(self.partition_of(thread));
        partition.and_then(|info| info.warps).map_or(1, |warps| i64::from(warps) * WARP)
    }

    /// Arrives at a rendezvous, or passes one.
    pub(super) fn start_rendezvous(&self, state: &mut State, at: &At, effect: &Effect, record: &mut Record) {
        let thread = at.thread;
        match &effect.kind {
            EffectKind::ClusterArrive { relaxed } => {
                let place = BarrierPlace::cluster(self.partition_of(thread));
                self.come(state, at, place, self.cluster.len() as i64, 1, !relaxed, record);
            }
            EffectKind::NamedArrive { id, threads } => {
                let place = BarrierPlace::named(self.cta_of(thread), self.scalar(state, thread, *id));
                // An arrival need not be waited for (PTX `bar.arrive`).
                let number = state.number_barrier(place);
                let rounds = state.barriers[number].1.total;
                state.threads[thread]
                    .rendezvous
                    .retain(|(known, before)| *known as usize != number || *before == rounds);
                let expected = self.scalar(state, thread, *threads);
                let own = self.lanes_of(thread);
                // A barrier for one warp is met by each of the partition's warps on its own (PTX `bar`); which warps
                // would meet at one for some of them cannot be told.
                let count = if expected == WARP { WARP } else { own };
                self.come(state, at, place, expected, count, true, record);
            }
            _ => self.go(state, at, record),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn come(
        &self,
        state: &mut State,
        at: &At,
        place: BarrierPlace,
        expected: i64,
        count: i64,
        publishes: bool,
        record: &mut Record,
    ) {
        let number = state.number_barrier(place);
        let thread = &mut state.threads[at.thread];
        if thread.rendezvous.iter().any(|(known, _)| *known as usize == number) {
            self.violate(state, at.thread, at.site, Some(at.id), Rule::ArrivedTwice);
            self.blame(state, place);
            state.stopped = true;
            return;
        }
        thread.rendezvous.push((number as u32, state.barriers[number].1.total));
        let event = (self.channels.base(at.thread), thread.ticks);
        let mut published = state.threads[at.thread].publishes();
        if !publishes {
            (published.seen, published.over) = (None, [None; 2]);
        }
        let barrier = &mut state.barriers[number].1;
        if !barrier.live {
            barrier.start_rendezvous(expected);
        }
        let channel = self.channels.barrier(number);
        let arriving =
            Arriving { count, bytes: 0, published, event: Some(event), issued: None, step: state.step, channel };
        let schedule_hazards = &mut state.schedule_hazards;
        let counted = if barrier.initial == expected {
            barrier.arrive(&arriving, self.tx, |escape| schedule_hazards.push(escape))
        } else {
            Err(CountOverrun::Arrivals)
        };
        match counted {
            Ok(flipped) => self.note(state, number, BarrierAction::Arrive { flipped }, record),
            Err(overrun) => {
                self.violate(state, at.thread, at.site, Some(at.id), Rule::Overflow(overrun));
                self.blame(state, place);
                state.stopped = true;
            }
        }
    }

    fn go(&self, state: &mut State, at: &At, record: &mut Record) {
        let Some((place, _)) = self.awaited(state, at.thread) else { return };
        let number = state.number_barrier(place);
        let thread = &mut state.threads[at.thread];
        let Some(met) = thread.rendezvous.iter().position(|(known, _)| *known as usize == number) else {
            // The halves of a named barrier's `bar.sync` come from one op.
            if matches!(place.kind(), BarrierKind::Cluster(_)) {
                self.violate(state, at.thread, at.site, Some(at.id), Rule::NotArrived);
                self.blame(state, place);
                state.stopped = true;
            }
            return;
        };
        let (_, before) = thread.rendezvous.remove(met);
        let barrier = &state.barriers[number].1;
        // Later rounds may have published more than this one.
        if barrier.total > before + 1 {
            state.schedule_hazards.push(ScheduleHazard::EarlyWait { wait: state.step });
        }
        let channel = self.channels.barrier(number);
        thread.learn(&barrier.released);
        thread.order.see(channel, before + 1);
        self.note(state, number, BarrierAction::Wait { phase: before & 1, ahead: 0 }, record);
    }
}
