//! Takes the threads of a program on: scalars, jumps and values here, effects by the machine.

use asserts::DeadlockAt;
use explore::{Readiness, System};
use kernel::{EffectId, EffectKind, Instr, Issuer, JumpTarget, Pure, Terminator};
use machine::{MachineError, ProgramPoint, ThreadStatus};

use super::context::{Context, GridInput};
use super::host_ops::{self, AfterHostOp};
use super::launch_state::LaunchState;
use super::program::{Halt, Program};
use super::schedule_policy::SchedulePolicy;
use tensors::Trap;

/// Instructions of one thread before another may go on.
const SLICE: u32 = 20_000;

/// As how many atomics such a stretch counts, for who may be waiting for programs that have not begun.
const LONG: u64 = 32;

/// How a program went on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum StepResult {
    /// A step was taken.
    Progressed,
    /// It is over.
    Finished,
    /// Nobody can go on.
    Deadlocked,
}

impl<'k> Program<'k> {
    /// Takes one step of one thread.
    pub(super) fn step(&mut self, run: &mut LaunchState<'_, 'k>) -> Result<StepResult, Halt> {
        if run.random.one_in(48) {
            self.policy = SchedulePolicy::random(&mut run.random, self.state.threads().len());
        }
        if let Some(next) = self.policy.next_transfer(&mut self.pending, &mut run.random) {
            self.perform(run, next)?;
        }
        let Some(thread) = self.pick(run) else {
            return self.settle_idle(run);
        };
        self.last = thread;
        self.take_step(run, thread)?;
        if self.state.is_stopped() {
            return match self.state.error() {
                Some(lost) => Err(Halt::Machine(lost)),
                None => Ok(StepResult::Finished),
            };
        }
        Ok(StepResult::Progressed)
    }

    fn ready(&self, context: &Context<'k>, thread: usize) -> bool {
        self.exchanges.get(thread).is_some_and(Option::is_none)
            && context.machine.status(&self.state, thread) == Readiness::Ready
    }

    /// The thread to go on: mostly the one before, else any, and the slow one only where it is the last.
    fn pick(&self, run: &mut LaunchState<'_, 'k>) -> Option<usize> {
        let threads = self.state.threads().len();
        let slow = self.policy.slow;
        if self.last != slow && !run.random.one_in(6) && self.ready(run.context, self.last) {
            return Some(self.last);
        }
        let first = run.random.below(threads);
        let mut others = (0..threads).map(|at| (first + at) % threads).filter(|thread| *thread != slow);
        let other = others.find(|thread| self.ready(run.context, *thread));
        other.or_else(|| Some(slow).filter(|slow| self.ready(run.context, *slow)))
    }

    /// Nobody is ready: the program is over, or it hangs.
    fn settle_idle(&mut self, run: &mut LaunchState<'_, 'k>) -> Result<StepResult, Halt> {
        let machine = &run.context.machine;
        let blocked =
            (0..self.state.threads().len()).any(|thread| machine.status(&self.state, thread) == Readiness::Blocked);
        if let Some(host) = self.exchanges.iter().flatten().next()
            && let Some((host, _)) = run.context.host(*host)
        {
            let why = "not all CTAs of the cluster come to it";
            return Err(Halt::Trap(host.op, Trap::not_followed(why)));
        }
        if blocked {
            machine.finish(&mut self.state);
            // The sanitizer looks where a thread begins to wait, and where one ends.
            let ended = self.state.threads().get(self.last).is_some_and(|last| last.life == ThreadStatus::Ended);
            run.findings.noticed = ended.then(|| match machine.partition_of(self.last) {
                0 => DeadlockAt::Return,
                _ => DeadlockAt::PartitionExit,
            });
            run.findings.record(run.context, &mut self.state);
            return Ok(StepResult::Deadlocked);
        }
        while let Some(next) = self.pending.take_any(&mut run.random) {
            self.perform(run, next)?;
        }
        Ok(StepResult::Finished)
    }

    fn take_step(&mut self, run: &mut LaunchState<'_, 'k>, thread: usize) -> Result<(), Halt> {
        let machine = &run.context.machine;
        match machine.program_point(&self.state, thread) {
            ProgramPoint::Instr(Instr::Effect(id)) => self.effect(run, thread, *id)?,
            ProgramPoint::Instr(_) | ProgramPoint::End(Terminator::Jump(_) | Terminator::Branch(..)) => {}
            ProgramPoint::End(terminator) => {
                let cta = machine.position_of(thread);
                for target in terminator.targets() {
                    self.pass_handles(run.context, cta, target);
                }
                run.moves += 1;
                machine.take(&mut self.state, thread);
                run.findings.record(run.context, &mut self.state);
            }
            ProgramPoint::Nowhere => return Err(Halt::Machine(MachineError::IllFormed)),
        }
        let running = |thread: &machine::CopyOnWrite<machine::Thread>| thread.life == ThreadStatus::Running;
        if !self.state.is_stopped() && self.state.threads().get(thread).is_some_and(running) {
            self.advance(run, thread)?;
        }
        Ok(())
    }

    fn effect(&mut self, run: &mut LaunchState<'_, 'k>, thread: usize, id: EffectId) -> Result<(), Halt> {
        let machine = &run.context.machine;
        let Some(effect) = machine.kernel().effects.get(id.index()) else {
            return Err(Halt::Machine(MachineError::IllFormed));
        };
        if !machine.executes(&self.state, thread, effect) {
            return Ok(());
        }
        if matches!(effect.kind, EffectKind::Operation { issuer: Issuer::Clc, .. }) {
            // A tile that nobody has started is taken from the launch; the machine grants its first request only.
            run.granted = run.grid.take();
            self.state.set_requests(i64::from(run.granted.is_none()));
        }
        run.steps += 1;
        run.moves += 1;
        let record = machine.take(&mut self.state, thread);
        run.findings.record(run.context, &mut self.state);
        match effect.kind {
            EffectKind::Unmodelled => return Err(Halt::Unmodelled(effect.site)),
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
        self.perform_due(run, thread)
    }

    /// Takes a thread to its next effect, or to the start or end of partitions.
    pub(super) fn advance(&mut self, run: &mut LaunchState<'_, 'k>, thread: usize) -> Result<(), Halt> {
        let context = run.context;
        let machine = &context.machine;
        let cta = machine.position_of(thread);
        for _ in 0..SLICE {
            run.steps += 1;
            match machine.program_point(&self.state, thread) {
                ProgramPoint::Instr(Instr::Effect(id)) => {
                    let effect = machine.kernel().effects.get(id.index());
                    if effect.is_none_or(|effect| machine.executes(&self.state, thread, effect)) {
                        return Ok(());
                    }
                }
                ProgramPoint::Instr(Instr::Host(id)) => match host_ops::execute(self, run, thread, *id)? {
                    AfterHostOp::Continue => {}
                    AfterHostOp::Yield => {
                        run.atomics += 1;
                        self.state.skip_instr(thread);
                        return Ok(());
                    }
                    AfterHostOp::Again => {
                        run.atomics += 1;
                        return Ok(());
                    }
                    AfterHostOp::Exchange => {
                        self.exchanges[thread] = Some(*id);
                        return host_ops::exchange(self, run, thread, *id);
                    }
                },
                ProgramPoint::Instr(Instr::Let(dst, Pure::Input(input)))
                    if let Some(axis) = context.axes.get(input.index()).copied().flatten() =>
                {
                    let value = match axis {
                        GridInput::Program(axis) => self.id[axis],
                        GridInput::Grid(axis) => run.grid.size[axis],
                    };
                    let _ = self.state.set(cta, *dst, value);
                }
                ProgramPoint::Instr(instr) => machine.compute(&mut self.state, thread, instr).map_err(Halt::Machine)?,
                ProgramPoint::End(Terminator::Jump(target)) => {
                    self.jump(run, thread, target)?;
                    continue;
                }
                ProgramPoint::End(Terminator::Branch(condition, yes, no)) => {
                    let target = if self.state.var(cta, *condition) & 1 == 1 { yes } else { no };
                    self.jump(run, thread, target)?;
                    continue;
                }
                ProgramPoint::End(_) => return Ok(()),
                ProgramPoint::Nowhere => return Err(Halt::Machine(MachineError::IllFormed)),
            }
            self.state.skip_instr(thread);
        }
        // It may be waiting for another program, by plain loads.
        run.atomics += LONG;
        Ok(())
    }

    fn jump(&mut self, run: &LaunchState<'_, 'k>, thread: usize, target: &JumpTarget) -> Result<(), Halt> {
        let machine = &run.context.machine;
        let cta = machine.position_of(thread);
        self.pass_handles(run.context, cta, target);
        machine.jump_to(&mut self.state, thread, target).map_err(Halt::Machine)?;
        self.goes_round(run.changes(), (thread, cta), target.block);
        Ok(())
    }
}
