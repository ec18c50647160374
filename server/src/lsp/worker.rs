//! Work off the state thread, with panics caught and said.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::outbox::Outbox;

/// Runs `work`; a panic becomes a message to the user and `Err` with its text.
pub fn guard<R>(what: &str, outbox: &Outbox, work: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = format!("{what} failed: {}", message(panic.as_ref()));
        tracing::error!("{text}");
        outbox.show_error(format!("fencepost: {text}. This is a bug in fencepost, please report it."));
        text
    })
}

fn message(panic: &(dyn Any + Send)) -> &str {
    if let Some(text) = panic.downcast_ref::<&str>() {
        text
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text
    } else {
        "unknown panic"
    }
}
