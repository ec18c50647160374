//! A part of an answer that is sent ahead of it.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;
use tower_lsp::Client;
use tower_lsp::ls_types::ProgressToken;
use tower_lsp::ls_types::notification::Notification;

/// How long the answer waits for what was sent ahead of it: both come to the wire by different ways.
const AHEAD: Duration = Duration::from_millis(20);

/// `$/progress` with any value.
enum PartialResult {}

impl Notification for PartialResult {
    type Params = Value;
    const METHOD: &'static str = "$/progress";
}

/// Sends a part of the answer to a request that has this token.
pub async fn send(client: &Client, token: &ProgressToken, part: Value) {
    client.send_notification::<PartialResult>(json!({ "token": token, "value": part })).await;
}

/// Returns once what was sent ahead is on the wire.
pub async fn settle() {
    sleep(AHEAD).await;
}
