//! `workspace/executeCommand`: a kernel is run, or a log of a run is read.

use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types::ExecuteCommandParams;

use crate::lsp::runs::params::{COMMAND, REPLAY_COMMAND, RunKernelParams};

/// What is to be run.
///
/// # Errors
///
/// Where there is no such command, or its argument is wrong.
pub(crate) fn run_request(params: ExecuteCommandParams) -> Result<RunKernelParams> {
    let replay = params.command == REPLAY_COMMAND;
    if params.command != COMMAND && !replay {
        return Err(Error::invalid_params(format!("there is no command `{}`", params.command)));
    }
    let Some(argument) = params.arguments.into_iter().next() else {
        return Err(Error::invalid_params("which document?"));
    };
    let request: RunKernelParams =
        serde_json::from_value(argument).map_err(|error| Error::invalid_params(error.to_string()))?;
    match (replay, &request.log) {
        (true, None) => Err(Error::invalid_params("which log?")),
        (false, Some(_)) => Err(Error::invalid_params(format!("a log is read by `{REPLAY_COMMAND}`"))),
        _ => Ok(request),
    }
}
