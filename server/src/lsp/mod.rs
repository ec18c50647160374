//! The language server: a thin shell over one ordered state thread.
//!
//! tower-lsp runs handlers concurrently and out of order past their first `await`, so no handler
//! here decides anything: a notification is one send, a request is one send and one wait for its
//! answer. The state thread takes the messages in order, owns the documents and never blocks;
//! workers get snapshots. Files are read by a loader thread, which posts what it has read. Notifications to
//! the client go through one sender, which keeps their order. The server asks the client nothing but to create a progress bar and to ask anew
//! for a report that it shows, from a task of its own and with a time limit, so that a client that does not answer costs nothing.

mod capabilities;
mod client_config;
mod client_sender;
mod diagnostics;
mod document;
mod handlers;
mod panics;
mod position;
mod progress;
mod runs;
mod service;
mod snapshot;
mod state;
mod stdin;
#[cfg(test)]
mod tests;
mod text_document_content;
mod to_proto;

use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::runtime::{Builder, Runtime};
use tower_lsp::{LspService, Server};
use tracing_subscriber::EnvFilter;

use runs::ActiveRuns;
use service::Service;
use text_document_content::ContentLayer;

use crate::workspace::Disk;

/// Deep enough for a parser that recurses; only touched pages cost memory.
const STACK_BYTES: usize = 64 << 20;

/// Far more than a client has requests in flight: a waiting request takes a slot.
const CONCURRENCY: usize = 1024;

/// Where requests wait and workers run.
fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(64)
        .thread_stack_size(STACK_BYTES)
        .enable_time()
        .build()
}

/// Serves until `exit` or a closed stdin.
pub(crate) fn main() -> ExitCode {
    // tower-lsp warns of every notification that nobody listens to, each `didSave` among them.
    let filter = EnvFilter::try_from_env("FENCEPOST_LOG")
        .unwrap_or_else(|_| EnvFilter::new("warn,tower_lsp_server::server=off"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(false).init();
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("fencepost: cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    if std::io::stdin().is_terminal() {
        eprintln!("fencepost lsp is started by editors and speaks the Language Server Protocol; Ctrl-D ends it");
    }
    let orderly = Arc::new(AtomicBool::new(false));
    let active_runs = Arc::new(ActiveRuns::default());
    runtime.block_on(serve(orderly.clone(), active_runs.clone()));
    // Kernels that still run must not outlive us, nor leave anything behind.
    active_runs.close();
    // Workers may still be busy and the runtime would wait for them; nobody wants their answers.
    std::process::exit(if orderly.load(Ordering::SeqCst) { 0 } else { 1 })
}

async fn serve(orderly: Arc<AtomicBool>, active_runs: Arc<ActiveRuns>) {
    let stdin = stdin::ExitAtEnd::new(tokio::io::stdin(), orderly.clone());
    let (service, socket) = LspService::build(|client| Service::new(client, orderly, active_runs, Arc::new(Disk)))
        .custom_method("fencepost/run", Service::finding_run)
        .custom_method("fencepost/explain", Service::explain)
        .custom_method("fencepost/report", Service::report)
        .custom_method("fencepost/reportText", Service::report_text)
        .custom_method(text_document_content::METHOD, Service::report_page)
        .custom_method("window/workDoneProgress/cancel", Service::cancel_progress)
        .finish();
    Server::new(stdin, tokio::io::stdout(), socket)
        .concurrency_level(CONCURRENCY)
        .serve(ContentLayer::new(service))
        .await;
}
