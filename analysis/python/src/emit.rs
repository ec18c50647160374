//! Emitting ops: the builder of the IR, with origins in the source.

pub use ttgir::build::{Attr, LayoutAlias, Ssa, Type};

use dialects::Arith;

use crate::origin::OriginId;

/// The op that stands where something is not followed; no dialect has it, so the lowering does not know it either.
pub const UNMODELLED: &str = "ttng.unmodelled";

/// An op that is emitted.
pub type Op = ttgir::build::Op<OriginId>;

/// What is inside a region of an op.
pub type Region = ttgir::build::Region<OriginId>;

/// The builder of the IR.
pub type Builder = ttgir::build::Builder<OriginId>;

/// The module that a kernel becomes.
pub type IrModule = ttgir::build::IrModule<OriginId>;

/// A comparison of integers, by the name of its predicate: `slt`.
pub fn compare(predicate: &str, left: Ssa, right: Ssa) -> Op {
    Op::new(Arith::Cmpi).attr("predicate", predicate).operand("lhs", left).operand("rhs", right)
}
