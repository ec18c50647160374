//! What the state thread is told.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use engine::{Depth, KernelNumber};
use findings::KernelReport;
use serde_json::Value;
use tokio::sync::oneshot;
use tower_lsp::ls_types::{TextDocumentContentChangeEvent, Uri};
use ttgir::SyntaxError;

use crate::lsp::client_config::ClientConfig;
use crate::lsp::document::Reply;
use crate::lsp::runs::on_save::Compiled;
use crate::lsp::runs::waiting::RunWaiter;
use crate::lsp::runs::{RunKernelParams, RunOutcome};
use crate::lsp::session_snapshot::SessionSnapshot;
use crate::lsp::shared::WorkspaceState;
use crate::lsp::snapshot::DocumentAnalysis;

use transport::Lost;
use transport::progress::Job;
use workspace::FileView;

/// A message to the state thread, which takes them in order.
pub(crate) enum StateMessage {
    /// The client introduced itself.
    Initialize { client: Arc<ClientConfig>, folders: Vec<PathBuf>, settings: Value },
    /// The client is ready to be asked.
    Initialized,
    /// Somebody wants to look at files that are not open.
    Workspace(oneshot::Sender<WorkspaceState>),
    /// The client has asked for the workspace, and is told so of the `fencepost.toml` of these folders.
    SettingsTold(BTreeSet<PathBuf>),
    /// Somebody wants to work when no document is analysed.
    WhenIdle(oneshot::Sender<()>),
    /// The client watches no files.
    WatchFiles,
    /// The client says that its settings have changed, as it sends them.
    SettingsAnnounced(Value),
    /// What the client has set.
    SettingsChanged(Value),
    /// A document was opened.
    Open { uri: Uri, language: String, version: i32, text: String },
    /// A document was changed.
    Change { uri: Uri, version: i32, changes: Vec<TextDocumentContentChangeEvent> },
    /// A message that may have changed a document could not be read, and why.
    Lost { what: Lost, why: String },
    /// A document was closed.
    Close { uri: Uri },
    /// These files were saved, made, changed or deleted, whether they are open or not.
    FilesChanged(Vec<Uri>),
    /// A document was saved.
    Saved(Uri),
    /// What the user's own Triton compiled of a document that was saved; `None` where that was stopped.
    Compiled { uri: Uri, id: u64, compiled: Option<Compiled> },
    /// The workspace has other folders.
    FoldersChanged { added: Vec<PathBuf>, removed: Vec<PathBuf> },
    /// The loader has read files.
    FilesRead(Arc<FileView>),
    /// A request came.
    Request { uri: Uri, need: Need, reply: Reply },
    /// A request came that is about several documents.
    SessionRequest(Box<dyn FnOnce(&SessionSnapshot) + Send>),
    /// A report of a document is shown: as a document of this name, or by the client itself.
    SubscribeReport { uri: Uri, page: Option<String> },
    /// [`REPORT_TIMEOUT`](super::REPORT_TIMEOUT) has passed since a document got this text.
    ReportTimeout { uri: Uri, generation: u64 },
    /// Nobody has typed for a moment since a document got this text.
    Paused { uri: Uri, generation: u64 },
    /// An analysis begins, or has ceased, to wait for the loader.
    AnalysisBlocked(bool),
    /// An analysis has found something out.
    AnalysisProgress { uri: Uri, job: u64, found: FoundSoFar },
    /// An analysis has gone on for so long that somebody who waits should see what it has found.
    ShowInterim { uri: Uri, job: u64 },
    /// An analysis ended; `disk_revision` is that of the view of the disk it was made with.
    AnalysisEnded { uri: Uri, job: u64, disk_revision: u64, outcome: AnalysisOutcome },
    /// The user wants an analysis or a run to end.
    Cancel(Job),
    /// A kernel is to be run; who waits for the end is told, and nobody else.
    StartRun(RunKernelParams, Option<RunWaiter>),
    /// A run ended.
    RunEnded { uri: Uri, id: u64, outcome: RunOutcome, waiter: Option<RunWaiter> },
    /// The session ends.
    Shutdown,
}

/// What an analysis under way has found out.
pub(crate) enum FoundSoFar {
    /// Of a kernel.
    Kernel(KernelNumber, Depth, Box<KernelReport>),
    /// That a section does not parse.
    Syntax(Vec<SyntaxError>),
}

impl StateMessage {
    /// What the message is, and the document that suffers where it is not handled.
    pub(super) fn about(&self) -> (&'static str, Option<Uri>) {
        match self {
            StateMessage::Open { uri, .. } => ("the state: open", Some(uri.clone())),
            StateMessage::Change { uri, .. } => ("the state: change", Some(uri.clone())),
            StateMessage::AnalysisEnded { uri, .. } => ("the state: analysis ended", Some(uri.clone())),
            StateMessage::RunEnded { uri, .. } => ("the state: run ended", Some(uri.clone())),
            StateMessage::Request { uri, .. } => ("the state: request", Some(uri.clone())),
            StateMessage::Close { uri } => ("the state: close", Some(uri.clone())),
            _ => ("the state: a message", None),
        }
    }
}

/// What a request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// The text as it is.
    Text,
    /// The analysis of the text as it is.
    CurrentAnalysis,
    /// An analysis; if the text changes meanwhile, that of the newer one.
    NewestAnalysis,
    /// The same, or what there is to show of it once it takes long.
    Diagnostics,
}

/// How an analysis ended.
pub(crate) enum AnalysisOutcome {
    /// With an answer.
    Done(Arc<DocumentAnalysis>),
    /// It was stopped.
    Stopped,
    /// It panicked, with this text.
    Failed(String),
}
