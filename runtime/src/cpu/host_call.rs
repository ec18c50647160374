//! A host op that a thread carries out: its operands, its results, and the transfers that it starts.

use std::rc::Rc;

use kernel::{EffectKind, HostId, Mode, Var};
use lower::HostOp;
use machine::CompletionEvent;
use ttgir::{OpId, Tree, ValueId};

use super::context::{HostOpInfo, Representation};
use super::future::HandleValue;
use super::gsan;
use super::launch_state::LaunchState;
use super::program::{Halt, Program};
use super::program_memory::MemoryPlace;
use super::transfer::Transfer;
use super::transfer_queue::PendingTransfer;
use tensors::{Descriptor, OpSite, RuntimeValue, TensorValue, Trap};

/// Why a host op fails: by itself, or because a transfer of another op that it waits for does.
pub(super) enum OpError {
    Trap(Trap),
    Halt(Halt),
}

impl From<Trap> for OpError {
    fn from(trap: Trap) -> OpError {
        OpError::Trap(trap)
    }
}

impl From<Halt> for OpError {
    fn from(halt: Halt) -> OpError {
        OpError::Halt(halt)
    }
}

impl OpError {
    /// As the reason why a program ends whose op this is.
    pub(super) fn at(self, op: OpId) -> Halt {
        match self {
            OpError::Trap(trap) => Halt::Trap(op, trap),
            OpError::Halt(halt) => halt,
        }
    }
}

pub(super) type OpResult<T = ()> = Result<T, OpError>;

/// A host op in one thread.
pub(super) struct HostCall<'a, 'c, 'k> {
    pub(super) program: &'a mut Program<'k>,
    pub(super) run: &'a mut LaunchState<'c, 'k>,
    pub(super) host: &'c HostOp,
    pub(super) info: &'c HostOpInfo,
    pub(super) thread: usize,
    /// The position of the thread's CTA in the cluster.
    pub(super) cta: usize,
    /// What its effects have touched, and the event that ends that; empty where they did not happen.
    pub(super) done: Vec<CompletionEvent>,
    /// The memdescs of its accesses, in order.
    pub(super) views: Vec<(Var, Mode)>,
}

impl<'a, 'c, 'k> HostCall<'a, 'c, 'k> {
    /// A call without effects; `None` for an op that the kernel does not have.
    pub(super) fn new(
        program: &'a mut Program<'k>,
        run: &'a mut LaunchState<'c, 'k>,
        thread: usize,
        id: HostId,
    ) -> Option<HostCall<'a, 'c, 'k>> {
        let (host, info) = run.context.host(id)?;
        let cta = run.context.machine.position_of(thread);
        Some(HostCall { program, run, host, info, thread, cta, done: Vec::new(), views: Vec::new() })
    }

    /// Takes what the op's effects have just done in this thread.
    pub(super) fn take_effects(&mut self) {
        let kernel = self.run.context.machine.kernel();
        let own = self.host.effects.0..self.host.effects.1;
        for record in self.program.recent[self.thread].drain(..) {
            let Some(id) = record.effect.filter(|id| own.contains(id)) else { continue };
            self.done.extend(record.done.iter().copied());
            match kernel.effects.get(id.index()).map(|effect| &effect.kind) {
                Some(EffectKind::Operation { accesses, .. }) => {
                    self.views = accesses.iter().map(|access| (access.view, access.mode)).collect();
                }
                Some(EffectKind::ClcLoad { source, .. }) => self.views = vec![(source.view, source.mode)],
                _ => {}
            }
        }
    }

    pub(super) fn tree(&self) -> &'k Tree {
        self.run.context.tree
    }

    /// The op, in the CTA of its thread.
    pub(super) fn site(&self) -> OpSite<'k> {
        OpSite { tree: self.tree(), op: self.host.op, cta: self.run.context.machine.cta_of(self.thread) }
    }

    /// Text of an attribute.
    pub(super) fn attr_text(&self, name: &str) -> Option<&'k str> {
        self.site().text(name).map(str::trim)
    }

    /// Whether an operand of this group is given.
    pub(super) fn has(&self, group: &str) -> bool {
        self.position(group).is_some()
    }

    /// The position of a group's first operand among all operands.
    pub(super) fn position(&self, group: &str) -> Option<usize> {
        self.site().group(group)
    }

    /// The value of the operand at a position.
    pub(super) fn operand(&mut self, position: usize) -> OpResult<RuntimeValue> {
        let var = self.host.operands.get(position).copied().flatten();
        let representation = self.info.operands.get(position).copied().unwrap_or(Representation::Handle);
        let value = self.program.value(self.run, self.cta, var, representation)?;
        let tree = self.tree();
        let name = || tree.operands(self.host.op).get(position).map_or("", |value| tree.value_name(*value));
        Ok(value.ok_or_else(|| Trap::not_followed(format!("`{}` has no value", name())))?)
    }

    /// The values of all operands.
    pub(super) fn operands(&mut self) -> OpResult<Vec<RuntimeValue>> {
        (0..self.info.operands.len()).map(|position| self.operand(position)).collect()
    }

    /// The value of a group's operand, where there is one.
    pub(super) fn group(&mut self, group: &str) -> OpResult<Option<RuntimeValue>> {
        self.position(group).map(|position| self.operand(position)).transpose()
    }

    pub(super) fn tensor(&mut self, group: &str) -> OpResult<TensorValue> {
        match self.group(group)? {
            Some(RuntimeValue::Tensor(tensor)) => Ok(tensor),
            _ => Err(Trap::not_followed(format!("its operand `{group}` is no tensor")).into()),
        }
    }

    pub(super) fn optional_tensor(&mut self, group: &str) -> OpResult<Option<TensorValue>> {
        Ok(self.group(group)?.and_then(|value| value.as_tensor().cloned()))
    }

    pub(super) fn int_or(&mut self, group: &str, default: i64) -> OpResult<i64> {
        Ok(self.group(group)?.and_then(|value| value.as_int()).unwrap_or(default))
    }

    pub(super) fn ints(&mut self, group: &str) -> OpResult<Vec<i64>> {
        let (first, count) = self.tree().group_span(self.host.op, group).unwrap_or_default();
        (first..first + count).map(|position| Ok(self.operand(position)?.as_int().unwrap_or(0))).collect()
    }

    pub(super) fn descriptor(&mut self) -> OpResult<Rc<Descriptor>> {
        match self.group("desc")? {
            Some(RuntimeValue::Descriptor(desc)) => Ok(desc),
            _ => Err(Trap::not_followed("its descriptor has no value").into()),
        }
    }

    /// The place that a memdesc operand names, and the operand.
    pub(super) fn memory_place(&self, group: &str) -> OpResult<(MemoryPlace, ValueId)> {
        let missing = || Trap::not_followed(format!("its operand `{group}` is missing"));
        let position = self.position(group).ok_or_else(missing)?;
        let value = *self.tree().operands(self.host.op).get(position).ok_or_else(missing)?;
        let var = self.host.operands.get(position).copied().flatten();
        Ok((self.program.place(self.run.context, self.cta, var, value)?, value))
    }

    /// Gives a result its value.
    pub(super) fn give(&mut self, result: usize, value: RuntimeValue) {
        let (Some(Some(var)), Some(representation)) = (self.host.results.get(result), self.info.results.get(result))
        else {
            return;
        };
        match representation {
            Representation::Int(_) => drop(self.program.state.set(self.cta, *var, value.as_int().unwrap_or(0))),
            Representation::Handle => self.program.put(self.cta, *var, Some(HandleValue::Value(value))),
            Representation::View | Representation::Token => {}
        }
    }

    /// Whether the thread has seen the event that ends an operation.
    pub(super) fn has_seen(&self, done: &CompletionEvent) -> bool {
        let thread = self.program.state.threads().get(self.thread);
        thread.is_some_and(|thread| thread.seen.get(done.channel) >= done.number)
    }

    /// Starts a transfer that one operation stands for: at once where its thread has seen the operation's end already.
    pub(super) fn issue(&mut self, done: &CompletionEvent, ordered: bool, transfer: Transfer) -> OpResult {
        let ends = (done.channel, done.number);
        let program = &mut *self.program;
        let actor = match transfer.is_global() && self.run.gsan.is_some() {
            true => gsan::issued(self.run.context, &mut program.clocks, &program.state, self.thread, ends, ordered),
            false => None,
        };
        let (channel, number) = ends;
        let pending = PendingTransfer { channel, number, ordered, op: self.host.op, actor, transfer };
        if self.has_seen(done) {
            return Ok(self.program.perform(self.run, pending)?);
        }
        self.program.pending.issue(pending);
        Ok(())
    }

    /// Starts the transfer of the op's first operation.
    pub(super) fn issue_first(&mut self, ordered: bool, transfer: Transfer) -> OpResult {
        match self.done.first().copied() {
            Some(done) => self.issue(&done, ordered, transfer),
            None => Ok(()),
        }
    }

    /// Starts a transfer into the memory of each CTA that the op's operations reach.
    pub(super) fn issue_into_each(
        &mut self,
        group: &str,
        ordered: bool,
        transfer: impl Fn(MemoryPlace) -> Transfer,
    ) -> OpResult {
        let (into, value) = self.memory_place(group)?;
        for done in self.done.clone() {
            let into = self.run.context.place_in(&into, done.cta, value)?;
            self.issue(&done, ordered, transfer(into))?;
        }
        Ok(())
    }
}
