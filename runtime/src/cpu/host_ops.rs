//! Host ops: what the machine does not do itself.

use std::rc::Rc;

use dialects::DataMovement;
use kernel::{EffectKind, HostId, Mode, Var};
use lower::HostOp;
use machine::Done;
use ttgir::ValueId;

use super::context::{HostOpInfo, Representation};
use super::driver::LaunchState;
use super::program::{Halt, HandleValue, NoValue, Program};
use super::transfer::{MemoryPlace, Transfer};
use super::value::{Descriptor, OpCall, Tensor, Trap, Value, evaluate, evaluate_cluster};

/// What a thread does after a host op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AfterHostOp {
    /// The next instruction.
    Continue,
    /// The same, and others may go on before.
    Yield,
    /// It waits for the other CTAs.
    Exchange,
}

/// A host op that is carried out.
pub(super) struct HostCall<'a> {
    pub(super) host: &'a HostOp,
    pub(super) info: &'a HostOpInfo,
    pub(super) thread: usize,
    /// The position of the CTA.
    pub(super) cta: usize,
    /// What its effects have touched, and when that is over; nothing where they did not happen.
    pub(super) done: Vec<Done>,
    /// The memdescs of its accesses, in order.
    pub(super) views: Vec<(Var, Mode)>,
}

impl<'k> Program<'k> {
    /// Carries out a host op.
    pub(super) fn host(
        &mut self,
        run: &mut LaunchState<'_, 'k>,
        thread: usize,
        id: HostId,
    ) -> Result<AfterHostOp, Halt> {
        let context = run.context;
        let Some((host, info)) = context.host(id) else { return Err(Halt::Lost(machine::Lost::IllFormed)) };
        let cta = context.machine.position_of(thread);
        let mut at = HostCall { host, info, thread, cta, done: Vec::new(), views: Vec::new() };
        for record in self.recent[thread].drain(..) {
            let Some(id) = record.effect.filter(|id| *id >= host.effects.0 && *id < host.effects.1) else { continue };
            at.done.extend(record.done.iter().copied());
            match context.machine.kernel().effects.get(id.index()).map(|effect| &effect.kind) {
                Some(EffectKind::Operation { accesses, .. }) => {
                    at.views = accesses.iter().map(|access| (access.view, access.mode)).collect();
                }
                Some(EffectKind::ClcLoad { source, .. }) => at.views = vec![(source.view, source.mode)],
                _ => {}
            }
        }
        self.carry_out(run, &at)
    }

    fn carry_out(&mut self, run: &mut LaunchState<'_, 'k>, at: &HostCall<'_>) -> Result<AfterHostOp, Halt> {
        let op = at.host.op;
        let trap = |trap| Halt::Trap(op, trap);
        match at.info.data_movement {
            DataMovement::Nothing => return Ok(AfterHostOp::Continue),
            DataMovement::Evaluate => return self.evaluate(run, at),
            DataMovement::Pass => {
                for place in 0..at.info.results.len() {
                    self.pass(run, at, place)?;
                }
                return Ok(AfterHostOp::Continue);
            }
            DataMovement::ClcGranted | DataMovement::ClcProgram => {
                self.clc_part(run, at)?;
                return Ok(AfterHostOp::Continue);
            }
            DataMovement::Unknown => {
                return Err(trap(Trap::not_followed("what it does with its operands is not followed")));
            }
            _ if at.done.is_empty() => return Ok(AfterHostOp::Continue),
            DataMovement::Alloc | DataMovement::Store => self.store(run, at)?,
            DataMovement::Load => self.load(run, at)?,
            DataMovement::LocalGather => self.local_gather(run, at)?,
            DataMovement::LocalScatter => self.local_scatter(run, at)?,
            DataMovement::CopyIn | DataMovement::BufferIn => self.copy_in(run, at)?,
            DataMovement::CopyOut => self.copy_out(run, at)?,
            DataMovement::TmaLoad | DataMovement::TdmLoad => self.block_in(run, at)?,
            DataMovement::TmaStore | DataMovement::TmaReduce | DataMovement::TdmStore => self.block_out(run, at)?,
            DataMovement::TmaGather | DataMovement::TdmGather => self.rows_in(run, at)?,
            DataMovement::TmaScatter | DataMovement::TdmScatter => self.rows_out(run, at)?,
            DataMovement::SharedStore => self.shared_store(run, at)?,
            DataMovement::RemoteCopy | DataMovement::TmemCopy => self.copy(run, at)?,
            DataMovement::Dot => self.dot(run, at)?,
            DataMovement::Mma => self.mma(run, at)?,
            DataMovement::ClcRequest => self.clc_request(run, at)?,
            DataMovement::ClcLoad | DataMovement::ClcQuery => self.clc_load(run, at)?,
        }
        Ok(AfterHostOp::Continue)
    }

    /// An operand's value.
    pub(super) fn operand(
        &mut self,
        run: &mut LaunchState<'_, 'k>,
        at: &HostCall<'_>,
        place: usize,
    ) -> Result<Value, Halt> {
        let var = at.host.operands.get(place).copied().flatten();
        let representation = at.info.operands.get(place).copied().unwrap_or(Representation::Handle);
        let value = self.value(run.context, &mut run.world, at.cta, var, representation);
        value.map_err(|absent| match absent {
            NoValue::Halt(stop) => stop,
            NoValue::Missing => {
                let tree = run.context.tree;
                let name = tree.operands(at.host.op).get(place).map_or("", |value| tree.value_name(*value));
                Halt::Trap(at.host.op, Trap::not_followed(format!("`{name}` has no value")))
            }
        })
    }

    /// A result that is the operand of the same place; what an asynchronous dot will make stays to be made.
    fn pass(&mut self, run: &mut LaunchState<'_, 'k>, at: &HostCall<'_>, place: usize) -> Result<(), Halt> {
        let operand = at.host.operands.get(place).copied().flatten();
        let slot = operand.and_then(|var| self.slot(at.cta, var)).cloned();
        if let (Some(slot), Some(Some(result))) = (slot, at.host.results.get(place)) {
            self.put(at.cta, *result, Some(slot));
            return Ok(());
        }
        let value = self.operand(run, at, place)?;
        self.give(at, place, value);
        Ok(())
    }

    /// The operand of a group, where there is one.
    pub(super) fn group(
        &mut self,
        run: &mut LaunchState<'_, 'k>,
        at: &HostCall<'_>,
        group: &str,
    ) -> Result<Option<Value>, Halt> {
        match run.context.place(at.host.op, group) {
            Some(place) => self.operand(run, at, place).map(Some),
            None => Ok(None),
        }
    }

    pub(super) fn tensor(
        &mut self,
        run: &mut LaunchState<'_, 'k>,
        at: &HostCall<'_>,
        group: &str,
    ) -> Result<Tensor, Halt> {
        match self.group(run, at, group)? {
            Some(Value::Tensor(tensor)) => Ok(tensor),
            _ => Err(Halt::Trap(at.host.op, Trap::not_followed(format!("its operand `{group}` is no tensor")))),
        }
    }

    pub(super) fn ints(
        &mut self,
        run: &mut LaunchState<'_, 'k>,
        at: &HostCall<'_>,
        group: &str,
    ) -> Result<Vec<i64>, Halt> {
        let mut ints = Vec::new();
        for place in run.context.places(at.host.op, group) {
            let value = self.operand(run, at, place)?;
            ints.push(value.as_int().unwrap_or(0));
        }
        Ok(ints)
    }

    pub(super) fn descriptor(
        &mut self,
        run: &mut LaunchState<'_, 'k>,
        at: &HostCall<'_>,
    ) -> Result<Rc<Descriptor>, Halt> {
        match self.group(run, at, "desc")? {
            Some(Value::Descriptor(desc)) => Ok(desc),
            _ => Err(Halt::Trap(at.host.op, Trap::not_followed("its descriptor has no value"))),
        }
    }

    /// The place that a memdesc operand names.
    pub(super) fn at(
        &self,
        run: &LaunchState<'_, 'k>,
        at: &HostCall<'_>,
        group: &str,
    ) -> Result<(MemoryPlace, ValueId), Halt> {
        let trap = |trap| Halt::Trap(at.host.op, trap);
        let missing = || trap(Trap::not_followed(format!("its operand `{group}` is missing")));
        let place = run.context.place(at.host.op, group).ok_or_else(missing)?;
        let value = *run.context.tree.operands(at.host.op).get(place).ok_or_else(missing)?;
        let var = at.host.operands.get(place).copied().flatten();
        self.place(run.context, at.cta, var, value).map(|place| (place, value)).map_err(trap)
    }

    /// Gives a result its value.
    pub(super) fn give(&mut self, at: &HostCall<'_>, result: usize, value: Value) {
        let (Some(Some(var)), Some(representation)) = (at.host.results.get(result), at.info.results.get(result)) else {
            return;
        };
        match representation {
            Representation::Int(_) => drop(self.state.set(at.cta, *var, value.as_int().unwrap_or(0))),
            Representation::Handle => self.put(at.cta, *var, Some(HandleValue::Value(value))),
            Representation::View | Representation::Token => {}
        }
    }

    /// Lets an act happen when it is due: at once where its thread has seen the event already.
    pub(super) fn issue(
        &mut self,
        run: &mut LaunchState<'_, 'k>,
        at: &HostCall<'_>,
        done: &Done,
        ordered: bool,
        act: Transfer,
    ) -> Result<(), Halt> {
        let seen =
            self.state.threads().get(at.thread).is_some_and(|thread| thread.seen.get(done.channel) >= done.number);
        if seen {
            return act.execute(&mut self.memories, &mut run.world).map_err(|trap| Halt::Trap(at.host.op, trap));
        }
        self.pending.issue(done, ordered, at.host.op, act);
        Ok(())
    }

    fn evaluate(&mut self, run: &mut LaunchState<'_, 'k>, at: &HostCall<'_>) -> Result<AfterHostOp, Halt> {
        let tree = run.context.tree;
        let op = at.host.op;
        let mut operands = Vec::with_capacity(at.info.operands.len());
        for place in 0..at.info.operands.len() {
            operands.push(self.operand(run, at, place)?);
        }
        run.world.program = self.id;
        let call = OpCall { tree, op, cta: run.context.machine.cta_of(at.thread) };
        match evaluate(&call, &operands, &mut run.world) {
            Ok(results) => {
                for (result, value) in results.into_iter().enumerate() {
                    self.give(at, result, value);
                }
                let shared = tree.op_name(op).starts_with("tt.atomic");
                Ok(if shared { AfterHostOp::Yield } else { AfterHostOp::Continue })
            }
            Err(Trap::Exchange) => Ok(AfterHostOp::Exchange),
            Err(trap) => Err(Halt::Trap(op, trap)),
        }
    }

    /// Does an op in all CTAs, if all have come to it.
    pub(super) fn exchange(&mut self, run: &mut LaunchState<'_, 'k>, thread: usize, id: HostId) -> Result<(), Halt> {
        let context = run.context;
        let machine = &context.machine;
        let Some((host, info)) = context.host(id) else { return Ok(()) };
        let partition = machine.partition_of(thread);
        let threads: Vec<usize> =
            (0..machine.cluster().len()).map(|cta| cta * machine.partitions() + partition).collect();
        if threads.iter().any(|thread| self.exchanges.get(*thread) != Some(&Some(id))) {
            return Ok(());
        }
        let all: Vec<HostCall<'_>> = threads
            .iter()
            .enumerate()
            .map(|(cta, &thread)| HostCall { host, info, thread, cta, done: Vec::new(), views: Vec::new() })
            .collect();
        let mut operands = Vec::new();
        for at in &all {
            let mut own = Vec::new();
            for place in 0..info.operands.len() {
                own.push(self.operand(run, at, place)?);
            }
            operands.push(own);
        }
        run.world.program = self.id;
        let results = evaluate_cluster(context.tree, host.op, &operands, &mut run.world);
        let results = results.map_err(|trap| Halt::Trap(host.op, trap))?;
        for (at, results) in all.iter().zip(results) {
            for (result, value) in results.into_iter().enumerate() {
                self.give(at, result, value);
            }
            self.exchanges[at.thread] = None;
            self.state.skip_instr(at.thread);
        }
        Ok(())
    }
}
