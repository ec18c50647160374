//! What operations make of values: tensors in registers, pointers, descriptors.
//!
//! [`evaluate`] computes one operation in one CTA. What it needs of the operation (types, tiles, attributes, a region's
//! ops) is read off the tree once and kept in the [`Environment`]; after that an operation is one call over typed buffers.
//!
//! A tensor of a cluster is cut into tiles by its layout. [`evaluate`] works on the tile of its CTA; where the result
//! needs elements of other CTAs' tiles, it says [`Trap::Exchange`], and [`evaluate_cluster`] takes all CTAs' operands
//! together.
//!
//! Deviations: a division by zero, a shift past the width and a conversion out of range give what the hardware gives,
//! no error. Sums are taken in the order of a balanced tree, dot products in that of K. Stores of one op to one address
//! land in the order of elements. Missed: see [`Trap::NotFollowed`]; each is said at its op.

use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

use ttgir::{OpId, Tree};

use super::memory::{AccessFault, GlobalMemory};
use crate::array::ElemType;

pub mod tensor;
pub mod tile;

mod arith;
mod atomic;
mod cast;
mod constant;
pub mod descriptor;
mod descriptor_ops;
pub mod dot;
mod elementwise;
mod evaluator;
mod integer;
mod intrinsics;
mod math;
mod pointer_ops;
mod reduce;
mod region;
mod shape;
#[cfg(test)]
mod tests;
pub mod upcast;

pub(crate) use crate::float_format;
pub use crate::float_format::Rounding;
pub use descriptor::Descriptor;
pub use tensor::{Sizes, Tensor, Word};
pub use tile::Tile;

/// A value of an execution; cheap to clone.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// A tensor, a scalar, or pointers as `i64` addresses.
    Tensor(Tensor),
    /// A tensor descriptor.
    Descriptor(Rc<Descriptor>),
    /// Nothing: a token.
    Unit,
}

impl Value {
    /// An integer of so many bits; `None` for a width that no tensor has.
    pub fn int(width: u32, value: i64) -> Value {
        let dtype = match width {
            0..=1 => ElemType::I1,
            2..=8 => ElemType::I8,
            9..=16 => ElemType::I16,
            17..=32 => ElemType::I32,
            _ => ElemType::I64,
        };
        let bits = if dtype == ElemType::I1 { value & 1 } else { value };
        Value::Tensor(Tensor::splat(dtype, Sizes::from([]), bits as u64))
    }

    /// The integer or address of a scalar (or of a tensor of one element), sign-extended; `i1` is 0 or 1.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Tensor(tensor) if tensor.dtype().is_int() && tensor.len() == 1 => Some(tensor.int_at(0)),
            _ => None,
        }
    }

    /// The tensor.
    pub fn as_tensor(&self) -> Option<&Tensor> {
        match self {
            Value::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }
}

/// Which operation is executed, and where.
#[derive(Clone, Copy, Debug)]
pub struct OpCall<'t> {
    /// The kernel's tree; one and the same for one [`Environment`].
    pub tree: &'t Tree,
    /// The operation.
    pub op: OpId,
    /// The CTA of the cluster, [`tile::WHOLE`] for all of it together.
    pub cta: u16,
}

/// What operations see beside their operands. One launch has one.
#[derive(Default)]
pub struct Environment {
    /// Global memory.
    pub global: GlobalMemory,
    /// The program that runs now, along x, y and z: set it before a call.
    pub program: [i64; 3],
    /// Programs along x, y and z.
    pub grid: [i64; 3],
    /// What `tt.print` said, one text an op.
    pub prints: Vec<String>,
    /// Tensor maps that the kernel made, by their address.
    maps: HashMap<u64, Descriptor>,
    /// What was read off the tree, by operation and CTA.
    evaluators: HashMap<(OpId, u16), Result<evaluator::Evaluator, Trap>>,
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("global", &self.global).field("program", &self.program).finish_non_exhaustive()
    }
}

/// Why an operation has no result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trap {
    /// What it does is not followed; why, as a clause.
    NotFollowed(Rc<str>),
    /// It needs what other CTAs of the cluster hold: call [`evaluate_cluster`] when all of them are here.
    Exchange,
    /// It accesses global memory outside of the allocations.
    OutOfBounds {
        /// Where.
        fault: AccessFault,
        /// Whether it writes.
        write: bool,
        /// Which element of the CTA's tile, in row-major order.
        element: u64,
    },
    /// An assertion of the kernel's (`tl.device_assert`) fails, with this message.
    Assert(Rc<str>),
}

impl Trap {
    /// A trap for what is not followed.
    pub fn not_followed(what: impl Into<Rc<str>>) -> Trap {
        Trap::NotFollowed(what.into())
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trap::NotFollowed(what) => f.write_str(what),
            Trap::Exchange => f.write_str("it needs what other CTAs hold"),
            Trap::OutOfBounds { fault, write, element } => {
                let does = if *write { "writes" } else { "reads" };
                write!(f, "element {element} {does} outside of its allocation, {fault}")
            }
            Trap::Assert(message) => write!(f, "device assertion failed: {message}"),
        }
    }
}

/// Computes an operation's results from its operands (all of them, in the order of [`Tree::operands`]).
///
/// # Errors
///
/// See [`Trap`].
pub fn evaluate(call: &OpCall<'_>, operands: &[Value], world: &mut Environment) -> Result<Vec<Value>, Trap> {
    let compile =
        world.evaluators.entry((call.op, call.cta)).or_insert_with(|| evaluator::compile(call.tree, call.op, call.cta));
    let compile = compile.clone()?;
    compile.run(operands, world)
}

/// Computes an operation in all CTAs of a cluster together, after [`Trap::Exchange`]: `operands` and the result have an
/// entry a CTA.
///
/// # Errors
///
/// See [`Trap`].
pub fn evaluate_cluster(
    tree: &Tree,
    op: OpId,
    operands: &[Vec<Value>],
    world: &mut Environment,
) -> Result<Vec<Vec<Value>>, Trap> {
    let mut whole = Vec::new();
    for (at, &operand) in tree.operands(op).iter().enumerate() {
        let parts: Vec<&Value> = operands.iter().filter_map(|of| of.get(at)).collect();
        let Some(first) = parts.first() else { return Err(Trap::not_followed("an operand has no value")) };
        if first.as_tensor().is_none() {
            whole.push((*first).clone());
            continue;
        }
        let tiles = (0..parts.len()).map(|cta| tile::read(tree, operand, cta as u16));
        let tiles: Vec<tile::TileType> = tiles.collect::<Result<_, Trap>>()?;
        let parts = parts.iter().zip(&tiles).filter_map(|(part, ty)| Some((part.as_tensor()?, &ty.tile)));
        let assembled = tile::assemble(&parts.collect::<Vec<_>>());
        whole.push(Value::Tensor(assembled.ok_or_else(|| Trap::not_followed("an operand has no value"))?));
    }
    let results = evaluate(&OpCall { tree, op, cta: tile::WHOLE }, &whole, world)?;
    let cut = |cta: usize| {
        tree.results(op).iter().zip(&results).map(move |(&result, value)| match value {
            Value::Tensor(tensor) => {
                let ty = tile::read(tree, result, cta as u16)?;
                Ok(Value::Tensor(tile::slice(tensor, &ty.tile)))
            }
            other => Ok(other.clone()),
        })
    };
    (0..operands.len()).map(|cta| cut(cta).collect()).collect()
}
