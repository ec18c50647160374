//! Findings: violations in words, with their places and the run that leads there.
//!
//! [`describe()`] is the cold path: the machine detects mutely, and what is said about it is found
//! out by repeating the run.

mod cadence;
mod deadlock;
mod describe;
mod extent;
mod finding;
mod kind;
mod lifecycle;
mod minimal;
mod packed;
mod paths;
mod proof;
mod race;
mod replay;
mod told;
mod uninitialised;
mod words;

pub use cadence::{Form, blame_phases};
pub use describe::{describe, inputs, tell};
pub use finding::{Edit, Finding, Fix, KernelReport, Note, Problem, RunStep, Severity, Trail, Verdict};
pub use kind::Kind;
pub use minimal::{Goal, Shown, minimal, reach, same};
pub use proof::{ClosedLoop, Proof, Reason, explain};
pub use replay::{Replay, machine, replay};
pub use told::Stop;
pub use words::{Words, buffer_of};
