//! Runs of kernels, for the command line and for editors: which recipe, which backend, and what came of it.

pub(crate) mod compile;
pub(crate) mod discover;
pub(crate) mod merge;
pub(crate) mod outputs;
pub(crate) mod recipes;
pub(crate) mod verdict_comparison;

use std::path::PathBuf;
use std::sync::Arc;

use asserts::{PathMap, TargetText, move_to_python};
use base::{Cancel, Limits};
use engine::Engine;
use engine::instances::Elaboration;
use engine::is_python;
use findings::KernelReport;
use runtime::cpu::Cpu;
use runtime::launch::Launch;
use runtime::replay::Replay;
use runtime::run::{
    Instrument, KernelChecker, RunBackend, RunEnd, RunError, RunEvent, RunLimits, RunReport, RunRequest,
};
use runtime::triton::Triton;

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
    /// Fencepost; of Python files this Python's Triton makes the TTGIR.
    Cpu { python: PathBuf },
    /// The Triton and the GPU of this Python; where paths of another machine lie here.
    Triton { python: PathBuf, maps: Vec<(String, String)> },
    /// Nothing is run: a log of an earlier run is read.
    Replay { log: PathBuf, maps: Vec<(String, String)> },
}

/// Executes a plan on a backend.
///
/// # Errors
///
/// Where it could not be run at all.
pub(crate) fn run_plan(
    backend: &BackendChoice,
    plan: &RunPlan,
    elaboration: Option<&Elaboration>,
    on_event: &mut dyn FnMut(RunEvent),
    cancel: &Cancel<'_>,
) -> Result<RunResults, RunError> {
    let python = is_python(&plan.path.to_string_lossy());
    match backend {
        BackendChoice::Cpu { python: interpreter } => {
            let mut compiled = |launch: &Launch| match python {
                true => compile::compile(interpreter, &plan.path, elaboration, launch, cancel).map(Some),
                false => Ok(None),
            };
            execute(plan, &mut CpuBackend(Cpu::default()), &mut compiled, on_event, cancel)
        }
        BackendChoice::Triton { python, maps } => {
            let mut triton = Triton { python: python.clone(), paths: PathMap::new(maps.clone()), check: checker() };
            execute(plan, &mut triton, &mut |_| Ok(None), on_event, cancel)
        }
        BackendChoice::Replay { log, maps } => {
            let mut replay = Replay { log: log.clone(), paths: PathMap::new(maps.clone()), check: checker() };
            execute(plan, &mut replay, &mut |_| Ok(None), on_event, cancel)
        }
    }
}

/// The analysis with its default limits.
fn checker() -> KernelChecker {
    let mut engine = Engine::new(Limits::default());
    Box::new(move |lowered, cancel| engine.check_kernel(lowered, cancel))
}

/// The CPU backend executes TTGIR: what it says of a kernel in Python is moved there.
struct CpuBackend(Cpu);

impl RunBackend for CpuBackend {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn run(
        &mut self,
        request: &RunRequest,
        on_event: &mut dyn FnMut(RunEvent),
        cancel: &Cancel<'_>,
    ) -> Result<RunReport, RunError> {
        let mut report = self.0.run(request, on_event, cancel)?;
        let Some(ir) = &request.compiled else { return Ok(report) };
        let path = request.path.to_string_lossy();
        let target = TargetText { path: &path, text: &request.text, python: true };
        let (kernels, elsewhere) = move_to_python(&report.kernels, ir, target, &PathMap::default());
        report.kernels = kernels;
        report.elsewhere.extend(elsewhere);
        Ok(report)
    }
}

/// Gives the TTGIR of a launch of a Python file, where a backend needs it.
pub(crate) type CompileLaunch<'a> = dyn FnMut(&Launch) -> Result<Option<Arc<str>>, RunError> + 'a;

/// Executes a plan. `compiled` gives the TTGIR of a launch of a Python file, for backends that need it.
///
/// # Errors
///
/// Where a launch could not be run at all.
pub(crate) fn execute(
    plan: &RunPlan,
    backend: &mut dyn RunBackend,
    compiled: &mut CompileLaunch<'_>,
    on_event: &mut dyn FnMut(RunEvent),
    cancel: &Cancel<'_>,
) -> Result<RunResults, RunError> {
    let mut results = RunResults::default();
    let whole = (plan.launches.len() as u32 * plan.seeds.max(1)).max(1) as f32;
    for launch in &plan.launches {
        let compiled = compiled(launch)?;
        let first = results.runs.len();
        for step in 0..plan.seeds.max(1) {
            let done = results.runs.len() as f32;
            let mut forward = |event: RunEvent| match event {
                RunEvent::Progress(part) => on_event(RunEvent::Progress((done + part.clamp(0.0, 1.0)) / whole)),
                stage => on_event(stage),
            };
            let seed = plan.seed.wrapping_add(u64::from(step));
            let request = RunRequest {
                path: plan.path.clone(),
                text: plan.text.clone(),
                compiled: compiled.clone(),
                launch: launch.clone(),
                instrument: plan.instrument,
                bounds: plan.bounds.clone(),
                inputs: plan.seed,
                seed,
            };
            let report = backend.run(&request, &mut forward, cancel)?;
            let stop = matches!(report.end, RunEnd::Cancelled);
            merge::merge(&mut results.kernels, &report.kernels);
            results.runs.push(LaunchRun { launch: launch.clone(), seed, report });
            if stop {
                return Ok(results);
            }
        }
        let of_launch = results.runs.get(first..).unwrap_or(&[]);
        results.differ.extend(outputs::schedule_differences(of_launch));
    }
    Ok(results)
}

#[cfg(test)]
mod tests;
