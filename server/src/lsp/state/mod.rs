//! The state thread: takes messages in order, owns the documents, never blocks.
//!
//! It reads no file and takes no lock that anybody holds while he does: the files of the workspace are an
//! immutable snapshot, which it replaces when the loader posts another view of the disk.
//!
//! The newest text of a document is analysed as soon as it is there. The analysis of the text before may go on with the
//! kernel that it is at, since the newest may hold that one, too: who asks for a kernel that somebody judges waits for
//! that answer. An analysis that takes long shows what it has found so far; what it has not come to is shown as it was
//! found in an earlier text, and says so. The outcome for a text that is no longer the newest is dropped.

mod analyses;
mod documents;
mod editor_settings;
mod files;
mod message;
mod pushed_settings;
mod recovery;
mod runs;
mod saved;
mod status;
mod sync;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use settings::Settings;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{oneshot, watch};
use tower_lsp::ls_types::{Diagnostic, Uri};
use transport::Client;
use transport::progress::Job;

use super::document::{AnalysisJob, OpenDocument, Refusal, Reply, WaitingRequest};
use super::runs::{ActiveRun, ActiveRuns};
use super::session_snapshot::SessionSnapshot;
use super::shared::{Shared, WorkspaceState};
use transport::{ClientSender, Refresher};
use workspace::{FileSystem, Loader, WorkspaceSnapshot};

pub(crate) use crate::limits::shown::REPORT as REPORT_TIMEOUT;
pub(crate) use analyses::{Watched, analyse};
pub(crate) use message::{AnalysisOutcome, FoundSoFar, Need, StateMessage};

/// The state of a session.
pub(crate) struct SessionState {
    documents: BTreeMap<Uri, OpenDocument>,
    shared: Shared,
    sender: ClientSender,
    /// Tells a client that asks for diagnostics itself that there are others.
    refresher: Option<Refresher>,
    client: Client,
    runtime: Handle,
    messages: UnboundedSender<StateMessage>,
    /// Documents that wait until fewer analyses run.
    queue: VecDeque<Uri>,
    /// Analyses that run and do not wait for the loader.
    running: usize,
    /// How many of them may run at once.
    max_running: usize,
    /// Runs of kernels, by document.
    runs: BTreeMap<Uri, ActiveRun>,
    /// Saved files that are being compiled.
    compilations: BTreeMap<Uri, ActiveRun>,
    /// Folders of compiled kernels that the client was asked to watch.
    dumps: BTreeSet<PathBuf>,
    /// Whether the user knows that nothing is compiled here.
    told_untrusted: bool,
    active_runs: Arc<ActiveRuns>,
    /// Numbers for analyses and runs.
    last_id: u64,
    /// The settings among the options that the session began with.
    options: Settings,
    /// What was wrong with the editor's settings the last time.
    wrong_settings: Vec<String>,
    /// What was pushed of files of settings that are not open.
    pushed_settings: BTreeMap<Uri, Vec<Diagnostic>>,
    /// Counts what may change what is said of files that are not open.
    changes: watch::Sender<u64>,
    /// Changes of documents so far.
    edits: u64,
    /// Those who work when no document is analysed.
    when_idle: Vec<oneshot::Sender<()>>,
}

impl SessionState {
    /// Starts the state thread and the loader; must be called on the runtime. Without a loader no file is there,
    /// without a state thread no request is answered; neither has been seen.
    pub(crate) fn start(
        client: Client,
        sender: ClientSender,
        active_runs: Arc<ActiveRuns>,
        file_system: Arc<dyn FileSystem>,
    ) -> UnboundedSender<StateMessage> {
        let (messages, receive) = unbounded_channel();
        let to_state = messages.clone();
        // A closed channel means that the process is about to end.
        let loader = Loader::start(file_system, move |view| drop(to_state.send(StateMessage::FilesRead(view))));
        let loader = loader.inspect_err(|error| tracing::error!("cannot start the loader: {error}")).ok();
        let state = SessionState {
            documents: BTreeMap::new(),
            shared: Shared {
                client: Arc::default(),
                workspace: Arc::default(),
                outcomes: Arc::default(),
                loader,
                told_settings: Arc::default(),
            },
            sender,
            refresher: None,
            client,
            runtime: Handle::current(),
            messages: messages.clone(),
            queue: VecDeque::new(),
            running: 0,
            max_running: thread::available_parallelism().map_or(2, |cores| cores.get().max(2)),
            runs: BTreeMap::new(),
            compilations: BTreeMap::new(),
            dumps: BTreeSet::new(),
            told_untrusted: false,
            active_runs,
            last_id: 0,
            options: Settings::default(),
            wrong_settings: Vec::new(),
            pushed_settings: BTreeMap::new(),
            changes: watch::Sender::new(0),
            edits: 0,
            when_idle: Vec::new(),
        };
        if let Err(error) = thread::Builder::new().name("state".to_owned()).spawn(move || state.run(receive)) {
            tracing::error!("cannot start the state thread: {error}");
        }
        messages
    }

    fn run(mut self, mut receive: UnboundedReceiver<StateMessage>) {
        while let Some(message) = receive.blocking_recv() {
            self.handle_safely(message);
            if self.running == 0 && self.queue.is_empty() {
                // Who has gone wants nothing any more.
                for waits in self.when_idle.drain(..) {
                    let _ = waits.send(());
                }
            }
        }
    }

    fn handle(&mut self, message: StateMessage) {
        match message {
            StateMessage::Initialize { client, folders, settings } => {
                let what = client.refreshable;
                self.refresher = Some(Refresher::start(&self.runtime, self.client.clone(), what));
                self.shared.client = client;
                self.set_roots(folders);
                self.options_given(&settings);
            }
            StateMessage::Open { uri, language, version, text } => self.open(uri, &language, version, text),
            StateMessage::Change { uri, version, changes } => self.change(&uri, version, changes),
            StateMessage::Lost { what, why } => self.lost(&what, &why),
            StateMessage::Close { uri } => self.close(uri),
            StateMessage::FilesChanged(uris) => self.files_changed(&uris),
            StateMessage::Saved(uri) => self.saved(uri),
            StateMessage::Compiled { uri, id, compiled } => self.compiled(&uri, id, compiled),
            StateMessage::Initialized => self.initialized(),
            StateMessage::Workspace(reply) => {
                let (shared, open) = (self.shared.clone(), self.documents.keys().cloned().collect());
                let _ = reply.send(WorkspaceState { shared, open, changes: self.changes.subscribe() });
            }
            StateMessage::SettingsTold(folders) => self.settings_told(folders),
            StateMessage::WhenIdle(waits) => self.when_idle.push(waits),
            StateMessage::WatchFiles => self.watch_files(),
            StateMessage::SettingsAnnounced(settings) => self.settings_announced(&settings),
            StateMessage::SettingsChanged(settings) => self.settings_changed(&settings),
            StateMessage::FoldersChanged { added, removed } => self.folders_changed(added, &removed),
            StateMessage::FilesRead(view) => self.files_read(view),
            StateMessage::Request { uri, need, reply } => self.request(&uri, need, reply),
            StateMessage::SessionRequest(reply) => {
                let session = self.session_snapshot();
                self.runtime.spawn_blocking(move || reply(&session));
            }
            StateMessage::SubscribeReport { uri, page } => {
                if let Some(document) = self.documents.get_mut(&uri) {
                    document.report_subscribers.add(page);
                }
            }
            StateMessage::ReportTimeout { uri, generation } => {
                let late = |open: &&OpenDocument| open.generation == generation && open.analysis.is_none();
                if let Some(document) = self.documents.get(&uri).filter(late) {
                    self.sender.report_changed(uri, document.report_subscribers.clone());
                }
            }
            StateMessage::Paused { uri, generation } => {
                let waits = |open: &&OpenDocument| open.generation == generation && open.settled.is_some();
                if self.documents.get(&uri).filter(waits).is_some() {
                    self.analyse(uri);
                }
            }
            StateMessage::AnalysisBlocked(true) => {
                self.running -= 1;
                self.start_queued();
            }
            StateMessage::AnalysisBlocked(false) => self.running += 1,
            StateMessage::AnalysisProgress { uri, job, found } => self.note_progress(&uri, job, found),
            StateMessage::ShowInterim { uri, job } => self.show_interim(&uri, job),
            StateMessage::AnalysisEnded { uri, job, disk_revision, outcome } => {
                self.keep(&uri, job, disk_revision, outcome);
                self.start_queued();
            }
            StateMessage::Cancel(Job::Analysis(id)) => {
                let jobs = self.documents.values().flat_map(OpenDocument::jobs);
                jobs.filter(|job| job.id == id).for_each(AnalysisJob::cancel);
            }
            StateMessage::Cancel(Job::Run(id)) => {
                let all = self.runs.values().chain(self.compilations.values());
                all.filter(|run| run.id == id).for_each(ActiveRun::cancel);
            }
            StateMessage::StartRun(request, waiter) => self.start_run(request, waiter),
            StateMessage::RunEnded { uri, id, outcome, waiter } => self.run_ended(&uri, id, outcome, waiter),
            StateMessage::Shutdown => {
                // Who waits for changes of the workspace waits no longer.
                self.changes = watch::Sender::new(0);
                let uris: Vec<Uri> = self.documents.keys().cloned().collect();
                for uri in uris {
                    self.forget(&uri);
                }
            }
        }
    }

    /// Something has changed that may change what is said of files that are not open.
    fn workspace_changed(&self) {
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// The workspace, to be changed: workers keep the one they have.
    fn workspace(&mut self) -> &mut WorkspaceSnapshot {
        Arc::make_mut(&mut self.shared.workspace)
    }

    /// All open documents at this moment.
    fn session_snapshot(&self) -> SessionSnapshot {
        let Shared { client, workspace, loader, .. } = &self.shared;
        SessionSnapshot {
            documents: self.documents.iter().map(|(uri, document)| self.shared.snapshot(uri, document)).collect(),
            workspace: workspace.clone(),
            loader: loader.clone(),
            client: client.clone(),
        }
    }

    fn request(&mut self, uri: &Uri, need: Need, reply: Reply) {
        let Some(document) = self.documents.get_mut(uri) else {
            reply(Err(Refusal::UnknownDocument));
            return;
        };
        if need == Need::Text && document.out_of_sync.is_some() {
            // Places in a text that the client does not have.
            reply(Err(Refusal::UnknownDocument));
            return;
        }
        let interim = need == Need::Diagnostics && self.shared.client.refreshable.diagnostics;
        let settled = need == Need::Diagnostics && document.settled.is_some();
        let shown = settled || (interim && document.interim.is_some());
        if need != Need::Text && document.analysis.is_none() && !shown {
            let generation = (need == Need::CurrentAnalysis).then_some(document.generation);
            document.waiting.push_back(WaitingRequest { generation, interim, reply });
            if document.settled.is_some() {
                self.analyse(uri.clone());
            }
            return;
        }
        document.owes_refresh |= interim && !settled && document.analysis.is_none();
        let snapshot = self.shared.snapshot(uri, document);
        self.runtime.spawn_blocking(move || reply(Ok(snapshot)));
    }
}
