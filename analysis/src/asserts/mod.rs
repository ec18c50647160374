//! What a sanitizer says on a device, and which op it says it of.
//!
//! [`Message`] is the text of an assert as a value: Triton's concurrency sanitizer in every release that has
//! one, its global-memory sanitizer, and whatever else a kernel asserts. [`Log`] reads the asserts of a log.

mod line;
mod locate;
mod message;

pub use line::{Assert, Counted, Log, read_line};
pub use locate::{At, Place, locate, same_file};
pub use message::{Class, DeadlockAt, Message, Overflow, PendingKind, Race};
