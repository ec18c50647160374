//! Runs of kernels, for the command line and for editors: which recipe, which backend, and what came of it.

pub mod beside;
pub mod compiled;
pub mod differ;
pub mod discover;
pub mod merge;
pub mod recipes;

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

/// What is to be run, all of it on one backend.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The file, as the user named it.
    pub path: PathBuf,
    /// Its text.
    pub text: Arc<str>,
    /// How; one after the other.
    pub launches: Vec<Launch>,
    /// Who watches.
    pub instrument: Instrument,
    /// What each run may use up.
    pub bounds: RunLimits,
    /// Seed of the inputs and of the first schedule.
    pub seed: u64,
    /// Schedules of each launch, on the same inputs.
    pub seeds: u32,
}

/// One run.
#[derive(Clone, Debug)]
pub struct Ran {
    /// How it was launched.
    pub launch: Launch,
    /// With which schedule.
    pub seed: u64,
    /// What came of it.
    pub report: RunReport,
}

/// What came of a plan.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// The runs, in order.
    pub runs: Vec<Ran>,
    /// What was said of each kernel in any of them.
    pub kernels: Vec<KernelReport>,
    /// Where schedules of one launch left other outputs than the first of them: the sign of a race.
    pub differ: Vec<String>,
}

/// How a plan ended, the worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Ending {
    /// A run was cancelled.
    Cancelled,
    /// A run failed for a reason that is no assert.
    Failed,
    /// A run did not end in its time.
    Hung,
    /// Somebody asserted.
    Asserted,
    /// It ran, and nothing follows from it.
    Undecided,
    /// All is well.
    Passed,
}

impl Ending {
    /// One word.
    pub fn name(self) -> &'static str {
        match self {
            Ending::Cancelled => "cancelled",
            Ending::Failed => "failed",
            Ending::Hung => "hung",
            Ending::Asserted => "asserted",
            Ending::Undecided => "undecided",
            Ending::Passed => "passed",
        }
    }

    /// Of one run.
    pub fn of(report: &RunReport) -> Ending {
        let found = report.kernels.iter().any(|kernel| !kernel.findings.is_empty()) || !report.elsewhere.is_empty();
        match &report.end {
            RunEnd::Cancelled => Ending::Cancelled,
            RunEnd::Failed(_) => Ending::Failed,
            RunEnd::Hung(_) => Ending::Hung,
            RunEnd::Asserted => Ending::Asserted,
            RunEnd::Undecided(_) if !found => Ending::Undecided,
            RunEnd::Passed if !found => Ending::Passed,
            RunEnd::Undecided(_) | RunEnd::Passed => Ending::Asserted,
        }
    }
}

impl Results {
    /// The worst of its runs.
    pub fn ending(&self) -> Ending {
        self.runs.iter().map(|ran| Ending::of(&ran.report)).min().unwrap_or(Ending::Passed)
    }
}

/// What executes a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// Fencepost; of Python files this Python's Triton makes the TTGIR.
    Cpu { python: PathBuf },
    /// The Triton and the GPU of this Python; where paths of another machine lie here.
    Triton { python: PathBuf, maps: Vec<(String, String)> },
    /// A log.
    Replay { log: PathBuf, maps: Vec<(String, String)> },
}

/// Executes a plan on a backend.
///
/// # Errors
///
/// Where it could not be run at all.
pub fn on(
    which: &Which,
    plan: &Plan,
    elaboration: Option<&Elaboration>,
    say: &mut dyn FnMut(RunEvent),
    cancel: &Cancel<'_>,
) -> Result<Results, RunError> {
    let python = is_python(&plan.path.to_string_lossy());
    match which {
        Which::Cpu { python: interpreter } => {
            let mut compiled = |launch: &Launch| match python {
                true => compiled::compile(interpreter, &plan.path, elaboration, launch, cancel).map(Some),
                false => Ok(None),
            };
            execute(plan, &mut AtHome(Cpu::default()), &mut compiled, say, cancel)
        }
        Which::Triton { python, maps } => {
            let mut triton = Triton { python: python.clone(), paths: PathMap::new(maps.clone()), check: checker() };
            execute(plan, &mut triton, &mut |_| Ok(None), say, cancel)
        }
        Which::Replay { log, maps } => {
            let mut replay = Replay { log: log.clone(), paths: PathMap::new(maps.clone()), check: checker() };
            execute(plan, &mut replay, &mut |_| Ok(None), say, cancel)
        }
    }
}

/// The analysis with its default limits.
fn checker() -> KernelChecker {
    let mut engine = Engine::new(Limits::default());
    Box::new(move |lowered, cancel| engine.check_kernel(lowered, cancel))
}

/// The CPU backend executes TTGIR: what it says of a kernel in Python is moved there.
struct AtHome(Cpu);

impl RunBackend for AtHome {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn run(
        &mut self,
        request: &RunRequest,
        say: &mut dyn FnMut(RunEvent),
        cancel: &Cancel<'_>,
    ) -> Result<RunReport, RunError> {
        let mut report = self.0.run(request, say, cancel)?;
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
pub type Compile<'a> = dyn FnMut(&Launch) -> Result<Option<Arc<str>>, RunError> + 'a;

/// Executes a plan. `compiled` gives the TTGIR of a launch of a Python file, for backends that need it.
///
/// # Errors
///
/// Where a launch could not be run at all.
pub fn execute(
    plan: &Plan,
    backend: &mut dyn RunBackend,
    compiled: &mut Compile<'_>,
    say: &mut dyn FnMut(RunEvent),
    cancel: &Cancel<'_>,
) -> Result<Results, RunError> {
    let mut results = Results::default();
    let whole = (plan.launches.len() as u32 * plan.seeds.max(1)).max(1) as f32;
    for launch in &plan.launches {
        let compiled = compiled(launch)?;
        let first = results.runs.len();
        for step in 0..plan.seeds.max(1) {
            let done = results.runs.len() as f32;
            let mut say = |event: RunEvent| match event {
                RunEvent::Progress(part) => say(RunEvent::Progress((done + part.clamp(0.0, 1.0)) / whole)),
                stage => say(stage),
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
            let report = backend.run(&request, &mut say, cancel)?;
            let stop = matches!(report.end, RunEnd::Cancelled);
            merge::merge(&mut results.kernels, &report.kernels);
            results.runs.push(Ran { launch: launch.clone(), seed, report });
            if stop {
                return Ok(results);
            }
        }
        let of_launch = results.runs.get(first..).unwrap_or(&[]);
        results.differ.extend(differ::between(of_launch));
    }
    Ok(results)
}

#[cfg(test)]
mod tests;
