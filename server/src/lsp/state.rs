//! The state thread: takes messages in order, owns the documents, never blocks.
//!
//! At most one analysis of a document runs, for its newest text. A change stops the one under
//! way; when that says so, the next one starts. The outcome for a text that is no longer the
//! newest is dropped, so a stale analysis is never shown.

use engine::{Analysis, Engine, Source};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use base::Cancel;
use base::Limits;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tower_lsp::Client;
use tower_lsp::ls_types::{TextDocumentContentChangeEvent, Uri};

use super::diagnostics::{self, Cut};
use super::document::{Checked, Desk, Job, Open, Snapshot};
use super::facts::Facts;
use super::outbox::Outbox;
use super::progress;
use super::runs::{self, Conductor, Gate, Order, Running};
use super::worker::guard;
use crate::workspace::{Workspace, absolute};

/// A report that is shown says what it can by then, while the analysis goes on.
pub const PATIENCE: Duration = Duration::from_millis(500);

/// Answers a request; told why if it cannot be answered.
pub type Reply = Box<dyn FnOnce(Result<Snapshot, Refusal>) + Send>;

/// Why a request is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The document is not open.
    Unknown,
    /// The text that the request is about is gone.
    Outdated,
}

/// What a request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The text as it is.
    Text,
    /// The analysis of the text as it is.
    AnalysisNow,
    /// An analysis; if the text changes meanwhile, that of the newer one.
    AnalysisNewest,
}

/// What the state thread is told.
pub enum Message {
    /// The client introduced itself.
    Client(Arc<Facts>),
    /// A document was opened.
    Open { uri: Uri, language: String, version: i32, text: String },
    /// A document was changed.
    Change { uri: Uri, version: i32, changes: Vec<TextDocumentContentChangeEvent> },
    /// A document was closed.
    Close { uri: Uri },
    /// Files were saved, made, changed or deleted: other ones than those that are open, too.
    Files,
    /// Where the workspace is.
    Folders(Vec<PathBuf>),
    /// A request came.
    Ask { uri: Uri, need: Need, reply: Reply },
    /// A report of a document is shown: as a document of this name, or by the client itself.
    Watch { uri: Uri, page: Option<String> },
    /// A while has passed since a document got this text.
    Late { uri: Uri, generation: u64 },
    /// An analysis ended.
    Analysed { uri: Uri, job: u64, outcome: Outcome },
    /// A kernel is to be run.
    Run(Order),
    /// A run ended.
    Ran { uri: Uri, id: u64, outcome: runs::Outcome },
    /// The user wants a run to end.
    StopRun { id: u64 },
    /// The user no longer wants to wait for an analysis.
    Cancel { job: u64 },
    /// The session ends.
    Shutdown,
}

/// How an analysis ended.
pub enum Outcome {
    /// With an answer.
    Done(Arc<Checked>),
    /// It was stopped.
    Stopped,
    /// It panicked, with this text.
    Failed(String),
}

/// The state.
pub struct State {
    documents: BTreeMap<Uri, Open>,
    facts: Arc<Facts>,
    workspace: Arc<Workspace>,
    outbox: Outbox,
    client: Client,
    runtime: Handle,
    send: UnboundedSender<Message>,
    /// Documents that wait for a free place among the running analyses.
    queue: VecDeque<Uri>,
    running: usize,
    /// Runs of kernels, by document.
    runs: BTreeMap<Uri, Running>,
    gate: Arc<Gate>,
    most: usize,
    jobs: u64,
}

impl State {
    /// Starts the thread; must be called on the runtime.
    pub fn start(client: Client, outbox: Outbox, gate: Arc<Gate>) -> UnboundedSender<Message> {
        let (send, receive) = unbounded_channel();
        let state = State {
            documents: BTreeMap::new(),
            facts: Arc::new(Facts::default()),
            workspace: Arc::new(Workspace::default()),
            outbox,
            client,
            runtime: Handle::current(),
            send: send.clone(),
            queue: VecDeque::new(),
            running: 0,
            runs: BTreeMap::new(),
            gate,
            most: thread::available_parallelism().map_or(2, |cores| cores.get()),
            jobs: 0,
        };
        let thread = thread::Builder::new().name("state".to_owned()).spawn(move || state.run(receive));
        if let Err(error) = thread {
            tracing::error!("cannot start the state thread: {error}");
        }
        send
    }

    fn run(mut self, mut receive: UnboundedReceiver<Message>) {
        while let Some(message) = receive.blocking_recv() {
            let outbox = self.outbox.clone();
            let _ = guard("handling a message", &outbox, || self.handle(message));
        }
    }

    fn handle(&mut self, message: Message) {
        match message {
            Message::Client(facts) => self.facts = facts,
            Message::Folders(folders) => self.workspace.set_roots(folders),
            Message::Files => self.files(),
            Message::Open { uri, language, version, text } => {
                self.close(&uri);
                if text.len() >= u32::MAX as usize {
                    self.outbox.show_error(format!("fencepost: {} is larger than 4 GiB", uri.as_str()));
                    return;
                }
                let open = Open::new(&uri, &language, version, text);
                let path = open.path.clone();
                self.documents.insert(uri.clone(), open);
                self.tell(&uri);
                self.analyse(uri);
                self.dependents(path.as_deref());
            }
            Message::Change { uri, version, changes } => {
                let Some(open) = self.documents.get_mut(&uri) else {
                    tracing::warn!("change of {}, which is not open", uri.as_str());
                    return;
                };
                let fresh = !open.marks.is_empty() && !open.old_marks;
                open.change(version, changes, &self.facts);
                let now = open.generation;
                // Requests about the text that is gone; those that take any analysis stay.
                let (stay, gone): (VecDeque<_>, VecDeque<_>) =
                    std::mem::take(&mut open.parked).into_iter().partition(|(of, _)| *of == ANY || *of == now);
                open.parked = stay;
                for (_, reply) in gone {
                    reply(Err(Refusal::Outdated));
                }
                if !open.watched.is_empty() {
                    let (late, send) = (Message::Late { uri: uri.clone(), generation: now }, self.send.clone());
                    self.runtime.spawn(async move {
                        tokio::time::sleep(PATIENCE).await;
                        let _ = send.send(late);
                    });
                }
                let path = open.path.clone();
                if fresh {
                    self.show_marks(&uri);
                }
                self.tell(&uri);
                if self.documents.get(&uri).is_some_and(|open| open.job.is_none()) {
                    self.analyse(uri);
                }
                self.dependents(path.as_deref());
            }
            Message::Close { uri } => {
                let open = self.documents.get(&uri);
                let (path, said) = open.map_or((None, false), |open| (open.path.clone(), open.said));
                let marked = open.is_some_and(|open| !open.marks.is_empty());
                if self.close(&uri) && (marked || (!self.facts.pull && said)) {
                    self.outbox.publish(uri, None, Vec::new());
                }
                if let Some(path) = &path {
                    self.workspace.close(path);
                }
                self.dependents(path.as_deref());
            }
            Message::Ask { uri, need, reply } => self.ask(uri, need, reply),
            Message::Watch { uri, page } => {
                if let Some(open) = self.documents.get_mut(&uri) {
                    open.watched.text |= page.is_none();
                    open.watched.pages.extend(page);
                }
            }
            Message::Late { uri, generation } => {
                let late = |open: &&Open| open.generation == generation && open.checked.is_none();
                if let Some(open) = self.documents.get(&uri).filter(late) {
                    self.outbox.report_changed(uri, open.watched.clone());
                }
            }
            Message::Analysed { uri, job, outcome } => self.analysed(uri, job, outcome),
            Message::Cancel { job } => {
                let running = self.documents.values().filter_map(|open| open.job.as_ref());
                for job in running.filter(|running| running.id == job) {
                    job.cancel();
                }
            }
            Message::Run(order) => self.run_kernel(order),
            Message::Ran { uri, id, outcome } => self.ran(&uri, id, outcome),
            Message::StopRun { id } => {
                let runs = self.runs.values().filter(|running| running.id == id);
                runs.for_each(|running| running.stop.store(true, Ordering::Relaxed));
            }
            Message::Shutdown => {
                let uris: Vec<Uri> = self.documents.keys().cloned().collect();
                for uri in uris {
                    self.close(&uri);
                }
            }
        }
    }

    /// Forgets a document; whether there was one.
    fn close(&mut self, uri: &Uri) -> bool {
        let Some(open) = self.documents.remove(uri) else { return false };
        if let Some(job) = &open.job {
            job.cancel();
        }
        if let Some(running) = self.runs.remove(uri) {
            running.stop.store(true, Ordering::Relaxed);
        }
        for (_, reply) in open.parked {
            reply(Err(Refusal::Outdated));
        }
        self.outbox.report_changed(uri.clone(), open.watched);
        true
    }

    fn ask(&mut self, uri: Uri, need: Need, reply: Reply) {
        let Some(open) = self.documents.get_mut(&uri) else {
            reply(Err(Refusal::Unknown));
            return;
        };
        if need != Need::Text && open.checked.is_none() {
            let of = if need == Need::AnalysisNewest { ANY } else { open.generation };
            open.parked.push_back((of, reply));
            return;
        }
        let snapshot = snapshot(&uri, open, &self.facts, &self.workspace);
        self.runtime.spawn_blocking(move || reply(Ok(snapshot)));
    }

    /// Tells the workspace what a Python file is now.
    fn tell(&self, uri: &Uri) {
        if let Some(Open { path: Some(path), source, .. }) = self.documents.get(uri)
            && let Some(python) = source.python()
        {
            self.workspace.open(path, python);
        }
    }

    /// Analyses the open files anew that depend on a Python file.
    fn dependents(&mut self, path: Option<&str>) {
        let Some(path) = path else { return };
        let depends = self.documents.iter().filter(|(_, open)| open.depends_on(path));
        let uris: Vec<Uri> = depends.map(|(uri, _)| uri.clone()).collect();
        self.again(uris, false);
    }

    /// Files have changed on disk, nobody says which.
    fn files(&mut self) {
        self.workspace.changed();
        let python = self.documents.iter().filter(|(_, open)| open.path.is_some() && open.holds_kernels());
        let uris: Vec<Uri> = python.map(|(uri, _)| uri.clone()).collect();
        self.again(uris, true);
    }

    fn again(&mut self, uris: Vec<Uri>, forget: bool) {
        for uri in uris {
            let Some(open) = self.documents.get_mut(&uri) else { continue };
            if forget {
                let elaborator = open.reconfigure();
                open.desk.elaborator = Arc::new(Mutex::new(elaborator));
            }
            open.outdate();
            // The text is the same: who asked about it still wants to know.
            let now = open.generation;
            open.parked.iter_mut().filter(|(of, _)| *of != ANY).for_each(|(of, _)| *of = now);
            if open.job.is_none() {
                self.analyse(uri);
            }
        }
    }

    /// Starts the analysis of a document's present text, or queues it.
    fn analyse(&mut self, uri: Uri) {
        if self.documents.get(&uri).is_some_and(|open| !open.holds_kernels()) {
            self.nothing(&uri);
            return;
        }
        if self.running >= self.most {
            if !self.queue.contains(&uri) {
                self.queue.push_back(uri);
            }
            return;
        }
        let Some(open) = self.documents.get_mut(&uri) else { return };
        if open.job.is_some() {
            return;
        }
        self.jobs += 1;
        self.running += 1;
        let id = self.jobs;
        let stop = Arc::new(AtomicBool::new(false));
        open.job = Some(Job { id, generation: open.generation, stop: stop.clone() });
        let snapshot = snapshot(&uri, open, &self.facts, &self.workspace);
        let problems = open.configuration.clone();
        let engine = open.desk.engine.clone();
        let (send, outbox) = (self.send.clone(), self.outbox.clone());
        let (done, ended) = oneshot::channel::<()>();
        if self.facts.progress {
            let name = uri.path().as_str().rsplit('/').next().unwrap_or_default().to_owned();
            let title = format!("Checking barriers of {name}");
            self.runtime.spawn(progress::watch(self.client.clone(), id, title, ended));
        }
        self.runtime.spawn_blocking(move || {
            let stopped = || stop.load(Ordering::Relaxed);
            let work = || {
                // A panic may have poisoned it; then it has been replaced and nobody else holds it.
                let mut engine = engine.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                let cancel = Cancel::when(&stopped);
                let analysis = match &*snapshot.source {
                    Source::Ir(document) => engine.analyse(document, &cancel),
                    Source::Python(_) => match snapshot.elaboration(&cancel) {
                        Ok(Some(elaboration)) => engine.analyse_python(&elaboration, &cancel),
                        Ok(None) => Ok(Analysis::default()),
                        Err(cancelled) => Err(cancelled),
                    },
                };
                analysis.map(|mut analysis| {
                    analysis.problems.extend(problems);
                    Arc::new(diagnostics::checked(&snapshot, analysis, None))
                })
            };
            let outcome = match guard("the analysis", &outbox, work) {
                Ok(Ok(checked)) => Outcome::Done(checked),
                Ok(Err(_)) => Outcome::Stopped,
                Err(text) => Outcome::Failed(text),
            };
            drop(done);
            // A closed channel means that the process is about to end.
            let _ = send.send(Message::Analysed { uri, job: id, outcome });
        });
    }

    fn analysed(&mut self, uri: Uri, job: u64, outcome: Outcome) {
        self.running -= 1;
        self.keep(&uri, job, outcome);
        while self.running < self.most {
            let Some(next) = self.queue.pop_front() else { break };
            self.analyse(next);
        }
    }

    /// Takes an outcome over, if it is for the present text; else sees to it that one comes.
    fn keep(&mut self, uri: &Uri, job: u64, outcome: Outcome) {
        let (facts, workspace) = (self.facts.clone(), self.workspace.clone());
        let Some(open) = self.documents.get_mut(uri) else { return };
        // A job of a document that was closed and opened again.
        let Some(ended) = open.job.take_if(|running| running.id == job) else { return };
        let cut = |open: &Open, cut| {
            Arc::new(diagnostics::checked(&snapshot(uri, open, &facts, &workspace), Analysis::default(), Some(cut)))
        };
        let checked = match outcome {
            Outcome::Failed(text) => {
                open.desk.engine = Arc::new(Mutex::new(Engine::new(Limits::default())));
                cut(open, Cut::Failed(text))
            }
            _ if ended.generation != open.generation => {
                self.analyse(uri.clone());
                return;
            }
            Outcome::Done(checked) => checked,
            Outcome::Stopped => cut(open, Cut::Stopped),
        };
        if ended.generation != open.generation {
            self.analyse(uri.clone());
            return;
        }
        open.checked = Some(checked.clone());
        let (snapshot, watched) = (snapshot(uri, open, &facts, &workspace), open.watched.clone());
        for (_, reply) in std::mem::take(&mut open.parked) {
            let snapshot = snapshot.clone();
            self.runtime.spawn_blocking(move || reply(Ok(snapshot)));
        }
        if !facts.pull {
            open.said = true;
            let mut diagnostics = checked.diagnostics.clone();
            diagnostics.extend(open.run_diagnostics(uri, &facts));
            self.outbox.publish(uri.clone(), Some(snapshot.version), diagnostics);
        }
        self.outbox.report_changed(uri.clone(), watched);
    }
}

/// Runs of kernels.
impl State {
    fn run_kernel(&mut self, order: Order) {
        let uri = order.uri.clone();
        let Some(open) = self.documents.get_mut(&uri) else {
            self.outbox.show_error("fencepost: the file is not open, so nothing of it is run".to_owned());
            return;
        };
        if let Err(why) = self.facts.offers.allows(&order, open.source.python().is_some()) {
            self.outbox.show_error(format!("fencepost: {why}"));
            return;
        }
        if self.runs.contains_key(&uri) {
            self.outbox.show("fencepost: a kernel of this file is being run".to_owned());
            return;
        }
        if !std::mem::take(&mut open.marks).is_empty() {
            self.show_marks(&uri);
        }
        let Some(open) = self.documents.get(&uri) else { return };
        self.jobs += 1;
        let running = Running { id: self.jobs, stop: Arc::new(AtomicBool::new(false)) };
        let path = uri.to_file_path().map(|path| absolute(&path)).unwrap_or_default();
        let conductor = Conductor {
            client: self.client.clone(),
            outbox: self.outbox.clone(),
            send: self.send.clone(),
            gate: self.gate.clone(),
            root: self.workspace.root_of(&path),
        };
        let snapshot = snapshot(&uri, open, &self.facts, &self.workspace);
        self.runs.insert(uri, running.clone());
        self.runtime.spawn(runs::conduct(conductor, order, running, snapshot));
    }

    fn ran(&mut self, uri: &Uri, id: u64, outcome: runs::Outcome) {
        if self.runs.get(uri).is_some_and(|running| running.id == id) {
            self.runs.remove(uri);
        }
        let Some(open) = self.documents.get_mut(uri) else { return };
        match outcome {
            runs::Outcome::Nothing => {}
            runs::Outcome::Refused(why) => self.outbox.show_error(format!("fencepost: {why}")),
            runs::Outcome::Ran { generation, says, .. } if generation != open.generation => {
                self.outbox
                    .show(format!("fencepost: {says}; that is of an earlier text, so nothing is marked in this one"));
            }
            runs::Outcome::Ran { marks, says, .. } => {
                (open.marks, open.old_marks) = (marks, false);
                self.outbox.show(format!("fencepost: {says}"));
                self.show_marks(uri);
            }
        }
    }

    /// Publishes what came of a run. A client that asks for diagnostics itself keeps those apart from these.
    fn show_marks(&mut self, uri: &Uri) {
        let Some(open) = self.documents.get_mut(uri) else { return };
        let mut diagnostics = open.run_diagnostics(uri, &self.facts);
        if !self.facts.pull {
            open.said = true;
            diagnostics.extend(open.checked.iter().flat_map(|checked| checked.diagnostics.clone()));
        }
        self.outbox.publish(uri.clone(), Some(open.version), diagnostics);
    }
}

/// What there is to say of a file without kernels.
impl State {
    fn nothing(&mut self, uri: &Uri) {
        let (facts, workspace) = (self.facts.clone(), self.workspace.clone());
        let Some(open) = self.documents.get_mut(uri) else { return };
        let empty = diagnostics::checked(&snapshot(uri, open, &facts, &workspace), Analysis::default(), None);
        open.checked = Some(Arc::new(empty));
        let snapshot = snapshot(uri, open, &facts, &workspace);
        for (_, reply) in std::mem::take(&mut open.parked) {
            let snapshot = snapshot.clone();
            self.runtime.spawn_blocking(move || reply(Ok(snapshot)));
        }
        // Only where something was said before is there something to take back.
        if std::mem::take(&mut open.said) && !facts.pull {
            self.outbox.publish(uri.clone(), Some(open.version), Vec::new());
        }
    }
}

/// Marks a parked request that takes the analysis of any later text.
const ANY: u64 = u64::MAX;

fn snapshot(uri: &Uri, open: &Open, facts: &Arc<Facts>, workspace: &Arc<Workspace>) -> Snapshot {
    Snapshot {
        uri: uri.clone(),
        version: open.version,
        rope: open.rope.clone(),
        source: open.source.clone(),
        workspace: workspace.clone(),
        facts: facts.clone(),
        checked: open.checked.clone(),
        desk: Desk { generation: open.generation, ..open.desk.clone() },
    }
}
