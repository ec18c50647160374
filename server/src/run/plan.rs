//! What is to be run, on what, and what came of it.

use std::path::PathBuf;
use std::sync::Arc;

use findings::KernelReport;
use runtime::launch::Launch;
use runtime::run::{Instrument, RunEnd, RunLimits, RunReport};

/// Launches to be run, all of them on one backend.
#[derive(Clone, Debug)]
pub(crate) struct RunPlan {
    /// The file, as the user named it.
    pub(crate) path: PathBuf,
    /// Its text.
    pub(crate) text: Arc<str>,
    /// The launches, run one after the other.
    pub(crate) launches: Vec<Launch>,
    /// The sanitizer that watches.
    pub(crate) instrument: Instrument,
    /// What each run may use up.
    pub(crate) bounds: RunLimits,
    /// Seed of the inputs and of the first schedule.
    pub(crate) seed: u64,
    /// Schedules of each launch, on the same inputs.
    pub(crate) seeds: u32,
}

/// One launch that was run.
#[derive(Clone, Debug)]
pub(crate) struct LaunchRun {
    /// How it was launched.
    pub(crate) launch: Launch,
    /// The seed of its schedule.
    pub(crate) seed: u64,
    /// What came of it.
    pub(crate) report: RunReport,
}

/// What came of a plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunResults {
    /// The runs, in order.
    pub(crate) runs: Vec<LaunchRun>,
    /// What was said of each kernel in any of them.
    pub(crate) kernels: Vec<KernelReport>,
    /// Where schedules of one launch left other outputs than the first of them: the sign of a race.
    pub(crate) differ: Vec<String>,
}

/// How a plan ended, the worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum RunStatus {
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
    pub(crate) fn name(self) -> &'static str {
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
    pub(crate) fn new(report: &RunReport) -> RunStatus {
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

impl RunResults {
    /// The worst of its runs.
    pub(crate) fn status(&self) -> RunStatus {
        self.runs.iter().map(|ran| RunStatus::new(&ran.report)).min().unwrap_or(RunStatus::Passed)
    }
}

/// The backend that executes a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BackendChoice {
    /// Fencepost; of Python files this Python's Triton makes the TTGIR. Without one it is what they are elaborated to.
    Cpu { python: Option<PathBuf> },
    /// The Triton and the GPU of this Python; where paths of another machine lie here.
    Triton { python: PathBuf, maps: Vec<(String, String)> },
    /// Nothing is run: a log of an earlier run is read.
    Replay { log: PathBuf, maps: Vec<(String, String)> },
}
