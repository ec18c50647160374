//! Who waits for the end of a run: the answer, and that the run ends where nobody waits any more.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use serde::Serialize;
use tokio::sync::oneshot;
use tower_lsp::ls_types::Diagnostic;

/// What came of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct RunAnswer {
    /// `passed`, `asserted`, `undecided`, `hung` or `failed`; `refused` where it could not be run, `cancelled` where it was
    /// stopped or not agreed to.
    pub(crate) state: &'static str,
    /// One sentence.
    pub(crate) summary: String,
    /// What the analysis says of each kernel that ran, a sentence each.
    pub(crate) details: Vec<String>,
    /// What it found, at its places in the text that was run.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Seconds that it took.
    pub(crate) seconds: f64,
    /// Whether the document has another text by now.
    pub(crate) outdated: bool,
}

/// The one who is told.
#[derive(Debug)]
pub(crate) struct RunWaiter {
    answer: oneshot::Sender<RunAnswer>,
    /// Set when nobody waits any more; the run looks at it.
    pub(super) stop: Arc<AtomicBool>,
}

/// The answer to come.
pub(crate) struct WaitedRun {
    answer: oneshot::Receiver<RunAnswer>,
    stop: Arc<AtomicBool>,
}

impl RunWaiter {
    /// One who waits, and what they wait for.
    pub(crate) fn new() -> (RunWaiter, WaitedRun) {
        let (send, receive) = oneshot::channel();
        let stop = Arc::new(AtomicBool::new(false));
        (RunWaiter { answer: send, stop: stop.clone() }, WaitedRun { answer: receive, stop })
    }

    /// Tells what came of it.
    pub(crate) fn tell(self, answer: RunAnswer) {
        // Who has gone wants nothing.
        let _ = self.answer.send(answer);
    }
}

impl Future for WaitedRun {
    type Output = RunAnswer;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<RunAnswer> {
        let dropped = || RunAnswer { state: "cancelled", ..RunAnswer::default() };
        Pin::new(&mut self.answer).poll(context).map(|answer| answer.unwrap_or_else(|_| dropped()))
    }
}

impl Drop for WaitedRun {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
