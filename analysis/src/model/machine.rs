//! The machine: executes a kernel's synchronisation under a scheduler.
//!
//! A step of a thread is one effect with a true predicate, or the start or end of partitions;
//! scalar instructions and jumps up to the next effect belong to the step before. Completions
//! count at issue, as in ConSan: a barrier may flip before the copy that it waits for "is done",
//! and what makes the copy visible is the wait.

use super::clock::Channels;
use super::record::Record;
use super::shadow::Shadow;
use super::state::{Lost, State, pack, unpack};
use super::thread::{Life, Thread};
use super::valuation::Valuation;
use super::violation::{BarrierPlace, Blocked, BlockedOn, Escape, Rule, Violation};
use crate::base::Limits;
use crate::explore::{Status, System, Touches};
use crate::sync::{
    Block, BlockId, Effect, EffectId, EffectKind, Instr, Kernel, ShapeId, SiteId, Target, Terminator, Var, VarKind,
    ViewOp,
};

/// A kernel with concrete inputs.
#[derive(Debug)]
pub struct Machine<'k> {
    pub(super) kernel: &'k Kernel,
    pub(super) valuation: &'k Valuation,
    pub(super) channels: Channels,
    pub(super) bases: Vec<Option<ShapeId>>,
    run_steps: u64,
    seed: State,
}

impl<'k> Machine<'k> {
    /// A machine for one kernel and one valuation of its inputs.
    pub fn new(kernel: &'k Kernel, valuation: &'k Valuation, limits: &Limits) -> Machine<'k> {
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
        let threads = kernel.partitions.len().max(1);
        let seed = State {
            vars: vec![0; kernel.vars.len()],
            threads: vec![Thread::unborn(); threads],
            shadow: Shadow::default(),
            barriers: Vec::new(),
            running: 0,
            step: 0,
            work: 0,
            violations: Vec::new(),
            escapes: Vec::new(),
            stopped: false,
            lost: None,
            unmodelled: false,
        };
        Machine { kernel, valuation, channels: Channels::new(threads), bases, run_steps: limits.run_steps, seed }
    }

    /// Numbers barriers and windows as an earlier run did, so that states reached by different
    /// schedules can be compared.
    pub fn learn(&mut self, state: &State) {
        self.seed.barriers = state.barriers.iter().map(|(place, _)| (*place, Default::default())).collect();
        self.seed.shadow = state.shadow.without_history();
    }

    /// The kernel.
    pub fn kernel(&self) -> &'k Kernel {
        self.kernel
    }

    /// The channels of its clocks.
    pub fn channels(&self) -> Channels {
        self.channels
    }

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

    fn terminator(&self, state: &State, thread: usize) -> Option<&'k Terminator> {
        let at = &state.threads[thread];
        let block = self.block(at.block)?;
        (at.instr as usize >= block.instrs.len()).then_some(&block.terminator)
    }

    pub(super) fn scalar(&self, state: &State, var: Var) -> i64 {
        state.vars.get(var.index()).copied().unwrap_or(0)
    }

    pub(super) fn holds(&self, state: &State, predicate: Option<Var>) -> bool {
        predicate.is_none_or(|var| self.scalar(state, var) & 1 == 1)
    }

    /// The place that a barrier's memdesc names.
    pub(super) fn place(&self, state: &State, barrier: Var) -> BarrierPlace {
        let (buffer, start) = unpack(self.scalar(state, barrier));
        BarrierPlace { buffer: crate::sync::BufferId(buffer), start }
    }

    pub(super) fn violate(&self, state: &mut State, thread: usize, site: SiteId, effect: Option<EffectId>, rule: Rule) {
        let barrier = None;
        state.violations.push(Violation { rule, step: state.step, thread: thread as u16, site, effect, barrier });
    }

    fn jump(&self, state: &mut State, thread: usize, target: &Target) -> Result<(), Lost> {
        let block = self.block(target.block).ok_or(Lost::IllFormed)?;
        let values: smallvec::SmallVec<[i64; 8]> = target.args.iter().map(|&arg| self.scalar(state, arg)).collect();
        for (&param, value) in block.params.iter().zip(values) {
            *state.vars.get_mut(param.index()).ok_or(Lost::IllFormed)? = value;
        }
        let at = &mut state.threads[thread];
        at.block = target.block;
        at.instr = 0;
        Ok(())
    }

    /// Runs what others cannot notice, up to the next effect with a true predicate or the next
    /// start or end of partitions.
    fn advance(&self, state: &mut State, thread: usize) {
        loop {
            state.work += 1;
            if state.work > self.run_steps.saturating_mul(16) {
                return self.lose(state, Lost::Limit);
            }
            let at = &state.threads[thread];
            let Some(block) = self.block(at.block) else { return self.lose(state, Lost::IllFormed) };
            let result = match block.instrs.get(at.instr as usize) {
                Some(Instr::Effect(id)) => {
                    let Some(effect) = self.kernel.effects.get(id.index()) else {
                        return self.lose(state, Lost::IllFormed);
                    };
                    if self.holds(state, effect.predicate) {
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
                        let target = if self.scalar(state, *condition) & 1 == 1 { yes } else { no };
                        self.jump(state, thread, target)
                    }
                    _ => return,
                },
            };
            if let Err(lost) = result {
                return self.lose(state, lost);
            }
        }
    }

    fn lose(&self, state: &mut State, why: Lost) {
        state.lost.get_or_insert(why);
        state.stopped = true;
    }

    fn compute(&self, state: &mut State, thread: usize, instr: &Instr) -> Result<(), Lost> {
        let (dst, value) = match instr {
            Instr::Let(dst, pure) => {
                let value = pure.eval(
                    |var| self.scalar(state, var),
                    |input| self.valuation.get(input),
                    |memory, _address| self.valuation.get(memory),
                );
                (*dst, value.ok_or(Lost::Undefined)?)
            }
            Instr::Base(dst, buffer) => (*dst, pack(buffer.0, 0)),
            Instr::View { dst, src, op } => {
                let (buffer, start) = unpack(self.scalar(state, *src));
                let moved = match *op {
                    ViewOp::Shift(bits) => bits,
                    ViewOp::Index { index, stride, count } => {
                        let slot = self.scalar(state, index);
                        if slot < 0 || slot as u64 >= count {
                            // The use decides whether it matters: an index is often computed
                            // before the test that guards it.
                            *state.vars.get_mut(dst.index()).ok_or(Lost::IllFormed)? = out_of_bounds(slot);
                            return Ok(());
                        }
                        slot as u64 * stride
                    }
                };
                let value =
                    if self.scalar(state, *src) < 0 { self.scalar(state, *src) } else { pack(buffer, start + moved) };
                (*dst, value)
            }
            Instr::Effect(_) => return Ok(()),
        };
        let _ = thread;
        *state.vars.get_mut(dst.index()).ok_or(Lost::IllFormed)? = value;
        Ok(())
    }

    /// Slots of the window that an out-of-bounds view indexes, for the message.
    pub(super) fn slots_of(&self, view: Var) -> u64 {
        for block in &self.kernel.blocks {
            for instr in &block.instrs {
                if let Instr::View { dst, op: ViewOp::Index { count, .. }, .. } = instr
                    && *dst == view
                {
                    return *count;
                }
            }
        }
        0
    }

    /// Takes the next step of a ready thread and says what it did.
    pub fn take(&self, state: &mut State, thread: usize) -> Option<Record> {
        state.step += 1;
        if u64::from(state.step) > self.run_steps {
            self.lose(state, Lost::Limit);
            return None;
        }
        let record = match self.next_effect(state, thread) {
            Some((id, effect)) => {
                let record = self.execute(state, thread, id, effect);
                state.threads[thread].instr += 1;
                record
            }
            None => self.end_block(state, thread)?,
        };
        if !state.stopped && state.threads[thread].life == Life::Running {
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
        };
        match self.terminator(state, thread)? {
            Terminator::Fork(fork) => {
                let channel = self.channels.base(thread);
                let parent = &mut state.threads[thread];
                parent.ticks += 1;
                let tick = parent.ticks;
                parent.seen.see(channel, tick);
                parent.order.see(channel, tick);
                let (seen, order) = (parent.seen.clone(), parent.order.clone());
                for (number, target) in &fork.partitions {
                    let child = *number as usize;
                    if child >= state.threads.len() || self.jump(state, child, target).is_err() {
                        self.lose(state, Lost::IllFormed);
                        return None;
                    }
                    let thread = &mut state.threads[child];
                    thread.life = Life::Running;
                    thread.seen.join(&seen);
                    thread.order.join(&order);
                    // Triton fences what the parent did where a partition needs it.
                    thread.fenced.join(&seen);
                    state.running += 1;
                    self.advance(state, child);
                }
                if self.jump(state, thread, &fork.default).is_err() {
                    self.lose(state, Lost::IllFormed);
                }
                Some(plain(fork.site))
            }
            Terminator::Join(site, target) => {
                for child in 1..state.threads.len() {
                    if state.threads[child].life != Life::Ended {
                        continue;
                    }
                    let (seen, order) = (state.threads[child].seen.clone(), state.threads[child].order.clone());
                    state.threads[child].life = Life::Unborn;
                    let parent = &mut state.threads[thread];
                    parent.seen.join(&seen);
                    parent.order.join(&order);
                    parent.fenced.join(&seen);
                }
                if self.jump(state, thread, target).is_err() {
                    self.lose(state, Lost::IllFormed);
                }
                Some(plain(*site))
            }
            Terminator::Exit(site) => {
                state.threads[thread].life = Life::Ended;
                state.running = state.running.saturating_sub(1);
                Some(plain(*site))
            }
            Terminator::Return(site) => {
                state.threads[thread].life = Life::Ended;
                Some(plain(*site))
            }
            Terminator::Jump(_) | Terminator::Branch(..) => {
                self.lose(state, Lost::IllFormed);
                None
            }
        }
    }

    fn blocked_on(&self, state: &State, thread: usize) -> Option<Blocked> {
        let blocked = |site, on| Some(Blocked { thread: thread as u16, site, on });
        if let Some((_, effect)) = self.next_effect(state, thread) {
            let EffectKind::Wait { barrier, phase } = &effect.kind else { return None };
            let place = self.place(state, *barrier);
            let known = state.barriers.iter().find(|(known, _)| *known == place).map(|(_, barrier)| barrier)?;
            return blocked(
                effect.site,
                BlockedOn::Barrier {
                    barrier: place,
                    phase: (self.scalar(state, *phase) & 1) as u32,
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

/// A memdesc value that names no slot.
fn out_of_bounds(slot: i64) -> i64 {
    i64::MIN | (slot & 0xffff_ffff)
}

/// The index of a memdesc value that names no slot.
pub(super) fn bad_slot(value: i64) -> Option<i64> {
    (value < 0).then_some(i64::from(value as u32 as i32))
}

impl System for Machine<'_> {
    type State = State;

    fn initial(&self) -> State {
        let mut state = self.seed.clone();
        state.threads[0].life = Life::Running;
        state.threads[0].block = self.kernel.entry;
        self.advance(&mut state, 0);
        state
    }

    fn threads(&self) -> usize {
        self.kernel.partitions.len().max(1)
    }

    fn status(&self, state: &State, thread: usize) -> Status {
        if state.threads[thread].life != Life::Running {
            return Status::Idle;
        }
        if let Some((_, effect)) = self.next_effect(state, thread) {
            if let EffectKind::Wait { barrier, phase } = &effect.kind {
                let place = self.place(state, *barrier);
                let known = state.barriers.iter().find(|(known, _)| *known == place);
                // A wait on a barrier that is not live is a violation of its own: let it happen.
                let blocked = known.is_some_and(|(_, known)| known.live && !known.passes(self.scalar(state, *phase)));
                return if blocked { Status::Blocked } else { Status::Ready };
            }
            return Status::Ready;
        }
        match self.terminator(state, thread) {
            Some(Terminator::Join(..)) if state.running > 0 => Status::Blocked,
            _ => Status::Ready,
        }
    }

    fn touches(&self, state: &State, thread: usize) -> Touches {
        let Some((_, effect)) = self.next_effect(state, thread) else {
            // Start and end of partitions order nothing but the threads themselves.
            return Touches::Nothing;
        };
        let number = |var: Var| {
            let place = self.place(state, var);
            state.barriers.iter().position(|(known, _)| *known == place).map(|number| number as u32)
        };
        let changes = |var: Var| number(var).map_or(Touches::Anything, Touches::Changes);
        match &effect.kind {
            EffectKind::Wait { barrier, .. } => number(*barrier).map_or(Touches::Anything, Touches::Looks),
            EffectKind::Init { barrier, .. }
            | EffectKind::Invalidate { barrier }
            | EffectKind::Expect { barrier, .. }
            | EffectKind::Arrive { barrier, .. }
            | EffectKind::TensorCoreCommit { barrier }
            | EffectKind::AsyncCopyArrive { barrier, .. } => changes(*barrier),
            EffectKind::Operation { completion, .. } => match super::effects::arrivals(completion) {
                [] => Touches::Nothing,
                [one] => changes(one.barrier),
                _ => Touches::Anything,
            },
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
                let number = state.barrier(barrier);
                let order = &state.threads[usize::from(stuck.thread)].order;
                if flips > 0 && !state.barriers[number].1.last_flip_is_over(order, self.channels.barrier(number)) {
                    state.escapes.push(Escape::Missed { thread: stuck.thread });
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
        self.next_effect(state, thread).is_some_and(|(_, effect)| matches!(effect.kind, EffectKind::Wait { .. }))
    }

    fn stuck(&self, state: &State, thread: usize) -> Option<Blocked> {
        (self.status(state, thread) == Status::Blocked).then(|| self.blocked_on(state, thread)).flatten()
    }

    /// The shape of a memdesc variable.
    pub(super) fn shape_of(&self, view: Var) -> Option<ShapeId> {
        match self.kernel.vars.get(view.index())?.kind {
            VarKind::View(shape) => Some(shape),
            VarKind::Scalar => None,
        }
    }
}
