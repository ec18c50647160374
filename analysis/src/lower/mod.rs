//! From a syntax tree to kernels: the only place that sees both.
//!
//! [`ttgir`] reads the ops; [`build`] collects the kernel without knowing any syntax;
//! [`simplify`] makes it canonical, so that texts which synchronise alike give equal kernels.

mod build;
pub mod simplify;
mod ttgir;

pub use ttgir::{Tasks, kernel_names, lower};
