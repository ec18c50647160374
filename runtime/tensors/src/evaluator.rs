//! An operation ready to be executed: what is read off the tree once, and what it is executed on.

use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

use ttgir::{OpId, Tree};

use super::descriptor::Descriptor;
use super::tensor::{Sizes, TensorValue};
use super::tile::{TileType, read};
use super::trap::Trap;
use crate::array::ElemType;
use crate::memory::GlobalMemory;

/// A value of an execution; cheap to clone.
#[derive(Clone, PartialEq, Debug)]
pub enum RuntimeValue {
    /// A tensor, a scalar, or pointers as `i64` addresses.
    Tensor(TensorValue),
    /// A tensor descriptor.
    Descriptor(Rc<Descriptor>),
    /// Nothing: a token.
    Unit,
}

impl RuntimeValue {
    /// An integer of so many bits; `None` for a width that no tensor has.
    pub fn int(width: u32, value: i64) -> RuntimeValue {
        let dtype = match width {
            0..=1 => ElemType::I1,
            2..=8 => ElemType::I8,
            9..=16 => ElemType::I16,
            17..=32 => ElemType::I32,
            _ => ElemType::I64,
        };
        let bits = if dtype == ElemType::I1 { value & 1 } else { value };
        RuntimeValue::Tensor(TensorValue::splat(dtype, Sizes::from([]), bits as u64))
    }

    /// The integer or address of a scalar (or of a tensor of one element), sign-extended; `i1` is 0 or 1.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            RuntimeValue::Tensor(tensor) if tensor.dtype().is_int() && tensor.len() == 1 => Some(tensor.int_at(0)),
            _ => None,
        }
    }

    /// The tensor that it is, if it is one.
    pub fn as_tensor(&self) -> Option<&TensorValue> {
        match self {
            RuntimeValue::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }
}

/// What operations see beside their operands. One launch has one.
#[derive(Default)]
pub struct Environment {
    /// Global memory, which all programs share.
    pub global: GlobalMemory,
    /// The program that runs now, along x, y and z: set it before a call.
    pub program: [i64; 3],
    /// Programs along x, y and z.
    pub grid: [i64; 3],
    /// What `tt.print` said, one text an op.
    pub prints: Vec<String>,
    /// Tensor maps that the kernel made, by their address.
    pub(super) maps: HashMap<u64, Descriptor>,
    /// What was read off the tree, by operation and CTA.
    pub(super) evaluators: HashMap<(OpId, u16), Result<Evaluator, Trap>>,
}

impl Environment {
    /// From now on operations are those of another tree, over the same memory.
    pub fn next_tree(&mut self) {
        self.evaluators.clear();
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("global", &self.global).field("program", &self.program).finish_non_exhaustive()
    }
}

/// What an operation does to its operands.
type Act = dyn Fn(&[RuntimeValue], &mut Environment) -> Result<Vec<RuntimeValue>, Trap>;

/// An operation, ready to be executed.
#[derive(Clone)]
pub struct Evaluator(Rc<Act>);

impl Evaluator {
    /// Executes the operation on these operands.
    pub fn run(&self, operands: &[RuntimeValue], world: &mut Environment) -> Result<Vec<RuntimeValue>, Trap> {
        (self.0)(operands, world)
    }

    /// An evaluator that calls a function.
    pub fn new(
        act: impl Fn(&[RuntimeValue], &mut Environment) -> Result<Vec<RuntimeValue>, Trap> + 'static,
    ) -> Evaluator {
        Evaluator(Rc::new(act))
    }

    /// One that needs what other CTAs of the cluster hold.
    pub fn exchange() -> Evaluator {
        Evaluator::new(|_, _| Err(Trap::Exchange))
    }

    /// One that has no results and does nothing.
    pub fn nothing() -> Evaluator {
        Evaluator::new(|_, _| Ok(Vec::new()))
    }

    /// The same value every time.
    pub fn constant(value: RuntimeValue) -> Evaluator {
        Evaluator::new(move |_, _| Ok(vec![value.clone()]))
    }

    /// Of a function of one tensor.
    pub fn one(act: impl Fn(&TensorValue) -> Result<TensorValue, Trap> + 'static) -> Evaluator {
        Evaluator::new(move |operands, _| Ok(vec![RuntimeValue::Tensor(act(arg(operands, 0)?)?)]))
    }

    /// Of a function of two tensors.
    pub fn two(act: impl Fn(&TensorValue, &TensorValue) -> Result<TensorValue, Trap> + 'static) -> Evaluator {
        Evaluator::new(move |operands, _| Ok(vec![RuntimeValue::Tensor(act(arg(operands, 0)?, arg(operands, 1)?)?)]))
    }

    /// Of a function of three tensors.
    pub fn three(
        act: impl Fn(&TensorValue, &TensorValue, &TensorValue) -> Result<TensorValue, Trap> + 'static,
    ) -> Evaluator {
        Evaluator::new(move |operands, _| {
            Ok(vec![RuntimeValue::Tensor(act(arg(operands, 0)?, arg(operands, 1)?, arg(operands, 2)?)?)])
        })
    }
}

/// The tensor that an operand is.
pub(crate) fn arg(operands: &[RuntimeValue], at: usize) -> Result<&TensorValue, Trap> {
    match operands.get(at) {
        Some(RuntimeValue::Tensor(tensor)) => Ok(tensor),
        _ => Err(Trap::not_followed("an operand is no tensor")),
    }
}

/// The tensor of an optional operand.
pub(crate) fn optional(operands: &[RuntimeValue], at: Option<usize>) -> Result<Option<&TensorValue>, Trap> {
    at.map(|at| arg(operands, at)).transpose()
}

/// The integer that an operand is.
pub(crate) fn int(operands: &[RuntimeValue], at: usize) -> Result<i64, Trap> {
    operands.get(at).and_then(RuntimeValue::as_int).ok_or_else(|| Trap::not_followed("an operand is no integer"))
}

/// An operation in a CTA, to be read.
#[derive(Clone, Copy)]
pub struct OpSite<'t> {
    /// The tree of the kernel; one and the same for one [`Environment`].
    pub tree: &'t Tree,
    /// The operation in that tree.
    pub op: OpId,
    /// The CTA of the cluster, [`WHOLE`](super::tile::WHOLE) for all of it together.
    pub cta: u16,
}

impl<'t> OpSite<'t> {
    /// The name of the operation, `dialect.op`.
    pub fn name(&self) -> &'t str {
        self.tree.op_name(self.op)
    }

    /// Type of a result.
    pub fn result(&self, at: usize) -> Result<TileType, Trap> {
        match self.tree.results(self.op).get(at) {
            Some(&result) => read(self.tree, result, self.cta),
            None => Err(self.trap("has fewer results than it should")),
        }
    }

    /// Type of an operand.
    pub fn operand(&self, at: usize) -> Result<TileType, Trap> {
        match self.tree.operands(self.op).get(at) {
            Some(&operand) => read(self.tree, operand, self.cta),
            None => Err(self.trap("has fewer operands than it should")),
        }
    }

    /// Where an optional operand is among the operands.
    pub fn group(&self, name: &str) -> Option<usize> {
        self.tree.group_span(self.op, name).filter(|(_, len)| *len > 0).map(|(first, _)| first)
    }

    /// Text of an attribute.
    pub fn text(&self, name: &str) -> Option<&'t str> {
        self.tree.attr(self.op, name).map(|attr| self.tree.attr_text(attr))
    }

    /// A word or a string.
    pub fn word(&self, name: &str) -> Option<&'t str> {
        self.tree.attr(self.op, name).and_then(|attr| self.tree.attr_str(attr))
    }

    /// An integer attribute.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.tree.attr(self.op, name).and_then(|attr| self.tree.attr_int(attr))
    }

    /// A list of integers.
    pub fn ints(&self, name: &str) -> Option<Vec<i64>> {
        self.tree.attr(self.op, name).map(|attr| self.tree.attr_ints(attr))
    }

    /// A truth value; false where there is none.
    pub fn flag(&self, name: &str) -> bool {
        self.tree.attr(self.op, name).is_some_and(|attr| self.tree.attr_bool(attr))
    }

    /// The attribute `axis`, checked against a rank.
    pub fn axis(&self, rank: usize) -> Result<usize, Trap> {
        let axis = self.int("axis").and_then(|axis| usize::try_from(axis).ok()).filter(|axis| *axis < rank);
        axis.ok_or_else(|| self.trap("has no axis of its operand"))
    }

    /// A trap about the operation.
    pub fn trap(&self, why: &str) -> Trap {
        Trap::not_followed(format!("`{}` {why}", self.name()))
    }
}
