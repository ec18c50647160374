//! Binds SSA values to what they are to the kernel.

use super::executable::HANDLE;
use super::lowerer::Lowerer;
use super::value::{Class, Val};
use base::{Message, message};
use dialects::Arith;
use kernel::{Input, InputKind, Pure, Var};
use ttgir::{Def, OpId, Ty, ValueId};

impl Lowerer<'_> {
    pub(super) fn bind(&mut self, value: ValueId, val: Val) {
        self.values.insert(value, val);
    }

    pub(super) fn class(&self, value: ValueId) -> Class {
        match self.tree.value_type(value).map(|ty| self.tree.ty(ty)) {
            Some(Ty::Int(width @ 1..=64)) => Class::Scalar(width as u8),
            Some(Ty::Index | Ty::Ptr) => Class::Scalar(64),
            Some(Ty::MemDesc { .. }) => Class::View,
            _ if self.executes() => Class::Scalar(HANDLE),
            _ if self.results.contains(&value) => Class::Scalar(32),
            _ => Class::Dropped,
        }
    }

    fn is_tensor(&self, value: ValueId) -> bool {
        matches!(self.tree.value_type(value).map(|ty| self.tree.ty(ty)), Some(Ty::Tensor { .. }))
    }

    pub(super) fn width(&self, value: ValueId) -> u8 {
        match self.class(value) {
            Class::Scalar(width) => width,
            _ => 64,
        }
    }

    /// The variable of a scalar; one that nothing computes is a free input, read where it is used.
    pub(super) fn scalar(&mut self, value: ValueId) -> Var {
        match self.values.get(&value) {
            Some(Val::Scalar(var)) => *var,
            _ => self.free(value),
        }
    }

    fn free(&mut self, value: ValueId) -> Var {
        if let Some(var) = self.hosted(value) {
            return var;
        }
        if self.is_tensor(value) {
            // Registers that nothing is still writing.
            return self.build.number(0);
        }
        // A constant is known wherever it stands, also behind its use in a dump from the middle of a pass.
        if let Def::Result(op, _) = self.tree.value_def(value)
            && self.tree.is(op, Arith::Constant)
            && let Some(number) = self.int_attr(op, "value")
        {
            return self.build.number(number);
        }
        let name = self.tree.value_name(value);
        let width = self.width(value);
        let input = match self.free.get(&value) {
            Some(input) => *input,
            None => self.build.input(Input { kind: InputKind::Free, width, divisor: 1 }, name),
        };
        self.free.insert(value, input);
        self.build.compute(Pure::Input(input), name)
    }

    /// The memdesc variable; `None` where it is not followed or is no memdesc.
    pub(super) fn view(&self, value: ValueId) -> Option<Var> {
        match self.values.get(&value) {
            Some(Val::View(var)) => Some(*var),
            _ => None,
        }
    }

    /// Binds what an op without meaning gives: scalars become free inputs, memdescs opaque.
    pub(super) fn forget(&mut self, op: OpId) {
        let tree = self.tree;
        for &result in tree.results(op) {
            match self.class(result) {
                Class::Scalar(_) => {
                    let var = self.free(result);
                    self.bind(result, Val::Scalar(var));
                }
                Class::View => self.bind(result, Val::Opaque),
                Class::Dropped => {}
            }
        }
    }

    /// A block parameter for `value` that receives values like `incoming`, bound to it.
    pub(super) fn param(&mut self, value: ValueId, incoming: Option<Val>) -> Option<Var> {
        let name = self.tree.value_name(value);
        match (self.class(value), incoming) {
            (Class::Scalar(_), _) => {
                let var = self.build.scalar_param(name);
                self.bind(value, Val::Scalar(var));
                Some(var)
            }
            (Class::View, Some(Val::View(like))) => {
                let var = self.build.view_param(like, name);
                self.bind(value, Val::View(var));
                Some(var)
            }
            (Class::View, _) => {
                self.bind(value, Val::Opaque);
                None
            }
            (Class::Dropped, Some(Val::Stage(_))) => {
                let var = self.build.scalar_param(name);
                self.bind(value, Val::Stage(var));
                Some(var)
            }
            (Class::Dropped, Some(val @ Val::Channel(_))) => {
                self.bind(value, val);
                None
            }
            (Class::Dropped, _) => {
                self.values.remove(&value);
                None
            }
        }
    }

    /// What `value` passes to a parameter made by [`param`](Self::param); for a memdesc that does
    /// not fit, which is said at `op`, the parameter keeps what it has.
    pub(super) fn pass(&mut self, op: OpId, value: ValueId, param: Var) -> Var {
        match (self.values.get(&value).copied(), self.build.shape(param).is_some()) {
            (Some(Val::View(var)), true) if self.build.kind(var) == self.build.kind(param) => var,
            (Some(Val::Stage(var)), false) => var,
            (_, false) if self.class(value) == Class::Dropped && !self.is_tensor(value) => {
                let name = self.tree.value_name(value).to_owned();
                self.unmodelled(op, message!("the stage that `{name}` stands for is not known", Message::value(name)));
                param
            }
            (_, true) => {
                let name = self.tree.value_name(value).to_owned();
                self.unmodelled(
                    op,
                    message!("`{name}` carries a memdesc of another place or shape than before", Message::value(name)),
                );
                param
            }
            (_, false) => self.scalar(value),
        }
    }
}
