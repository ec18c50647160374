//! `fencepost run`: a file is run by its recipes, and what is asserted is printed as `check` prints findings.

mod print;

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use base::{Cancel, Limits};
use engine::{Analysis, Engine};
use runtime::launch::store::{self, RecipeStore};
use runtime::launch::{ArgumentValue, npy};
use runtime::run::{GsanOptions, Instrument, RunEvent, RunLimits};
use tensors::array::Array;

use print::Printed;

use super::answer::Answer;
use super::args::{Backend, Format, Run, Watcher};
use super::check::LoadedFile;
use super::process::{Exit, STACK_BYTES};
use super::say;
use super::settings;
use super::sources::{Source, read};
use execution::outputs::{self, OutputComparison};
use execution::recipes::{RecipeOverrides, RecipeSources};
use execution::{BackendChoice, PythonKernels, RunPlan, RunResults};
use render::SourceText;
use render::check::{CheckedFile, FileAnalysis};
use workspace::{Configuration, absolute, root};

/// Runs a file.
pub(crate) fn run(args: &Run) -> io::Result<Exit> {
    let python = args.python.clone().unwrap_or_else(execution::compiled_comparison::interpreter);
    let source = Source::named(&args.path);
    // Elaborating recurses.
    let answer = thread::scope(|scope| {
        let made = || answer(args, &source, Some(&python), &[args.format], &Cancel::never());
        let work = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, made)?;
        work.join().map_err(|_| io::Error::other("the run failed; this is a bug in fencepost"))
    })?;
    answer.print(None)
}

/// Runs a source, and says what came of it in these formats. Without a Python none of the file's own code is executed.
pub(crate) fn answer(
    args: &Run,
    source: &Source,
    python: Option<&Path>,
    formats: &[Format],
    cancel: &Cancel<'_>,
) -> Answer {
    let path = source.path();
    let trouble = |message: &str| Answer::trouble(format!("{path}: {message}"));
    let text = match read(source) {
        Ok(text) => text,
        Err(error) => return trouble(&error.message),
    };
    let mut file = LoadedFile::new(source, &text, &args.settings);
    let mut engine = Engine::new(Limits::default());
    let analysis = engine.analyse_source(&file.text, &mut file.elaborator, &file.workspace, cancel);
    let Ok(analysis) = analysis else { return trouble("the analysis was cancelled") };
    if let Some(problem) = settings::problems(&args.settings, analysis.gluon.as_deref()).first() {
        return trouble(problem);
    }
    let mut there = analysis.kernels.iter().map(|report| report.name.as_str());
    if let Some(kernel) = args.kernel.as_deref().filter(|kernel| !there.clone().any(|name| name == *kernel)) {
        return trouble(&say::no_kernel(kernel, &mut there));
    }
    let launches = match recipes(args, &text, &analysis, &file.configuration) {
        Ok(launches) => launches,
        Err(errors) => {
            let said = errors.into_iter().map(|(at, why)| {
                let place = at.map_or_else(String::new, |at| {
                    let (line, column) = SourceText::new(&text).line_column(at);
                    format!(":{line}:{column}")
                });
                format!("{path}{place}: {why}")
            });
            return Answer { problems: said.collect(), exit: Exit::Trouble, ..Answer::default() };
        }
    };
    if let Some(wrong) = settings::wrong_argument(&args.arguments, &launches, analysis.gluon.as_deref()) {
        return trouble(&wrong);
    }
    let plan = RunPlan {
        path: args.path.clone(),
        text: Arc::from(text.as_str()),
        launches,
        instrument: instrument(args),
        bounds: bounds(args),
        seed: args.seed,
        seeds: args.seeds,
    };
    if args.dry_run {
        let documents = vec![print::recipes(&plan, &SourceText::new(&text))];
        return Answer { documents, ..Answer::default() };
    }
    let which = match which(args, python, &file.configuration) {
        Ok(which) => which,
        Err(why) => return trouble(&why),
    };
    let expected = match expected(args) {
        Ok(expected) => expected,
        Err(why) => return trouble(&why),
    };
    let mut watch = Watch::new();
    let ran = execution::run_plan(
        &which,
        &plan,
        PythonKernels { elaboration: analysis.gluon.as_deref(), sources: &file.workspace },
        &mut |event| watch.say(event),
        cancel,
    );
    watch.clear();
    let results = match ran {
        Ok(results) => results,
        Err(error) => return trouble(&error.to_string()),
    };
    let places = SourceText::new(&text);
    let beside = execution::verdict_comparison::compare_verdicts(&analysis.kernels, &results, &places);
    let mut printed = Printed { args, results: &results, beside, compared: Vec::new(), notes: Vec::new() };
    if let Some(expected) = &expected {
        printed.compared = compare(expected, &results, args.tolerance);
        if results.runs.iter().any(|ran| !ran.is_whole()) {
            printed.notes.push("what a run left that did not come to its end is not compared".to_owned());
        }
    }
    if let Err(why) = outputs(args, &results, &mut printed.notes) {
        return trouble(&why);
    }
    if args.keep
        && let Err(error) = keep(args, &plan)
    {
        return trouble(&format!("the recipe cannot be kept: {error}"));
    }
    let shown = FileAnalysis { kernels: results.kernels.clone(), ..FileAnalysis::default() };
    let checked =
        CheckedFile { path: path.clone(), named: true, text: text.clone(), result: Ok(shown), proofs: Vec::new() };
    let documents = formats.iter().map(|format| print::print(*format, &checked, &printed, &places)).collect();
    Answer { documents, exit: printed.exit(), ..Answer::default() }
}

/// The recipes to run, or what is wrong and where.
fn recipes(
    args: &Run,
    text: &str,
    analysis: &Analysis,
    configuration: &Configuration,
) -> Result<Vec<runtime::launch::LaunchSpec>, Vec<(Option<u32>, String)>> {
    let plain = |why: String| vec![(None, why)];
    let python = engine::is_python(&args.path.to_string_lossy());
    let mut by = RecipeOverrides { kernel: args.kernel.clone(), grid: args.grid, ..RecipeOverrides::default() };
    by.arguments.clone_from(&args.arguments);
    if let Some(file) = &args.launch {
        by.launches = store::load(file, python).map_err(plain)?;
    }
    let path = absolute(&args.path);
    let store = RecipeStore::open(&root(&path));
    let found = execution::discover::launches(&path, analysis.gluon.as_deref(), text, python);
    let recipes = RecipeSources {
        path: &path,
        text,
        python,
        kernels: &analysis.kernels,
        elaboration: analysis.gluon.as_deref(),
        configured: &configuration.recipes(python),
        store: Some(&store),
        found: &found,
    };
    let launches = recipes.choose(&by).map_err(|errors| {
        errors.into_iter().map(|error| (Some(error.range.start), error.message)).collect::<Vec<_>>()
    })?;
    match &by.kernel {
        Some(kernel) if launches.is_empty() => Err(plain(format!("no recipe is for a kernel `{kernel}`"))),
        _ => Ok(launches),
    }
}

/// Who watches: without a word everybody whom the backend has.
fn instrument(args: &Run) -> Instrument {
    match (args.instrument, args.backend) {
        (Some(named), _) => named.into(),
        (None, Backend::Cpu) => Instrument::Both,
        (None, Backend::Triton | Backend::Replay) => Instrument::ConSan,
    }
}

fn bounds(args: &Run) -> RunLimits {
    let usual = RunLimits::default();
    RunLimits {
        gsan: GsanOptions { read_slots: args.gsan_reads, clock_ring: args.gsan_ring },
        time: args.time.map_or(usual.time, Duration::from_secs_f64),
        memory: args.memory.unwrap_or(usual.memory),
        steps: args.steps.unwrap_or(usual.steps),
        ..usual
    }
}

fn which(args: &Run, python: Option<&Path>, configuration: &Configuration) -> Result<BackendChoice, String> {
    let maps = || args.map.iter().cloned().chain(configuration.path_maps()).collect();
    let python = python.map(Path::to_path_buf);
    match (args.backend, &args.log) {
        (Backend::Replay, Some(log)) => Ok(BackendChoice::Replay { log: log.clone(), maps: maps() }),
        (Backend::Replay, None) => Err("which log? Give it with --log FILE".to_owned()),
        (_, Some(_)) => Err("--log is of --backend replay".to_owned()),
        (Backend::Triton, None) if args.instrument == Some(Watcher::Both) => {
            Err("Triton has one sanitizer at a time: --instrument consan or gsan".to_owned())
        }
        (Backend::Cpu, None) => Ok(BackendChoice::Cpu { python }),
        (Backend::Triton, None) => match python {
            Some(python) => Ok(BackendChoice::Triton { python, maps: maps() }),
            None => Err("--backend triton executes the file, which is not allowed here".to_owned()),
        },
    }
}

/// What outputs are compared with, by name.
fn expected(args: &Run) -> Result<Option<Vec<(String, Array)>>, String> {
    let Some(text) = &args.expect else { return Ok(None) };
    let (name, path) = match text.split_once('=') {
        Some((name, path)) if !name.contains(['/', '\\', '.']) => (name, Path::new(path)),
        _ => ("", Path::new(text)),
    };
    let mut arrays = npy::load_all(path)?;
    if let [(only, _)] = arrays.as_mut_slice()
        && !name.is_empty()
    {
        name.clone_into(only);
    }
    if arrays.iter().any(|(name, _)| name.is_empty()) {
        return Err(format!("{text} holds one array: say of which argument, `--expect NAME={text}`"));
    }
    Ok(Some(arrays))
}

/// Compares the outputs of each run that came to its end.
fn compare(
    expected: &[(String, Array)],
    results: &RunResults,
    tolerance: Option<f64>,
) -> Vec<Result<OutputComparison, String>> {
    let of = |ran: &execution::LaunchRun| -> Vec<Result<OutputComparison, String>> {
        let one = |(name, expected): &(String, Array)| {
            let got = ran.report.outputs.iter().find(|(known, _)| known == name);
            let (_, got) = got.ok_or(format!("`{name}` is expected, and no argument of this name was given back"))?;
            outputs::compare(name, got, expected, tolerance)
        };
        expected.iter().map(one).collect()
    };
    results.runs.iter().filter(|ran| ran.is_whole()).flat_map(of).collect()
}

/// Writes outputs: of several runs each into a folder of its own.
fn outputs(args: &Run, results: &RunResults, notes: &mut Vec<String>) -> Result<(), String> {
    let Some(folder) = &args.output else { return Ok(()) };
    let mut written = 0;
    for (at, ran) in results.runs.iter().enumerate() {
        let folder: PathBuf = match results.runs.len() {
            1 => folder.clone(),
            _ => folder.join(format!("{}-seed{}", at, ran.seed)),
        };
        let cannot = |error: io::Error| format!("cannot write to {}: {error}", folder.display());
        fs::create_dir_all(&folder).map_err(cannot)?;
        for (known, array) in &ran.report.outputs {
            let name: String = known.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' }).collect();
            let path = folder.join(format!("{name}.npy"));
            let saved = if unsigned(ran, known) { npy::save_unsigned(&path, array) } else { npy::save(&path, array) };
            saved.map_err(cannot)?;
            written += 1;
        }
    }
    let what = if written == 1 { "1 array".to_owned() } else { format!("{written} arrays") };
    let part = if results.runs.iter().all(execution::LaunchRun::is_whole) {
        ""
    } else {
        "; those of a run that did not come to its end are as far as it came"
    };
    notes.push(format!("{what} written to {}{part}", folder.display()));
    Ok(())
}

/// Whether the recipe calls the elements of an output integers without a sign.
fn unsigned(ran: &execution::LaunchRun, output: &str) -> bool {
    let mut arguments = ran.launch.arguments.iter();
    arguments.any(|it| it.name == output && matches!(&it.given, ArgumentValue::Array(spec) if spec.unsigned))
}

fn keep(args: &Run, plan: &RunPlan) -> io::Result<()> {
    let path = absolute(&args.path);
    let mut store = RecipeStore::open(&root(&path));
    plan.launches.iter().try_for_each(|launch| store.keep(&path, launch))
}

/// How far it is, on stderr where that is a terminal.
struct Watch {
    terminal: bool,
    stage: String,
    shown: bool,
}

impl Watch {
    fn new() -> Watch {
        Watch { terminal: io::stderr().is_terminal(), stage: String::new(), shown: false }
    }

    fn say(&mut self, event: RunEvent) {
        if !self.terminal {
            return;
        }
        let part = match event {
            RunEvent::Stage(stage) => {
                self.stage = stage;
                String::new()
            }
            RunEvent::Progress(part) => format!(" {:.0} %", 100.0 * part),
        };
        let _ = write!(io::stderr(), "\r\x1b[K{}{part}", self.stage);
        self.shown = true;
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
