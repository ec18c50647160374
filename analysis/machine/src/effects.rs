//! What each effect does to the state.

use super::clock::Channel;
use super::execute::{Arrives, At, Publishes};
use super::machine::{Machine, bad_slot};
use super::record::{CompletionEvent, Record};
use super::shadow::{Event, Illegal, ImplicitOrder};
use super::state::{State, remote_cta, unpack};
use super::storage;
use super::violation::{BarrierPlace, Rule};
use base::Semantics;
use kernel::{Access, Arrival, BufferId, CommitKind, Completion, Effect, EffectId, EffectKind, Issuer, Mode, Proxy};
use smallvec::SmallVec;

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
            done: SmallVec::new(),
        };
        self.tick(state, thread);
        match &effect.kind {
            EffectKind::Allocate(buffer) => self.allocate(state, thread, *buffer),
            EffectKind::Operation { issuer, accesses, completion } => {
                self.operate(state, &at, *issuer, accesses, completion, &mut record);
            }
            EffectKind::Init { barrier, count } => self.init(state, &at, *barrier, *count, &mut record),
            EffectKind::Invalidate { barrier } => self.invalidate(state, &at, *barrier, &mut record),
            EffectKind::Expect { barrier, bytes, to } => {
                let arrival = Arrives { barrier: *barrier, count: 1, bytes: *bytes as i64, to };
                self.arrive(state, &at, &arrival, Publishes::Thread, &mut record);
            }
            EffectKind::Arrive { barrier, count, to } => {
                let arrival = Arrives { barrier: *barrier, count: i64::from(*count), bytes: 0, to };
                self.arrive(state, &at, &arrival, Publishes::Thread, &mut record);
            }
            EffectKind::Wait { barrier, phase } => {
                let phase = (self.scalar(state, thread, *phase) & 1) as u32;
                self.wait(state, &at, *barrier, phase, &mut record);
            }
            EffectKind::ReadPhase { barrier, dst } => {
                let phase = self.read_phase(state, &at, *barrier, &mut record);
                let _ = state.set(self.position_of(thread), *dst, phase);
            }
            EffectKind::TensorCoreCommit { barrier, to } => {
                state.threads[thread].tensor_core += 1;
                let arrival = Arrives { barrier: *barrier, count: 1, bytes: 0, to };
                self.arrive(state, &at, &arrival, Publishes::TensorCore, &mut record);
            }
            EffectKind::AsyncCopyArrive { barrier, increments, to } => {
                // Every thread of the partition executes it (PTX ISA, `cp.async.mbarrier.arrive`).
                let count = self.lanes_of(thread);
                if *increments {
                    for cta in to.of(self.place(state, thread, *barrier).cta) {
                        if let Some(number) = self.live(state, &at, *barrier, Some(cta)) {
                            state.barriers[number].1.expect_more(count);
                        }
                    }
                }
                let arrival = Arrives { barrier: *barrier, count, bytes: 0, to };
                self.arrive(state, &at, &arrival, Publishes::Group(CommitKind::AsyncCopy), &mut record);
            }
            EffectKind::ClusterArrive { .. }
            | EffectKind::ClusterWait
            | EffectKind::NamedArrive { .. }
            | EffectKind::NamedWait { .. } => self.start_rendezvous(state, &at, effect, &mut record),
            EffectKind::ClcLoad { source, dst } => {
                // Upstream's kernels put no fence between this read and the next request, which its
                // rule would ask for; the answer is in registers before it is handed back.
                let source = &Access { proxy: Proxy::Tensor, ..source.clone() };
                let (accesses, done) = (std::slice::from_ref(source), Completion::InOrder);
                self.operate(state, &at, Issuer::Base, accesses, &done, &mut record);
                let grants = self.answer(state, thread, source);
                let _ = state.set(self.position_of(thread), *dst, i64::from(grants));
            }
            EffectKind::Commit(kind) => {
                let at = &mut *state.threads[thread];
                at.groups[*kind as usize].commit(self.kept[*kind as usize]);
                if *kind == CommitKind::Stage {
                    at.catch_up();
                }
            }
            EffectKind::WaitGroup { kind, pending } => {
                let channel = self.channels.group(thread, *kind);
                let at = &mut *state.threads[thread];
                if let Some(last) = at.groups[*kind as usize].wait(*pending) {
                    if *kind == CommitKind::Stage {
                        at.seen.see(channel, last);
                        at.order.see(channel, last);
                    } else {
                        at.see_group(channel, last);
                    }
                    if *kind == CommitKind::Wgmma {
                        at.results.retain(|(_, dot)| *dot > last);
                    }
                }
            }
            EffectKind::Use { of } => {
                let result = u32::try_from(self.scalar(state, thread, *of)).unwrap_or(0);
                let pending = &mut state.threads[thread].results;
                if let Some(place) = pending.iter().position(|(known, _)| *known == result) {
                    // Said once: what follows is the same want.
                    pending.remove(place);
                    if let Some(dot) = self.result(result) {
                        self.violate(state, thread, effect.site, Some(id), Rule::PendingResult { dot });
                    }
                }
            }
            EffectKind::ProxyFence => {
                let at = &mut *state.threads[thread];
                at.fenced.join(&at.seen);
            }
            EffectKind::Unmodelled => state.unmodelled = true,
        }
        record
    }

    /// The operation that leaves a numbered result in registers.
    fn result(&self, number: u32) -> Option<EffectId> {
        let leaves = |effect: &Effect| matches!(effect.kind, EffectKind::Operation { completion: Completion::Commit { result, .. }, .. } if result == number);
        self.kernel.effects.iter().position(leaves).map(|at| EffectId(at as u32))
    }

    /// Whether the answer of cluster launch control that a window holds hands out a tile.
    fn answer(&self, state: &mut State, thread: usize, source: &Access) -> bool {
        let value = self.scalar(state, thread, source.view);
        let (Some(shape), None) = (self.shape_of(source.view), bad_slot(value)) else { return false };
        let (buffer, start) = unpack(value);
        let window = super::atoms::Window { buffer: BufferId(buffer), start, shape };
        let window = state.shadow.resolve(self.kernel, window);
        state.shadow.last_write(window, self.position_of(thread)).is_some_and(|write| write.grants)
    }

    /// A new event in the thread's program order.
    pub(super) fn tick(&self, state: &mut State, thread: usize) -> u32 {
        let channel = self.channels.base(thread);
        let at = &mut *state.threads[thread];
        at.ticks += 1;
        at.seen.see(channel, at.ticks);
        at.order.see(channel, at.ticks);
        at.ticks
    }

    fn allocate(&self, state: &mut State, thread: usize, buffer: BufferId) {
        if let Some(Some(shape)) = self.bases.get(buffer.0 as usize) {
            let window = super::atoms::Window { buffer, start: 0, shape: *shape };
            let window = state.shadow.resolve(self.kernel, window);
            // What another CTA has written ahead of this one's allocation is there to stay.
            let cta = self.position_of(thread);
            state.shadow.forget_contents(window, cta, |write| self.position_of(usize::from(write.thread)) == cta);
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
        let grants = issuer == Issuer::Clc && self.grants(state);
        state.requests += i64::from(issuer == Issuer::Clc);
        let own = self.own(thread, issuer, completion);
        let (ticks, tensor_core) = (state.threads[thread].ticks, state.threads[thread].tensor_core);
        let group = self.group(state, thread, completion);
        let in_order = match issuer {
            Issuer::TensorCore => (self.channels.tensor_core(thread), tensor_core),
            _ => (self.channels.base(thread), ticks),
        };
        for (index, access) in accesses.iter().enumerate() {
            let value = self.scalar(state, thread, access.view);
            if let Some(slot) = bad_slot(value) {
                let rule = Rule::OutOfBounds { index: slot, count: self.slots_of(access.view) };
                self.violate(state, thread, at.site, Some(at.id), rule);
                state.stopped = true;
                return;
            }
            let (buffer, start) = unpack(value);
            let acting = remote_cta(value).unwrap_or_else(|| self.cta_of(thread));
            let first = access.ctas.of(acting).next().unwrap_or(acting);
            record.places.push(BarrierPlace { buffer: BufferId(buffer), start, cta: first });
            let Some(shape) = self.shape_of(access.view) else { continue };
            let place = super::atoms::Window { buffer: BufferId(buffer), start, shape };
            let window = state.shadow.resolve(self.kernel, place);
            for cta in access.ctas.of(acting) {
                let Some(position) = self.cluster.position(cta) else { continue };
                if access.mode == Mode::Write {
                    let bits = self.kernel.shapes.get(shape.0 as usize).map_or(0, kernel::Shape::extent);
                    state.words.forget((position, buffer, start), bits);
                }
                let done = match completion {
                    Completion::Commit { .. } | Completion::InTurn(_) => group,
                    Completion::Transaction(arrivals) => self.transaction(state, at, arrivals, cta),
                    Completion::InOrder | Completion::Frontier(_) => Some(in_order),
                };
                let Some((channel, number)) = done else { return };
                if self.leaves_scalars {
                    record.done.push(CompletionEvent { access: index as u16, cta, channel, number });
                }
                // Answers of cluster launch control are known by who wrote them.
                if !self.watches && issuer != Issuer::Clc {
                    continue;
                }
                let event = Event {
                    channel,
                    number,
                    thread: thread as u16,
                    mode: access.mode,
                    generic: access.proxy == Proxy::Generic,
                    effect: at.id,
                    access: index as u16,
                    transaction: matches!(completion, Completion::Transaction(_)),
                    grants,
                    step: state.step,
                };
                let known = &state.threads[thread];
                let observer = known.observer(thread as u16, own, self.channels.group(thread, CommitKind::Stage));
                let mut illegal: SmallVec<[Illegal; 2]> = SmallVec::new();
                let asynchronous = access.proxy == Proxy::Async;
                state.shadow.access(window, position, event, asynchronous, &observer, |why| illegal.push(why));
                if access.mode == Mode::Read && illegal.is_empty() && !self.members.is_empty() {
                    let foreign =
                        |write: &Event| self.members.foreign((at.id, index as u16), (write.effect, write.access));
                    if let Some(earlier) = state.shadow.find_write(window, position, foreign) {
                        let rule = Rule::OverwrittenMember { earlier, later: event };
                        self.violate(state, thread, at.site, Some(at.id), rule);
                    }
                }
                for why in illegal {
                    let rule = match why {
                        Illegal::Unordered(earlier) => Rule::Race { earlier, later: event },
                        Illegal::Unfenced(earlier) => Rule::ProxyFence { earlier, later: event },
                        Illegal::Uninitialised => Rule::Uninitialised { read: event },
                    };
                    self.violate(state, thread, at.site, Some(at.id), rule);
                }
                if access.mode == Mode::Write
                    && self.storage.uses_whole_cluster(place.buffer)
                    && let Some(barrier) = storage::covered(self.kernel, state, place, cta)
                {
                    self.violate(state, thread, at.site, Some(at.id), Rule::BarrierStorage);
                    self.blame(state, barrier);
                }
            }
        }
        let publishes = || match completion {
            Completion::Transaction(_) => Publishes::Itself,
            Completion::InTurn(_) => Publishes::Group(CommitKind::Tdm),
            _ => Publishes::TensorCore,
        };
        for arrival in completion.arrivals() {
            if self.holds(state, thread, arrival.predicate) && !state.stopped {
                let (count, bytes) = (i64::from(arrival.count), -(arrival.bytes as i64));
                let arrival = Arrives { barrier: arrival.barrier, count, bytes, to: &arrival.to };
                self.arrive(state, at, &arrival, publishes(), record);
            }
        }
    }

    /// What an operation sees of its issuer's own earlier ones without a wait.
    fn own(&self, thread: usize, issuer: Issuer, completion: &Completion) -> ImplicitOrder {
        match (issuer, completion) {
            (_, Completion::InTurn(_)) => ImplicitOrder::Channel(self.channels.group(thread, CommitKind::Tdm)),
            (Issuer::TensorCore, _) => ImplicitOrder::Channel(self.channels.tensor_core(thread)),
            (Issuer::Tma | Issuer::Clc, Completion::Transaction(_)) if self.semantics == Semantics::Fork => {
                ImplicitOrder::Transactions
            }
            (Issuer::Clc, _) => ImplicitOrder::Transactions,
            _ => ImplicitOrder::Nothing,
        }
    }

    /// Whether a thread's operation sees an earlier access with no wait, because both are its own and
    /// complete in order.
    pub fn in_own_order(&self, thread: usize, issuer: Issuer, completion: &Completion, earlier: &Event) -> bool {
        match self.own(thread, issuer, completion) {
            ImplicitOrder::Nothing => false,
            ImplicitOrder::Channel(channel) => channel == earlier.channel,
            ImplicitOrder::Transactions => earlier.transaction && usize::from(earlier.thread) == thread,
        }
    }

    /// The commit group that an operation joins, and its number there.
    fn group(&self, state: &mut State, thread: usize, completion: &Completion) -> Option<(Channel, u32)> {
        let (kind, implicit) = match completion {
            Completion::Commit { kind, implicit, .. } => (*kind, *implicit),
            Completion::InTurn(_) => (CommitKind::Tdm, true),
            _ => return None,
        };
        let groups = &mut state.threads[thread].groups[kind as usize];
        groups.issued += 1;
        if implicit {
            groups.commit(self.kept[kind as usize]);
        }
        let issued = groups.issued;
        if let Completion::Commit { kind: CommitKind::Wgmma, result: result @ 1.., .. } = completion {
            let results = &mut state.threads[thread].results;
            results.retain(|(known, _)| known != result);
            results.push((*result, issued));
        }
        Some((self.channels.group(thread, kind), issued))
    }

    /// The flip that completes a copy into the memory of one CTA: that of the barrier which this
    /// CTA's bytes are counted on.
    fn transaction(&self, state: &mut State, at: &At, arrivals: &[Arrival], cta: u16) -> Option<(Channel, u32)> {
        let Some(arrival) = arrivals.iter().find(|arrival| self.holds(state, at.thread, arrival.predicate)) else {
            return Some((self.channels.base(at.thread), state.threads[at.thread].ticks));
        };
        let set = arrival.to.0.first().copied().unwrap_or_default();
        let acting = self.place(state, at.thread, arrival.barrier).cta;
        let row = (acting & !set.clear) | (cta & set.spread);
        let number = self.live(state, at, arrival.barrier, Some(row))?;
        Some((self.channels.barrier(number), state.barriers[number].1.total + 1))
    }
}
