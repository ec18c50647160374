//! The user's own Triton as a second opinion: a Python process that stays warm and compiles kernels to
//! TTGIR on request, with no GPU.
//!
//! It imports the user's file, which runs it. Whoever starts one has asked the user, and has not opened
//! a workspace that the user does not trust. Only kernels at the top of a file are compiled: those inside
//! a function exist when the function runs, and nothing here runs it.

mod process;
mod protocol;

pub use process::{Sidecar, SidecarError};
pub use protocol::{CompileRequest, CompileResult, Hello, KernelRequest};
