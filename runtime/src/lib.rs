//! What touches the outside world: other processes, Triton's files, and the execution of kernels.
//!
//! [`sidecar`] asks the user's own Triton to compile a kernel, with no GPU; [`cache`] reads what Triton
//! compiled before. [`run`] is one run of a kernel under instrumentation, made from a [`launch`] recipe by one of
//! the backends: [`cpu`], [`triton`] in a [`process`] of its own, and [`replay`] of a log.

pub mod cache;
pub mod cpu;
pub mod element;
mod error;
pub mod launch;
mod limits;
mod process;
pub mod replay;
pub mod run;
pub mod sidecar;
pub mod triton;

pub use limits::LIMITS;
