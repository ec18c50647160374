//! What goes over the pipe, one JSON document a line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What the process says of itself when it starts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Hello {
    /// Version of Triton; `None` where there is none with Gluon.
    pub triton: Option<String>,
    /// Version of Python.
    pub python: String,
    /// Why there is no Triton.
    pub error: Option<String>,
}

/// Kernels of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CompileRequest {
    /// The file, as saved.
    pub file: String,
    /// What to compile.
    pub kernels: Vec<KernelRequest>,
}

/// One specialisation of one kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KernelRequest {
    /// Name of the function, at the top of the file.
    pub name: String,
    /// Types of run-time parameters, in the notation of Triton's signatures; `i32:16` for a multiple of 16.
    pub signature: BTreeMap<String, String>,
    /// Constexprs as Python expressions; parameters in neither map keep their defaults.
    pub constexprs: BTreeMap<String, String>,
    /// The architecture: `sm_90`, `gfx950`.
    pub target: String,
    /// Warps of the default partition.
    pub num_warps: u32,
    /// CTAs of a cluster.
    pub num_ctas: u32,
}

/// What became of a [`KernelRequest`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct CompileResult {
    /// The module's text with locations.
    pub ttgir: Option<String>,
    /// Why there is none: Triton's own words.
    pub error: Option<String>,
    /// Milliseconds that it took.
    pub ms: f64,
}

/// A request with its number.
#[derive(Serialize)]
pub(super) struct NumberedRequest<'a> {
    pub(super) id: u64,
    #[serde(flatten)]
    pub(super) request: &'a CompileRequest,
}

/// The answer to it.
#[derive(Deserialize)]
pub(super) struct CompileResponse {
    pub(super) id: u64,
    pub(super) results: Vec<CompileResult>,
    pub(super) error: Option<String>,
}
