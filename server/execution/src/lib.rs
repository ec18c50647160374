//! Runs of kernels, for the command line and for editors: which recipe, which backend, and what came of it.

mod compile;
pub mod compiled_comparison;
mod compiled_ir;
pub mod discover;
mod elaborated;
mod execute;
mod limits;
mod merge;
mod names;
pub mod outputs;
mod plan;
pub mod recipe_check;
pub mod recipes;
#[cfg(test)]
mod tests;
pub mod verdict_comparison;

pub use compiled_ir::PythonKernels;
pub use execute::run_plan;
pub use limits::LIMITS;
pub use plan::{BackendChoice, LaunchRun, RunPlan, RunResults, RunStatus};
