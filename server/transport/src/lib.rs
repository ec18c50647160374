//! The wire of the language server: JSON-RPC on standard input and output, routed to a service object.
//!
//! The crate knows the protocol and nothing of kernels, so that the code which reads and writes the protocol's
//! many types is compiled once, not at each change of the analysis. [`run_stdio`] serves a [`LanguageService`];
//! [`ClientSender`] carries notifications back in order, [`progress`] shows progress bars.

mod client_sender;
mod frames;
mod limits;
mod message;
mod notifications;
pub mod partial_result;
mod process;
pub mod progress;
mod refresh;
mod router;
mod service;
mod status;
mod text_document_content;
mod wire;

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub use client_sender::ClientSender;
pub use limits::LIMITS;
pub use notifications::Lost;
pub use refresh::{Refreshable, Refresher};
pub use router::Router;
pub use service::{Answer, LanguageService, NOTIFICATIONS, REQUESTS};
pub use status::{DocumentState, KernelState, KernelStatus, StatusParams};
pub use text_document_content::{ContentDocument, METHOD as CONTENT_METHOD, ReportSubscribers, SCHEME};
pub use tower_lsp::Client;

use crate::limits::worker::STACK as STACK_BYTES;
use text_document_content::ContentLayer;
use tokio::runtime::{Builder, Runtime};
use tower_lsp::{ClientSocket, LspService};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// Makes the service once the client can be reached.
pub type MakeService = Box<dyn FnOnce(Client) -> Arc<dyn LanguageService> + Send>;

/// Prints the log to standard error; the environment variable `variable` says which targets at which levels, as in
/// `warn,fencepost=debug`.
pub fn log_to_stderr(variable: &str) {
    // tower-lsp warns of every notification that nobody listens to, each `didSave` among them.
    let usual =
        || Targets::new().with_default(LevelFilter::WARN).with_target("tower_lsp_server::server", LevelFilter::OFF);
    let targets = std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or_else(usual);
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_ansi(false);
    tracing_subscriber::registry().with(lines.with_filter(targets)).init();
}

/// Where requests wait and workers run.
///
/// # Errors
///
/// Where no threads can be started.
pub fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(64)
        .thread_stack_size(STACK_BYTES)
        .enable_time()
        .build()
}

/// Serves on standard input and output until `exit`, a closed input, or the end of the client's process.
///
/// `extensions` are the methods beyond the protocol that [`LanguageService::extension`] answers; `orderly` is
/// set once the client has asked to shut down. What comes back holds the workers: some may still be busy, and
/// dropping it would wait for them.
///
/// # Errors
///
/// Where no threads can be started.
pub fn run_stdio(make: MakeService, extensions: &[&'static str], orderly: Arc<AtomicBool>) -> io::Result<Runtime> {
    let runtime = runtime()?;
    runtime.block_on(serve(make, extensions, orderly));
    Ok(runtime)
}

/// The service that reads requests as JSON-RPC, and the socket of what it sends unasked; must be called on a runtime.
pub fn build(
    make: MakeService,
    extensions: &[&'static str],
    orderly: Arc<AtomicBool>,
) -> (LspService<Router>, ClientSocket) {
    let mut builder = LspService::build(move |client| Router::new(make(client), orderly))
        .custom_method("window/workDoneProgress/cancel", Router::cancel_progress);
    for &method in extensions {
        builder = builder.custom_method(method, move |router: &Router, params| router.extension(method, params));
    }
    builder.finish()
}

async fn serve(make: MakeService, extensions: &[&'static str], orderly: Arc<AtomicBool>) {
    let (router, socket) = build(make, extensions, orderly);
    let service = router.inner().service();
    wire::serve(tokio::io::stdin(), tokio::io::stdout(), ContentLayer::new(router), socket, service).await;
}
