//! `workspace/executeCommand`: the one command runs a kernel.

use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types::ExecuteCommandParams;

use crate::lsp::runs::params::{COMMAND, RunKernelParams};

/// What is to be run.
///
/// # Errors
///
/// Where there is no such command, or its argument is wrong.
pub(crate) fn run_request(params: ExecuteCommandParams) -> Result<RunKernelParams> {
    if params.command != COMMAND {
        return Err(Error::invalid_params(format!("there is no command `{}`", params.command)));
    }
    match params.arguments.into_iter().next() {
        Some(argument) => serde_json::from_value(argument).map_err(|error| Error::invalid_params(error.to_string())),
        None => Err(Error::invalid_params("which document?")),
    }
}
