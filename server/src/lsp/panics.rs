//! Panics of one piece of work, so that they end neither the server nor its state thread.

use std::any::Any;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{LazyLock, Mutex, PoisonError};

use transport::ClientSender;

/// Runs `work`; a panic becomes a message to the user and `Err` with its text.
pub(crate) fn catch_panic<R>(what: &str, sender: &ClientSender, work: impl FnOnce() -> R) -> Result<R, String> {
    let work = || {
        inject(what);
        work()
    };
    caught(work).map_err(|panic| {
        let text = format!("{what} failed: {panic}");
        tracing::error!("{text}");
        sender.show_error(format!("fencepost: {text}. This is a bug in fencepost, please report it."));
        text
    })
}

/// What is to panic in a test, as `FENCEPOST_TEST_PANIC` names it: `hover,the state: change`, or `*` for all work that
/// is not the state thread's.
static WANTED: LazyLock<Vec<String>> = LazyLock::new(|| {
    let text = std::env::var("FENCEPOST_TEST_PANIC").unwrap_or_default();
    text.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
});

/// What has panicked for a test.
static DONE: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Panics once a piece of work, where a test wants that.
pub(crate) fn inject(what: &str) {
    if WANTED.is_empty() {
        return;
    }
    let wanted = |name: &String| name == what || (name == "*" && !what.starts_with("the state: "));
    if WANTED.iter().any(wanted) && DONE.lock().unwrap_or_else(PoisonError::into_inner).insert(what.to_owned()) {
        std::panic::panic_any(format!("a test wants {what} to panic"));
    }
}

/// Runs `work`; a panic becomes its text.
fn caught<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| message(panic.as_ref()).to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_value_with_its_text() {
        assert_eq!(caught(|| 1), Ok(1));
        assert_eq!(caught(|| -> u8 { panic!("plain") }), Err("plain".to_owned()));
        let number = 3;
        assert_eq!(caught(|| -> u8 { panic!("made of {number}") }), Err("made of 3".to_owned()));
        assert_eq!(caught(|| -> u8 { std::panic::panic_any(7) }), Err("unknown panic".to_owned()));
    }
}
