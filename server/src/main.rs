//! `fencepost`: finds GPU barrier bugs in TTGIR and Gluon, as a language server and on the command line.
//!
//! This crate is the only one that knows LSP, JSON, the file system and the terminal. What it
//! knows about kernels it asks the `analysis` crate.

mod barrier_report;
mod cli;
mod compiled_comparison;
mod lsp;
mod run;
mod workspace;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
