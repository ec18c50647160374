//! Runs of kernels, for the command line and for editors: which recipe, which backend, and what came of it.

mod compile;
pub(crate) mod discover;
mod elaborated;
mod execute;
mod merge;
mod names;
pub(crate) mod outputs;
mod plan;
pub(crate) mod recipes;
#[cfg(test)]
mod tests;
pub(crate) mod verdict_comparison;

pub(crate) use execute::run_plan;
pub(crate) use plan::{BackendChoice, LaunchRun, RunPlan, RunResults, RunStatus};
