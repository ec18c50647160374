//! Runs of kernels on the CPU, and what they have to compute.

mod given;
mod reference;

pub use given::{Given, Numbers, numbers};
pub use reference::{Written, written};
