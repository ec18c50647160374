//! A progress bar for analyses that take long.

use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;
use tower_lsp::Client;
use tower_lsp::ls_types::{NumberOrString, ProgressToken};

/// Shorter work shows nothing.
const DELAY: Duration = Duration::from_millis(500);

/// How long the client may take to create a bar.
pub const CREATE_TIMEOUT: Duration = Duration::from_secs(2);

const PREFIX: &str = "fencepost/analysis/";

/// The token of a job.
pub fn token(job: u64) -> ProgressToken {
    NumberOrString::String(format!("{PREFIX}{job}"))
}

/// The job of a token of ours.
pub fn job(token: &ProgressToken) -> Option<u64> {
    match token {
        NumberOrString::String(text) => text.strip_prefix(PREFIX)?.parse().ok(),
        NumberOrString::Number(_) => None,
    }
}

/// Shows a bar with a cancel button if `done` does not close in time, until it does.
pub async fn show(client: Client, job: u64, title: String, mut done: oneshot::Receiver<()>) {
    if timeout(DELAY, &mut done).await.is_ok() {
        return;
    }
    if !matches!(timeout(CREATE_TIMEOUT, client.create_work_done_progress(token(job))).await, Ok(Ok(()))) {
        return;
    }
    let bar = client.progress(token(job), title).with_cancel_button().begin().await;
    let _ = done.await;
    bar.finish().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_names_its_job() {
        assert_eq!(job(&token(17)), Some(17));
        assert_eq!(job(&NumberOrString::String("other/17".to_owned())), None);
        assert_eq!(job(&NumberOrString::Number(17)), None);
    }
}
