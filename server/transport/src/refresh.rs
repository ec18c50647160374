//! Asks the client to ask again: what was said of open documents holds no longer, though their texts are the same.

use std::sync::Arc;
use std::time::Duration;

use crate::limits::client::REFRESH as TIMEOUT;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use tower_lsp::Client;

/// What happens within this time is one change.
const TOGETHER: Duration = Duration::from_millis(20);

/// What a client asks for again where it is told to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refreshable {
    /// Diagnostics.
    pub diagnostics: bool,
    /// Inlay hints.
    pub inlay_hints: bool,
    /// Code lenses.
    pub code_lenses: bool,
}

/// Tells the client, one time after the other, however often it is asked to.
#[derive(Clone, Debug)]
pub struct Refresher {
    due: Arc<Notify>,
}

impl Refresher {
    /// Starts the task that tells the client what it can be told.
    pub fn start(runtime: &Handle, client: Client, what: Refreshable) -> Refresher {
        let due = Arc::new(Notify::new());
        let wanted = due.clone();
        runtime.spawn(async move {
            loop {
                wanted.notified().await;
                sleep(TOGETHER).await;
                // A client that refuses or does not answer shows what is old, and nothing else follows from it.
                if what.diagnostics {
                    let _ = timeout(TIMEOUT, client.workspace_diagnostic_refresh()).await;
                }
                if what.inlay_hints {
                    let _ = timeout(TIMEOUT, client.inlay_hint_refresh()).await;
                }
                if what.code_lenses {
                    let _ = timeout(TIMEOUT, client.code_lens_refresh()).await;
                }
            }
        });
        Refresher { due }
    }

    /// Has the client told soon.
    pub fn ask(&self) {
        self.due.notify_one();
    }
}
