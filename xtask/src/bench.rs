//! `cargo xtask bench`: builds what is measured and what measures, and starts it.

use std::path::Path;
use std::process::{Command, ExitCode};

/// Builds a release of the program and the benchmarks, and runs these.
pub fn run(root: &Path, arguments: &[&str]) -> ExitCode {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let steps: [&[&str]; 2] = [
        &["build", "--release", "-p", "fencepost", "--features", "jemalloc"],
        &["run", "--release", "-p", "fencepost-tests", "--bin", "bench", "--"],
    ];
    for (number, step) in steps.iter().enumerate() {
        let mut command = Command::new(&cargo);
        command.args(*step).current_dir(root);
        if number + 1 == steps.len() {
            command.args(arguments);
        }
        match command.status() {
            Ok(status) if status.success() => {}
            Ok(_) => return ExitCode::FAILURE,
            Err(why) => {
                eprintln!("cargo cannot be started: {why}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
