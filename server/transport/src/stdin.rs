//! Stdin that ends the process when it is closed.
//!
//! tower-lsp finishes the requests it has taken before it returns. When the client is gone these
//! answers go nowhere, so they get a moment and no more.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, ReadBuf};

/// How long answers may take after stdin is closed.
const GRACE: Duration = Duration::from_millis(500);

/// A reader that ends the process soon after its own end.
pub(crate) struct ExitAtEnd<R> {
    inner: R,
    orderly: Arc<AtomicBool>,
    ended: bool,
}

impl<R> ExitAtEnd<R> {
    /// Reads from `inner`; the exit code is 0 if `orderly` is set by then.
    pub(crate) fn new(inner: R, orderly: Arc<AtomicBool>) -> ExitAtEnd<R> {
        ExitAtEnd { inner, orderly, ended: false }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for ExitAtEnd<R> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let poll = Pin::new(&mut self.inner).poll_read(context, buf);
        let at_end = match &poll {
            Poll::Ready(Ok(())) => buf.filled().len() == before && buf.capacity() > before,
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        };
        if at_end && !self.ended {
            self.ended = true;
            let orderly = self.orderly.clone();
            tokio::spawn(async move {
                tokio::time::sleep(GRACE).await;
                std::process::exit(if orderly.load(Ordering::SeqCst) { 0 } else { 1 })
            });
        }
        poll
    }
}
