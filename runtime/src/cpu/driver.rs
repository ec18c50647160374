//! Takes the threads of a program on: scalars, jumps and values here, effects by the machine.

use asserts::DeadlockAt;
use base::rng::SplitMix64;
use explore::{Status, System};
use kernel::{EffectId, EffectKind, Instr, Issuer, Pure, Target, Terminator};
use machine::{Life, Lost, Place as Stand};

use super::context::{Axis, Context};
use super::host::Next;
use super::pending::{Pending, Transfer};
use super::program::{Program, Stop};
use super::says::Says;
use super::value::World;

/// Instructions of one thread before another may go on.
const SLICE: u32 = 20_000;

/// Programs that were not started yet, by number.
#[derive(Debug)]
pub(super) struct Grid {
    pub(super) size: [i64; 3],
    next: i64,
}

impl Grid {
    pub(super) fn new(size: [i64; 3]) -> Grid {
        Grid { size, next: 0 }
    }

    /// All of them.
    pub(super) fn total(&self) -> i64 {
        self.size.iter().fold(1i64, |total, size| total.saturating_mul(*size))
    }

    /// Those that were started.
    pub(super) fn started(&self) -> i64 {
        self.next
    }

    /// The next one.
    pub(super) fn take(&mut self) -> Option<[i64; 3]> {
        let at = self.next;
        if at >= self.total() {
            return None;
        }
        self.next += 1;
        let [x, y, _] = self.size;
        Some([at % x, at / x % y, at / x / y])
    }
}

/// What a launch is at.
pub(super) struct Run<'c, 'k> {
    pub(super) context: &'c Context<'k>,
    pub(super) world: World,
    pub(super) grid: Grid,
    pub(super) random: SplitMix64,
    pub(super) says: Says,
    /// Instructions so far.
    pub(super) steps: u64,
    /// Atomics since a program ended or began.
    pub(super) atomics: u64,
    /// The tile that the last request to cluster launch control was granted.
    pub(super) granted: Option<[i64; 3]>,
}

/// How a program goes on for a while: what is slow and what is fast in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mood {
    /// The thread that goes on only where no other can; none where there is no such.
    slow: usize,
    copies: Copies,
}

/// When copies on their way happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Copies {
    /// When they have to.
    Late,
    /// Soon, but for products, which are late.
    OthersFirst,
    /// Soon.
    Soon,
    /// Now and then.
    NowAndThen,
}

impl Mood {
    pub(super) fn any(random: &mut SplitMix64, threads: usize) -> Mood {
        let copies = [Copies::Late, Copies::OthersFirst, Copies::Soon, Copies::NowAndThen];
        // Half of the time nobody is slow.
        let slow = random.below(2 * threads.max(1));
        Mood { slow, copies: copies[random.below(copies.len())] }
    }

    /// The copy that happens now.
    fn lands(self, pending: &mut Pending, random: &mut SplitMix64) -> Option<Transfer> {
        match self.copies {
            Copies::Late => None,
            Copies::OthersFirst => pending.overtaking(),
            Copies::Soon if random.one_in(2) => pending.any(random),
            Copies::NowAndThen if random.one_in(8) => pending.any(random),
            Copies::Soon | Copies::NowAndThen => None,
        }
    }
}

/// How a program went on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Went {
    /// A step was taken.
    On,
    /// It is over.
    Over,
    /// Nobody can go on.
    Stuck,
}

impl<'k> Program<'k> {
    /// Takes one step of one thread.
    pub(super) fn step(&mut self, run: &mut Run<'_, 'k>) -> Result<Went, Stop> {
        if run.random.one_in(48) {
            self.mood = Mood::any(&mut run.random, self.state.threads.len());
        }
        if let Some(next) = self.mood.lands(&mut self.pending, &mut run.random) {
            self.land(run.context, &mut run.world, next)?;
        }
        let Some(thread) = self.pick(run) else {
            return self.nobody(run);
        };
        self.last = thread;
        self.take(run, thread)?;
        if self.state.stopped {
            return match self.state.lost {
                Some(lost) => Err(Stop::Lost(lost)),
                None => Ok(Went::Over),
            };
        }
        Ok(Went::On)
    }

    fn ready(&self, context: &Context<'k>, thread: usize) -> bool {
        self.meets.get(thread).is_some_and(Option::is_none)
            && context.machine.status(&self.state, thread) == Status::Ready
    }

    /// The thread to go on: mostly the one before, else any, and the slow one only where it is the last.
    fn pick(&self, run: &mut Run<'_, 'k>) -> Option<usize> {
        let threads = self.state.threads.len();
        let slow = self.mood.slow;
        if self.last != slow && !run.random.one_in(6) && self.ready(run.context, self.last) {
            return Some(self.last);
        }
        let first = run.random.below(threads);
        let mut others = (0..threads).map(|at| (first + at) % threads).filter(|thread| *thread != slow);
        let other = others.find(|thread| self.ready(run.context, *thread));
        other.or_else(|| Some(slow).filter(|slow| self.ready(run.context, *slow)))
    }

    /// Nobody is ready: the program is over, or it hangs.
    fn nobody(&mut self, run: &mut Run<'_, 'k>) -> Result<Went, Stop> {
        let machine = &run.context.machine;
        let blocked =
            (0..self.state.threads.len()).any(|thread| machine.status(&self.state, thread) == Status::Blocked);
        if let Some(host) = self.meets.iter().flatten().next()
            && let Some((host, _)) = run.context.host(*host)
        {
            let why = "not all CTAs of the cluster come to it";
            return Err(Stop::Trap(host.op, super::value::Trap::not_followed(why)));
        }
        if blocked {
            machine.finish(&mut self.state);
            // The sanitizer looks where a thread begins to wait, and where one ends.
            let ended = self.state.threads.get(self.last).is_some_and(|last| last.life == Life::Ended);
            run.says.noticed = ended.then(|| match machine.partition_of(self.last) {
                0 => DeadlockAt::Return,
                _ => DeadlockAt::PartitionExit,
            });
            run.says.note(run.context, &mut self.state);
            return Ok(Went::Stuck);
        }
        while let Some(next) = self.pending.any(&mut run.random) {
            self.land(run.context, &mut run.world, next)?;
        }
        Ok(Went::Over)
    }

    fn take(&mut self, run: &mut Run<'_, 'k>, thread: usize) -> Result<(), Stop> {
        let machine = &run.context.machine;
        match machine.stands(&self.state, thread) {
            Stand::Instr(Instr::Effect(id)) => self.effect(run, thread, *id)?,
            Stand::Instr(_) | Stand::End(Terminator::Jump(_) | Terminator::Branch(..)) => {}
            Stand::End(terminator) => {
                let cta = machine.position_of(thread);
                for target in terminator.targets() {
                    self.hand_on(run.context, cta, target);
                }
                machine.take(&mut self.state, thread);
                run.says.note(run.context, &mut self.state);
            }
            Stand::Nowhere => return Err(Stop::Lost(Lost::IllFormed)),
        }
        let running = |thread: &machine::Thread| thread.life == Life::Running;
        if !self.state.stopped && self.state.threads.get(thread).is_some_and(running) {
            self.advance(run, thread)?;
        }
        Ok(())
    }

    fn effect(&mut self, run: &mut Run<'_, 'k>, thread: usize, id: EffectId) -> Result<(), Stop> {
        let machine = &run.context.machine;
        let Some(effect) = machine.kernel().effects.get(id.index()) else { return Err(Stop::Lost(Lost::IllFormed)) };
        if !machine.happens(&self.state, thread, effect) {
            return Ok(());
        }
        if matches!(effect.kind, EffectKind::Operation { issuer: Issuer::Clc, .. }) {
            // A tile that nobody has started is taken from the launch; the machine grants its first request only.
            run.granted = run.grid.take();
            self.state.requests = i64::from(run.granted.is_none());
        }
        run.steps += 1;
        let record = machine.take(&mut self.state, thread);
        run.says.note(run.context, &mut self.state);
        match effect.kind {
            EffectKind::Unmodelled => return Err(Stop::Unmodelled(effect.site)),
            EffectKind::Allocate(buffer) => {
                let cta = machine.position_of(thread);
                let at = cta * machine.kernel().buffers.len() + buffer.0 as usize;
                let before = self.allocated.get_mut(at).is_some_and(|known| std::mem::replace(known, true));
                if before && let Some(memory) = self.memories.ctas.get_mut(cta) {
                    memory.poison(buffer);
                }
            }
            EffectKind::Operation { .. } | EffectKind::ClcLoad { .. } => {
                self.recent[thread].extend(record);
            }
            _ => {}
        }
        self.settle(run.context, &mut run.world, thread)
    }

    /// Takes a thread to its next effect, or to the start or end of partitions.
    pub(super) fn advance(&mut self, run: &mut Run<'_, 'k>, thread: usize) -> Result<(), Stop> {
        let context = run.context;
        let machine = &context.machine;
        let cta = machine.position_of(thread);
        for _ in 0..SLICE {
            run.steps += 1;
            match machine.stands(&self.state, thread) {
                Stand::Instr(Instr::Effect(id)) => {
                    let effect = machine.kernel().effects.get(id.index());
                    if effect.is_none_or(|effect| machine.happens(&self.state, thread, effect)) {
                        return Ok(());
                    }
                }
                Stand::Instr(Instr::Host(id)) => match self.host(run, thread, *id)? {
                    Next::On => {}
                    Next::Yield => {
                        run.atomics += 1;
                        self.state.threads[thread].instr += 1;
                        return Ok(());
                    }
                    Next::Meet => {
                        self.meets[thread] = Some(*id);
                        return self.meet(run, thread, *id);
                    }
                },
                Stand::Instr(Instr::Let(dst, Pure::Input(input)))
                    if let Some(axis) = context.axes.get(input.index()).copied().flatten() =>
                {
                    let value = match axis {
                        Axis::Program(axis) => self.id[axis],
                        Axis::Grid(axis) => run.grid.size[axis],
                    };
                    let _ = self.state.set(cta, *dst, value);
                }
                Stand::Instr(instr) => machine.compute(&mut self.state, thread, instr).map_err(Stop::Lost)?,
                Stand::End(Terminator::Jump(target)) => {
                    self.jump(run, thread, target)?;
                    continue;
                }
                Stand::End(Terminator::Branch(condition, yes, no)) => {
                    let target = if self.state.var(cta, *condition) & 1 == 1 { yes } else { no };
                    self.jump(run, thread, target)?;
                    continue;
                }
                Stand::End(_) => return Ok(()),
                Stand::Nowhere => return Err(Stop::Lost(Lost::IllFormed)),
            }
            self.state.threads[thread].instr += 1;
        }
        Ok(())
    }

    fn jump(&mut self, run: &Run<'_, 'k>, thread: usize, target: &Target) -> Result<(), Stop> {
        let machine = &run.context.machine;
        self.hand_on(run.context, machine.position_of(thread), target);
        machine.goes(&mut self.state, thread, target).map_err(Stop::Lost)
    }
}
