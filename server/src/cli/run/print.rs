//! What `fencepost run` prints around the findings: how it was run, how it ended, what else there is to say.
//!
//! The JSON document is that of `check` with a member `run`: `end` is the worst of its `runs`, each of which has
//! its `recipe`, who says so (`origin`), `on` what it ran, `end`, `reasons`, `notes`, `elsewhere` (asserts whose
//! place is in no text that was given), `outputs` and `cost`. `differ`, `compared` and `beside` are sentences
//! about schedules that disagree, outputs that are not as expected, and the analysis beside the run.

use std::fmt::Write;

use runtime::run::{RunEnd, RunReport};
use serde_json::{Value, json};

use crate::cli::args::{Format, Run};
use crate::cli::process::{Exit, painter};
use execution::outputs::OutputComparison;
use execution::recipes::origin;
use execution::verdict_comparison::VerdictComparison;
use execution::{LaunchRun, RunPlan, RunResults, RunStatus};
use render::SourceText;
use render::check::{CheckedFile, Printer, Tally, concise, github, human, json as documents, sarif};
use render::style::{Painter, Style};

/// What there is to print.
pub(crate) struct Printed<'a> {
    /// The command.
    pub(crate) args: &'a Run,
    /// The runs.
    pub(crate) results: &'a RunResults,
    /// Both verdicts on each kernel.
    pub(crate) beside: Vec<VerdictComparison>,
    /// Outputs beside what was expected.
    pub(crate) compared: Vec<Result<OutputComparison, String>>,
    /// What the user should know beside.
    pub(crate) notes: Vec<String>,
}

impl Printed<'_> {
    fn wrong(&self) -> bool {
        self.compared.iter().any(|it| it.as_ref().map_or(true, |it| it.wrong > 0))
    }

    /// What the process says.
    pub(crate) fn exit(&self) -> Exit {
        let trouble = match self.results.status() {
            RunStatus::Cancelled | RunStatus::Failed => return Exit::Trouble,
            RunStatus::Hung | RunStatus::Asserted => return Exit::Findings,
            RunStatus::Undecided => self.args.strict,
            RunStatus::Passed => false,
        };
        match (trouble, self.wrong() || !self.results.differ.is_empty()) {
            (true, _) => Exit::Trouble,
            (false, true) => Exit::Findings,
            (false, false) => Exit::Clean,
        }
    }
}

/// The recipes of a plan, one a line, as they can be written into the file.
pub(crate) fn recipes(plan: &RunPlan, places: &SourceText<'_>) -> String {
    let mut out = String::new();
    for launch in &plan.launches {
        let _ = writeln!(out, "{launch}  ({})", origin(launch, places));
    }
    out
}

/// The whole output.
pub(crate) fn print(format: Format, checked: &CheckedFile, printed: &Printed<'_>, places: &SourceText<'_>) -> String {
    match format {
        Format::Human => human(checked, printed, places),
        Format::Concise => {
            let mut out = concise::Concise { quiet: false }.file(checked).body;
            for text in complaints(printed) {
                let _ = writeln!(out, "{}: error {text}", checked.path);
            }
            out
        }
        Format::Json => {
            let body = documents::Json.file(checked).body;
            format!("{}{body}\n],\"run\":{}}}\n", documents::Json.begin(), document(printed, places))
        }
        Format::Sarif => {
            let sarif = sarif::Sarif::default();
            let notes: Vec<String> = complaints(printed)
                .into_iter()
                .map(|text| json!({ "level": "error", "message": { "text": text } }).to_string())
                .collect();
            let failed = matches!(printed.results.status(), RunStatus::Failed | RunStatus::Cancelled);
            let tally = Tally { unreadable: usize::from(failed), ..Tally::of(checked) };
            format!("{}{}{}", sarif.begin(), sarif.file(checked).body, sarif.end(&tally, &notes))
        }
        Format::Github => {
            let mut out = github::Github.file(checked).body;
            for text in complaints(printed) {
                out.push_str(&github::plain(&checked.path, &text));
            }
            out
        }
    }
}

/// What is wrong and has no place in the text.
fn complaints(printed: &Printed<'_>) -> Vec<String> {
    let mut out = Vec::new();
    let runs = &printed.results.runs;
    let several = runs.iter().zip(runs.iter().skip(1)).any(|(one, next)| one.launch.kernel != next.launch.kernel);
    for LaunchRun { report, launch, .. } in runs {
        out.extend(report.elsewhere.iter().cloned());
        let of = launch.kernel.as_ref().filter(|_| several).map_or_else(String::new, |name| format!(" @{name}"));
        out.extend(reasons(report).into_iter().map(|why| format!("{}{of}: {why}", RunStatus::new(report).name())));
    }
    out.extend(printed.results.differ.iter().cloned());
    for compared in &printed.compared {
        match compared {
            Ok(compared) if compared.wrong > 0 => out.push(compared.describe()),
            Ok(_) => {}
            Err(why) => out.push(why.clone()),
        }
    }
    out
}

/// Why a run did not pass, where that is no assert.
fn reasons(report: &RunReport) -> Vec<String> {
    match &report.end {
        RunEnd::Hung(waits) if waits.is_empty() => vec!["it did not end in its time".to_owned()],
        RunEnd::Hung(why) | RunEnd::Undecided(why) => why.clone(),
        RunEnd::Failed(why) => vec![why.clone()],
        RunEnd::Cancelled => vec!["it was stopped".to_owned()],
        RunEnd::Passed | RunEnd::Asserted => Vec::new(),
    }
}

fn human(checked: &CheckedFile, printed: &Printed<'_>, places: &SourceText<'_>) -> String {
    let paint = painter(printed.args.color);
    let mut out = String::new();
    for (at, ran) in printed.results.runs.iter().enumerate() {
        let again = at.checked_sub(1).and_then(|at| printed.results.runs.get(at));
        if again.is_none_or(|before| before.launch != ran.launch) {
            let _ =
                writeln!(out, "{} {} ({})", paint.text(Style::Bold, "run"), ran.launch, origin(&ran.launch, places));
            let same = printed.results.runs.iter().skip(at).take_while(|other| other.launch == ran.launch);
            let on = ran.report.on.iter().map(|(name, value)| match (name.as_str(), same.clone().last()) {
                ("seed", Some(last)) if last.seed != ran.seed => format!("seeds {} to {}", ran.seed, last.seed),
                _ => format!("{name} {value}"),
            });
            let on: Vec<String> = on.collect();
            let on = if on.is_empty() { String::new() } else { format!(": {}", on.join(", ")) };
            let by = ran.report.instrument.name();
            let _ = writeln!(out, "    on {}, instrumentation {by}{on}", ran.report.backend);
        }
    }
    out.push('\n');
    let findings = human::Human::new(paint, false);
    out.push_str(&findings.file(checked).body);
    let error = paint.text(Style::Bad, "error");
    for text in complaints(printed) {
        let _ = writeln!(out, "{error}: {text}");
    }
    for compared in printed.compared.iter().flatten().filter(|compared| compared.wrong == 0) {
        let _ = writeln!(out, "{}: {}", paint.text(Style::Good, "outputs"), compared.describe());
    }
    for beside in &printed.beside {
        let word = if beside.agrees { "beside" } else { "disagreement" };
        let style = if beside.agrees { Style::Bold } else { Style::Doubt };
        let _ =
            writeln!(out, "{} @{}: the run {}, {}", paint.text(style, word), beside.kernel, beside.run, beside.summary);
    }
    let mut notes: Vec<&String> = Vec::new();
    for note in printed.results.runs.iter().flat_map(|ran| &ran.report.notes).chain(&printed.notes) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    for note in notes {
        let _ = writeln!(out, "{}: {note}", paint.text(Style::Bold, "note"));
    }
    out.push_str(&findings.more(&Tally::of(checked).kinds));
    out.push_str(&summary(printed, paint));
    out
}

fn summary(printed: &Printed<'_>, paint: Painter) -> String {
    let runs = &printed.results.runs;
    let ending = printed.results.status();
    // What the process says by its exit code, its last line says too.
    let (style, name) = match ending {
        RunStatus::Passed | RunStatus::Undecided if printed.wrong() => (Style::Bad, "not as expected"),
        RunStatus::Passed | RunStatus::Undecided if !printed.results.differ.is_empty() => {
            (Style::Bad, "schedules disagree")
        }
        RunStatus::Passed => (Style::Good, ending.name()),
        RunStatus::Undecided | RunStatus::Cancelled => (Style::Doubt, ending.name()),
        _ => (Style::Bad, ending.name()),
    };
    let count = if runs.len() == 1 { "1 run".to_owned() } else { format!("{} runs", runs.len()) };
    let seconds: f64 = runs.iter().map(|ran| ran.report.cost.seconds).sum();
    let steps: u64 = runs.iter().map(|ran| ran.report.cost.steps).sum();
    let memory = runs.iter().map(|ran| ran.report.cost.memory).max().unwrap_or(0);
    let mut cost = format!("{seconds:.2} s");
    if steps > 0 {
        let _ = write!(cost, ", {steps} steps");
    }
    if memory > 0 {
        let _ = write!(cost, ", {:.1} MiB", memory as f64 / f64::from(1 << 20));
    }
    let watched = runs.iter().filter_map(|ran| ran.report.cost.gsan).filter(|gsan| gsan.covered > 0);
    if let Some(most) = watched.max_by_key(|gsan| gsan.covered) {
        let _ = write!(cost, ", {:.1} bytes of shadow a byte", most.shadow as f64 / most.covered as f64);
    }
    format!("{count}: {} ({cost})\n", paint.text(style, name))
}

fn document(printed: &Printed<'_>, places: &SourceText<'_>) -> Value {
    let runs: Vec<Value> = printed.results.runs.iter().map(|ran| one(ran, places)).collect();
    let all = |pick: fn(&RunReport) -> &Vec<String>| -> Vec<&String> {
        printed.results.runs.iter().flat_map(|ran| pick(&ran.report)).collect()
    };
    let beside: Vec<Value> = printed
        .beside
        .iter()
        .map(|it| json!({ "kernel": it.kernel, "analysis": it.analysis, "run": it.run, "agrees": it.agrees, "text": it.summary }))
        .collect();
    let compared: Vec<Value> = printed
        .compared
        .iter()
        .map(|it| match it {
            Ok(it) => json!({ "name": it.name, "wrong": it.wrong, "elements": it.all, "error": finite(it.error),
                "tolerance": it.tolerance, "text": it.describe() }),
            Err(why) => json!({ "problem": why }),
        })
        .collect();
    json!({
        "end": printed.results.status().name(),
        "runs": runs,
        "elsewhere": all(|report| &report.elsewhere),
        "notes": all(|report| &report.notes).into_iter().chain(&printed.notes).collect::<Vec<_>>(),
        "differ": printed.results.differ,
        "compared": compared,
        "beside": beside,
    })
}

/// What a run cost; `gsan` has the bytes of global memory that were watched, and those of its shadow and clocks.
fn cost(report: &RunReport) -> Value {
    let cost = &report.cost;
    let mut said = json!({ "seconds": cost.seconds, "steps": cost.steps, "memory": cost.memory });
    if let Some(gsan) = cost.gsan {
        said["gsan"] = json!({ "covered": gsan.covered, "shadow": gsan.shadow, "clocks": gsan.clocks });
    }
    said
}

/// JSON has no infinity.
fn finite(value: f64) -> Value {
    if value.is_finite() { json!(value) } else { json!(value.to_string()) }
}

fn one(ran: &LaunchRun, places: &SourceText<'_>) -> Value {
    let report = &ran.report;
    let on: serde_json::Map<String, Value> =
        report.on.iter().map(|(name, value)| (name.clone(), Value::String(value.clone()))).collect();
    let outputs: Vec<Value> = report
        .outputs
        .iter()
        .map(|(name, array)| json!({ "name": name, "type": array.dtype.name(), "shape": array.shape }))
        .collect();
    json!({
        "recipe": ran.launch.to_string(),
        "origin": origin(&ran.launch, places),
        "kernel": ran.launch.kernel,
        "seed": ran.seed,
        "backend": report.backend,
        "instrument": report.instrument.name(),
        "on": on,
        "end": RunStatus::new(report).name(),
        "reasons": reasons(report),
        "notes": report.notes,
        "elsewhere": report.elsewhere,
        "outputs": outputs,
        "cost": cost(report),
    })
}
