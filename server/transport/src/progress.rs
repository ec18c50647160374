//! Progress bars for analyses and runs, each with a button that stops it.

use std::time::Duration;

use crate::limits::client::PROGRESS as CREATE_TIMEOUT;
use tokio::sync::oneshot;
use tokio::time::timeout;
use tower_lsp::Client;
use tower_lsp::ls_types::{NumberOrString, ProgressToken};

/// Shorter work shows nothing.
const DELAY: Duration = Duration::from_millis(300);

/// Work that a bar is for, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// The analysis of a document.
    Analysis(u64),
    /// The run of a kernel.
    Run(u64),
}

impl Job {
    /// The token of its bar.
    fn token(self) -> ProgressToken {
        NumberOrString::String(match self {
            Job::Analysis(id) => format!("fencepost/analysis/{id}"),
            Job::Run(id) => format!("fencepost/run/{id}"),
        })
    }

    /// The work that a token of ours is for.
    pub fn from_token(token: &ProgressToken) -> Option<Job> {
        let NumberOrString::String(text) = token else { return None };
        let (kind, id) = text.strip_prefix("fencepost/")?.split_once('/')?;
        match kind {
            "analysis" => id.parse().ok().map(Job::Analysis),
            "run" => id.parse().ok().map(Job::Run),
            _ => None,
        }
    }

    /// Asks the client for a bar; whether there is one.
    pub async fn create(self, client: &Client) -> Option<ProgressToken> {
        let created = timeout(CREATE_TIMEOUT, client.create_work_done_progress(self.token())).await;
        matches!(created, Ok(Ok(()))).then(|| self.token())
    }
}

/// Shows a bar for work if `done` does not close in time, until it does.
pub async fn show(client: Client, job: Job, title: String, mut done: oneshot::Receiver<()>) {
    if timeout(DELAY, &mut done).await.is_ok() {
        return;
    }
    let Some(token) = job.create(&client).await else { return };
    let bar = client.progress(token, title).with_cancel_button().begin().await;
    let _ = done.await;
    bar.finish().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_names_its_job() {
        for job in [Job::Analysis(17), Job::Run(17)] {
            assert_eq!(Job::from_token(&job.token()), Some(job));
        }
        assert_eq!(Job::from_token(&NumberOrString::String("other/17".to_owned())), None);
        assert_eq!(Job::from_token(&NumberOrString::Number(17)), None);
    }
}
