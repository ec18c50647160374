//! `fencepost`: finds GPU barrier bugs in TTGIR and Gluon, as a language server and on the command line.
//!
//! This crate is the only one that knows LSP, JSON, the file system and the terminal. What it
//! knows about kernels it asks the `analysis` crate.

mod barrier_report;
mod cli;
mod limits;
mod lsp;

use std::process::ExitCode;

/// A server lives for days, on many threads: what is free has to go back to the system.
#[cfg(all(unix, feature = "jemalloc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    cli::main()
}
