//! Findings: violations in words, with their places and the run that leads there.
//!
//! [`describe()`] is the cold path: the machine detects mutely, and what is said about it is found
//! out by repeating the run.

mod cause;
mod code;
mod deadlock;
mod describe;
mod description;
mod extent;
mod finding;
mod global;
mod inputs;
mod kind;
mod lifecycle;
mod limits;
mod minimal;
mod order;
mod other_runs;
mod packed;
mod paths;
mod phases;
mod proof;
mod race;
mod replay;
mod steps;
mod uninitialised;
mod words;

pub use code::PrintedCode;
pub use describe::{describe, describe_places, describe_quickly, describe_violation};
pub use finding::{
    Edit, Finding, Fix, GlobalMemoryReport, KernelReport, Note, Pin, RunStep, Suppressed, SuppressedBy, TextProblem,
    Verdict, Witness,
};
pub use global::{GRID, add_global};
pub use inputs::inputs;
pub use kind::{Kind, Severity};
pub use limits::LIMITS;
pub use minimal::{Goal, MinimalRun, minimal, reach, same};
pub use order::MissingOrder;
pub use phases::{PhaseFormula, explain_phases};
pub use proof::{ClosedLoop, Proof, ProofReason, explain};
pub use replay::{ReplayedRun, machine, replay};
pub use steps::ListedStep;
pub use words::{Words, buffer_of};
