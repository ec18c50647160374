//! Executes a kernel on the CPU.
//!
//! The kernel is lowered for execution (`lower::executables`) and driven on the machine that decides it: the
//! machine has barriers, phases, commit groups and ConSan's tables, so a rule that breaks is the assert. Everything else
//! is here: [`value`] computes what single operations make of tensors, [`memory`] keeps what global, shared and tensor
//! memory hold, and the driver takes the threads of all CTAs and of a window of programs on, in an order that the seed
//! decides. Copies that were issued happen at a moment that the seed picks too, so that a race shows as two
//! seeds that disagree.
//!
//! Deviations: memory is sequentially consistent, and each op happens at once. A cluster of programs (rather than of
//! CTAs of one program) is not followed. Text that automatic warp specialisation has not finished is refused.

mod bind;
mod context;
mod data_movement;
mod driver;
mod finding_log;
mod future;
mod gsan;
mod host_call;
mod host_ops;
mod launch_state;
mod memory_ops;
mod mma;
mod program;
mod program_memory;
mod rounds;
mod schedule;
mod schedule_policy;
mod standstill;
mod transfer;
mod transfer_queue;

use std::time::Instant;

use base::rng::SplitMix64;
use base::{Cancel, Limits, Semantics};
use findings::{KernelReport, Verdict};
use kernel::{InputKind, Stage};
use lower::{Executable, executables};
use machine::{Machine, Valuation};
use ttgir::{Document, Tree};

use bind::{BoundArguments, bind};
use context::Context;
use finding_log::FindingLog;
use gsan::Gsan;
use launch_state::{Grid, LaunchState};
use schedule::{LaunchLimits, launch};
use tensors::Environment;

use crate::run::{RunBackend, RunCost, RunEnd, RunError, RunEvent, RunReport, RunRequest};

/// The CPU backend.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cpu {
    /// By whose rules it is judged.
    pub semantics: Semantics,
}

impl RunBackend for Cpu {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn run(
        &mut self,
        request: &RunRequest,
        progress: &mut dyn FnMut(RunEvent),
        cancel: &Cancel<'_>,
    ) -> Result<RunReport, RunError> {
        let text = request.compiled.clone().unwrap_or_else(|| request.text.clone());
        let document = Document::new(text);
        let mut last = None;
        for section in document.sections() {
            let tree = section.tree();
            let made = executables(tree);
            let wanted = request.launch.kernel.as_deref();
            let fits = |made: &Executable| wanted.is_none_or(|name| made.lowered.map.kernel == name);
            let fitting: Vec<Executable> = made.into_iter().filter(fits).collect();
            if fitting.len() > 1 {
                let names: Vec<&str> = fitting.iter().map(|made| made.lowered.map.kernel.as_str()).collect();
                return Err(RunError(format!("the file holds several kernels: say which of {}", names.join(", "))));
            }
            // Of a dump of passes the last one that has the kernel is the one that would run.
            if let Some(made) = fitting.into_iter().next() {
                last = Some((section, made));
            }
        }
        let Some((section, made)) = last else {
            return Err(RunError(match &request.launch.kernel {
                Some(name) => format!("there is no kernel `{name}` in {}", request.path.display()),
                None => format!("there is no kernel in {}", request.path.display()),
            }));
        };
        let mut report = execute(self.semantics, request, section.tree(), &made, progress, cancel)?;
        let offset = section.offset();
        for kernel in &mut report.kernels {
            kernel.range = moved(kernel.range, offset);
            kernel
                .findings
                .iter_mut()
                .for_each(|finding| finding.ranges_mut(&mut |range| *range = moved(*range, offset)));
        }
        Ok(report)
    }
}

fn moved(range: base::TextRange, by: u32) -> base::TextRange {
    base::TextRange::new(range.start + by, range.end + by)
}

fn execute(
    semantics: Semantics,
    request: &RunRequest,
    tree: &Tree,
    made: &Executable,
    progress: &mut dyn FnMut(RunEvent),
    cancel: &Cancel<'_>,
) -> Result<RunReport, RunError> {
    let start = Instant::now();
    check_executable(tree, made)?;
    let mut world = Environment::default();
    let late = || cancel.is_cancelled() || start.elapsed() > request.bounds.time;
    let bound =
        bind(tree, made, &request.launch, (request.inputs, request.bounds.memory), &mut world, &Cancel::when(&late))?;
    let kernel = &made.lowered.kernel;
    let valuation = valuation(made, &bound);
    let limits = Limits { run_steps: u64::from(u32::MAX), semantics, ..Limits::default() };
    let watches = request.instrument.has_consan();
    let context = Context::new(tree, made, Machine::driven(kernel, &valuation, &limits, watches));
    let grid = request.launch.grid.map(|size| i64::from(size.max(1)));
    world.grid = grid;
    let mut run = LaunchState {
        context: &context,
        world,
        grid: Grid::new(grid),
        random: SplitMix64::stream(request.seed, 1),
        findings: FindingLog::new(inputs(made, &bound)),
        gsan: None,
        steps: 0,
        atomics: 0,
        granted: None,
        moves: 0,
    };
    if request.instrument.has_gsan() {
        let cluster = context.machine.cluster().len() > 1;
        run.gsan = Some(Gsan::new(request.bounds.gsan, request.seed, cluster, bound.empty.clone()));
        run.world.global.watch();
    }
    progress(RunEvent::Stage(format!("{} over {}×{}×{}", made.lowered.map.kernel, grid[0], grid[1], grid[2])));
    let mut bounded = LaunchLimits { bounds: &request.bounds, start, cancel, most: 0 };
    let end = launch(&mut run, &bound.values, &mut bounded, progress);
    if let Some(gsan) = &run.gsan {
        let found = gsan.findings(&context, &run.world.global, grid);
        found.into_iter().for_each(|found| run.findings.add(found));
    }
    let outputs = bound.outputs.iter().filter_map(|output| output.read(&run.world)).collect();
    let gsan = run.gsan.as_ref().map(Gsan::cost);
    let (asserts, steps) = (run.findings.asserts, run.steps);
    let mut notes = bound.notes;
    notes.extend(run.world.prints.drain(..).take(100).map(|print| format!("printed: {print}")));
    let findings = run.findings.findings();
    let end = match end {
        None if asserts > 0 => RunEnd::Asserted,
        None => RunEnd::Passed,
        Some(RunEnd::Undecided(reasons)) if asserts > 0 => {
            notes.extend(reasons);
            RunEnd::Asserted
        }
        Some(end) => end,
    };
    let verdict = match &end {
        _ if !findings.is_empty() => Verdict::Found,
        RunEnd::Passed => Verdict::Clean("it ran to its end, and nothing was asserted".to_owned()),
        RunEnd::Undecided(reasons) => Verdict::Undecided(reasons.clone()),
        _ => Verdict::Undecided(vec!["it did not run to its end".to_owned()]),
    };
    let kernel = KernelReport {
        name: made.lowered.map.kernel.clone(),
        range: made.lowered.map.kernel_range,
        verdict,
        findings,
        suppressed: Vec::new(),
        runs: 1,
        steps,
        proof: None,
        pin: None,
        global: None,
        broken: false,
    };
    let mut report = RunReport::new("cpu", request.instrument, end);
    let on = [("device", "CPU".to_owned()), ("inputs", request.inputs.to_string()), ("seed", request.seed.to_string())];
    report.on = on.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    (report.kernels, report.notes, report.outputs) = (vec![kernel], notes, outputs);
    report.cost = RunCost { seconds: start.elapsed().as_secs_f64(), steps, memory: bounded.most, gsan };
    Ok(report)
}

/// Whether the kernel can be executed as it stands.
fn check_executable(tree: &Tree, made: &Executable) -> Result<(), RunError> {
    if let Some(error) = tree.errors().first() {
        return Err(RunError(format!("the text does not parse: {}", error.message)));
    }
    let dims = tree.top().iter().flat_map(|&op| ["x", "y", "z"].map(|axis| (op, format!("ttg.cluster-dim-{axis}"))));
    let size = |(op, name): (_, String)| tree.attr(op, &name).and_then(|attr| tree.attr_int(attr)).unwrap_or(1);
    if dims.map(size).any(|size| size > 1) {
        let why = "a cluster of programs (`ttg.cluster-dim-x`) is not executed, only clusters of CTAs of one program";
        return Err(RunError(why.to_owned()));
    }
    if made.lowered.map.stage != Stage::Final {
        return Err(RunError(format!(
            "automatic warp specialisation has not finished with this text ({}): run what Triton's last TTGIR pass gives",
            made.lowered.map.stage.name()
        )));
    }
    Ok(())
}

/// The inputs of the machine that all programs share.
fn valuation(made: &Executable, bound: &BoundArguments) -> Valuation {
    let of = |at: u32| bound.ints.get(at as usize).copied().flatten().unwrap_or(0);
    let values = made.lowered.kernel.inputs.iter().map(|input| match input.kind {
        InputKind::Argument(at) | InputKind::Size(at) => kernel::Width(input.width).wrap(of(at)),
        InputKind::Pointer(at) => of(at),
        // The driver says which requests are granted: the first, or none.
        InputKind::Tiles => 1,
        _ => 0,
    });
    Valuation { values: values.collect(), ..Valuation::default() }
}

/// The integers that the kernel was given, by name.
fn inputs(made: &Executable, bound: &BoundArguments) -> Vec<(String, i64)> {
    let kernel = &made.lowered.kernel;
    let named = kernel.inputs.iter().zip(&made.lowered.map.inputs);
    named
        .filter_map(|(input, name)| match input.kind {
            InputKind::Argument(at) if !name.contains('.') => {
                Some((name.clone(), bound.ints.get(at as usize).copied().flatten()?))
            }
            _ => None,
        })
        .collect()
}
