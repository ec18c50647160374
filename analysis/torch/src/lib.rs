//! Tensors of PyTorch as host code has them: shape, strides, element type, the memory that views share, and small
//! contents. What PyTorch's functions make of them is the evaluator's.

pub mod dtypes;
mod limits;
mod memory;
mod tensor;

pub use limits::LIMITS;
pub use memory::Memory;
pub use tensor::{Torch, product};

/// How many elements a tensor has at most whose elements are of interest.
pub const MOST_CONTENTS: u64 = limits::contents::MOST;
