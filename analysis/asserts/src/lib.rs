//! What a sanitizer says on a device, and which op it says it of.
//!
//! [`AssertMessage`] is the text of an assert as a value: Triton's concurrency sanitizer in every release that has one, its
//! global-memory sanitizer, and whatever else a kernel asserts. [`AssertLog`] reads the asserts of a log, [`locate`] finds
//! the ops that one may be about, [`attribute`] makes findings of them in the text that is open, with the run of the
//! static finding where there is one, and [`disagreements`] says where the two differ.

mod agree;
mod attribute;
mod limits;
mod line;
mod locate;
mod message;
mod paths;
mod python_names;
mod violation;

pub use agree::{agrees, classes, disagreements, predicts};
pub use attribute::{
    Attributed, CompiledIr, KernelCheck, attribute, endless_waits, function_name_range, move_to_python,
};
pub use limits::LIMITS;
pub use line::{Assert, AssertLog, CountedAssert, read_line};
pub use locate::{AssertLocation, CandidateOp, locate, same_file};
pub use message::{AssertClass, AssertMessage, AssertedRace, DeadlockAt, Overflow, PendingKind};
pub use paths::{PathMap, TargetText, python_range};
pub use python_names::PythonNames;
pub use violation::{run_finding, violation_finding};
