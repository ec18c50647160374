//! Findings: violations in words, with their places and the run that leads there.

mod finding;
mod kind;

pub use finding::{Edit, Finding, Fix, KernelReport, Note, RunStep, Severity, Verdict};
pub use kind::Kind;
