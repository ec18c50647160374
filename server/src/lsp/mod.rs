//! The language server: a thin shell over one ordered state thread.
//!
//! tower-lsp runs handlers concurrently and out of order past their first `await`, so no handler
//! here decides anything: a notification is one send, a request is one send and one wait for its
//! answer. The state thread takes the messages in order, owns the documents and never blocks;
//! workers get snapshots. Files are read by a loader thread, which posts what it has read. Notifications to
//! the client go through one sender, which keeps their order. What the server asks of the client (a progress bar, to ask anew for what it
//! shows, to watch files, its settings) it asks from a task of its own and with a time limit, so that a client that does not answer costs nothing.

mod capabilities;
mod client_config;
mod conversation;
mod diagnostics;
mod document;
mod extensions;
mod handlers;
mod kernel_reports;
mod kernel_status;
mod known_fixes;
mod last_good;
mod last_tokens;
mod panics;
mod position;
mod runs;
mod service;
mod session_snapshot;
mod shared;
mod snapshot;
mod state;
#[cfg(test)]
mod tests;
mod to_proto;
mod workspace_diagnostics;

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use transport::LanguageService;

use extensions::EXTENSIONS;
use runs::ActiveRuns;
use service::Service;

use workspace::Disk;

/// Serves until `exit`, a closed stdin, or the end of the client's process.
pub(crate) fn main() -> ExitCode {
    transport::log_to_stderr("FENCEPOST_LOG");
    if std::io::stdin().is_terminal() {
        eprintln!("fencepost lsp is started by editors and speaks the Language Server Protocol; Ctrl-D ends it");
    }
    let orderly = Arc::new(AtomicBool::new(false));
    let active_runs = Arc::new(ActiveRuns::default());
    let runs = active_runs.clone();
    let make = Box::new(move |client| Arc::new(Service::new(client, runs, Arc::new(Disk))) as Arc<dyn LanguageService>);
    let _workers = match transport::run_stdio(make, &EXTENSIONS, orderly.clone()) {
        Ok(workers) => workers,
        Err(error) => {
            eprintln!("error: the server cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    // Kernels that still run must not outlive us, nor leave anything behind.
    active_runs.close();
    // Workers may still be busy; nobody wants their answers.
    std::process::exit(if orderly.load(Ordering::SeqCst) { 0 } else { 1 })
}
