//! Kernels that can be driven, and what is collected to make them.

use rustc_hash::FxHashSet;

use kernel::{EffectId, Lowered, Var};
use ttgir::OpId;

/// The width that stands for a handle; no integer has it.
pub(crate) const HANDLE: u8 = 0;

/// A kernel that can be driven.
#[derive(Clone, Debug)]
pub struct Executable {
    /// The function in the tree.
    pub function: OpId,
    /// What the machine executes, unsimplified, its way back to the text, and what is not followed.
    pub lowered: Lowered,
    /// The ops that the host executes, by [`HostId`](kernel::HostId).
    pub hosts: Vec<HostOp>,
    /// The variable of each parameter of the function; `None` for one of a type that no value has.
    pub arguments: Vec<Option<Var>>,
}

/// An op that whoever drives the machine carries out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostOp {
    /// The op in the tree.
    pub op: OpId,
    /// One an operand, in the order of the op; `None` where a memdesc is not followed.
    pub operands: Vec<Option<Var>>,
    /// One a result; `None` where something else gives it its value.
    pub results: Vec<Option<Var>>,
    /// The effects that the op has, which come just before: from the first to one past the last.
    pub effects: (EffectId, EffectId),
}

/// What execution mode collects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hosts {
    pub(crate) table: Vec<HostOp>,
    pub(crate) arguments: Vec<Option<Var>>,
    /// Results that the op in hand leaves to its host.
    pub(crate) fresh: FxHashSet<Var>,
}
