//! The state of one run, and its steps.

use super::barrier::Barrier;
use super::memory::{Arena, Memory, Place, Through, mix};
use super::policy::{Order, Policy};
use analysis::model::Valuation;
use analysis::sync::{
    Access, BlockId, BufferId, CommitKind, Completion, Effect, EffectId, EffectKind, Instr, Issuer, Kernel, Mode,
    Proxy, ShapeId, SiteId, Space, Target, Terminator, Var, VarKind, ViewOp,
};
use std::collections::BTreeMap;

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
pub type Slot = (usize, usize);

/// What a run did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ending {
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
struct Groups {
    staged: Vec<u64>,
    closed: Vec<Vec<u64>>,
}

#[derive(Clone, Debug)]
struct Thread {
    life: Life,
    block: BlockId,
    instr: usize,
    groups: BTreeMap<u8, Groups>,
    /// The round of each named barrier that it arrived in.
    rounds: BTreeMap<i64, u64>,
}

/// A window with its effect on it.
#[derive(Clone, Debug)]
struct Touch {
    buffer: BufferId,
    start: u64,
    shape: ShapeId,
    mode: Mode,
    proxy: Proxy,
}

type Barriers = BTreeMap<(u32, u64), Barrier>;

#[derive(Clone, Debug)]
enum Work {
    Operation { touches: Vec<Touch>, arrivals: Vec<((u32, u64), i64, i64)> },
    Arrive { barrier: (u32, u64), count: i64 },
}

/// What was issued and has not happened.
#[derive(Clone, Debug)]
struct Pending {
    number: u64,
    thread: usize,
    /// The slot of its reads.
    slot: usize,
    /// Those of one lane happen in order.
    lane: Option<u8>,
    /// Happens after all `cp.async` of the thread that were issued before.
    after_copies: bool,
    /// A `cp.async`.
    copies: bool,
    /// A copy that commits to a group: the device keeps the memory until it is done.
    kept: bool,
    priority: u64,
    work: Work,
}

const TENSOR_CORE: u8 = 0;
const WGMMA: u8 = 1;
const DATA_MOVER: u8 = 2;

/// A run.
pub struct Board<'k> {
    kernel: &'k Kernel,
    valuation: &'k Valuation,
    intervals: &'k [Vec<(u64, u64)>],
    vars: Vec<i64>,
    threads: Vec<Thread>,
    memory: Memory,
    barriers: Barriers,
    /// Named barriers: rounds that are complete, and threads that arrived in the next.
    named: BTreeMap<i64, (u64, i64)>,
    pending: Vec<Pending>,
    issued: u64,
    reads: Vec<Vec<u64>>,
    sites: Vec<Vec<SiteId>>,
    order: Order,
    fault: Option<(Fault, Option<Slot>)>,
    work: u64,
    over: bool,
    late: bool,
}

const OUT: i64 = i64::MIN;

fn pack(buffer: u32, start: u64) -> i64 {
    (i64::from(buffer) << 40) | start as i64
}

fn unpack(value: i64) -> (u32, u64) {
    ((value >> 40) as u32, (value & ((1 << 40) - 1)) as u64)
}

/// Plays a kernel once.
pub fn play(kernel: &Kernel, valuation: &Valuation, intervals: &[Vec<(u64, u64)>], policy: &Policy) -> Ending {
    let threads = kernel.partitions.len().max(1);
    let thread =
        Thread { life: Life::Unborn, block: BlockId(0), instr: 0, groups: BTreeMap::new(), rounds: BTreeMap::new() };
    let mut board = Board {
        kernel,
        valuation,
        intervals,
        vars: vec![0; kernel.vars.len()],
        threads: vec![thread; threads],
        memory: Memory::default(),
        barriers: Barriers::new(),
        named: BTreeMap::new(),
        pending: Vec::new(),
        issued: 0,
        reads: vec![Vec::new(); threads],
        sites: vec![Vec::new(); threads],
        order: policy.order(threads),
        fault: None,
        work: 0,
        over: false,
        late: false,
    };
    board.threads[0].life = Life::Running;
    board.threads[0].block = kernel.entry;
    board.advance(0);
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
                None if self.over => return,
                None => return self.fail(Fault::Hang),
            }
        }
        self.fail(Fault::Lost);
    }

    fn fail(&mut self, fault: Fault) {
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
                let barrier = self.barriers.get(&unpack(self.get(*barrier))).copied().unwrap_or_default();
                barrier.passes(self.get(*phase)).unwrap_or(true)
            }
            Some(EffectKind::WaitGroup { kind, pending }) => {
                let Some(groups) = at.groups.get(&(*kind as u8)) else { return true };
                let over = groups.closed.len().saturating_sub(*pending as usize);
                let open = |number: &u64| self.pending.iter().any(|pending| pending.number == *number);
                !groups.closed[..over].iter().flatten().any(open)
            }
            Some(EffectKind::NamedWait { id }) => {
                let id = self.get(*id);
                let round = at.rounds.get(&id).copied().unwrap_or(0);
                self.named.get(&id).is_some_and(|named| named.0 > round)
            }
            Some(_) => true,
            None => match self.kernel.blocks.get(at.block.index()).map(|block| &block.terminator) {
                Some(Terminator::Join(..)) => !self.threads[1..].iter().any(|other| other.life == Life::Running),
                _ => true,
            },
        }
    }

    fn get(&self, var: Var) -> i64 {
        self.vars.get(var.index()).copied().unwrap_or(0)
    }

    fn set(&mut self, var: Var, value: i64) {
        match self.vars.get_mut(var.index()) {
            Some(slot) => *slot = value,
            None => self.fail(Fault::Lost),
        }
    }

    fn holds(&self, predicate: Option<Var>) -> bool {
        predicate.is_none_or(|var| self.get(var) & 1 == 1)
    }

    fn jump(&mut self, thread: usize, target: &Target) {
        let values: Vec<i64> = target.args.iter().map(|&arg| self.get(arg)).collect();
        let Some(block) = self.kernel.blocks.get(target.block.index()) else { return self.fail(Fault::Lost) };
        for (&param, value) in block.params.iter().zip(values) {
            self.set(param, value);
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
                    if kernel.effects.get(id.index()).is_none_or(|effect| self.holds(effect.predicate)) {
                        return;
                    }
                    self.threads[thread].instr += 1;
                }
                Some(instr) => {
                    self.compute(instr);
                    self.threads[thread].instr += 1;
                }
                None => match &block.terminator {
                    Terminator::Jump(target) => self.jump(thread, target),
                    Terminator::Branch(condition, yes, no) => {
                        let target = if self.get(*condition) & 1 == 1 { yes } else { no };
                        self.jump(thread, target);
                    }
                    _ => return,
                },
            }
        }
    }

    fn compute(&mut self, instr: &Instr) {
        match instr {
            Instr::Let(dst, pure) => {
                let value = pure.eval(
                    |var| self.get(var),
                    |input| self.valuation.get(input),
                    |memory, _| self.valuation.get(memory),
                );
                match value {
                    Some(value) => self.set(*dst, value),
                    None => self.fail(Fault::Lost),
                }
            }
            Instr::Base(dst, buffer) => self.set(*dst, pack(buffer.0, 0)),
            Instr::View { dst, src, op } => {
                let src = self.get(*src);
                let moved = match *op {
                    ViewOp::Shift(bits) => Some(bits),
                    ViewOp::Remote(_) => Some(0),
                    ViewOp::Index { index, stride, count } => {
                        u64::try_from(self.get(index)).ok().filter(|&slot| slot < count).map(|slot| slot * stride)
                    }
                };
                let (buffer, start) = unpack(src);
                let value = moved.filter(|_| src != OUT).map_or(OUT, |moved| pack(buffer, start + moved));
                self.set(*dst, value);
            }
            Instr::Effect(_) => {}
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
                    let child = *number as usize;
                    if child >= self.threads.len() {
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
                self.over = true;
            }
            _ => self.fail(Fault::Lost),
        }
    }

    fn execute(&mut self, thread: usize, effect: &Effect) {
        match &effect.kind {
            EffectKind::Allocate(_) => {}
            EffectKind::Operation { issuer, accesses, completion } => {
                self.sites[thread].push(effect.site);
                self.operate(thread, *issuer, accesses, completion);
            }
            EffectKind::Init { barrier, count } => {
                let count = i64::from(*count);
                self.barrier(*barrier, |barrier| barrier.init(count));
            }
            EffectKind::Invalidate { barrier } => self.barrier(*barrier, Barrier::invalidate),
            EffectKind::Expect { barrier, bytes, .. } => {
                let bytes = *bytes as i64;
                self.barrier(*barrier, |barrier| barrier.arrive(1, bytes));
            }
            EffectKind::Arrive { barrier, count, .. } => {
                let count = i64::from(*count);
                self.barrier(*barrier, |barrier| barrier.arrive(count, 0));
            }
            EffectKind::Wait { barrier, phase } => {
                let phase = self.get(*phase);
                self.barrier(*barrier, |barrier| barrier.passes(phase).map(|_| ()));
            }
            EffectKind::ReadPhase { barrier, dst } => {
                let mut phase = 0;
                self.barrier(*barrier, |barrier| barrier.phase().map(|now| phase = now));
                self.set(*dst, phase);
            }
            EffectKind::TensorCoreCommit { barrier, .. } => self.issue_arrival(thread, *barrier, 1, Some(TENSOR_CORE)),
            EffectKind::AsyncCopyArrive { barrier, increments, .. } => {
                // Every thread of the partition executes it.
                let count = self.kernel.partitions.get(thread).map_or(1, |info| i64::from(info.warps) * 32);
                if *increments {
                    self.barrier(*barrier, |barrier| barrier.expect_more(count));
                }
                self.issue_arrival(thread, *barrier, count, None);
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
            // A cluster of one CTA meets nobody.
            EffectKind::ClusterArrive { .. } | EffectKind::ClusterWait => {}
            EffectKind::NamedArrive { id, threads } => {
                let (id, wanted) = (self.get(*id), self.get(*threads));
                let own = self.kernel.partitions.get(thread).map_or(0, |info| i64::from(info.warps) * 32);
                let named = self.named.entry(id).or_default();
                self.threads[thread].rounds.insert(id, named.0);
                named.1 += own;
                if named.1 >= wanted {
                    *named = (named.0 + 1, 0);
                }
            }
            EffectKind::NamedWait { .. } => {}
            EffectKind::ClcLoad { .. } | EffectKind::Unmodelled => self.fail(Fault::Lost),
        }
    }

    fn groups(&mut self, thread: usize, kind: CommitKind) -> &mut Groups {
        self.threads[thread].groups.entry(kind as u8).or_default()
    }

    fn barrier(&mut self, view: Var, act: impl FnOnce(&mut Barrier) -> Result<(), super::barrier::Misuse>) {
        let value = self.get(view);
        if value == OUT {
            return self.fail(Fault::Bounds);
        }
        if act(self.barriers.entry(unpack(value)).or_default()).is_err() {
            self.fail(Fault::Barrier);
        }
    }

    fn issue(&mut self, mut pending: Pending) {
        self.issued += 1;
        pending.number = self.issued;
        pending.priority = self.order.issued(self.issued);
        self.pending.push(pending);
    }

    fn issue_arrival(&mut self, thread: usize, barrier: Var, count: i64, lane: Option<u8>) {
        let value = self.get(barrier);
        if value == OUT {
            return self.fail(Fault::Bounds);
        }
        let work = Work::Arrive { barrier: unpack(value), count };
        let after_copies = lane.is_none();
        self.issue(Pending {
            number: 0,
            thread,
            slot: 0,
            lane,
            after_copies,
            copies: false,
            kept: false,
            priority: 0,
            work,
        });
    }

    fn operate(&mut self, thread: usize, issuer: Issuer, accesses: &[Access], completion: &Completion) {
        let slot = self.reads[thread].len();
        self.reads[thread].push(0);
        let mut touches = Vec::with_capacity(accesses.len());
        for access in accesses {
            let value = self.get(access.view);
            let Some(VarKind::View(shape)) = self.kernel.vars.get(access.view.index()).map(|info| info.kind) else {
                return self.fail(Fault::Lost);
            };
            if value == OUT {
                return self.fail(Fault::Bounds);
            }
            let (buffer, start) = unpack(value);
            touches.push(Touch { buffer: BufferId(buffer), start, shape, mode: access.mode, proxy: access.proxy });
        }
        let mut arrivals = Vec::new();
        for arrival in completion.arrivals().iter().filter(|arrival| self.holds(arrival.predicate)) {
            let value = self.get(arrival.barrier);
            if value == OUT {
                return self.fail(Fault::Bounds);
            }
            arrivals.push((unpack(value), i64::from(arrival.count), -(arrival.bytes as i64)));
        }
        if touches.iter().any(|touch| touch.proxy == Proxy::Async) {
            // Triton fences between the proxies within a partition.
            self.memory.fence(Some(thread as u16));
        }
        let now = issuer == Issuer::Base && !matches!(completion, Completion::Commit { .. });
        let (mut lane, mut copies) = ((issuer == Issuer::TensorCore).then_some(TENSOR_CORE), false);
        let mut kept = false;
        let group = match completion {
            Completion::Commit { kind, implicit } => Some((*kind, *implicit)),
            Completion::InTurn(_) => Some((CommitKind::Tdm, true)),
            _ => None,
        };
        if let Some((kind, implicit)) = group {
            copies = kind == CommitKind::AsyncCopy;
            kept = matches!(kind, CommitKind::AsyncCopy | CommitKind::TmaStore);
            lane = match kind {
                CommitKind::Wgmma => Some(WGMMA),
                CommitKind::Tdm => Some(DATA_MOVER),
                CommitKind::AsyncCopy | CommitKind::TmaStore => None,
            };
            let number = self.issued + 1;
            let groups = self.groups(thread, kind);
            groups.staged.push(number);
            if implicit {
                let staged = std::mem::take(&mut groups.staged);
                groups.closed.push(staged);
            }
        }
        let work = Work::Operation { touches, arrivals };
        let pending = Pending { number: 0, thread, slot, lane, after_copies: false, copies, kept, priority: 0, work };
        if now { self.happen(&pending) } else { self.issue(pending) }
    }

    fn happen(&mut self, pending: &Pending) {
        let arrive =
            |barriers: &mut Barriers, place, count, bytes| barriers.entry(place).or_default().arrive(count, bytes);
        match &pending.work {
            Work::Arrive { barrier, count } => {
                if arrive(&mut self.barriers, *barrier, *count, 0).is_err() {
                    self.fail(Fault::Barrier);
                }
            }
            Work::Operation { touches, arrivals } => {
                let name = mix(pending.thread as u64 + 1, pending.slot as u64);
                match (self.over, pending.kept) {
                    (true, true) => self.late = true,
                    (true, false) => {
                        self.fault.get_or_insert((Fault::Late, Some((pending.thread, pending.slot))));
                    }
                    (false, _) => {}
                }
                let mut seen = 0;
                for (number, touch) in touches.iter().enumerate() {
                    seen = mix(seen, self.touch(pending.thread, touch, mix(name, number as u64)));
                }
                self.reads[pending.thread][pending.slot] = seen;
                for &(barrier, count, bytes) in arrivals {
                    if arrive(&mut self.barriers, barrier, count, bytes).is_err() {
                        self.fail(Fault::Barrier);
                    }
                }
            }
        }
    }

    fn touch(&mut self, thread: usize, touch: &Touch, name: u64) -> u64 {
        let Some(buffer) = self.kernel.buffers.get(touch.buffer.0 as usize) else {
            self.fail(Fault::Lost);
            return 0;
        };
        let (arena, base) = match buffer.start {
            Some(start) => (Arena::Placed(u8::from(buffer.space == Space::Tensor)), start),
            None => (Arena::Buffer(touch.buffer.0), 0),
        };
        let intervals = self.intervals.get(touch.shape.0 as usize).map_or(&[][..], Vec::as_slice);
        let place = Place { arena, base: base + touch.start, intervals };
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
}
