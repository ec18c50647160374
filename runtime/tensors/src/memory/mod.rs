//! What memory holds while a kernel runs: [`GlobalMemory`] memory, and the shared and tensor memory of a CTA ([`CtaMemory`]).
//!
//! Both keep plain bytes, little-endian. Memory to which nothing was written holds ones in all bits, which is NaN in
//! every float type that has one.

mod global;
mod local;
#[cfg(test)]
mod tests;

pub use global::{AccessFault, AccessMode, GlobalAccess, GlobalMemory};
pub use local::{CtaMemory, TypedWindow, WindowError};
