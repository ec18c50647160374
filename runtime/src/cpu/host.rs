//! Host ops: what the machine does not do itself.

use std::rc::Rc;

use kernel::{EffectKind, HostId, Mode, Var};
use lower::HostOp;
use machine::Done;
use ttgir::ValueId;

use super::context::{Held, Plan};
use super::does::Does;
use super::driver::Run;
use super::program::{Absent, Program, Slot, Stop};
use super::transfer::{Act, Place};
use super::value::{Call, Descriptor, Tensor, Trap, Value, evaluate, evaluate_cluster};

/// What a thread does after a host op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// The next instruction.
    On,
    /// The same, and others may go on before.
    Yield,
    /// It waits for the other CTAs.
    Meet,
}

/// A host op that is carried out.
pub(super) struct At<'a> {
    pub(super) host: &'a HostOp,
    pub(super) plan: &'a Plan,
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
    pub(super) fn host(&mut self, run: &mut Run<'_, 'k>, thread: usize, id: HostId) -> Result<Next, Stop> {
        let context = run.context;
        let Some((host, plan)) = context.host(id) else { return Err(Stop::Lost(machine::Lost::IllFormed)) };
        let cta = context.machine.position_of(thread);
        let mut at = At { host, plan, thread, cta, done: Vec::new(), views: Vec::new() };
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

    fn carry_out(&mut self, run: &mut Run<'_, 'k>, at: &At<'_>) -> Result<Next, Stop> {
        let op = at.host.op;
        let trap = |trap| Stop::Trap(op, trap);
        match at.plan.does {
            Does::Nothing => return Ok(Next::On),
            Does::Evaluate => return self.evaluate(run, at),
            Does::Pass => {
                for place in 0..at.plan.results.len() {
                    self.pass(run, at, place)?;
                }
                return Ok(Next::On);
            }
            Does::ClcGranted | Does::ClcProgram => {
                self.clc_part(run, at)?;
                return Ok(Next::On);
            }
            Does::Unknown => return Err(trap(Trap::not_followed("what it does with its operands is not followed"))),
            _ if at.done.is_empty() => return Ok(Next::On),
            Does::Alloc | Does::Store => self.store(run, at)?,
            Does::Load => self.load(run, at)?,
            Does::LocalGather => self.local_gather(run, at)?,
            Does::LocalScatter => self.local_scatter(run, at)?,
            Does::CopyIn | Does::BufferIn => self.copy_in(run, at)?,
            Does::CopyOut => self.copy_out(run, at)?,
            Does::TmaLoad | Does::TdmLoad => self.block_in(run, at)?,
            Does::TmaStore | Does::TmaReduce | Does::TdmStore => self.block_out(run, at)?,
            Does::TmaGather | Does::TdmGather => self.rows_in(run, at)?,
            Does::TmaScatter | Does::TdmScatter => self.rows_out(run, at)?,
            Does::SharedStore => self.shared_store(run, at)?,
            Does::RemoteCopy | Does::TmemCopy => self.copy(run, at)?,
            Does::Dot => self.dot(run, at)?,
            Does::Mma => self.mma(run, at)?,
            Does::ClcRequest => self.clc_request(run, at)?,
            Does::ClcLoad | Does::ClcQuery => self.clc_load(run, at)?,
        }
        Ok(Next::On)
    }

    /// An operand's value.
    pub(super) fn operand(&mut self, run: &mut Run<'_, 'k>, at: &At<'_>, place: usize) -> Result<Value, Stop> {
        let var = at.host.operands.get(place).copied().flatten();
        let held = at.plan.operands.get(place).copied().unwrap_or(Held::Handle);
        let value = self.value(run.context, &mut run.world, at.cta, var, held);
        value.map_err(|absent| match absent {
            Absent::Stop(stop) => stop,
            Absent::Missing => {
                let tree = run.context.tree;
                let name = tree.operands(at.host.op).get(place).map_or("", |value| tree.value_name(*value));
                Stop::Trap(at.host.op, Trap::not_followed(format!("`{name}` has no value")))
            }
        })
    }

    /// A result that is the operand of the same place; what an asynchronous dot will make stays to be made.
    fn pass(&mut self, run: &mut Run<'_, 'k>, at: &At<'_>, place: usize) -> Result<(), Stop> {
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
    pub(super) fn group(&mut self, run: &mut Run<'_, 'k>, at: &At<'_>, group: &str) -> Result<Option<Value>, Stop> {
        match run.context.place(at.host.op, group) {
            Some(place) => self.operand(run, at, place).map(Some),
            None => Ok(None),
        }
    }

    pub(super) fn tensor(&mut self, run: &mut Run<'_, 'k>, at: &At<'_>, group: &str) -> Result<Tensor, Stop> {
        match self.group(run, at, group)? {
            Some(Value::Tensor(tensor)) => Ok(tensor),
            _ => Err(Stop::Trap(at.host.op, Trap::not_followed(format!("its operand `{group}` is no tensor")))),
        }
    }

    pub(super) fn ints(&mut self, run: &mut Run<'_, 'k>, at: &At<'_>, group: &str) -> Result<Vec<i64>, Stop> {
        let mut ints = Vec::new();
        for place in run.context.places(at.host.op, group) {
            let value = self.operand(run, at, place)?;
            ints.push(value.as_int().unwrap_or(0));
        }
        Ok(ints)
    }

    pub(super) fn descriptor(&mut self, run: &mut Run<'_, 'k>, at: &At<'_>) -> Result<Rc<Descriptor>, Stop> {
        match self.group(run, at, "desc")? {
            Some(Value::Descriptor(desc)) => Ok(desc),
            _ => Err(Stop::Trap(at.host.op, Trap::not_followed("its descriptor has no value"))),
        }
    }

    /// The place that a memdesc operand names.
    pub(super) fn at(&self, run: &Run<'_, 'k>, at: &At<'_>, group: &str) -> Result<(Place, ValueId), Stop> {
        let trap = |trap| Stop::Trap(at.host.op, trap);
        let missing = || trap(Trap::not_followed(format!("its operand `{group}` is missing")));
        let place = run.context.place(at.host.op, group).ok_or_else(missing)?;
        let value = *run.context.tree.operands(at.host.op).get(place).ok_or_else(missing)?;
        let var = at.host.operands.get(place).copied().flatten();
        self.place(run.context, at.cta, var, value).map(|place| (place, value)).map_err(trap)
    }

    /// Gives a result its value.
    pub(super) fn give(&mut self, at: &At<'_>, result: usize, value: Value) {
        let (Some(Some(var)), Some(held)) = (at.host.results.get(result), at.plan.results.get(result)) else { return };
        match held {
            Held::Int(_) => drop(self.state.set(at.cta, *var, value.as_int().unwrap_or(0))),
            Held::Handle => self.put(at.cta, *var, Some(Slot::Value(value))),
            Held::View | Held::Token => {}
        }
    }

    /// Lets an act happen when it is due: at once where its thread has seen the event already.
    pub(super) fn issue(
        &mut self,
        run: &mut Run<'_, 'k>,
        at: &At<'_>,
        done: &Done,
        ordered: bool,
        act: Act,
    ) -> Result<(), Stop> {
        let seen = self.state.threads.get(at.thread).is_some_and(|thread| thread.seen.get(done.channel) >= done.number);
        if seen {
            return act.happen(&mut self.memories, &mut run.world).map_err(|trap| Stop::Trap(at.host.op, trap));
        }
        self.pending.issue(done, ordered, at.host.op, act);
        Ok(())
    }

    fn evaluate(&mut self, run: &mut Run<'_, 'k>, at: &At<'_>) -> Result<Next, Stop> {
        let tree = run.context.tree;
        let op = at.host.op;
        let mut operands = Vec::with_capacity(at.plan.operands.len());
        for place in 0..at.plan.operands.len() {
            operands.push(self.operand(run, at, place)?);
        }
        run.world.program = self.id;
        let call = Call { tree, op, cta: run.context.machine.cta_of(at.thread) };
        match evaluate(&call, &operands, &mut run.world) {
            Ok(results) => {
                for (result, value) in results.into_iter().enumerate() {
                    self.give(at, result, value);
                }
                let shared = tree.op_name(op).starts_with("tt.atomic");
                Ok(if shared { Next::Yield } else { Next::On })
            }
            Err(Trap::Exchange) => Ok(Next::Meet),
            Err(trap) => Err(Stop::Trap(op, trap)),
        }
    }

    /// Does an op in all CTAs, if all have come to it.
    pub(super) fn meet(&mut self, run: &mut Run<'_, 'k>, thread: usize, id: HostId) -> Result<(), Stop> {
        let context = run.context;
        let machine = &context.machine;
        let Some((host, plan)) = context.host(id) else { return Ok(()) };
        let partition = machine.partition_of(thread);
        let threads: Vec<usize> =
            (0..machine.cluster().len()).map(|cta| cta * machine.partitions() + partition).collect();
        if threads.iter().any(|thread| self.meets.get(*thread) != Some(&Some(id))) {
            return Ok(());
        }
        let all: Vec<At<'_>> = threads
            .iter()
            .enumerate()
            .map(|(cta, &thread)| At { host, plan, thread, cta, done: Vec::new(), views: Vec::new() })
            .collect();
        let mut operands = Vec::new();
        for at in &all {
            let mut own = Vec::new();
            for place in 0..plan.operands.len() {
                own.push(self.operand(run, at, place)?);
            }
            operands.push(own);
        }
        run.world.program = self.id;
        let results = evaluate_cluster(context.tree, host.op, &operands, &mut run.world);
        let results = results.map_err(|trap| Stop::Trap(host.op, trap))?;
        for (at, results) in all.iter().zip(results) {
            for (result, value) in results.into_iter().enumerate() {
                self.give(at, result, value);
            }
            self.meets[at.thread] = None;
            self.state.threads[at.thread].instr += 1;
        }
        Ok(())
    }
}
