//! Runs of kernels by the user's own Triton, on the user's own card.
//!
//! One process a run (`runtime/src/triton/driver.py`), since an assert leaves the device context dead. A TTGIR file is
//! compiled without its locations, so that an assert names the line of its op; Python code is compiled with
//! `USE_IR_LOC=ttgir`, which does the same for the IR in Triton's cache. Whether the sanitizer took effect is read
//! off what was compiled, since a variable that is spelt wrong is silently ignored.

mod artefacts;
mod events;
mod job;
mod parameters;
mod strip;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use asserts::{CompiledIr, PathMap, TargetText, attribute, endless_waits};
use base::Cancel;

pub use strip::without_locations;

use self::artefacts::CompiledKernel;
use self::events::DriverState;
use self::job::{PreparedJob, prepare};
use crate::process::{ChildCommand, ChildOutcome, ExitCause, RunFolder, allowed, run};
use crate::run::{Instrument, KernelChecker, RunBackend, RunEnd, RunError, RunEvent, RunReport, RunRequest};

const DRIVER: &str = include_str!("driver.py");

/// The user's Triton.
pub struct Triton {
    /// The Python that has it.
    pub python: PathBuf,
    /// Paths of other machines.
    pub paths: PathMap,
    /// The analysis of the kernels that ran.
    pub check: KernelChecker,
}

impl Triton {
    /// The Triton of a Python.
    pub fn new(python: impl Into<PathBuf>, check: KernelChecker) -> Triton {
        Triton { python: python.into(), paths: PathMap::default(), check }
    }
}

impl RunBackend for Triton {
    fn name(&self) -> &'static str {
        "triton"
    }

    fn run(
        &mut self,
        request: &RunRequest,
        progress: &mut dyn FnMut(RunEvent),
        cancel: &Cancel<'_>,
    ) -> Result<RunReport, RunError> {
        let folder = RunFolder::new().map_err(|why| {
            RunError(format!("no folder for temporary files: {why}; TMPDIR says where they go, and needs space there"))
        })?;
        let python = request.is_python();
        let prepared = prepare(request, python, folder.path(), cancel)?;
        let driver = folder.path().join("driver.py");
        fs::write(&driver, DRIVER).map_err(|why| RunError(format!("{} cannot be written: {why}", driver.display())))?;
        let mut state = DriverState::default();
        let mut line = |text: &str| {
            if let Some(stage) = state.line(text) {
                progress(RunEvent::Stage(stage));
            }
        };
        let job = self.job(request, &driver, folder.path());
        let outcome = run(&job, &mut line, cancel).map_err(|why| {
            let python = self.python.display();
            RunError(format!("`{python}` cannot be started: {why}; `--python` says which Python has Triton"))
        })?;
        self.check_started(&state, &outcome)?;
        let artefacts = artefacts::list(&folder.path().join("cache"), request.instrument);
        self.report(request, &prepared, state, &outcome, &artefacts, cancel, folder.path())
    }
}

impl Triton {
    fn job<'a>(&'a self, request: &RunRequest, driver: &Path, folder: &Path) -> ChildCommand<'a> {
        let mut environment = allowed(std::env::vars_os());
        let instrument = if request.instrument == Instrument::Plain { "" } else { request.instrument.name() };
        let consan = if request.instrument == Instrument::ConSan { "1" } else { "0" };
        let mut set = |name: &str, value: OsString| {
            environment.retain(|(known, _)| known != name);
            environment.push((name.into(), value));
        };
        set("TRITON_INSTRUMENTATION_MODE", instrument.into());
        set("TRITON_ENABLE_EXPERIMENTAL_CONSAN", consan.into());
        if request.instrument == Instrument::GSan {
            set("TRITON_GSAN_SEED", request.seed.to_string().into());
            if let Some(ring) = request.bounds.gsan.clock_ring {
                set("TRITON_GSAN_CLOCK_BUFFER_SIZE", ring.to_string().into());
            }
        }
        set("TRITON_CACHE_DIR", folder.join("cache").into());
        set("TRITON_DISABLE_LINE_INFO", "0".into());
        set("CUDA_LAUNCH_BLOCKING", "1".into());
        set("PYTHONUNBUFFERED", "1".into());
        set("TMPDIR", folder.as_os_str().to_owned());
        // A TTGIR file has the lines that it has; with this Triton would print it anew, and count those.
        let python = request.is_python();
        let lines = if python && request.instrument != Instrument::Plain { "ttgir" } else { "" };
        set("USE_IR_LOC", lines.into());
        let parent = request.path.parent().filter(|parent| parent.is_dir());
        ChildCommand {
            program: &self.python,
            arguments: vec!["-u".into(), driver.as_os_str().to_owned(), folder.join("job.json").into()],
            folder: parent.map_or_else(|| folder.to_owned(), Path::to_owned),
            environment,
            time: request.bounds.time,
            output: request.bounds.output,
        }
    }

    /// Whether anything was run.
    fn check_started(&self, state: &DriverState, outcome: &ChildOutcome) -> Result<(), RunError> {
        let python = self.python.display();
        if let Some(why) = &state.no_triton {
            return Err(RunError(format!(
                "`{python}` has no Triton: {why}; install it there, or say with `--python` which Python has it"
            )));
        }
        if let Some(why) = &state.refused {
            let hint = if why.contains("GPU") || why.contains("driver") {
                "; `--backend cpu` needs no GPU, and `--backend replay` takes the log of another machine"
            } else {
                ""
            };
            return Err(RunError(format!("{why}{hint}")));
        }
        if !state.greeted && matches!(outcome.ended, ExitCause::Code(_)) {
            let words = outcome.errors.last_lines(4);
            return Err(RunError(format!("`{python}` ended before it had imported Triton: {words}")));
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn report(
        &mut self,
        request: &RunRequest,
        prepared: &PreparedJob,
        mut state: DriverState,
        outcome: &ChildOutcome,
        artefacts: &[CompiledKernel],
        cancel: &Cancel<'_>,
        folder: &Path,
    ) -> Result<RunReport, RunError> {
        let mut irs: Vec<CompiledIr> = prepared.ir.iter().cloned().collect();
        if irs.is_empty() {
            irs.extend(artefacts.iter().filter_map(|artefact| artefact.ir.clone()));
        }
        // Compiled again by the same Triton: where the run left no IR (it was ended early, say).
        if irs.is_empty() {
            let compiled = request.compiled.clone();
            irs.extend(compiled.map(|text| CompiledIr { text, files: Vec::new(), own: false }));
        }
        let path = request.path.to_string_lossy();
        let target = TargetText { path: &path, text: &request.text, python: request.is_python() };
        // What was cancelled is not looked into any further.
        let never = Cancel::never();
        let patience = if outcome.ended == ExitCause::Cancelled { &never } else { cancel };
        let log = &outcome.errors.log;
        let cancelled = |_| RunError("cancelled".to_owned());
        let home = attribute(target, &irs, &log.asserts, &self.paths, &mut *self.check, patience).map_err(cancelled)?;
        let end = match outcome.ended {
            ExitCause::Cancelled => RunEnd::Cancelled,
            _ if !log.asserts.is_empty() => RunEnd::Asserted,
            ExitCause::Late => {
                let waits = endless_waits(target, &irs, &self.paths, &mut *self.check, patience);
                RunEnd::Hung(waits.map_err(cancelled)?)
            }
            ExitCause::Code(_) => ended(&state, outcome),
        };
        let mut notes = prepared.notes.clone();
        notes.extend(self.instrumentation_notes(request, &state, artefacts));
        notes.extend(process_notes(outcome, log.dropped));
        let read = |tensor: &parameters::DeviceTensor| {
            state.outputs.contains(&tensor.name).then(|| tensor.read(folder)).flatten()
        };
        let outputs = prepared.tensors.iter().filter_map(read).collect();
        state.on.push(("inputs".to_owned(), request.inputs.to_string()));
        let mut report = RunReport::new("triton", request.instrument, end);
        (report.on, report.notes, report.outputs) = (state.on, notes, outputs);
        (report.kernels, report.elsewhere) = (home.kernels, home.elsewhere);
        report.cost.seconds = outcome.seconds;
        Ok(report)
    }

    /// What is to be said where the sanitizer may not have been at work.
    fn instrumentation_notes(
        &self,
        request: &RunRequest,
        state: &DriverState,
        artefacts: &[CompiledKernel],
    ) -> Vec<String> {
        let name = match request.instrument {
            Instrument::ConSan => "ConSan",
            Instrument::GSan => "GSan",
            Instrument::Both | Instrument::Plain => return Vec::new(),
        };
        let slots = request.bounds.gsan.read_slots.filter(|_| request.instrument == Instrument::GSan);
        let fixed = slots.map(|_| "Triton's GSan keeps four reads of a word, whatever --gsan-reads says".to_owned());
        let plain: Vec<&str> = artefacts.iter().filter(|a| !a.instrumented).map(|a| a.name.as_str()).collect();
        if state.instrumented.unwrap_or(true) && plain.is_empty() {
            return match artefacts.is_empty() && state.done {
                true => vec![format!("no kernel was compiled, so {name} watched none")],
                false => fixed.into_iter().collect(),
            };
        }
        let which = if plain.is_empty() { String::new() } else { format!(" in `{}`", plain.join("`, `")) };
        vec![format!(
            "{name} did not take effect{which}: what it touches is nothing that {name} watches, or this Triton ignores the mode"
        )]
    }
}

/// How a run ended that no sanitizer ended.
fn ended(state: &DriverState, outcome: &ChildOutcome) -> RunEnd {
    if let Some((kind, text, trace)) = &state.failed {
        let place = trace.lines().rev().find(|line| line.trim_start().starts_with("File ")).map(str::trim);
        let place = place.map_or_else(String::new, |place| format!(" ({place})"));
        return RunEnd::Failed(format!("{kind}: {text}{place}"));
    }
    if state.done {
        return RunEnd::Passed;
    }
    let words = outcome.errors.last_lines(4);
    let stage = state.stage.as_deref().unwrap_or("starting");
    let how = match outcome.ended {
        ExitCause::Code(Some(code)) => format!("Python ended with {code} while {stage}"),
        _ => format!("Python was ended by a signal while {stage}"),
    };
    RunEnd::Failed(if words.is_empty() { how } else { format!("{how}: {words}") })
}

fn process_notes(outcome: &ChildOutcome, dropped: u64) -> Vec<String> {
    let mut notes = Vec::new();
    if outcome.dropped > 0 {
        notes.push(format!("{} bytes of output beyond the limit were dropped", outcome.dropped));
    }
    if dropped > 0 {
        notes.push(format!("{dropped} further asserts are only counted"));
    }
    if outcome.unkillable {
        notes.push("the process could not be ended: the driver does not let go of it".to_owned());
    }
    notes
}

#[cfg(test)]
mod tests;
