//! The ops of Triton's dialects and of those of MLIR that stand beside them, each declared once.
//!
//! One file a dialect holds one declaration an op ([`OpDecl`]): how it is written, what it does to
//! memory and barriers, what it is called in Python, how the CPU executes it, what it tells of its
//! partition, which slips a mutant may have in it, and a line of documentation. Parser, lowering,
//! editor, fixes, report, executor and mutation tool all read these declarations.
//!
//! - [`OpCode`] is an enum of enums, one variant an op, so that a match can be exhaustive.
//! - [`table`] holds the syntax of all ops in the form in which the parser follows it.
//! - An op that is declared nowhere has no code; [`effect_of_undeclared`] says what to make of it.
//! - A declaration with a `get { … }` clause has a typed view, such as [`ttng::WaitBarrier`].
//!
//! Names of ops and their forms are facts of the dialects; where two versions of Triton differ, the
//! declaration takes both.

mod amdg;
mod arith;
pub mod assembly;
mod builtin;
mod cf;
mod code;
mod declare;
mod effect;
mod enums;
mod facts;
mod gluon;
mod gpu;
mod math;
mod notation;
mod nvg;
pub mod nvws;
mod proton;
mod rocdl;
pub mod scf;
mod syntax;
mod table;
#[cfg(test)]
mod tests;
pub mod tlx;
mod tt;
mod ttg;
mod tti;
pub mod ttng;
mod typed;

pub use amdg::Amdg;
pub use arith::Arith;
pub use builtin::{Builtin, Func};
pub use cf::{Cf, Ub};
pub use code::OpCode;
pub use declare::OpDecl;
pub use effect::{OpCompletion, OpEffect, OperandAccess, RemoteStoreKind, TokenOp, ViewKind};
pub use enums::attribute_values;
pub use facts::{BarrierOperand, BarrierVerb, DataMovement, MutationRole, PartitionHint, PythonName};
pub use gluon::Gluon;
pub use gpu::{Gpu, Llvm};
pub use math::Math;
pub use nvg::Nvg;
pub use nvws::Nvws;
pub use proton::{Proton, ProtonGpu};
pub use rocdl::Rocdl;
pub use scf::Scf;
pub use syntax::{
    Arity, AttrRule, FormPiece, FormStep, GroupRef, HandWrittenForm, OpForm, OpSyntax, OperandGroup, TypeRule,
};
pub use table::{OpTable, effect_of_undeclared, table};
pub use tlx::Tlx;
pub use tt::Tt;
pub use ttg::Ttg;
pub use tti::Tti;
pub use ttng::Ttng;
pub use typed::OpReader;
