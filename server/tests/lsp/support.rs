//! What the session tests share: the binary, kernels, and servers of it.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

pub(crate) use crate::capabilities::everything;
pub(crate) use crate::client::{Server, place, range, root};

/// The binary that Cargo has built for these tests.
pub(crate) fn binary() -> &'static str {
    env!("CARGO_BIN_EXE_fencepost")
}

/// A file below `tests/kernels`.
pub(crate) fn kernel(name: &str) -> String {
    let path: PathBuf = root().join("tests/kernels").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

impl Server {
    /// Starts our server and introduces a client with these capabilities.
    pub(crate) fn start(capabilities: Value) -> Server {
        let mut command = Command::new(binary());
        command.arg("lsp");
        Server::spawn(command, capabilities)
    }

    /// Starts our server for a client that can do everything, in a workspace that is trusted.
    pub(crate) fn start_everything() -> Server {
        let mut command = Command::new(binary());
        command.arg("lsp");
        Server::spawn_with(command, everything(), json!({ "trusted": true }))
    }
}
