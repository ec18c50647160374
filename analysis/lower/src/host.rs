//! Execution mode: kernels as something that computes, not only synchronises.
//!
//! The lowering is the same, so control flow, views, barriers and the order of effects mean one thing. What
//! deciding a kernel drops is kept: every value that is no integer or memdesc is a *handle*, a variable whose
//! value lives with whoever drives the machine, and every op that is neither a scalar instruction nor control
//! flow nor a view becomes an [`Instr::Host`], after the effects it has. Nothing is simplified, and no value
//! is free: what nothing computes is the result of a host op. Regions of `tt.reduce` and its like are left in
//! the tree, for who evaluates the op.

use super::executable::{HANDLE, HostOp};
use super::lowerer::Lowerer;
use super::value::{Class, Val};
use dialects::Tt;
use kernel::{EffectId, HostId, Instr, Var};
use ttgir::{OpId, ValueId};

impl Lowerer<'_> {
    /// Whether the kernel is lowered for execution.
    pub(super) fn executes(&self) -> bool {
        self.hosts.is_some()
    }

    pub(super) fn is_handle(&self, value: ValueId) -> bool {
        self.class(value) == Class::Scalar(HANDLE)
    }

    /// Whether the scalar instructions have `op`: all it takes and gives are integers that are at hand.
    pub(super) fn host_only(&self, op: OpId) -> bool {
        let tree = self.tree;
        self.executes()
            && (tree.is(op, Tt::Load)
                || tree.operands(op).iter().chain(tree.results(op)).any(|value| self.is_handle(*value)))
    }

    /// A variable that a host gives its value.
    pub(super) fn hosted(&mut self, value: ValueId) -> Option<Var> {
        let name = self.tree.value_name(value);
        self.hosts.as_ref()?;
        let var = self.build.scalar_param(name);
        if let Some(hosts) = &mut self.hosts {
            hosts.fresh.insert(var);
        }
        Some(var)
    }

    /// Effects so far.
    pub(super) fn next_effect(&self) -> EffectId {
        EffectId(self.build.kernel.effects.len() as u32)
    }

    /// The host instruction of an op that had its effects.
    pub(super) fn host(&mut self, op: OpId, first: EffectId) {
        let tree = self.tree;
        if !self.executes() {
            return;
        }
        let last = self.next_effect();
        let operands: Vec<Option<Var>> = tree.operands(op).iter().map(|value| self.at_hand(*value)).collect();
        let results: Vec<Option<Var>> = tree.results(op).iter().map(|value| self.at_hand(*value)).collect();
        let Some(hosts) = &mut self.hosts else { return };
        let results = results.into_iter().map(|var| var.filter(|var| hosts.fresh.contains(var))).collect();
        hosts.fresh.clear();
        hosts.table.push(HostOp { op, operands, results, effects: (first, last) });
        let id = HostId(hosts.table.len() as u32 - 1);
        self.build.instr(Instr::Host(id));
    }

    fn at_hand(&mut self, value: ValueId) -> Option<Var> {
        match self.values.get(&value) {
            Some(Val::Scalar(var) | Val::View(var) | Val::Stage(var)) => Some(*var),
            Some(Val::Opaque | Val::Channel(_)) => None,
            None => Some(self.scalar(value)).filter(|_| self.class(value) != Class::View),
        }
    }
}
