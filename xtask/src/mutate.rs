//! `cargo xtask mutate`: runs the mutation tool of the tests in an optimised build.
//!
//! The tool needs the analysis, which this crate does without, so it is a program of its own.

use std::path::Path;
use std::process::{Command, ExitCode};

/// Passes the arguments on.
pub fn run(root: &Path, args: &[&str]) -> ExitCode {
    let manifest = root.join("Cargo.toml");
    let mut command = Command::new("cargo");
    command.args(["run", "--release", "--quiet", "--package", "fencepost-tests", "--bin", "mutate", "--manifest-path"]);
    // Paths among the arguments count from where the user stands.
    match command.arg(manifest).arg("--").args(args).status() {
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(error) => {
            eprintln!("cargo: {error}");
            ExitCode::FAILURE
        }
    }
}
