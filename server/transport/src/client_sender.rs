//! Notifications to the client, in order.
//!
//! A task of its own sends it, so that nobody waits for a client that reads slowly. Diagnostics
//! that are overtaken by newer ones of the same document before they are sent are dropped, which
//! also bounds what piles up.

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;
use tower_lsp::Client;
use tower_lsp::ls_types::{Diagnostic, MessageType, Uri};

use crate::limits::client::ANSWER;
use crate::status::{StatusNotification, StatusParams};
use crate::text_document_content::{ReportSubscribers, notify_changed};

/// Sends notifications without waiting for the client.
#[derive(Clone)]
pub struct ClientSender {
    send: UnboundedSender<Notification>,
}

enum Notification {
    Diagnostics { uri: Uri, version: Option<i32>, diagnostics: Vec<Diagnostic> },
    Message(MessageType, String),
    ReportChanged { uri: Uri, subscribers: ReportSubscribers },
    Status(StatusParams),
    RefreshLenses,
}

impl ClientSender {
    /// Starts the task that sends.
    pub fn new(client: Client) -> ClientSender {
        let (send, receive) = unbounded_channel();
        tokio::spawn(deliver(client, receive));
        ClientSender { send }
    }

    /// Replaces the diagnostics of a document.
    pub fn publish(&self, uri: Uri, version: Option<i32>, diagnostics: Vec<Diagnostic>) {
        self.post(Notification::Diagnostics { uri, version, diagnostics });
    }

    /// Tells those who show a report of a document that it has changed.
    pub fn report_changed(&self, uri: Uri, subscribers: ReportSubscribers) {
        if !subscribers.is_empty() {
            self.post(Notification::ReportChanged { uri, subscribers });
        }
    }

    /// Tells how far the analysis of a document is.
    pub fn status(&self, status: StatusParams) {
        self.post(Notification::Status(status));
    }

    /// Has the client ask for code lenses again: they say the verdicts.
    pub fn refresh_lenses(&self) {
        self.post(Notification::RefreshLenses);
    }

    /// Shows a message.
    pub fn show(&self, text: String) {
        self.post(Notification::Message(MessageType::INFO, text));
    }

    /// Shows a warning.
    pub fn show_warning(&self, text: String) {
        self.post(Notification::Message(MessageType::WARNING, text));
    }

    /// Shows an error.
    pub fn show_error(&self, text: String) {
        self.post(Notification::Message(MessageType::ERROR, text));
    }

    /// A closed channel means that the process is about to end.
    fn post(&self, notification: Notification) {
        let _ = self.send.send(notification);
    }
}

async fn deliver(client: Client, mut receive: UnboundedReceiver<Notification>) {
    while let Some(first) = receive.recv().await {
        let mut batch = vec![first];
        while let Ok(notification) = receive.try_recv() {
            batch.push(notification);
        }
        for at in 0..batch.len() {
            if batch.iter().skip(at + 1).any(|later| supersedes(later, &batch[at])) {
                continue;
            }
            match std::mem::replace(&mut batch[at], Notification::Message(MessageType::LOG, String::new())) {
                Notification::Diagnostics { uri, version, diagnostics } => {
                    client.publish_diagnostics(uri, diagnostics, version).await;
                }
                Notification::Message(kind, text) => client.show_message(kind, text).await,
                Notification::Status(status) => client.send_notification::<StatusNotification>(status).await,
                Notification::ReportChanged { uri, subscribers } => notify_changed(&client, uri, subscribers).await,
                // Its answer says nothing, and a client that gives none keeps nobody waiting.
                Notification::RefreshLenses => {
                    let client = client.clone();
                    tokio::spawn(async move { timeout(ANSWER, client.code_lens_refresh()).await });
                }
            }
        }
    }
}

/// Whether a notification makes an earlier one that was not sent yet pointless.
fn supersedes(later: &Notification, earlier: &Notification) -> bool {
    match (later, earlier) {
        (Notification::Diagnostics { uri: later, .. }, Notification::Diagnostics { uri: earlier, .. }) => {
            later == earlier
        }
        (
            Notification::ReportChanged { uri: later, subscribers: now },
            Notification::ReportChanged { uri: earlier, subscribers: before },
        ) => later == earlier && now == before,
        (Notification::Status(later), Notification::Status(earlier)) => later.uri == earlier.uri,
        (Notification::RefreshLenses, Notification::RefreshLenses) => true,
        _ => false,
    }
}
