//! What touches the outside world: other processes and Triton's files.
//!
//! [`sidecar`] asks the user's own Triton to compile a kernel, with no GPU; [`cache`] reads what Triton
//! compiled before. Neither knows the analysis: texts and plain data go in and out.

pub mod cache;
pub mod sidecar;
