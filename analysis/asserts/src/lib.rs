//! What a sanitizer says on a device, and which op it says it of.
//!
//! [`Message`] is the text of an assert as a value: Triton's concurrency sanitizer in every release that has one, its
//! global-memory sanitizer, and whatever else a kernel asserts. [`Log`] reads the asserts of a log, [`locate`] finds
//! the ops that one may be about, [`bring_home`] makes findings of them in the text that is open, with the run of the
//! static finding where there is one, and [`disagreements`] says where the two differ.

mod agree;
mod home;
mod line;
mod locate;
mod message;
mod paths;

pub use agree::{agrees, classes, disagreements, predicts};
pub use home::{Home, Ir, Target, bring_home, python_name, stuck, to_python};
pub use line::{Assert, Counted, Log, read_line};
pub use locate::{At, Place, locate, same_file};
pub use message::{Class, DeadlockAt, Message, Overflow, PendingKind, Race};
pub use paths::{PathMap, python_range};
