//! The language server: a thin shell over one ordered state thread.
//!
//! tower-lsp runs handlers concurrently and out of order past their first `await`, so no handler
//! here decides anything: a notification is one send, a request is one send and one wait for its
//! answer. The state thread takes the messages in order, owns the documents and never blocks;
//! workers get snapshots. What the server tells the client unasked goes through one outbox, which
//! keeps its order. The server asks the client nothing but to create a progress bar and to ask anew
//! for a report that it shows, from a task of its own and with a time limit, so that a client that does not answer costs nothing.

mod actions;
mod capabilities;
mod content;
mod diagnostics;
mod document;
mod facts;
mod from_proto;
mod hover;
mod outbox;
mod outline;
mod position;
mod progress;
mod python;
mod report;
mod requests;
mod runs;
mod service;
mod state;
mod stdin;
mod to_proto;
mod worker;

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tower_lsp::{LspService, Server};
use tracing_subscriber::EnvFilter;

use content::Shim;
use service::Service;

/// Deep enough for a parser that recurses; only touched pages cost memory.
const STACK_BYTES: usize = 64 << 20;

/// Far more than a client has requests in flight: a waiting request takes a slot.
const CONCURRENCY: usize = 1024;

/// Serves until `exit` or a closed stdin.
pub fn main() -> ExitCode {
    // tower-lsp warns of every notification that nobody listens to, each `didSave` among them.
    let filter = EnvFilter::try_from_env("FENCEPOST_LOG")
        .unwrap_or_else(|_| EnvFilter::new("warn,tower_lsp_server::server=off"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(false).init();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(64)
        .thread_stack_size(STACK_BYTES)
        .enable_time()
        .build();
    let runtime = match runtime {
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
    let gate = Arc::new(runs::Gate::default());
    runtime.block_on(serve(orderly.clone(), gate.clone()));
    // Kernels that still run must not outlive us, nor leave anything behind.
    gate.close();
    // Workers may still be busy and the runtime would wait for them; nobody wants their answers.
    std::process::exit(if orderly.load(Ordering::SeqCst) { 0 } else { 1 })
}

async fn serve(orderly: Arc<AtomicBool>, gate: Arc<runs::Gate>) {
    let stdin = stdin::Watched::new(tokio::io::stdin(), orderly.clone());
    let (service, socket) = LspService::build(|client| Service::new(client, orderly, gate))
        .custom_method("fencepost/run", Service::run)
        .custom_method("fencepost/explain", Service::explain)
        .custom_method("fencepost/report", Service::report)
        .custom_method("fencepost/reportText", Service::report_text)
        .custom_method(content::METHOD, Service::report_page)
        .custom_method("window/workDoneProgress/cancel", Service::cancel_progress)
        .finish();
    Server::new(stdin, tokio::io::stdout(), socket).concurrency_level(CONCURRENCY).serve(Shim::new(service)).await;
}
