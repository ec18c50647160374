//! Executes the launches of a plan.

use std::sync::Arc;

use asserts::{PathMap, PythonNames, TargetText, move_to_python};
use base::{Cancel, Limits};
use engine::{Engine, is_python};
use runtime::cpu::Cpu;
use runtime::launch::LaunchSpec;
use runtime::replay::Replay;
use runtime::run::{KernelChecker, RunBackend, RunEnd, RunError, RunEvent, RunReport, RunRequest};
use runtime::triton::Triton;

use super::compiled_ir::PythonKernels;
use super::plan::{BackendChoice, LaunchRun, RunPlan, RunResults};
use super::{compile, merge, names, outputs};

/// Executes a plan on a backend.
///
/// # Errors
///
/// Where it could not be run at all.
pub fn run_plan(
    backend: &BackendChoice,
    plan: &RunPlan,
    kernels: PythonKernels<'_>,
    on_event: &mut dyn FnMut(RunEvent),
    cancel: &Cancel<'_>,
) -> Result<RunResults, RunError> {
    let python = is_python(&plan.path.to_string_lossy());
    let results = run_on(backend, plan, kernels, python, on_event, cancel);
    results.map(|mut results| {
        if let Some(elaboration) = kernels.elaboration.filter(|_| python) {
            names::in_python(&mut results.kernels, elaboration);
            for run in &mut results.runs {
                names::in_python(&mut run.report.kernels, elaboration);
                names::of_reasons(&mut run.report, run.launch.kernel.as_deref(), elaboration);
            }
        }
        results
    })
}

fn run_on(
    backend: &BackendChoice,
    plan: &RunPlan,
    kernels: PythonKernels<'_>,
    python: bool,
    on_event: &mut dyn FnMut(RunEvent),
    cancel: &Cancel<'_>,
) -> Result<RunResults, RunError> {
    match backend {
        BackendChoice::Cpu { python: interpreter } => {
            let mut notes = Vec::new();
            let mut compiled = |launch: &LaunchSpec| {
                if !python {
                    return Ok(None);
                }
                let file = (plan.path.as_path(), &*plan.text);
                let compiled = compile::compile(interpreter.as_deref(), file, kernels, launch, cancel)?;
                notes.extend(compiled.notes().into_iter().map(|note| (launch.clone(), note)));
                Ok(Some(compiled.ir))
            };
            let mut results = execute(plan, &mut CpuBackend(Cpu::default()), &mut compiled, on_event, cancel)?;
            for ran in &mut results.runs {
                let own = notes.iter().filter(|(launch, _)| *launch == ran.launch);
                ran.report.notes.extend(own.map(|(_, note)| note.clone()));
            }
            Ok(results)
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
        let map = PathMap::default();
        let (kernels, elsewhere) = move_to_python(&report.kernels, ir, target, &map);
        report.kernels = kernels;
        report.elsewhere.extend(elsewhere);
        if let RunEnd::Hung(why) | RunEnd::Undecided(why) = &mut report.end {
            let names = PythonNames::of_text(ir, target, &map);
            why.iter_mut().for_each(|said| *said = names.say(said));
        }
        Ok(report)
    }
}

/// Gives the TTGIR of a launch of a Python file, where a backend needs it.
pub(crate) type CompileLaunch<'a> = dyn FnMut(&LaunchSpec) -> Result<Option<Arc<str>>, RunError> + 'a;

/// Executes a plan. `compiled` gives the TTGIR of a launch of a Python file, for backends that need it. A launch of several
/// that cannot be run is one that failed, and the others are run.
///
/// # Errors
///
/// Where no launch could be run, all for one reason.
pub(crate) fn execute(
    plan: &RunPlan,
    backend: &mut dyn RunBackend,
    compiled: &mut CompileLaunch<'_>,
    on_event: &mut dyn FnMut(RunEvent),
    cancel: &Cancel<'_>,
) -> Result<RunResults, RunError> {
    let mut results = RunResults::default();
    // Why launches could not be run.
    let mut refused = Vec::new();
    let whole = (plan.launches.len() as u32 * plan.seeds.max(1)).max(1) as f32;
    for launch in &plan.launches {
        let first = results.runs.len();
        let compiled = match compiled(launch) {
            Ok(compiled) => compiled,
            Err(error) => {
                results.runs.push(failed(plan, launch, backend.name(), &error, cancel)?);
                refused.push(error);
                continue;
            }
        };
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
            let report = match backend.run(&request, &mut forward, cancel) {
                Ok(report) => report,
                Err(error) => {
                    results.runs.push(failed(plan, launch, backend.name(), &error, cancel)?);
                    refused.push(error);
                    break;
                }
            };
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
    match refused.split_first() {
        Some((first, others)) if refused.len() == results.runs.len() && others.iter().all(|why| why == first) => {
            Err(first.clone())
        }
        _ => Ok(results),
    }
}

/// A launch that could not be run.
///
/// # Errors
///
/// Where it is the only one of its plan, or nobody waits for the others any more.
fn failed(
    plan: &RunPlan,
    launch: &LaunchSpec,
    backend: &'static str,
    error: &RunError,
    cancel: &Cancel<'_>,
) -> Result<LaunchRun, RunError> {
    if plan.launches.len() <= 1 || cancel.check().is_err() {
        return Err(error.clone());
    }
    let report = RunReport::new(backend, plan.instrument, RunEnd::Failed(error.0.clone()));
    Ok(LaunchRun { launch: launch.clone(), seed: plan.seed, report })
}
