//! One program: a cluster of CTAs with their variables, memories and copies on their way.
use base::rng::SplitMix64;
use kernel::{BufferId, HostId, JumpTarget, Kernel, SiteId, Var, VarKind};
use machine::{MachineError, Record, State, remote_cta, unpack};
use ttgir::{OpId, ValueId};

use super::context::{Context, Representation};
use super::future::HandleValue;
use super::gsan::ProgramClocks;
use super::launch_state::LaunchState;
use super::program_memory::{MemoryPlace, ProgramMemory};
use super::rounds::Rounds;
use super::schedule_policy::SchedulePolicy;
use super::transfer_queue::{PendingTransfer, TransferQueue};
use crate::run::SPINS;
use tensors::memory::{CtaMemory, GlobalMemory};
use tensors::{RuntimeValue, Trap};

/// Why a program cannot go on.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Halt {
    /// An op has no result.
    Trap(OpId, Trap),
    /// An effect that the machine does not follow.
    Unmodelled(SiteId),
    /// The machine lost its way.
    Machine(MachineError),
}

/// A word of global memory that a thread has read.
#[derive(Clone, Copy, Debug)]
pub(super) struct AskedWord {
    /// By this op.
    pub(super) op: OpId,
    /// Where it lies.
    pub(super) address: u64,
    /// Its size.
    pub(super) bytes: u64,
    /// What it held.
    pub(super) value: i64,
}

/// A program that runs.
pub(super) struct Program<'k> {
    /// Its number along x, y, z.
    pub(super) id: [i64; 3],
    /// Where it is, and what the machine knows of it.
    pub(super) state: State,
    /// Values beside the machine: as many a CTA as it has variables.
    slots: Vec<Option<HandleValue>>,
    /// What memory holds.
    pub(super) memories: ProgramMemory<'k>,
    /// Copies on their way.
    pub(super) pending: TransferQueue,
    /// By thread: what it did since its last host op.
    pub(super) recent: Vec<Vec<Record>>,
    /// By thread: the host op that it cannot do before all CTAs are there.
    pub(super) exchanges: Vec<Option<HostId>>,
    /// By CTA and buffer: whether it was allocated.
    pub(super) allocated: Vec<bool>,
    /// By thread: the word of global memory that it read last.
    pub(super) asked: Vec<Option<AskedWord>>,
    /// By thread: how it has gone round since something last changed.
    pub(super) rounds: Vec<Rounds>,
    /// The thread that ran last.
    pub(super) last: usize,
    /// How it treats copies for now.
    pub(super) policy: SchedulePolicy,
    /// What its threads know of other programs.
    pub(super) clocks: ProgramClocks,
}

impl<'k> Program<'k> {
    /// A program at its start; `None` where its memory is more than any machine has.
    pub(super) fn new(
        context: &Context<'k>,
        random: &mut SplitMix64,
        (id, number): ([i64; 3], u32),
        arguments: &[(Var, ParameterValue)],
    ) -> Option<Program<'k>> {
        use explore::System;
        let machine = &context.machine;
        let kernel: &'k Kernel = machine.kernel();
        let mut state = machine.initial();
        let ctas = machine.cluster().len();
        let threads = state.threads().len();
        let mut slots = vec![None; state.vars_per_cta() * ctas];
        for cta in 0..ctas {
            for (var, argument) in arguments {
                match argument {
                    ParameterValue::Int(value) => drop(state.set(cta, *var, *value)),
                    ParameterValue::Value(value) => {
                        if let Some(slot) = slots.get_mut(cta * state.vars_per_cta() + var.index()) {
                            *slot = Some(HandleValue::Value(value.clone()));
                        }
                    }
                }
            }
        }
        let local = || CtaMemory::new(&kernel.buffers);
        let memories = ProgramMemory { kernel, ctas: (0..ctas).map(|_| local()).collect::<Option<_>>()? };
        Some(Program {
            id,
            state,
            slots,
            memories,
            pending: TransferQueue::default(),
            recent: vec![Vec::new(); threads],
            exchanges: vec![None; threads],
            asked: vec![None; threads],
            rounds: std::iter::repeat_with(Rounds::default).take(threads).collect(),
            allocated: vec![false; kernel.buffers.len() * ctas],
            last: 0,
            policy: SchedulePolicy::random(random, threads),
            clocks: ProgramClocks::new(number, threads),
        })
    }

    /// Where its threads stand, in words.
    pub(super) fn describe_threads(&self, context: &Context<'k>, global: &GlobalMemory) -> Vec<String> {
        use kernel::Instr;
        use machine::{ProgramPoint, ThreadStatus};
        let (machine, map) = (&context.machine, &context.made.lowered.map);
        let kernel = machine.kernel();
        let running = (0..self.state.threads().len())
            .filter(|thread| self.state.threads()[*thread].life == ThreadStatus::Running);
        let op = |thread: usize| match machine.program_point(&self.state, thread) {
            ProgramPoint::Instr(Instr::Effect(id)) => {
                let site = kernel.effects.get(id.index()).map(|effect| effect.site)?;
                let site = map.sites.get(site.index())?;
                Some((site.op.clone(), site.source.first().cloned()))
            }
            ProgramPoint::Instr(Instr::Host(id)) => {
                Some((context.tree.op_name(context.host(*id)?.0.op).to_owned(), None))
            }
            _ => None,
        };
        running
            .map(|thread| {
                let who = map.partition(machine.partition_of(thread));
                let what = match op(thread) {
                    Some((op, Some(source))) => format!("stands at `{op}` ({source})"),
                    Some((op, None)) => format!("stands at `{op}`"),
                    None => match self.asked.get(thread).copied().flatten() {
                        Some(AskedWord { op, address, bytes, value }) => {
                            let at = context.source(op).map_or_else(String::new, |source| format!(" at {source}"));
                            let (op, word) = (context.tree.op_name(op), global.word(address, bytes, value));
                            format!("{SPINS}, and asks with `{op}`{at} for a word that does not change: {word}")
                        }
                        None => SPINS.to_owned(),
                    },
                };
                format!("program {:?}, CTA {}, {who}: {what}", self.id, machine.cta_of(thread))
            })
            .collect()
    }

    /// Bytes that it holds.
    pub(super) fn held_bytes(&self) -> u64 {
        self.memories.held()
    }

    /// The value beside the machine that a variable has.
    pub(super) fn handle(&self, cta: usize, var: Var) -> Option<&HandleValue> {
        self.slots.get(cta * self.state.vars_per_cta() + var.index())?.as_ref()
    }

    /// Sets the value beside the machine that a variable has.
    pub(super) fn put(&mut self, cta: usize, var: Var, slot: Option<HandleValue>) {
        let stride = self.state.vars_per_cta();
        if let Some(place) = self.slots.get_mut(cta * stride + var.index()).filter(|_| var.index() < stride) {
            *place = slot;
        }
    }

    /// What a jump hands on beside the machine.
    pub(super) fn pass_handles(&mut self, context: &Context<'k>, cta: usize, target: &JumpTarget) {
        let params = context.machine.params(target.block);
        let values: Vec<Option<HandleValue>> = target.args.iter().map(|&arg| self.handle(cta, arg).cloned()).collect();
        for (&param, value) in params.iter().zip(values) {
            self.put(cta, param, value);
        }
    }

    /// The value of a variable, after the transfers that make it; `None` where nothing computed it.
    pub(super) fn value(
        &mut self,
        run: &mut LaunchState<'_, 'k>,
        cta: usize,
        var: Option<Var>,
        representation: Representation,
    ) -> Result<Option<RuntimeValue>, Halt> {
        let Some(var) = var else { return Ok(None) };
        match representation {
            Representation::Int(width) => Ok(Some(RuntimeValue::int(width, self.state.var(cta, var)))),
            Representation::View | Representation::Token => Ok(Some(RuntimeValue::Unit)),
            Representation::Handle => {
                let future = match self.handle(cta, var) {
                    Some(HandleValue::Value(value)) => return Ok(Some(value.clone())),
                    Some(HandleValue::Future(future)) => future.clone(),
                    None => return Ok(None),
                };
                while future.value().is_none() {
                    let Some(next) = self.pending.take_towards(&future) else { return Ok(None) };
                    self.perform(run, next)?;
                }
                Ok(future.value())
            }
        }
    }

    /// Carries out a transfer.
    pub(super) fn perform(&mut self, run: &mut LaunchState<'_, 'k>, pending: PendingTransfer) -> Result<(), Halt> {
        let op = pending.op;
        run.moves += 1;
        pending.transfer.execute(&mut self.memories, &mut run.world).map_err(|trap| Halt::Trap(op, trap))?;
        if let (Some(gsan), Some(actor)) = (&mut run.gsan, &pending.actor) {
            gsan.transferred(&run.world.global, op, actor);
        }
        Ok(())
    }

    /// Carries out the transfers whose end a thread has seen.
    pub(super) fn perform_due(&mut self, run: &mut LaunchState<'_, 'k>, thread: usize) -> Result<(), Halt> {
        while !self.pending.is_empty() {
            let Some(known) = self.state.threads().get(thread) else { return Ok(()) };
            let Some(next) = self.pending.take_due(&known.seen) else { return Ok(()) };
            self.perform(run, next)?;
        }
        Ok(())
    }

    /// The place that a memdesc variable names, in a CTA's memory or in another's.
    pub(super) fn place(
        &self,
        context: &Context<'k>,
        cta: usize,
        var: Option<Var>,
        value: ValueId,
    ) -> Result<MemoryPlace, Trap> {
        let unknown = || Trap::not_followed(format!("where `{}` lies is not known", context.tree.value_name(value)));
        let var = var.ok_or_else(unknown)?;
        let at = self.state.var(cta, var);
        let Some(VarKind::View(shape)) = context.machine.kernel().vars.get(var.index()).map(|info| info.kind) else {
            return Err(unknown());
        };
        if at < 0 {
            return Err(Trap::not_followed(format!("`{}` is no slot of its ring", context.tree.value_name(value))));
        }
        let (buffer, start) = unpack(at);
        let cluster = context.machine.cluster();
        let number = remote_cta(at).unwrap_or_else(|| cluster.number(cta));
        let cta = cluster.position(number).ok_or_else(unknown)?;
        let ty = context.type_of(value, number)?;
        let strided = context.machine.kernel().shapes.get(shape.0 as usize);
        let element_order = strided.and_then(|shape| context.order_of(value, shape, &ty));
        Ok(MemoryPlace { cta, buffer: BufferId(buffer), start, shape, ty, element_order })
    }
}

/// An argument of a launch, as a program has it.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum ParameterValue {
    /// An integer or an address.
    Int(i64),
    /// A tensor, a descriptor or a float.
    Value(RuntimeValue),
}
