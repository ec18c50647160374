//! The state of one run, and its steps.

use super::barrier::Barrier;
use super::memory::Memory;
use super::policy::{Order, Policy};
use super::values::{OUT, cta, moved, pack, remote, unpack};
use kernel::{
    BlockId, BufferId, Effect, EffectId, EffectKind, InputId, InputKind, Instr, JumpTarget, Kernel, Mode, Proxy,
    ShapeId, SiteId, Terminator, Var, ViewOp,
};
use machine::Valuation;
use std::collections::{BTreeMap, BTreeSet};

/// Steps after which a run is given up.
const STEPS: u64 = 40_000;

/// Scalar instructions after which a run is given up.
const WORK: u64 = 4_000_000;

/// Why a run did not end as it should.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Fault {
    /// Nobody can go on.
    Hang,
    /// A barrier is used as it must not be.
    Barrier,
    /// An index leaves its allocation.
    Bounds,
    /// An operation other than a copy is not done when the kernel has ended.
    Late,
    /// It cannot be followed: nothing is known.
    Lost,
}

/// A memory operation: its thread, and its number among those that the thread issued.
pub(super) type Slot = (usize, usize);

/// What a run did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Ending {
    /// Whether it went wrong, and at which operation where it was one.
    pub fault: Option<(Fault, Option<Slot>)>,
    /// What each memory operation read, by thread and in the order of issue.
    pub reads: Vec<Vec<u64>>,
    /// The sites of these operations.
    pub sites: Vec<Vec<SiteId>>,
    /// Whether a copy was still under way when the kernel ended.
    pub late: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Life {
    Unborn,
    Running,
    Ended,
}

/// Groups of one family: operations by number.
#[derive(Clone, Default, Debug)]
pub(super) struct Groups {
    pub(super) staged: Vec<u64>,
    pub(super) closed: Vec<Vec<u64>>,
}

#[derive(Clone, Debug)]
pub(super) struct Thread {
    life: Life,
    block: BlockId,
    instr: usize,
    pub(super) groups: BTreeMap<u8, Groups>,
    /// The round of each rendezvous that it arrived in.
    pub(super) rounds: BTreeMap<Meeting, u64>,
}

/// A window with its effect on it.
#[derive(Clone, Debug)]
pub(super) struct Touch {
    pub(super) cta: u16,
    pub(super) buffer: BufferId,
    pub(super) start: u64,
    pub(super) shape: ShapeId,
    pub(super) mode: Mode,
    pub(super) proxy: Proxy,
}

/// A barrier's place: CTA, buffer, start.
pub(super) type Where = (u16, u32, u64);

/// Arrivals: where, how many, and bytes.
pub(super) type Arrivals = Vec<(Where, i64, i64)>;

/// What happens later.
#[derive(Clone, Debug)]
pub(super) struct Work {
    /// Memory that is touched.
    pub(super) touches: Vec<Touch>,
    /// Arrivals that come then.
    pub(super) arrivals: Arrivals,
    /// Where it is an operation: the place of what it reads among those of its thread.
    pub(super) slot: Option<usize>,
}

/// What was issued and has not happened.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub(super) number: u64,
    pub(super) thread: usize,
    /// Those of one lane happen in order.
    pub(super) lane: Option<Lane>,
    /// Happens after all `cp.async` of the thread that were issued before.
    pub(super) after_copies: bool,
    /// A `cp.async`.
    pub(super) copies: bool,
    /// A copy that commits to a group: the device keeps the memory until it is done.
    pub(super) kept: bool,
    pub(super) priority: u64,
    pub(super) work: Work,
}

/// What a thread's operations of one sort happen in order on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lane {
    TensorCore,
    Wgmma,
    DataMover,
}

/// A rendezvous without storage.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Meeting {
    /// Of the partitions with this number, in all CTAs.
    Cluster(usize),
    /// The named barrier of a CTA.
    Named(u16, i64),
}

/// A run.
pub(super) struct Board<'k> {
    pub(super) kernel: &'k Kernel,
    pub(super) intervals: &'k [Vec<(u64, u64)>],
    valuation: &'k Valuation,
    partitions: usize,
    /// By CTA.
    vars: Vec<Vec<i64>>,
    pub(super) threads: Vec<Thread>,
    pub(super) memory: Memory,
    pub(super) barriers: BTreeMap<Where, Barrier>,
    /// Rounds that are complete, and what arrived in the next.
    pub(super) meetings: BTreeMap<Meeting, (u64, i64)>,
    pub(super) pending: Vec<Pending>,
    pub(super) issued: u64,
    pub(super) reads: Vec<Vec<u64>>,
    pub(super) sites: Vec<Vec<SiteId>>,
    pub(super) order: Order,
    pub(super) fault: Option<(Fault, Option<Slot>)>,
    work: u64,
    /// CTAs whose first thread has returned.
    pub(super) over: Vec<bool>,
    pub(super) late: bool,
    /// Requests for another tile, and those writes that bring one.
    pub(super) requests: i64,
    pub(super) grants: BTreeSet<u64>,
}

/// Plays a kernel once.
pub(super) fn play(kernel: &Kernel, valuation: &Valuation, intervals: &[Vec<(u64, u64)>], policy: &Policy) -> Ending {
    let (partitions, ctas) = (kernel.partitions.len().max(1), kernel.ctas.max(1) as usize);
    let threads = partitions * ctas;
    let thread =
        Thread { life: Life::Unborn, block: kernel.entry, instr: 0, groups: BTreeMap::new(), rounds: BTreeMap::new() };
    let mut board = Board {
        kernel,
        valuation,
        intervals,
        partitions,
        vars: vec![vec![0; kernel.vars.len()]; ctas],
        threads: vec![thread; threads],
        memory: Memory::default(),
        barriers: BTreeMap::new(),
        meetings: BTreeMap::new(),
        pending: Vec::new(),
        issued: 0,
        reads: vec![Vec::new(); threads],
        sites: vec![Vec::new(); threads],
        order: policy.order(threads),
        fault: None,
        work: 0,
        over: vec![false; ctas],
        late: false,
        requests: 0,
        grants: BTreeSet::new(),
    };
    for cta in 0..ctas {
        board.threads[cta * partitions].life = Life::Running;
        board.advance(cta * partitions);
    }
    board.run();
    Ending { fault: board.fault, reads: board.reads, sites: board.sites, late: board.late }
}

enum Turn {
    Thread(usize),
    Pending(usize),
}

impl<'k> Board<'k> {
    fn run(&mut self) {
        for _ in 0..STEPS {
            if self.fault.is_some() {
                return;
            }
            self.order.tick();
            match self.turn() {
                Some(Turn::Thread(thread)) => self.step(thread),
                Some(Turn::Pending(at)) => {
                    let pending = self.pending.remove(at);
                    self.happen(&pending);
                }
                None if self.over.iter().all(|over| *over) => return,
                None => return self.fail(Fault::Hang),
            }
        }
        self.fail(Fault::Lost);
    }

    pub(super) fn fail(&mut self, fault: Fault) {
        self.fault.get_or_insert((fault, None));
    }

    /// The one with the highest priority of those that can go.
    fn turn(&self) -> Option<Turn> {
        let threads = (0..self.threads.len()).filter(|&thread| self.ready(thread));
        let threads = threads.map(|thread| (self.order.thread(thread), Turn::Thread(thread)));
        let pending = (0..self.pending.len()).filter(|&at| self.may_happen(at));
        let pending = pending.map(|at| (self.pending[at].priority, Turn::Pending(at)));
        threads.chain(pending).max_by_key(|(priority, _)| *priority).map(|(_, turn)| turn)
    }

    fn may_happen(&self, at: usize) -> bool {
        let this = &self.pending[at];
        // What was issued before stands before.
        !self.pending[..at].iter().any(|other| {
            other.thread == this.thread
                && ((this.lane.is_some() && other.lane == this.lane) || (this.after_copies && other.copies))
        })
    }

    fn effect(&self, thread: usize) -> Option<(EffectId, &'k Effect)> {
        let at = &self.threads[thread];
        match self.kernel.blocks.get(at.block.index())?.instrs.get(at.instr)? {
            Instr::Effect(id) => Some((*id, self.kernel.effects.get(id.index())?)),
            _ => None,
        }
    }

    fn ready(&self, thread: usize) -> bool {
        let at = &self.threads[thread];
        if at.life != Life::Running {
            return false;
        }
        match self.effect(thread).map(|(_, effect)| &effect.kind) {
            Some(EffectKind::Wait { barrier, phase }) => {
                let barrier = self.barriers.get(&self.place(thread, *barrier)).copied().unwrap_or_default();
                barrier.passes(self.get(thread, *phase)).unwrap_or(true)
            }
            Some(EffectKind::WaitGroup { kind, pending }) => {
                let Some(groups) = at.groups.get(&(*kind as u8)) else { return true };
                let over = groups.closed.len().saturating_sub(*pending as usize);
                let open = |number: &u64| self.pending.iter().any(|pending| pending.number == *number);
                !groups.closed[..over].iter().flatten().any(open)
            }
            Some(EffectKind::NamedWait { id }) => {
                self.has_met(thread, Meeting::Named(self.cta_of(thread), self.get(thread, *id)))
            }
            Some(EffectKind::ClusterWait) => self.has_met(thread, self.cluster_of(thread)),
            Some(_) => true,
            None => match self.kernel.blocks.get(at.block.index()).map(|block| &block.terminator) {
                Some(Terminator::Join(..)) => {
                    !self.threads[thread + 1..thread + self.partitions].iter().any(|other| other.life == Life::Running)
                }
                _ => true,
            },
        }
    }

    /// Whether the round that a thread arrived in is complete; one it never arrived in is.
    fn has_met(&self, thread: usize, meeting: Meeting) -> bool {
        let Some(round) = self.threads[thread].rounds.get(&meeting) else { return true };
        self.meetings.get(&meeting).is_some_and(|(complete, _)| complete > round)
    }

    /// The CTA that a thread is of.
    pub(super) fn cta_of(&self, thread: usize) -> u16 {
        (thread / self.partitions) as u16
    }

    /// Threads of hardware that run a thread's partition.
    pub(super) fn width_of(&self, thread: usize) -> i64 {
        let partition = self.kernel.partitions.get(thread % self.partitions);
        partition.and_then(|info| info.warps).map_or(0, |warps| i64::from(warps) * 32)
    }

    /// The rendezvous of a thread with its like.
    pub(super) fn cluster_of(&self, thread: usize) -> Meeting {
        Meeting::Cluster(thread % self.partitions)
    }

    pub(super) fn get(&self, thread: usize, var: Var) -> i64 {
        self.vars[thread / self.partitions].get(var.index()).copied().unwrap_or(0)
    }

    pub(super) fn set(&mut self, thread: usize, var: Var, value: i64) {
        match self.vars[thread / self.partitions].get_mut(var.index()) {
            Some(slot) => *slot = value,
            None => self.fail(Fault::Lost),
        }
    }

    /// The value of the kernel's input of a kind, 0 where it has none.
    pub(super) fn input(&self, kind: InputKind) -> i64 {
        let at = self.kernel.inputs.iter().position(|input| input.kind == kind);
        at.map_or(0, |at| self.valuation.get(InputId(at as u32)))
    }

    pub(super) fn holds(&self, thread: usize, predicate: Option<Var>) -> bool {
        predicate.is_none_or(|var| self.get(thread, var) & 1 == 1)
    }

    /// Where the barrier of a memdesc is, as a thread names it.
    pub(super) fn place(&self, thread: usize, view: Var) -> Where {
        let value = self.get(thread, view);
        let (buffer, start) = unpack(value);
        (cta(value).unwrap_or_else(|| self.cta_of(thread)), buffer, start)
    }

    fn jump(&mut self, thread: usize, target: &JumpTarget) {
        let values: Vec<i64> = target.args.iter().map(|&arg| self.get(thread, arg)).collect();
        let Some(block) = self.kernel.blocks.get(target.block.index()) else { return self.fail(Fault::Lost) };
        for (&param, value) in block.params.iter().zip(values) {
            self.set(thread, param, value);
        }
        (self.threads[thread].block, self.threads[thread].instr) = (target.block, 0);
    }

    /// Computes up to the next effect that is executed, or the next end of a block that matters.
    fn advance(&mut self, thread: usize) {
        while self.fault.is_none() {
            self.work += 1;
            if self.work > WORK {
                return self.fail(Fault::Lost);
            }
            let at = &self.threads[thread];
            let kernel = self.kernel;
            let Some(block) = kernel.blocks.get(at.block.index()) else { return self.fail(Fault::Lost) };
            match block.instrs.get(at.instr) {
                Some(Instr::Effect(id)) => {
                    let Some(effect) = kernel.effects.get(id.index()) else { return self.fail(Fault::Lost) };
                    if effect.leaders & self.cta_of(thread) == 0 && self.holds(thread, effect.predicate) {
                        return;
                    }
                    self.threads[thread].instr += 1;
                }
                Some(instr) => {
                    self.compute(thread, instr);
                    self.threads[thread].instr += 1;
                }
                None => match &block.terminator {
                    Terminator::Jump(target) => self.jump(thread, target),
                    Terminator::Branch(condition, yes, no) => {
                        let target = if self.get(thread, *condition) & 1 == 1 { yes } else { no };
                        self.jump(thread, target);
                    }
                    _ => return,
                },
            }
        }
    }

    fn compute(&mut self, thread: usize, instr: &Instr) {
        match instr {
            Instr::Let(dst, pure) => {
                let input = |input: InputId| match self.kernel.inputs.get(input.index()).map(|info| info.kind) {
                    Some(InputKind::CtaRank) => i64::from(self.cta_of(thread)),
                    _ => self.valuation.get(input),
                };
                match pure.eval(|var| self.get(thread, var), input, |memory, _| self.valuation.get(memory)) {
                    Some(value) => self.set(thread, *dst, value),
                    None => self.fail(Fault::Lost),
                }
            }
            Instr::Base(dst, buffer) => self.set(thread, *dst, pack(buffer.0, 0)),
            Instr::View { dst, src, op } => {
                let src = self.get(thread, *src);
                let value = match *op {
                    ViewOp::Shift(bits) => moved(src, bits),
                    ViewOp::Remote(number) => match u16::try_from(self.get(thread, number)) {
                        Ok(number) if usize::from(number) < self.over.len() && src != OUT => remote(src, number),
                        _ => OUT,
                    },
                    ViewOp::Index { index, stride, count } => match u64::try_from(self.get(thread, index)) {
                        Ok(slot) if slot < count => moved(src, slot * stride),
                        _ => OUT,
                    },
                };
                self.set(thread, *dst, value);
            }
            Instr::Word(word) => {
                if let Some((dst, otherwise)) = word.defines() {
                    self.set(thread, dst, self.get(thread, otherwise));
                }
            }
            Instr::Effect(_) | Instr::Host(_) => {}
        }
    }

    fn step(&mut self, thread: usize) {
        match self.effect(thread) {
            Some((_, effect)) => {
                self.execute(thread, effect);
                self.threads[thread].instr += 1;
            }
            None => self.end_block(thread),
        }
        if self.threads[thread].life == Life::Running {
            self.advance(thread);
        }
    }

    fn end_block(&mut self, thread: usize) {
        let kernel = self.kernel;
        match kernel.blocks.get(self.threads[thread].block.index()).map(|block| &block.terminator) {
            Some(Terminator::Fork(fork)) => {
                self.memory.fence(None);
                for (number, target) in &fork.partitions {
                    let child = thread + *number as usize;
                    if *number as usize >= self.partitions {
                        return self.fail(Fault::Lost);
                    }
                    self.threads[child].life = Life::Running;
                    self.jump(child, target);
                    self.advance(child);
                }
                self.jump(thread, &fork.default);
            }
            Some(Terminator::Join(_, target)) => {
                self.memory.fence(None);
                self.jump(thread, target);
            }
            Some(Terminator::Exit(_)) => self.threads[thread].life = Life::Ended,
            Some(Terminator::Return(_)) => {
                self.threads[thread].life = Life::Ended;
                self.over[thread / self.partitions] = true;
            }
            _ => self.fail(Fault::Lost),
        }
    }
}
