//! An evaluator that runs kernels of languages embedded in Python into IR.
//!
//! Triton's front ends execute a kernel's Python and write down what it does; [`eval`] does the same. What a
//! language brings along is a [`library::Library`]: a table of functions, classes and constants by full name.
//! Python's own functions and the arithmetic of scalars and register tensors are a crate over this one; a
//! language's crate adds its rows to them and says where its modules are.
//!
//! The result is the text of a TTGIR module as Triton's code generator would make it, before its passes, with an
//! origin for each op, so that what an op means is said once, where TTGIR is lowered.

pub mod elaborated;
pub mod emit;
pub mod eval;
pub mod host;
pub mod interp;
pub mod library;
mod limits;
pub mod scope;
pub mod value;

pub use ::syntax;
pub use ::syntax::{doubt, origin};
pub use base::{reason, specialization, target};
pub use limits::LIMITS;
