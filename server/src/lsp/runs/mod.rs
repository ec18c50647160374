//! Kernels run from the editor.
//!
//! Nothing runs unasked, nor in a workspace that the client does not call trusted. Before a recipe is run for the
//! first time it is shown and has to be agreed to; what was agreed to is kept in the workspace. One run of a
//! document goes on at a time; it ends with the document, with the session and with the process.

pub(crate) mod diagnostics;
pub(crate) mod on_save;
pub(crate) mod params;
pub(crate) mod waiting;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base::{Cancel, Cancelled, Limits};
use engine::{Analysis, Engine, Source};
use runtime::launch::store::RecipeStore;
use runtime::run::{Instrument, RunEvent, RunLimits};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tower_lsp::ls_types::{MessageActionItem, MessageType};
use transport::Client;

use super::panics::catch_panic;
use super::snapshot::Snapshot;
use execution::recipes::{RecipeOverrides, RecipeSources, origin};
use execution::{BackendChoice, PythonKernels, RunPlan, RunResults, discover};
use render::SourceText;
use transport::ClientSender;
use transport::progress::Job;
use workspace::absolute;

use crate::limits::end::RUNS as EXIT_TIMEOUT;
use diagnostics::RunDiagnostic;
use params::RunTarget;
pub(crate) use params::{RunKernelParams, Sanitizer};
use waiting::RunWaiter;

/// A progress bar that moves ten times a second is lively enough.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// How many runs go on, and whether they are to end.
#[derive(Debug, Default)]
pub(crate) struct ActiveRuns {
    closed: AtomicBool,
    count: Mutex<usize>,
    ended: Condvar,
}

impl ActiveRuns {
    /// Ends all runs and waits until they have, but not for ever.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        let count = self.lock();
        let _ = self.ended.wait_timeout_while(count, EXIT_TIMEOUT, |count| *count > 0);
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts as a run while it lives.
struct RunGuard(Arc<ActiveRuns>);

impl RunGuard {
    fn new(active: &Arc<ActiveRuns>) -> RunGuard {
        *active.lock() += 1;
        RunGuard(active.clone())
    }
}

impl Drop for RunGuard {
    fn drop(&mut self) {
        *self.0.lock() -= 1;
        self.0.ended.notify_all();
    }
}

/// A run of a document.
#[derive(Clone, Debug)]
pub(crate) struct ActiveRun {
    /// Its number, which is also in its progress token.
    pub(crate) id: u64,
    stop: Arc<AtomicBool>,
}

impl ActiveRun {
    /// A run that nobody has stopped.
    pub(crate) fn new(id: u64) -> ActiveRun {
        ActiveRun { id, stop: Arc::default() }
    }

    /// One that ends, too, when nobody waits for it any more.
    pub(crate) fn waited_for(id: u64, waiter: &RunWaiter) -> ActiveRun {
        ActiveRun { id, stop: waiter.stop.clone() }
    }

    /// Asks it to end.
    pub(crate) fn cancel(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// What came of a run in words.
pub(crate) struct RunWords {
    /// So short that a line of an editor holds it.
    pub(crate) summary: String,
    /// What the analysis says of each kernel that ran, a sentence each.
    pub(crate) details: Vec<String>,
}

/// How a run ended.
pub(crate) enum RunOutcome {
    /// It ran: what to show of it, and words for the user. `version` is the text it is of.
    Finished { version: i32, state: &'static str, diagnostics: Vec<RunDiagnostic>, words: RunWords, seconds: f64 },
    /// It could not be run, for this reason.
    Refused(String),
    /// It was stopped or not agreed to; nobody wants to hear of it.
    Dropped,
}

/// What a run needs of the session.
pub(crate) struct RunContext {
    pub(crate) client: Client,
    pub(crate) sender: ClientSender,
    pub(crate) active_runs: Arc<ActiveRuns>,
}

/// Prepares a run, asks the user for what has to be agreed to, and runs.
pub(crate) async fn run(
    context: &RunContext,
    request: RunKernelParams,
    active: &ActiveRun,
    snapshot: Snapshot,
) -> RunOutcome {
    let (sender, stop) = (context.sender.clone(), active.clone());
    let (asked, of) = (request.clone(), snapshot.clone());
    let prepared = tokio::task::spawn_blocking(move || {
        let stopped = || stop.is_cancelled();
        catch_panic("preparing the run", &sender, || prepare(&asked, &of, &Cancel::when(&stopped)))
    });
    let mut prepared = match prepared.await {
        Ok(Ok(Ok(prepared))) => prepared,
        Ok(Ok(Err(why))) => return RunOutcome::Refused(why),
        _ => return RunOutcome::Dropped,
    };
    if !prepared.agreed && !ask_user(context, &request, &prepared).await {
        return RunOutcome::Dropped;
    }
    if active.is_cancelled() {
        return RunOutcome::Dropped;
    }
    if request.log.is_none() {
        prepared.keep_recipes();
    }
    let (events, receive) = unbounded_channel();
    if snapshot.client.progress {
        let title = format!("Running {} under {}", prepared.name, request.describe());
        tokio::spawn(progress(context.client.clone(), active.id, title, receive));
    }
    let (sender, stop, all) = (context.sender.clone(), active.clone(), context.active_runs.clone());
    let guard = RunGuard::new(&all);
    let ran = tokio::task::spawn_blocking(move || {
        let stopped = || stop.is_cancelled() || all.closed.load(Ordering::Relaxed);
        let work = || prepared.run(&request, &snapshot, &events, &Cancel::when(&stopped));
        let outcome = catch_panic("the run", &sender, work);
        drop(guard);
        outcome
    });
    match ran.await {
        Ok(Ok(outcome)) => outcome,
        _ => RunOutcome::Dropped,
    }
}

/// Shows the recipe before it is run for the first time.
async fn ask_user(context: &RunContext, request: &RunKernelParams, prepared: &PreparedRun) -> bool {
    let item = |title: &str| MessageActionItem { title: title.to_owned(), properties: Default::default() };
    let question = format!("Run {} under {}?\n{}", prepared.name, request.describe(), prepared.recipes);
    let items = vec![item("Run"), item("Cancel")];
    let answer = context.client.show_message_request(MessageType::INFO, question, Some(items)).await;
    matches!(answer, Ok(Some(item)) if item.title == "Run")
}

/// A run that only has to be started.
struct PreparedRun {
    name: String,
    plan: RunPlan,
    backend: BackendChoice,
    analysis: Analysis,
    store: RecipeStore,
    /// The recipes in words.
    recipes: String,
    /// Whether all of them were run before.
    agreed: bool,
}

fn prepare(request: &RunKernelParams, snapshot: &Snapshot, cancel: &Cancel<'_>) -> Result<PreparedRun, String> {
    let path =
        request.uri.to_file_path().map_or_else(|| PathBuf::from(request.uri.path().as_str()), |path| path.into_owned());
    let name = path.file_name().map_or_else(|| "the kernel".to_owned(), |name| name.to_string_lossy().into_owned());
    let text = snapshot.source.text();
    let python = snapshot.source.python().is_some();
    if python && workspace::read_text(&path).ok().as_deref() != Some(text) {
        return Err(format!("{name} is run as it lies on the disk: save it first"));
    }
    let analysis = analysis(snapshot, cancel).map_err(|_| "the run was stopped".to_owned())?;
    let root = request.uri.to_file_path().map(|path| absolute(&path)).unwrap_or_default();
    let store = RecipeStore::open(&snapshot.workspace.root_of(&root));
    let found = discover::launches(&path, analysis.gluon.as_deref(), text, python);
    let configuration = snapshot.sources(cancel, &|_| {}).settings_of(&root);
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
    let by = RecipeOverrides { kernel: request.kernel.clone(), ..RecipeOverrides::default() };
    let places = SourceText::new(text);
    let launches = recipes.choose(&by).map_err(|errors| {
        let one = |error: &runtime::launch::recipe::RecipeError| {
            format!("{name}, line {}: {}", places.line(error.range.start), error.message)
        };
        errors.iter().map(one).collect::<Vec<_>>().join("; ")
    })?;
    let lines: Vec<String> = launches.iter().map(|launch| format!("{launch} ({})", origin(launch, &places))).collect();
    // Nothing is executed where a log is read.
    let agreed = request.log.is_some() || launches.iter().all(|launch| store.has(&path, launch));
    let instrument = match (request.instrument, request.backend) {
        (Sanitizer::Consan, RunTarget::Cpu) => Instrument::Both,
        (Sanitizer::Consan, RunTarget::Gpu) => Instrument::ConSan,
        (Sanitizer::Gsan, _) => Instrument::GSan,
    };
    let plan =
        RunPlan { path, text: text.into(), launches, instrument, bounds: RunLimits::default(), seed: 0, seeds: 1 };
    let backend = snapshot.client.runs.backend(request, configuration.path_maps());
    Ok(PreparedRun { name, plan, backend, analysis, store, recipes: lines.join("\n"), agreed })
}

/// What the analysis says of the text, made now where it is not there yet.
fn analysis(snapshot: &Snapshot, cancel: &Cancel<'_>) -> Result<Analysis, Cancelled> {
    if let Some(known) = &snapshot.analysis {
        return Ok(known.analysis.clone());
    }
    let mut engine = Engine::with_cache(Limits::default(), snapshot.cache.shared.clone());
    match &*snapshot.source {
        Source::Ir(document) => engine.analyse(document, cancel),
        Source::Other(_) => Ok(Analysis::default()),
        Source::Python(_) => match snapshot.elaboration(cancel)? {
            Some(elaboration) => engine.analyse_python(&elaboration, &snapshot.sources(cancel, &|_| {}), cancel),
            None => Ok(Analysis::default()),
        },
    }
}

impl PreparedRun {
    /// What was agreed to need not be asked again; where it cannot be kept it is.
    fn keep_recipes(&mut self) {
        for launch in &self.plan.launches {
            if !self.store.has(&self.plan.path, launch)
                && let Err(error) = self.store.keep(&self.plan.path, launch)
            {
                tracing::warn!("the recipe is not kept: {error}");
            }
        }
    }

    fn run(
        &self,
        request: &RunKernelParams,
        snapshot: &Snapshot,
        events: &UnboundedSender<RunEvent>,
        cancel: &Cancel<'_>,
    ) -> RunOutcome {
        let mut last: Option<Instant> = None;
        let mut report = |event: RunEvent| {
            let soon = last.is_some_and(|last| last.elapsed() < PROGRESS_INTERVAL);
            if matches!(event, RunEvent::Stage(_)) || !soon {
                last = Some(Instant::now());
                let _ = events.send(event);
            }
        };
        let blocked = |_| {};
        let sources = snapshot.sources(cancel, &blocked);
        let kernels = PythonKernels { elaboration: self.analysis.gluon.as_deref(), sources: &sources };
        let ran = execution::run_plan(&self.backend, &self.plan, kernels, &mut report, cancel);
        match ran {
            _ if cancel.is_cancelled() => RunOutcome::Dropped,
            Ok(results) => self.outcome(request, snapshot, &results),
            Err(error) => RunOutcome::Refused(error.to_string()),
        }
    }

    fn outcome(&self, request: &RunKernelParams, snapshot: &Snapshot, results: &RunResults) -> RunOutcome {
        let places = SourceText::new(snapshot.source.text());
        let beside = execution::verdict_comparison::compare_verdicts(&self.analysis.kernels, results, &places);
        let seconds: f64 = results.runs.iter().map(|ran| ran.report.cost.seconds).sum();
        let state = results.status().name();
        let took = if seconds < 0.95 { format!("{:.0} ms", seconds * 1000.0) } else { format!("{seconds:.1} s") };
        let mut summary = format!("{}: {state} under {}, {took}", self.name, request.describe());
        let otherwise: Vec<&str> = beside.iter().filter(|it| !it.agrees).map(|it| it.kernel.as_str()).collect();
        match otherwise.as_slice() {
            [] => {}
            [one] => summary.push_str(&format!("; the analysis says otherwise of @{one}")),
            _ => summary.push_str(&format!("; the analysis says otherwise of {} kernels", otherwise.len())),
        }
        let details = beside.iter().map(|it| format!("@{}: {}", it.kernel, it.summary)).collect();
        let diagnostics = diagnostics::collect(results, &beside, &self.analysis.kernels);
        let words = RunWords { summary, details };
        RunOutcome::Finished { version: snapshot.version, state, diagnostics, words, seconds }
    }
}

/// Shows a progress bar with a cancel button until no more events come.
async fn progress(client: Client, id: u64, title: String, mut events: UnboundedReceiver<RunEvent>) {
    let Some(token) = Job::Run(id).create(&client).await else { return };
    let bar = client.progress(token, title).with_percentage(0).with_cancel_button().begin().await;
    let (mut stage, mut part) = (String::new(), 0);
    while let Some(event) = events.recv().await {
        match event {
            RunEvent::Stage(name) => stage = name,
            RunEvent::Progress(done) => part = part.max((100.0 * done.clamp(0.0, 1.0)) as u32),
        }
        bar.report_with_message(stage.clone(), part, Some(true)).await;
    }
    bar.finish().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_waits_for_active_runs() {
        let active = Arc::new(ActiveRuns::default());
        let run = RunGuard::new(&active);
        let other = active.clone();
        let waiting = std::thread::spawn(move || other.close());
        while !active.closed.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        assert!(!waiting.is_finished());
        drop(run);
        assert!(waiting.join().is_ok());
    }
}
