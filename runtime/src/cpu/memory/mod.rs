//! What memory holds while a kernel runs: [`Global`] memory, and the shared and tensor memory of a CTA ([`Local`]).
//!
//! Both keep plain bytes, little-endian. Memory to which nothing was written holds ones in all bits, which is NaN in
//! every float type that has one.

mod global;
mod local;
#[cfg(test)]
mod tests;

pub use global::{Fault, Global};
pub use local::{Local, Missed, Window};
