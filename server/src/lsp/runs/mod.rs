//! Kernels run from the editor.
//!
//! Nothing runs unasked, nor in a workspace that the client does not call trusted. Before a recipe is run for the
//! first time it is shown and has to be agreed to; what was agreed to is kept in the workspace. One run of a
//! document goes on at a time; it ends with the document, with the session and with the process.

mod marks;
mod offers;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use base::{Cancel, Limits};
use engine::{Analysis, Engine, Source};
use runtime::launch::store::RecipeStore;
use runtime::run::{Instrument, RunEvent, RunLimits};
use serde::Deserialize;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tower_lsp::Client;
use tower_lsp::ls_types::{MessageActionItem, MessageType, NumberOrString, ProgressToken, Uri};

use super::document::Snapshot;
use super::outbox::Outbox;
use super::state::Message;
use super::worker::guard;
use crate::run::recipes::{By, Recipes, origin};
use crate::run::{self, Plan, Results, Which, discover};
use render::SourceText;

pub use marks::{Mark, diagnostics, of, stale};
pub use offers::{Offers, actions, lenses};

/// The command that runs a kernel; its argument is an [`Order`].
pub const COMMAND: &str = "fencepost.runKernel";

const PREFIX: &str = "fencepost/run/";
/// How long the client may take to create a progress bar.
const CREATION: Duration = Duration::from_secs(2);
/// How long the end of the process waits for runs to clean up behind them.
const GOODBYE: Duration = Duration::from_secs(5);

/// What is to be run.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Order {
    /// The document.
    pub uri: Uri,
    /// Only this kernel.
    #[serde(default)]
    pub kernel: Option<String>,
    /// On what.
    #[serde(default)]
    pub backend: On,
    /// Who watches.
    #[serde(default)]
    pub instrument: Watcher,
}

/// On what a kernel is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum On {
    /// Fencepost's own executor.
    #[default]
    Cpu,
    /// The user's Triton and GPU.
    Gpu,
}

/// Who watches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Watcher {
    /// Triton's concurrency sanitizer.
    #[default]
    Consan,
    /// Triton's sanitizer of global memory.
    Gsan,
}

impl Order {
    /// `ConSan (CPU)`.
    fn says(&self) -> &'static str {
        match (self.backend, self.instrument) {
            (On::Cpu, _) => "ConSan (CPU)",
            (On::Gpu, Watcher::Consan) => "ConSan (GPU)",
            (On::Gpu, Watcher::Gsan) => "GSan",
        }
    }
}

/// How many runs go on, and whether they are to end.
#[derive(Debug, Default)]
pub struct Gate {
    closed: AtomicBool,
    inside: Mutex<usize>,
    left: Condvar,
}

impl Gate {
    /// Ends all runs and waits until they have, but not for ever.
    pub fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        let inside = self.lock();
        let _ = self.left.wait_timeout_while(inside, GOODBYE, |inside| *inside > 0);
    }
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, usize> {
        self.inside.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Counts as a run while it lives.
struct Inside(Arc<Gate>);

impl Inside {
    fn new(gate: &Arc<Gate>) -> Inside {
        *gate.lock() += 1;
        Inside(gate.clone())
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        *self.0.lock() -= 1;
        self.0.left.notify_all();
    }
}

/// A run of a document.
#[derive(Clone, Debug)]
pub struct Running {
    /// Its number, which is also in its progress token.
    pub id: u64,
    /// Set to end it.
    pub stop: Arc<AtomicBool>,
}

/// How a run ended.
pub enum Outcome {
    /// It ran; what to show, and in one sentence.
    Ran { generation: u64, marks: Vec<Mark>, says: String },
    /// It could not be run, for this reason.
    Refused(String),
    /// Nobody wants to hear of it.
    Nothing,
}

/// What a run needs.
pub struct Conductor {
    pub client: Client,
    pub outbox: Outbox,
    pub send: UnboundedSender<Message>,
    pub gate: Arc<Gate>,
    /// Where recipes are kept.
    pub root: PathBuf,
}

/// The token of a run.
fn token(id: u64) -> ProgressToken {
    NumberOrString::String(format!("{PREFIX}{id}"))
}

/// The run of a token of ours.
pub fn id(token: &ProgressToken) -> Option<u64> {
    match token {
        NumberOrString::String(text) => text.strip_prefix(PREFIX)?.parse().ok(),
        NumberOrString::Number(_) => None,
    }
}

/// Asks for what has to be asked for, runs, and tells the state thread.
pub async fn conduct(conductor: Conductor, order: Order, running: Running, snapshot: Snapshot) {
    let uri = order.uri.clone();
    let outcome = conducted(&conductor, order, &running, snapshot).await;
    // A closed channel means that the process is about to end.
    let _ = conductor.send.send(Message::Ran { uri, id: running.id, outcome });
}

async fn conducted(conductor: &Conductor, order: Order, running: &Running, snapshot: Snapshot) -> Outcome {
    let (outbox, root, stop) = (conductor.outbox.clone(), conductor.root.clone(), running.stop.clone());
    let (asked, of) = (order.clone(), snapshot.clone());
    let prepared = tokio::task::spawn_blocking(move || {
        let stopped = || stop.load(Ordering::Relaxed);
        guard("preparing the run", &outbox, || prepare(&asked, &of, root, &Cancel::when(&stopped)))
    });
    let mut prepared = match prepared.await {
        Ok(Ok(Ok(prepared))) => prepared,
        Ok(Ok(Err(why))) => return Outcome::Refused(why),
        _ => return Outcome::Nothing,
    };
    if !prepared.agreed && !agreed(conductor, &order, &prepared).await {
        return Outcome::Nothing;
    }
    if running.stop.load(Ordering::Relaxed) {
        return Outcome::Nothing;
    }
    prepared.keep();
    let (says, heard) = unbounded_channel();
    if snapshot.facts.progress {
        let title = format!("Running {} under {}", prepared.name, order.says());
        tokio::spawn(progress(conductor.client.clone(), running.id, title, heard));
    }
    let (outbox, stop, gate) = (conductor.outbox.clone(), running.stop.clone(), conductor.gate.clone());
    let inside = Inside::new(&gate);
    let ran = tokio::task::spawn_blocking(move || {
        let stopped = || stop.load(Ordering::Relaxed) || gate.closed.load(Ordering::Relaxed);
        let outcome = guard("the run", &outbox, || prepared.run(&order, &snapshot, &says, &Cancel::when(&stopped)));
        drop(inside);
        outcome
    });
    match ran.await {
        Ok(Ok(outcome)) => outcome,
        _ => Outcome::Nothing,
    }
}

/// Shows the recipe before it is run for the first time.
async fn agreed(conductor: &Conductor, order: &Order, prepared: &Prepared) -> bool {
    let item = |title: &str| MessageActionItem { title: title.to_owned(), properties: Default::default() };
    let question = format!("Run {} under {}?\n{}", prepared.name, order.says(), prepared.recipes);
    let items = vec![item("Run"), item("Cancel")];
    let answer = conductor.client.show_message_request(MessageType::INFO, question, Some(items)).await;
    matches!(answer, Ok(Some(item)) if item.title == "Run")
}

/// A run that only has to be started.
struct Prepared {
    name: String,
    plan: Plan,
    which: Which,
    analysis: Analysis,
    store: RecipeStore,
    /// The recipes in words.
    recipes: String,
    /// Whether all of them were run before.
    agreed: bool,
}

fn prepare(order: &Order, snapshot: &Snapshot, root: PathBuf, cancel: &Cancel<'_>) -> Result<Prepared, String> {
    let path =
        order.uri.to_file_path().map_or_else(|| PathBuf::from(order.uri.path().as_str()), |path| path.into_owned());
    let name = path.file_name().map_or_else(|| "the kernel".to_owned(), |name| name.to_string_lossy().into_owned());
    let text = snapshot.source.text();
    let python = snapshot.source.python().is_some();
    if python && std::fs::read_to_string(&path).ok().as_deref() != Some(text) {
        return Err(format!("{name} is run as it lies on the disk: save it first"));
    }
    let analysis = analysis(snapshot, cancel).map_err(|_| "the run was stopped".to_owned())?;
    let store = RecipeStore::open(&root);
    let found = discover::launches(&path, analysis.gluon.as_deref(), text, python);
    let recipes = Recipes { path: &path, text, python, kernels: &analysis.kernels, store: Some(&store), found: &found };
    let by = By { kernel: order.kernel.clone(), ..By::default() };
    let places = SourceText::new(text);
    let launches = recipes.choose(&by).map_err(|errors| {
        let one = |error: &runtime::launch::recipe::RecipeError| {
            format!("{name}, line {}: {}", places.line(error.range.start), error.message)
        };
        errors.iter().map(one).collect::<Vec<_>>().join("; ")
    })?;
    let lines: Vec<String> = launches.iter().map(|launch| format!("{launch} ({})", origin(launch, &places))).collect();
    let agreed = launches.iter().all(|launch| store.has(&path, launch));
    let instrument = match order.instrument {
        Watcher::Consan => Instrument::ConSan,
        Watcher::Gsan => Instrument::GSan,
    };
    let plan = Plan { path, text: text.into(), launches, instrument, bounds: RunLimits::default(), seed: 0, seeds: 1 };
    let which = snapshot.facts.offers.which(order);
    Ok(Prepared { name, plan, which, analysis, store, recipes: lines.join("\n"), agreed })
}

/// What the analysis says of the text, made now where it is not there yet.
fn analysis(snapshot: &Snapshot, cancel: &Cancel<'_>) -> Result<Analysis, base::Cancelled> {
    if let Some(checked) = &snapshot.checked {
        return Ok(checked.analysis.clone());
    }
    let mut engine = Engine::new(Limits::default());
    match &*snapshot.source {
        Source::Ir(document) => engine.analyse(document, cancel),
        Source::Python(_) => match snapshot.elaboration(cancel)? {
            Some(elaboration) => engine.analyse_python(&elaboration, cancel),
            None => Ok(Analysis::default()),
        },
    }
}

impl Prepared {
    /// What was agreed to need not be asked again; where it cannot be kept it is.
    fn keep(&mut self) {
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
        order: &Order,
        snapshot: &Snapshot,
        says: &UnboundedSender<RunEvent>,
        cancel: &Cancel<'_>,
    ) -> Outcome {
        let last: Mutex<Option<Instant>> = Mutex::new(None);
        let mut say = |event: RunEvent| {
            // A bar that moves ten times a second is lively enough.
            let mut last = last.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let soon = last.is_some_and(|last| last.elapsed() < Duration::from_millis(100));
            if matches!(event, RunEvent::Stage(_)) || !soon {
                *last = Some(Instant::now());
                let _ = says.send(event);
            }
        };
        let ran = run::on(&self.which, &self.plan, self.analysis.gluon.as_deref(), &mut say, cancel);
        match ran {
            _ if cancel.is_cancelled() => Outcome::Nothing,
            Ok(results) => self.outcome(order, snapshot, &results),
            Err(error) => Outcome::Refused(error.to_string()),
        }
    }

    fn outcome(&self, order: &Order, snapshot: &Snapshot, results: &Results) -> Outcome {
        let places = SourceText::new(snapshot.source.text());
        let beside = run::beside::beside(&self.analysis.kernels, results, &places);
        let seconds: f64 = results.runs.iter().map(|ran| ran.report.cost.seconds).sum();
        let mut says = format!("{}: {} under {} ({seconds:.1} s)", self.name, results.ending().name(), order.says());
        for one in &beside {
            says.push_str(&format!("; @{}: {}", one.kernel, one.says));
        }
        let marks = of(results, &beside, &self.analysis.kernels);
        Outcome::Ran { generation: snapshot.desk.generation, marks, says }
    }
}

/// Shows a bar with a cancel button until nothing more is said.
async fn progress(client: Client, id: u64, title: String, mut heard: UnboundedReceiver<RunEvent>) {
    if !matches!(tokio::time::timeout(CREATION, client.create_work_done_progress(token(id))).await, Ok(Ok(()))) {
        return;
    }
    let bar = client.progress(token(id), title).with_percentage(0).with_cancel_button().begin().await;
    let (mut stage, mut part) = (String::new(), 0);
    while let Some(event) = heard.recv().await {
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
    fn a_token_names_its_run() {
        assert_eq!(id(&token(17)), Some(17));
        assert_eq!(id(&NumberOrString::String("fencepost/analysis/17".to_owned())), None);
    }

    #[test]
    fn a_closed_gate_waits_for_who_is_inside() {
        let gate = Arc::new(Gate::default());
        let inside = Inside::new(&gate);
        let other = gate.clone();
        let waiting = std::thread::spawn(move || other.close());
        while !gate.closed.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        assert!(!waiting.is_finished());
        drop(inside);
        assert!(waiting.join().is_ok());
    }
}
