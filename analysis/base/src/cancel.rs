//! Cooperative cancellation without threads or clocks: the caller says when to stop.

use std::fmt;

/// Asked now and then by long work; made from whatever the caller uses to stop it.
pub struct Cancel<'a> {
    stop: Option<&'a (dyn Fn() -> bool + Sync + 'a)>,
}

impl<'a> Cancel<'a> {
    /// A `Cancel` that never asks to stop.
    pub fn never() -> Cancel<'static> {
        Cancel { stop: None }
    }

    /// Stops as soon as `stop` answers true.
    pub fn when(stop: &'a (dyn Fn() -> bool + Sync + 'a)) -> Cancel<'a> {
        Cancel { stop: Some(stop) }
    }

    /// Whether to stop now.
    pub fn is_cancelled(&self) -> bool {
        self.stop.is_some_and(|stop| stop())
    }

    /// [`is_cancelled`](Self::is_cancelled) for `?`.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }
}

impl fmt::Debug for Cancel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancel").field("cancellable", &self.stop.is_some()).finish()
    }
}

/// The caller no longer wants the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;
