//! Executes a kernel on the CPU.
//!
//! [`value`] computes what single operations make of tensors, [`memory`] keeps what global, shared and tensor memory
//! hold.

pub mod memory;
pub mod value;
