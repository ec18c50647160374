//! What the server says unasked, in order.
//!
//! A task of its own sends it, so that nobody waits for a client that reads slowly. Diagnostics
//! that are overtaken by newer ones of the same document before they are sent are dropped, which
//! also bounds what piles up.

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tower_lsp::Client;
use tower_lsp::ls_types::{Diagnostic, MessageType, Uri};

use super::content;
use super::document::Watched;

/// The sending end.
#[derive(Clone)]
pub struct Outbox {
    send: UnboundedSender<Letter>,
}

enum Letter {
    Diagnostics { uri: Uri, version: Option<i32>, diagnostics: Vec<Diagnostic> },
    Message(MessageType, String),
    Report { uri: Uri, watched: Watched },
}

impl Outbox {
    /// Starts the task.
    pub fn new(client: Client) -> Outbox {
        let (send, receive) = unbounded_channel();
        tokio::spawn(deliver(client, receive));
        Outbox { send }
    }

    /// Replaces the diagnostics of a document.
    pub fn publish(&self, uri: Uri, version: Option<i32>, diagnostics: Vec<Diagnostic>) {
        self.post(Letter::Diagnostics { uri, version, diagnostics });
    }

    /// Says that a document's report is another one, to whom it matters.
    pub fn report_changed(&self, uri: Uri, watched: Watched) {
        if !watched.is_empty() {
            self.post(Letter::Report { uri, watched });
        }
    }

    /// Shows a message.
    pub fn show(&self, text: String) {
        self.post(Letter::Message(MessageType::INFO, text));
    }

    /// Shows an error.
    pub fn show_error(&self, text: String) {
        self.post(Letter::Message(MessageType::ERROR, text));
    }

    /// A closed channel means that the process is about to end.
    fn post(&self, letter: Letter) {
        let _ = self.send.send(letter);
    }
}

async fn deliver(client: Client, mut receive: UnboundedReceiver<Letter>) {
    while let Some(first) = receive.recv().await {
        let mut letters = vec![first];
        while let Ok(letter) = receive.try_recv() {
            letters.push(letter);
        }
        for at in 0..letters.len() {
            if letters.iter().skip(at + 1).any(|later| overtakes(later, &letters[at])) {
                continue;
            }
            match std::mem::replace(&mut letters[at], Letter::Message(MessageType::LOG, String::new())) {
                Letter::Diagnostics { uri, version, diagnostics } => {
                    client.publish_diagnostics(uri, diagnostics, version).await;
                }
                Letter::Message(kind, text) => client.show_message(kind, text).await,
                Letter::Report { uri, watched } => content::say_changed(&client, uri, watched).await,
            }
        }
    }
}

fn overtakes(later: &Letter, earlier: &Letter) -> bool {
    match (later, earlier) {
        (Letter::Diagnostics { uri: later, .. }, Letter::Diagnostics { uri: earlier, .. }) => later == earlier,
        (Letter::Report { uri: later, watched: now }, Letter::Report { uri: earlier, watched: then }) => {
            later == earlier && now == then
        }
        _ => false,
    }
}
