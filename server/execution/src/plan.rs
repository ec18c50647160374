//! What is to be run, on what, and what came of it.

use std::path::PathBuf;
use std::sync::Arc;

use findings::KernelReport;
use runtime::launch::LaunchSpec;
use runtime::run::{Instrument, RunEnd, RunLimits, RunReport};

/// Launches to be run, all of them on one backend.
#[derive(Clone, Debug)]
pub struct RunPlan {
    /// The file, as the user named it.
    pub path: PathBuf,
    /// Its text.
    pub text: Arc<str>,
    /// The launches, run one after the other.
    pub launches: Vec<LaunchSpec>,
    /// The sanitizer that watches.
    pub instrument: Instrument,
    /// What each run may use up.
    pub bounds: RunLimits,
    /// Seed of the inputs and of the first schedule.
    pub seed: u64,
    /// Schedules of each launch, on the same inputs.
    pub seeds: u32,
}

/// One launch that was run.
#[derive(Clone, Debug)]
pub struct LaunchRun {
    /// How it was launched.
    pub launch: LaunchSpec,
    /// The seed of its schedule.
    pub seed: u64,
    /// What came of it.
    pub report: RunReport,
}

/// What came of a plan.
#[derive(Clone, Debug, Default)]
pub struct RunResults {
    /// The runs, in order.
    pub runs: Vec<LaunchRun>,
    /// What was said of each kernel in any of them.
    pub kernels: Vec<KernelReport>,
    /// Where schedules of one launch left other outputs than the first of them: the sign of a race.
    pub differ: Vec<String>,
}

/// How a plan ended, the worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum RunStatus {
    /// A run was cancelled.
    Cancelled,
    /// A run failed for a reason that is no assert.
    Failed,
    /// A run did not end in its time.
    Hung,
    /// An assert of a sanitizer or of the kernel failed.
    Asserted,
    /// It ran, and nothing follows from it.
    Undecided,
    /// All is well.
    Passed,
}

impl RunStatus {
    /// Its name in JSON and in sentences.
    pub fn name(self) -> &'static str {
        match self {
            RunStatus::Cancelled => "cancelled",
            RunStatus::Failed => "failed",
            RunStatus::Hung => "hung",
            RunStatus::Asserted => "asserted",
            RunStatus::Undecided => "undecided",
            RunStatus::Passed => "passed",
        }
    }

    /// The status of one run.
    pub fn new(report: &RunReport) -> RunStatus {
        let found = report.kernels.iter().any(|kernel| !kernel.findings.is_empty()) || !report.elsewhere.is_empty();
        match &report.end {
            RunEnd::Cancelled => RunStatus::Cancelled,
            RunEnd::Failed(_) => RunStatus::Failed,
            RunEnd::Hung(_) => RunStatus::Hung,
            RunEnd::Asserted => RunStatus::Asserted,
            RunEnd::Undecided(_) if !found => RunStatus::Undecided,
            RunEnd::Passed if !found => RunStatus::Passed,
            RunEnd::Undecided(_) | RunEnd::Passed => RunStatus::Asserted,
        }
    }
}

impl LaunchRun {
    /// Whether it came to its end, so that what it left behind is what the kernel makes.
    pub fn is_whole(&self) -> bool {
        matches!(self.report.end, RunEnd::Passed | RunEnd::Asserted)
    }
}

impl RunResults {
    /// The worst of its runs.
    pub fn status(&self) -> RunStatus {
        self.runs.iter().map(|ran| RunStatus::new(&ran.report)).min().unwrap_or(RunStatus::Passed)
    }
}

/// The backend that executes a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackendChoice {
    /// Fencepost; of Python files the TTGIR is made by a Python's Triton, or without one what they are elaborated to.
    Cpu {
        /// The Python that has Triton.
        python: Option<PathBuf>,
    },
    /// The user's Triton and GPU.
    Triton {
        /// The Python that has it.
        python: PathBuf,
        /// Prefixes of paths of another machine, and where they lie here.
        maps: Vec<(String, String)>,
    },
    /// Nothing is run: a log of an earlier run is read.
    Replay {
        /// The log.
        log: PathBuf,
        /// Prefixes of paths of another machine, and where they lie here.
        maps: Vec<(String, String)>,
    },
}
