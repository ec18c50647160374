//! The machine: executes a kernel's synchronisation under a scheduler.
//!
//! A step of a thread is one effect with a true predicate, or the start or end of partitions;
//! scalar instructions and jumps up to the next effect belong to the step before. Completions
//! count at issue, as in ConSan: a barrier may flip before the copy that it waits for "is done",
//! and what makes the copy visible is the wait.

use super::barrier::TxCount;
use super::cleanup::last_invalidations;
use super::clock::{Channels, Clock, FAMILIES};
use super::cluster::Cluster;
use super::members::Members;
use super::record::Record;
use super::shadow::Event;
use super::state::{COMPUTATIONS, MachineError, State, pack, remote, remote_cta, unpack};
use super::storage::Storage;
use super::thread::ThreadStatus;
use super::valuation::Valuation;
use super::violation::{BarrierPlace, Blocked, BlockedOn, Rule, Violation};
use base::{Limits, Semantics};
use kernel::{
    Block, BlockId, BufferId, CommitKind, Completion, Effect, EffectId, EffectKind, InputId, InputKind, Instr, Issuer,
    JumpTarget, Kernel, ShapeId, SiteId, Terminator, Var, VarKind, ViewOp,
};

/// A kernel with concrete inputs.
#[derive(Debug)]
pub struct Machine<'k> {
    pub(super) kernel: &'k Kernel,
    pub(super) valuation: &'k Valuation,
    pub(super) channels: Channels,
    pub(super) bases: Vec<Option<ShapeId>>,
    pub(super) cluster: Cluster,
    pub(super) storage: Storage,
    pub(super) members: Members,
    pub(super) semantics: Semantics,
    /// How many groups of each commit family some wait may have to tell apart.
    pub(super) kept: [usize; FAMILIES.len()],
    /// Whether any barrier is ever invalidated, so that what is still to arrive on one matters.
    pub(super) invalidates: bool,
    /// By effect: whether it is an invalidation after which the kernel touches nothing.
    pub(super) last_invalidations: Vec<bool>,
    partitions: usize,
    tiles: i64,
    run_steps: u64,
    /// Whether scalars and jumps are left to the driver.
    pub(super) leaves_scalars: bool,
    /// What transaction counts are numbers of.
    pub(super) tx: TxCount,
    /// Whether accesses are judged.
    pub(super) watches: bool,
    pub(super) seed: State,
}

impl<'k> Machine<'k> {
    /// A machine for one kernel and one valuation of its inputs.
    pub fn new(kernel: &'k Kernel, valuation: &'k Valuation, limits: &Limits) -> Machine<'k> {
        Machine::of(kernel, valuation, limits, Cluster::new(kernel))
    }

    pub(super) fn of(kernel: &'k Kernel, valuation: &'k Valuation, limits: &Limits, cluster: Cluster) -> Machine<'k> {
        let mut bases = vec![None; kernel.buffers.len()];
        for block in &kernel.blocks {
            for instr in &block.instrs {
                if let Instr::Base(var, buffer) = instr
                    && let Some(VarKind::View(shape)) = kernel.vars.get(var.index()).map(|info| info.kind)
                    && let Some(slot) = bases.get_mut(buffer.0 as usize)
                {
                    *slot = Some(shape);
                }
            }
        }
        let partitions = kernel.partitions.len().max(1);
        let threads = partitions * cluster.len();
        let tiles = kernel.inputs.iter().position(|input| input.kind == InputKind::Tiles);
        Machine {
            kernel,
            valuation,
            channels: Channels::new(threads),
            bases,
            storage: Storage::new(kernel),
            members: Members::new(kernel),
            semantics: limits.semantics,
            kept: FAMILIES.map(|kind| kept(kernel, kind)),
            invalidates: kernel.effects.iter().any(|effect| matches!(effect.kind, EffectKind::Invalidate { .. })),
            last_invalidations: last_invalidations(kernel),
            partitions,
            tiles: tiles.map_or(0, |at| valuation.get(InputId(at as u32))),
            run_steps: limits.run_steps,
            leaves_scalars: false,
            tx: TxCount::default(),
            watches: true,
            seed: State::new(cluster.len(), partitions, kernel.vars.len()),
            cluster,
        }
    }

    /// Leaves scalars and jumps between effects to whoever drives the machine.
    pub fn leave_scalars(&mut self) {
        self.leaves_scalars = true;
    }

    /// Says what the transaction counts of the kernel are numbers of.
    pub fn count_transactions(&mut self, tx: TxCount) {
        self.tx = tx;
    }

    /// The partition that a thread runs.
    #[inline]
    pub fn partition_of(&self, thread: usize) -> usize {
        thread % self.partitions
    }

    /// The position of a thread's CTA among those that are run.
    #[inline]
    pub fn position_of(&self, thread: usize) -> usize {
        thread / self.partitions
    }

    /// The number of a thread's CTA in its cluster.
    #[inline]
    pub fn cta_of(&self, thread: usize) -> u16 {
        self.cluster.number(self.position_of(thread))
    }

    /// The CTAs that are run.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// The thread of a partition in the same CTA as another thread.
    #[inline]
    pub fn sibling(&self, thread: usize, partition: usize) -> usize {
        self.position_of(thread) * self.partitions + partition
    }

    /// Partitions of one CTA.
    #[inline]
    pub fn partitions(&self) -> usize {
        self.partitions
    }

    /// Whether cluster launch control answers its next request with a tile.
    pub(super) fn grants(&self, state: &State) -> bool {
        state.requests < self.tiles
    }

    /// Numbers barriers and windows as an earlier run did, so that states reached by different
    /// schedules can be compared.
    pub fn adopt_numbering(&mut self, state: &State) {
        self.seed.adopt_numbering(state);
    }

    /// The kernel that it executes.
    #[inline]
    pub fn kernel(&self) -> &'k Kernel {
        self.kernel
    }

    /// The channels of its clocks.
    #[inline]
    pub fn channels(&self) -> Channels {
        self.channels
    }

    #[inline]
    fn block(&self, id: BlockId) -> Option<&'k Block> {
        self.kernel.blocks.get(id.index())
    }

    /// The effect that a running thread stands at, if it stands at one.
    pub(super) fn next_effect(&self, state: &State, thread: usize) -> Option<(EffectId, &'k Effect)> {
        let at = &state.threads[thread];
        match self.block(at.block)?.instrs.get(at.instr as usize)? {
            Instr::Effect(id) => Some((*id, self.kernel.effects.get(id.index())?)),
            _ => None,
        }
    }

    pub(super) fn terminator(&self, state: &State, thread: usize) -> Option<&'k Terminator> {
        let at = &state.threads[thread];
        let block = self.block(at.block)?;
        (at.instr as usize >= block.instrs.len()).then_some(&block.terminator)
    }

    /// What a variable holds for a thread.
    #[inline]
    pub(super) fn scalar(&self, state: &State, thread: usize, var: Var) -> i64 {
        state.var(self.position_of(thread), var)
    }

    #[inline]
    pub(super) fn holds(&self, state: &State, thread: usize, predicate: Option<Var>) -> bool {
        predicate.is_none_or(|var| self.scalar(state, thread, var) & 1 == 1)
    }

    /// The place that a barrier's memdesc names: the thread's own CTA's, unless it is a remote one.
    pub(super) fn place(&self, state: &State, thread: usize, barrier: Var) -> BarrierPlace {
        let value = self.scalar(state, thread, barrier);
        let (buffer, start) = unpack(value);
        let cta = remote_cta(value).unwrap_or_else(|| self.cta_of(thread));
        BarrierPlace { buffer: BufferId(buffer), start, cta }
    }

    /// The barrier that a thread at a wait waits on, and whether it passes; `None` elsewhere.
    pub(super) fn awaited(&self, state: &State, thread: usize) -> Option<(BarrierPlace, bool)> {
        let (_, effect) = self.next_effect(state, thread)?;
        let partition = self.partition_of(thread);
        let place = match &effect.kind {
            EffectKind::Wait { barrier, phase } => {
                let place = self.place(state, thread, *barrier);
                let known = state.barrier_number(place).and_then(|number| state.barriers.get(number));
                // A wait on a barrier that is not live is a violation of its own: let it happen.
                let blocked =
                    known.is_some_and(|(_, known)| known.live && !known.passes(self.scalar(state, thread, *phase)));
                return Some((place, !blocked));
            }
            EffectKind::ClusterWait => BarrierPlace::cluster(partition),
            EffectKind::NamedWait { id } => BarrierPlace::named(self.cta_of(thread), self.scalar(state, thread, *id)),
            _ => return None,
        };
        let met = state.barrier_number(place).and_then(|number| {
            let (_, before) = state.threads[thread].rendezvous.iter().find(|(known, _)| *known as usize == number)?;
            Some(state.barriers.get(number)?.1.total > *before)
        });
        // A wait without an arrival before it waits for nothing.
        Some((place, met.unwrap_or(true)))
    }

    pub(super) fn violate(&self, state: &mut State, thread: usize, site: SiteId, effect: Option<EffectId>, rule: Rule) {
        let barrier = None;
        state.violations.push(Violation { rule, step: state.step, thread: thread as u16, site, effect, barrier });
    }

    pub(super) fn jump(&self, state: &mut State, thread: usize, target: &JumpTarget) -> Result<(), MachineError> {
        let block = self.block(target.block).ok_or(MachineError::IllFormed)?;
        let cta = self.position_of(thread);
        // All of them are read before one is written: a parameter may be handed on to another.
        let mut values: smallvec::SmallVec<[i64; 16]> = smallvec::SmallVec::new();
        values.extend(target.args.iter().map(|&arg| state.var(cta, arg)));
        state.work += values.len() as u64 / 4;
        for (&param, &value) in block.params.iter().zip(&values) {
            state.set(cta, param, value).ok_or(MachineError::IllFormed)?;
        }
        if cta == 0 {
            state.note_jump(state.threads[thread].block, target.block);
        }
        let at = &mut state.threads[thread];
        at.block = target.block;
        at.instr = 0;
        Ok(())
    }

    /// Runs what others cannot notice, up to the next effect with a true predicate or the next
    /// start or end of partitions.
    pub(super) fn advance(&self, state: &mut State, thread: usize) {
        if self.leaves_scalars {
            return;
        }
        loop {
            state.work += 1;
            if state.work > self.run_steps.saturating_mul(COMPUTATIONS) {
                return self.fail(state, MachineError::Limit);
            }
            let at = &state.threads[thread];
            let Some(block) = self.block(at.block) else { return self.fail(state, MachineError::IllFormed) };
            let result = match block.instrs.get(at.instr as usize) {
                Some(Instr::Effect(id)) => {
                    let Some(effect) = self.kernel.effects.get(id.index()) else {
                        return self.fail(state, MachineError::IllFormed);
                    };
                    if effect.leaders & self.cta_of(thread) == 0 && self.holds(state, thread, effect.predicate) {
                        return;
                    }
                    state.threads[thread].instr += 1;
                    Ok(())
                }
                Some(instr) => {
                    state.threads[thread].instr += 1;
                    self.compute(state, thread, instr)
                }
                None => match &block.terminator {
                    Terminator::Jump(target) => self.jump(state, thread, target),
                    Terminator::Branch(condition, yes, no) => {
                        let target = if self.scalar(state, thread, *condition) & 1 == 1 { yes } else { no };
                        self.jump(state, thread, target)
                    }
                    _ => return,
                },
            };
            if let Err(lost) = result {
                return self.fail(state, lost);
            }
        }
    }

    fn fail(&self, state: &mut State, why: MachineError) {
        state.error.get_or_insert(why);
        state.stopped = true;
    }

    /// Executes one instruction that is no effect.
    pub fn compute(&self, state: &mut State, thread: usize, instr: &Instr) -> Result<(), MachineError> {
        let cta = self.position_of(thread);
        let (dst, value) = match instr {
            Instr::Let(dst, pure) => {
                let value = pure.eval(
                    |var| state.var(cta, var),
                    |input| self.input(cta, input),
                    |memory, address| self.valuation.word(memory, address),
                );
                (*dst, value.ok_or(MachineError::Undefined)?)
            }
            Instr::Base(dst, buffer) => (*dst, pack(buffer.0, 0)),
            Instr::View { dst, src, op } => {
                let value = state.var(cta, *src);
                let value = match *op {
                    _ if value < 0 => value,
                    ViewOp::Shift(bits) => value + bits as i64,
                    ViewOp::Index { index, stride, count } => {
                        let slot = state.var(cta, index);
                        // The use decides whether it matters: an index is often computed before
                        // the test that guards it.
                        if slot < 0 || slot as u64 >= count {
                            out_of_bounds(slot)
                        } else {
                            value + (slot as u64 * stride) as i64
                        }
                    }
                    ViewOp::Remote(number) => {
                        let number = state.var(cta, number);
                        match u16::try_from(number) {
                            Ok(number) if self.cluster.position(number).is_some() => remote(value, number),
                            _ => out_of_bounds(number),
                        }
                    }
                };
                (*dst, value)
            }
            Instr::Word(word) => match self.word(state, thread, word) {
                Some(set) => set,
                None => return Ok(()),
            },
            Instr::Effect(_) | Instr::Host(_) => return Ok(()),
        };
        state.set(cta, dst, value).ok_or(MachineError::IllFormed)
    }

    fn input(&self, cta: usize, input: InputId) -> i64 {
        match self.kernel.inputs.get(input.index()).map(|info| info.kind) {
            Some(InputKind::CtaRank) => i64::from(self.cluster.number(cta)),
            _ => self.valuation.get(input),
        }
    }

    /// Slots of the window that an out-of-bounds view indexes, for the message, where they are seen.
    pub(super) fn slots_of(&self, mut view: Var) -> Option<u64> {
        let instrs = || self.kernel.blocks.iter().flat_map(|block| &block.instrs);
        for _ in 0..self.kernel.vars.len() {
            let made = instrs().find_map(|instr| match instr {
                Instr::View { dst, src, op } if *dst == view => Some((*src, *op)),
                _ => None,
            });
            match made? {
                (_, ViewOp::Index { count, .. }) => return Some(count),
                (_, ViewOp::Remote(_)) => return Some(u64::from(self.kernel.ctas)),
                (src, ViewOp::Shift(_)) => view = src,
            }
        }
        None
    }

    /// Takes the next step of a ready thread and says what it did.
    pub fn take(&self, state: &mut State, thread: usize) -> Option<Record> {
        state.step += 1;
        if u64::from(state.step) > self.run_steps {
            self.fail(state, MachineError::Limit);
            return None;
        }
        let record = match self.next_effect(state, thread) {
            Some((id, effect)) => {
                state.note_executed(id, self.position_of(thread) == 0);
                let record = self.execute(state, thread, id, effect);
                state.threads[thread].instr += 1;
                record
            }
            None => self.end_block(state, thread)?,
        };
        if !state.stopped && state.threads[thread].life == ThreadStatus::Running {
            self.advance(state, thread);
        }
        Some(record)
    }

    fn end_block(&self, state: &mut State, thread: usize) -> Option<Record> {
        let plain = |site| Record {
            thread: thread as u16,
            site,
            effect: None,
            places: Default::default(),
            barriers: Default::default(),
            done: Default::default(),
        };
        match self.terminator(state, thread)? {
            Terminator::Fork(fork) => {
                let channel = self.channels.base(thread);
                let parent = &mut state.threads[thread];
                parent.ticks += 1;
                let tick = parent.ticks;
                parent.seen.see(channel, tick);
                parent.order.see(channel, tick);
                let (seen, order, over) = (parent.seen.clone(), parent.order.clone(), parent.over.clone());
                for (number, target) in &fork.partitions {
                    let child = self.sibling(thread, *number as usize);
                    if *number as usize >= self.partitions || self.jump(state, child, target).is_err() {
                        self.fail(state, MachineError::IllFormed);
                        return None;
                    }
                    let thread = &mut state.threads[child];
                    thread.life = ThreadStatus::Running;
                    thread.seen.join(&seen);
                    thread.order.join(&order);
                    thread.over.join(&over);
                    // Triton fences what the parent did where a partition needs it.
                    thread.fenced.join(&seen);
                    state.running[self.position_of(child)] += 1;
                    self.advance(state, child);
                }
                if self.jump(state, thread, &fork.default).is_err() {
                    self.fail(state, MachineError::IllFormed);
                }
                Some(plain(fork.site))
            }
            Terminator::Join(site, target) => {
                for child in (1..self.partitions).map(|partition| self.sibling(thread, partition)) {
                    if state.threads[child].life != ThreadStatus::Ended {
                        continue;
                    }
                    let (seen, order) = (state.threads[child].seen.clone(), state.threads[child].order.clone());
                    let over = state.threads[child].over.clone();
                    state.threads[child].life = ThreadStatus::NotStarted;
                    let parent = &mut state.threads[thread];
                    parent.seen.join(&seen);
                    parent.order.join(&order);
                    parent.over.join(&over);
                    parent.fenced.join(&seen);
                }
                if self.jump(state, thread, target).is_err() {
                    self.fail(state, MachineError::IllFormed);
                }
                Some(plain(*site))
            }
            Terminator::Exit(site) => {
                self.unfinished(state, thread, *site);
                state.threads[thread].life = ThreadStatus::Ended;
                let running = &mut state.running[self.position_of(thread)];
                *running = running.saturating_sub(1);
                Some(plain(*site))
            }
            Terminator::Return(site) => {
                self.unfinished(state, thread, *site);
                self.outlives(state, thread, *site);
                state.threads[thread].life = ThreadStatus::Ended;
                Some(plain(*site))
            }
            Terminator::Jump(_) | Terminator::Branch(..) => {
                self.fail(state, MachineError::IllFormed);
                None
            }
        }
    }

    /// Copies may outlive a thread, as long as the memory does; the result of a dot that is used is
    /// in the thread's registers.
    fn unfinished(&self, state: &mut State, thread: usize, site: SiteId) {
        if state.threads[thread].groups[CommitKind::Wgmma as usize].open.is_empty() {
            return;
        }
        let channel = self.channels.group(thread, CommitKind::Wgmma);
        let reads = state.shadow.histories().flat_map(|history| &history.reads);
        let awaited = |read: &&super::shadow::Event| match self
            .kernel
            .effects
            .get(read.effect.index())
            .map(|effect| &effect.kind)
        {
            Some(EffectKind::Operation { completion: Completion::Commit { awaited, .. }, .. }) => *awaited,
            _ => false,
        };
        let open = reads.filter(|read| read.channel == channel).filter(awaited);
        let last = open.max_by_key(|read| (read.number, read.access));
        if let Some(&access) = last {
            self.violate(state, thread, site, None, Rule::Unfinished { access });
        }
    }

    /// The last operation that no thread knows to be over when the last one returns.
    fn outlives(&self, state: &mut State, thread: usize, site: SiteId) {
        let runs = |other: usize| other != thread && state.threads[other].life == ThreadStatus::Running;
        if (0..state.threads.len()).any(runs) {
            return;
        }
        // What a copy brings into another CTA is awaited there.
        let known: Vec<&Clock> = state.threads.iter().map(|thread| &thread.seen).collect();
        let requests = |event: &Event| {
            let effect = self.kernel.effects.get(event.effect.index()).map(|effect| &effect.kind);
            matches!(effect, Some(EffectKind::Operation { issuer: Issuer::Clc, .. }))
        };
        let asynchronous = |event: &Event| {
            self.channels.family(event.channel).is_some_and(CommitKind::outlives)
                || self.channels.barrier_of(event.channel).is_some()
                || event.channel == self.channels.tensor_core(usize::from(event.thread))
        };
        let events = state.shadow.histories().flat_map(|history| history.write.iter().chain(&history.reads));
        let open = events
            .filter(|event| asynchronous(event) && !requests(event))
            .filter(|event| known.iter().all(|seen| seen.get(event.channel) < event.number));
        if let Some(&access) = open.max_by_key(|event| (event.step, event.access)) {
            let rule = Rule::Outlives { access };
            let (step, thread) = (state.step, thread as u16);
            state.remarks.push(Violation { rule, step, thread, site, effect: None, barrier: None });
        }
    }

    pub(super) fn blocked_on(&self, state: &State, thread: usize) -> Option<Blocked> {
        let blocked = |site, on| Some(Blocked { thread: thread as u16, site, on });
        if let Some((_, effect)) = self.next_effect(state, thread) {
            let (place, _) = self.awaited(state, thread)?;
            let known = &state.barriers.get(state.barrier_number(place)?)?.1;
            let phase = match &effect.kind {
                EffectKind::Wait { phase, .. } => (self.scalar(state, thread, *phase) & 1) as u32,
                _ => known.parity(),
            };
            return blocked(
                effect.site,
                BlockedOn::Barrier {
                    barrier: place,
                    phase,
                    flips: known.flips,
                    pending: known.pending,
                    initial: known.initial,
                    bytes: known.bytes,
                },
            );
        }
        match self.terminator(state, thread)? {
            Terminator::Join(site, _) => blocked(*site, BlockedOn::Partitions),
            _ => None,
        }
    }
}

/// One more than the most groups of a family that some wait leaves open; none without a wait.
fn kept(kernel: &Kernel, family: CommitKind) -> usize {
    let waits = kernel.effects.iter().filter_map(|effect| match effect.kind {
        EffectKind::WaitGroup { kind, pending } if kind == family => Some(pending as usize + 1),
        _ => None,
    });
    waits.max().unwrap_or(0)
}

/// A memdesc value that names no slot.
fn out_of_bounds(slot: i64) -> i64 {
    i64::MIN | (slot & 0xffff_ffff)
}

/// The index of a memdesc value that names no slot.
pub(super) fn bad_slot(value: i64) -> Option<i64> {
    (value < 0).then_some(i64::from(value as u32 as i32))
}

impl Machine<'_> {
    /// The shape of a memdesc variable.
    pub(super) fn shape_of(&self, view: Var) -> Option<ShapeId> {
        match self.kernel.vars.get(view.index())?.kind {
            VarKind::View(shape) => Some(shape),
            VarKind::Scalar => None,
        }
    }
}
