//! What each effect does: at once, or when its time has come.

use super::barrier::{Barrier, Misuse};
use super::board::{Arrivals, Board, Fault, Groups, Lane, Meeting, Pending, Touch, Where, Work};
use super::memory::{Arena, Place, Through, mix};
use super::values::{OUT, cta, unpack};
use kernel::{
    Access, BufferId, CommitKind, Completion, Effect, EffectKind, InputKind, Issuer, Mode, Proxy, Recipients, Space,
    Var, VarKind,
};

impl Board<'_> {
    pub(super) fn execute(&mut self, thread: usize, effect: &Effect) {
        match &effect.kind {
            EffectKind::Allocate(_) => {}
            EffectKind::Operation { issuer, accesses, completion } => {
                self.sites[thread].push(effect.site);
                self.operate(thread, *issuer, accesses, completion);
            }
            EffectKind::Init { barrier, count } => {
                let count = i64::from(*count);
                self.barrier(thread, *barrier, |barrier| barrier.init(count));
            }
            EffectKind::Invalidate { barrier } => self.barrier(thread, *barrier, Barrier::invalidate),
            EffectKind::Expect { barrier, bytes, to } => {
                let arrivals = self.recipients(thread, *barrier, to, 1, *bytes as i64);
                self.arrive(&arrivals);
            }
            EffectKind::Arrive { barrier, count, to } => {
                let arrivals = self.recipients(thread, *barrier, to, i64::from(*count), 0);
                self.arrive(&arrivals);
            }
            EffectKind::Wait { barrier, phase } => {
                let phase = self.get(thread, *phase);
                self.barrier(thread, *barrier, |barrier| barrier.passes(phase).map(|_| ()));
            }
            EffectKind::ReadPhase { barrier, dst } => {
                let mut phase = 0;
                self.barrier(thread, *barrier, |barrier| barrier.phase().map(|now| phase = now));
                self.set(thread, *dst, phase);
            }
            EffectKind::TensorCoreCommit { barrier, to } => {
                let arrivals = self.recipients(thread, *barrier, to, 1, 0);
                self.issue_arrivals(thread, arrivals, Some(Lane::TensorCore));
            }
            EffectKind::AsyncCopyArrive { barrier, increments, to } => {
                // Every thread of the partition executes it.
                let arrivals = self.recipients(thread, *barrier, to, self.width_of(thread), 0);
                if *increments {
                    for (place, count, _) in &arrivals {
                        let barrier = self.barriers.entry(*place).or_default();
                        if barrier.expect_more(*count).is_err() {
                            self.fail(Fault::Barrier);
                        }
                    }
                }
                self.issue_arrivals(thread, arrivals, None);
            }
            EffectKind::Commit(kind) => {
                let groups = self.groups(thread, *kind);
                let staged = std::mem::take(&mut groups.staged);
                groups.closed.push(staged);
            }
            EffectKind::WaitGroup { kind, pending } => {
                let groups = self.groups(thread, *kind);
                let over = groups.closed.len().saturating_sub(*pending as usize);
                groups.closed.drain(..over);
            }
            EffectKind::ProxyFence => self.memory.fence(None),
            EffectKind::ClusterArrive { .. } => {
                self.meet(thread, self.cluster_of(thread), 1, self.over.len() as i64);
            }
            EffectKind::NamedArrive { id, threads } => {
                let meeting = Meeting::Named(self.cta_of(thread), self.get(thread, *id));
                self.meet(thread, meeting, self.width_of(thread), self.get(thread, *threads));
            }
            EffectKind::ClusterWait | EffectKind::NamedWait { .. } | EffectKind::Use { .. } => {}
            EffectKind::ClcLoad { source, dst } => {
                self.sites[thread].push(effect.site);
                self.operate(thread, Issuer::Base, std::slice::from_ref(source), &Completion::InOrder);
                let answer = self.touches(thread, std::slice::from_ref(source)).pop();
                let grants =
                    answer.and_then(|touch| self.writer(&touch)).is_some_and(|name| self.grants.contains(&name));
                self.set(thread, *dst, i64::from(grants));
            }
            EffectKind::Unmodelled => self.fail(Fault::Lost),
        }
    }

    fn groups(&mut self, thread: usize, kind: CommitKind) -> &mut Groups {
        self.threads[thread].groups.entry(kind as u8).or_default()
    }

    fn meet(&mut self, thread: usize, meeting: Meeting, count: i64, wanted: i64) {
        let met = self.meetings.entry(meeting).or_default();
        self.threads[thread].rounds.insert(meeting, met.0);
        met.1 += count;
        if met.1 >= wanted {
            *met = (met.0 + 1, 0);
        }
    }

    fn barrier(&mut self, thread: usize, view: Var, act: impl FnOnce(&mut Barrier) -> Result<(), Misuse>) {
        if self.get(thread, view) == OUT {
            return self.fail(Fault::Bounds);
        }
        let place = self.place(thread, view);
        if act(self.barriers.entry(place).or_default()).is_err() {
            self.fail(Fault::Barrier);
        }
    }

    /// The arrivals that go to some CTAs' copies of a barrier.
    fn recipients(&mut self, thread: usize, barrier: Var, to: &Recipients, count: i64, bytes: i64) -> Arrivals {
        if self.get(thread, barrier) == OUT {
            self.fail(Fault::Bounds);
            return Arrivals::new();
        }
        let (acting, buffer, start) = self.place(thread, barrier);
        to.of(acting).into_iter().map(|cta| ((cta, buffer, start), count, bytes)).collect()
    }

    fn arrive(&mut self, arrivals: &[(Where, i64, i64)]) {
        for &(place, count, bytes) in arrivals {
            if self.barriers.entry(place).or_default().arrive(count, bytes).is_err() {
                self.fail(Fault::Barrier);
            }
        }
    }

    fn issue(&mut self, mut pending: Pending) {
        self.issued += 1;
        pending.number = self.issued;
        pending.priority = self.order.issued(self.issued);
        self.pending.push(pending);
    }

    fn issue_arrivals(&mut self, thread: usize, arrivals: Arrivals, lane: Option<Lane>) {
        let work = Work { touches: Vec::new(), arrivals, slot: None };
        let after_copies = lane.is_none();
        self.issue(Pending { number: 0, thread, lane, after_copies, copies: false, kept: false, priority: 0, work });
    }

    /// The windows that an operation touches, each in each CTA.
    fn touches(&mut self, thread: usize, accesses: &[Access]) -> Vec<Touch> {
        let mut touches = Vec::with_capacity(accesses.len());
        for access in accesses {
            let value = self.get(thread, access.view);
            let Some(VarKind::View(shape)) = self.kernel.vars.get(access.view.index()).map(|info| info.kind) else {
                self.fail(Fault::Lost);
                continue;
            };
            if value == OUT {
                self.fail(Fault::Bounds);
                continue;
            }
            let (buffer, start) = unpack(value);
            let acting = cta(value).unwrap_or_else(|| self.cta_of(thread));
            touches.extend(access.ctas.of(acting).map(|cta| Touch {
                cta,
                buffer: BufferId(buffer),
                start,
                shape,
                mode: access.mode,
                proxy: access.proxy,
            }));
        }
        touches
    }

    fn operate(&mut self, thread: usize, issuer: Issuer, accesses: &[Access], completion: &Completion) {
        let slot = self.reads[thread].len();
        self.reads[thread].push(0);
        let touches = self.touches(thread, accesses);
        let mut arrivals = Arrivals::new();
        for arrival in completion.arrivals() {
            if self.holds(thread, arrival.predicate) {
                let (count, bytes) = (i64::from(arrival.count), -(arrival.bytes as i64));
                arrivals.extend(self.recipients(thread, arrival.barrier, &arrival.to, count, bytes));
            }
        }
        if self.fault.is_some() {
            return;
        }
        if touches.iter().any(|touch| touch.proxy == Proxy::Async) {
            // Triton fences between the proxies within a partition.
            self.memory.fence(Some(thread as u16));
        }
        if issuer == Issuer::Clc {
            // Which requests are answered with a tile is an input of the kernel.
            let tiles = self.input(InputKind::Tiles);
            if self.requests < tiles {
                self.grants.extend((0..touches.len()).map(|number| name(thread, slot, number)));
            }
            self.requests += 1;
        }
        let group = match completion {
            Completion::Commit { kind, implicit, .. } => Some((*kind, *implicit)),
            Completion::InTurn(_) => Some((CommitKind::Tdm, true)),
            _ => None,
        };
        let lane = match group {
            Some((CommitKind::Wgmma, _)) => Some(Lane::Wgmma),
            Some((CommitKind::Tdm, _)) => Some(Lane::DataMover),
            _ => (issuer == Issuer::TensorCore).then_some(Lane::TensorCore),
        };
        let now = issuer == Issuer::Base && group.is_none();
        if let Some((kind, implicit)) = group {
            let number = self.issued + 1;
            let groups = self.groups(thread, kind);
            groups.staged.push(number);
            if implicit {
                let staged = std::mem::take(&mut groups.staged);
                groups.closed.push(staged);
            }
        }
        let of = |kinds: &[CommitKind]| group.is_some_and(|(kind, _)| kinds.contains(&kind));
        let pending = Pending {
            number: 0,
            thread,
            lane,
            after_copies: false,
            copies: of(&[CommitKind::AsyncCopy]),
            kept: of(&[CommitKind::AsyncCopy, CommitKind::TmaStore]),
            priority: 0,
            work: Work { touches, arrivals, slot: Some(slot) },
        };
        if now { self.happen(&pending) } else { self.issue(pending) }
    }

    pub(super) fn happen(&mut self, pending: &Pending) {
        let Work { touches, arrivals, slot } = &pending.work;
        if let Some(slot) = *slot {
            match (self.over[usize::from(self.cta_of(pending.thread))], pending.kept) {
                (true, true) => self.late = true,
                (true, false) => {
                    self.fault.get_or_insert((Fault::Late, Some((pending.thread, slot))));
                }
                (false, _) => {}
            }
            let mut seen = 0;
            for (number, touch) in touches.iter().enumerate() {
                seen = mix(seen, self.touch(pending.thread, touch, name(pending.thread, slot, number)));
            }
            self.reads[pending.thread][slot] = seen;
        }
        self.arrive(arrivals);
    }

    /// The place of a touch; its intervals are the shape's.
    fn arena(&self, touch: &Touch) -> Option<(Arena, u64)> {
        let buffer = self.kernel.buffers.get(touch.buffer.0 as usize)?;
        Some(match buffer.start {
            Some(start) => (Arena::Placed(touch.cta, buffer.space == Space::Tensor), start + touch.start),
            None => (Arena::Buffer(touch.cta, touch.buffer.0), touch.start),
        })
    }

    fn touch(&mut self, thread: usize, touch: &Touch, name: u64) -> u64 {
        let Some((arena, base)) = self.arena(touch) else {
            self.fail(Fault::Lost);
            return 0;
        };
        let place =
            Place { arena, base, intervals: self.intervals.get(touch.shape.0 as usize).map_or(&[][..], Vec::as_slice) };
        match touch.mode {
            Mode::Read => self.memory.read(&place, touch.proxy != Proxy::Generic),
            Mode::Write => {
                let held = touch.proxy == Proxy::Generic && !self.order.leaks();
                let through = if held { Through::Generic(thread as u16) } else { Through::Both };
                self.memory.write(&place, name, through);
                0
            }
        }
    }

    /// The write that a window's first bit is from.
    fn writer(&mut self, touch: &Touch) -> Option<u64> {
        let (arena, base) = self.arena(touch)?;
        let (first, _) = *self.intervals.get(touch.shape.0 as usize)?.first()?;
        Some(self.memory.writer(arena, base + first))
    }
}

/// What a write is known by: its thread, its number there, and which of the operation's it is.
fn name(thread: usize, slot: usize, number: usize) -> u64 {
    mix(mix(thread as u64 + 1, slot as u64), number as u64)
}
