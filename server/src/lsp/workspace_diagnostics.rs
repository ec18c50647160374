//! Diagnostics of files that nobody has opened: for clients that ask for those of the workspace.
//!
//! One file after the other, and only while no open document is analysed. What was said of a file is kept until the
//! file, one that it has looked at, or the settings change. A client that has everything already gets its answer when
//! there is something new.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base::{Cancel, Cancelled};
use rustc_hash::FxHashMap;
use serde_json::json;
use settings::{FILE, Settings};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::ls_types::{
    Diagnostic, FullDocumentDiagnosticReport, NumberOrString, ProgressToken, UnchangedDocumentDiagnosticReport, Uri,
    WorkspaceDiagnosticParams, WorkspaceDiagnosticReport, WorkspaceDocumentDiagnosticReport,
    WorkspaceFullDocumentDiagnosticReport, WorkspaceUnchangedDocumentDiagnosticReport,
};
use transport::{Client, ClientSender, partial_result};

use super::diagnostics::result_id;
use super::document::{DiskCheck, OpenDocument};
use super::panics::catch_panic;
use super::shared::WorkspaceState;
use super::snapshot::Snapshot;
use super::state::{StateMessage, Watched, analyse};
use workspace::listing::{self, Listing};
use workspace::{Dependencies, FileSystem, SETTINGS, Stamp};

/// How long a request waits for a change before it looks again by itself; with a client that says when files change,
/// and with one that does not.
const WATCHED_PAUSE: Duration = Duration::from_secs(600);
const PAUSE: Duration = Duration::from_secs(10);
/// What happens within this time is one change.
const TOGETHER: Duration = Duration::from_millis(100);

/// What was said of files that are not open.
#[derive(Default)]
pub(crate) struct KnownFiles {
    files: Mutex<FxHashMap<PathBuf, KnownFile>>,
    /// The files themselves, and after how many changes they were listed.
    listing: Mutex<Option<(u64, Arc<Listing>)>>,
}

/// What was said of one.
#[derive(Clone)]
struct KnownFile {
    stamp: Stamp,
    /// [`FileView::revision`](workspace::FileView::revision).
    revision: u64,
    editor: Arc<Settings>,
    dependencies: Dependencies,
    result_id: String,
    diagnostics: Arc<Vec<Diagnostic>>,
}

impl KnownFile {
    /// Without what is wrong with the settings that hold for it.
    fn leave_out_settings(&mut self) {
        let code = |diagnostic: &Diagnostic| diagnostic.code == Some(NumberOrString::String(SETTINGS.to_owned()));
        if self.diagnostics.iter().any(code) {
            self.diagnostics = Arc::new(self.diagnostics.iter().filter(|it| !code(it)).cloned().collect());
            self.result_id = result_id(&self.diagnostics);
        }
    }
}

/// Ends the work of a request that is dropped.
struct StopWhenDropped(Arc<AtomicBool>);

impl Drop for StopWhenDropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What a worker needs.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) state: UnboundedSender<StateMessage>,
    pub(crate) sender: ClientSender,
    pub(crate) client: Client,
    pub(crate) disk: Arc<dyn FileSystem>,
    pub(crate) known: Arc<KnownFiles>,
}

type Report = WorkspaceDocumentDiagnosticReport;

/// The diagnostics of the workspace; those that the client has already are said to be unchanged.
///
/// # Errors
///
/// Where the session ends, or our work has panicked.
pub(crate) async fn report(context: Context, params: WorkspaceDiagnosticParams) -> Result<WorkspaceDiagnosticReport> {
    let previous: BTreeMap<String, (Uri, String)> = params
        .previous_result_ids
        .into_iter()
        .map(|known| (known.uri.as_str().to_owned(), (known.uri, known.value)))
        .collect();
    let previous = Arc::new(previous);
    let token = params.partial_result_params.partial_result_token;
    loop {
        let (reply, receive) = oneshot::channel();
        // A closed channel means that the process is about to end.
        let _ = context.state.send(StateMessage::Workspace(reply));
        let state = receive.await.map_err(|_| Error::request_cancelled())?;
        let (mut changes, watches) = (state.changes.clone(), state.shared.client.watches_files);
        let (items, news) = once(&context, state, previous.clone(), token.as_ref()).await?;
        // Who has nothing yet is not kept waiting.
        if previous.is_empty() || news {
            return Ok(WorkspaceDiagnosticReport { items });
        }
        // Nothing is new: the answer comes when something is. At the end of the session nobody waits for it.
        let patience = if watches { WATCHED_PAUSE } else { PAUSE };
        if let Ok(Err(_)) = timeout(patience, changes.changed()).await {
            return Ok(WorkspaceDiagnosticReport { items });
        }
        sleep(TOGETHER).await;
    }
}

/// Looks at the workspace once. Beside the reports that are left for the answer: whether anything is new.
async fn once(
    context: &Context,
    state: WorkspaceState,
    previous: Arc<BTreeMap<String, (Uri, String)>>,
    token: Option<&ProgressToken>,
) -> Result<(Vec<Report>, bool)> {
    let stop = Arc::new(AtomicBool::new(false));
    let _guard = StopWhenDropped(stop.clone());
    let (parts, receive) = unbounded_channel();
    let (worker, sender) = (context.clone(), context.sender.clone());
    let work = tokio::task::spawn_blocking(move || {
        let stopped = || stop.load(Ordering::Relaxed);
        catch_panic("workspace diagnostics", &sender, || {
            look(&worker, &state, &previous, &parts, &Cancel::when(&stopped))
        })
    });
    let (items, streamed) = collect(&context.client, receive, token).await;
    let news = match work.await {
        Ok(Ok(looked)) => looked == Ok(true),
        Ok(Err(panic)) => {
            return Err(Error { code: ErrorCode::InternalError, message: panic.into(), data: None });
        }
        Err(_) => return Err(Error::internal_error()),
    };
    if streamed {
        partial_result::settle().await;
    }
    Ok((items, news || streamed))
}

/// Takes reports as they come: what is new goes to the client at once, where it takes parts.
async fn collect(
    client: &Client,
    mut receive: UnboundedReceiver<Report>,
    token: Option<&ProgressToken>,
) -> (Vec<Report>, bool) {
    let (mut items, mut streamed) = (Vec::new(), false);
    while let Some(report) = receive.recv().await {
        match (token, &report) {
            (Some(token), Report::Full(_)) => {
                partial_result::send(client, token, json!({ "items": [report] })).await;
                streamed = true;
            }
            _ => items.push(report),
        }
    }
    (items, streamed)
}

/// Looks at all files, on a worker; whether anything is new.
fn look(
    context: &Context,
    state: &WorkspaceState,
    previous: &BTreeMap<String, (Uri, String)>,
    parts: &UnboundedSender<Report>,
    cancel: &Cancel<'_>,
) -> std::result::Result<bool, Cancelled> {
    let listing = listed(context, state, cancel)?;
    if listing.cut {
        tracing::warn!("the workspace has more files than are analysed unopened");
    }
    // What is wrong with settings is said there.
    let mut told_settings = BTreeSet::new();
    for (path, stamp) in listing.files.iter().filter(|(path, _)| path.ends_with(FILE)) {
        let (Some(uri), Some(folder)) = (Uri::from_file_path(path), path.parent()) else { continue };
        if state.open.contains(&uri) || known(context, state, (&uri, path, *stamp), cancel)?.is_some() {
            told_settings.insert(folder.to_path_buf());
        }
    }
    if told_settings != *state.shared.told_settings {
        // A closed channel means that the process is about to end.
        let _ = context.state.send(StateMessage::SettingsTold(told_settings.clone()));
    }
    let (mut news, mut told) = (false, BTreeMap::new());
    for (path, stamp) in &listing.files {
        cancel.check()?;
        let Some(uri) = Uri::from_file_path(path).filter(|uri| !state.open.contains(uri)) else { continue };
        let Some(mut known) = known(context, state, (&uri, path, *stamp), cancel)? else { continue };
        if !path.ends_with(FILE) && path.ancestors().skip(1).any(|folder| told_settings.contains(folder)) {
            known.leave_out_settings();
        }
        let before = previous.get(uri.as_str()).map(|(_, id)| id);
        let same = before == Some(&known.result_id);
        // A file that has nothing to say and never had is not mentioned.
        if before.is_none() && known.diagnostics.is_empty() {
            continue;
        }
        news |= !same;
        told.insert(uri.as_str().to_owned(), ());
        // A closed channel means that nobody waits.
        let _ = parts.send(if same {
            unchanged(uri, known.result_id)
        } else {
            full(uri, Some(known.result_id), &known.diagnostics)
        });
    }
    // What was said of files that are gone, or are left out now, is taken back. Open ones say it themselves.
    for (name, (uri, _)) in previous.iter().filter(|(name, _)| !told.contains_key(*name)) {
        if !state.open.iter().any(|open| open.as_str() == name) {
            news = true;
            let _ = parts.send(full(uri.clone(), None, &[]));
        }
    }
    Ok(news)
}

/// The files of the workspace. A client that watches them says when there are others.
fn listed(
    context: &Context,
    state: &WorkspaceState,
    cancel: &Cancel<'_>,
) -> std::result::Result<Arc<Listing>, Cancelled> {
    let (watched, now) = (state.shared.client.watches_files, *state.changes.borrow());
    let lock = || context.known.listing.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = lock().as_ref().filter(|(of, _)| watched && *of == now) {
        return Ok(known.clone());
    }
    let listing = Arc::new(listing::list(&*context.disk, &state.shared.workspace.roots, cancel));
    cancel.check()?;
    *lock() = Some((now, listing.clone()));
    Ok(listing)
}

/// What there is to say of a file: what was said before, where nothing has changed. `None` where it is left out.
fn known(
    context: &Context,
    state: &WorkspaceState,
    (uri, path, stamp): (&Uri, &Path, Stamp),
    cancel: &Cancel<'_>,
) -> std::result::Result<Option<KnownFile>, Cancelled> {
    let workspace = &state.shared.workspace;
    let lock = || context.known.files.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = lock().get(path).cloned();
    let is_open = |path: &Path| workspace.is_open(path);
    let holds = |kept: &KnownFile| {
        kept.stamp == stamp
            && *kept.editor == *workspace.editor
            && !workspace.view.concerns(kept.revision, &kept.dependencies, &is_open)
            && !workspace.has_open_among(&kept.dependencies)
    };
    if let Some(kept) = kept.filter(holds) {
        return Ok(Some(kept));
    }
    let Some(text) = listing::read(&*context.disk, path) else { return Ok(None) };
    // Open documents come first.
    let (idle, waits) = oneshot::channel();
    let _ = context.state.send(StateMessage::WhenIdle(idle));
    if waits.blocking_recv().is_err() {
        return Err(Cancelled);
    }
    cancel.check()?;
    let document = OpenDocument::new(uri, "", 0, text, state.shared.outcomes.clone());
    let mut snapshot: Snapshot = state.shared.snapshot(uri, &document);
    if !path.ends_with(FILE) && snapshot.sources(cancel, &|_| {}).settings_of(path).excludes(path) {
        return Ok(None);
    }
    let watched = Watched { blocked: &|_| {}, judging: &|| {}, cancel };
    let analysed = analyse(&mut snapshot, DiskCheck::None, 0, &watched, &mut |_| {})?;
    let known = KnownFile {
        stamp,
        revision: workspace.view.revision,
        editor: workspace.editor.clone(),
        dependencies: analysed.dependencies.unwrap_or_default(),
        result_id: analysed.result_id,
        diagnostics: Arc::new(analysed.diagnostics),
    };
    lock().insert(path.to_path_buf(), known.clone());
    Ok(Some(known))
}

fn full(uri: Uri, result_id: Option<String>, items: &[Diagnostic]) -> Report {
    let full_document_diagnostic_report = FullDocumentDiagnosticReport { result_id, items: items.to_vec() };
    Report::Full(WorkspaceFullDocumentDiagnosticReport { uri, version: None, full_document_diagnostic_report })
}

fn unchanged(uri: Uri, result_id: String) -> Report {
    let unchanged_document_diagnostic_report = UnchangedDocumentDiagnosticReport { result_id };
    Report::Unchanged(WorkspaceUnchangedDocumentDiagnosticReport {
        uri,
        version: None,
        unchanged_document_diagnostic_report,
    })
}
