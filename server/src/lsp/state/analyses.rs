//! When analyses run, and what becomes of their outcomes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use base::{Cancel, Cancelled};
use engine::{Analysis, Source};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
use tower_lsp::ls_types::Uri;

use super::{AnalysisOutcome, SessionState, StateMessage};
use crate::lsp::diagnostics::{self, CutOff};
use crate::lsp::document::{AnalysisJob, DiskCheck, OpenDocument};
use crate::lsp::panics::catch_panic;
use crate::lsp::snapshot::{DocumentAnalysis, Snapshot};
use crate::workspace::{Dependencies, LoaderClient, settings_problems};
use transport::{Refresher, progress};

/// How long the analysis of a text that is being typed waits for the comparison with the disk.
const BRIEF_CHECK: Duration = Duration::from_millis(100);

impl SessionState {
    /// Starts the analysis of a document's present text, or queues it.
    pub(super) fn analyse(&mut self, uri: Uri) {
        let Some(document) = self.documents.get_mut(&uri) else { return };
        if !document.holds_kernels() {
            self.keep_empty(&uri);
            return;
        }
        if document.job.is_some() {
            return;
        }
        if self.running >= self.max_running {
            if !self.queue.contains(&uri) {
                self.queue.push_back(uri);
            }
            return;
        }
        self.last_id += 1;
        self.running += 1;
        let (id, generation, stop) = (self.last_id, document.generation, Arc::new(AtomicBool::new(false)));
        document.job = Some(AnalysisJob { id, generation, stop: stop.clone(), edited: Vec::new() });
        let check = std::mem::take(&mut document.disk_check);
        let mut snapshot = self.shared.snapshot(&uri, document);
        let (messages, sender) = (self.messages.clone(), self.sender.clone());
        let (done, ended) = oneshot::channel::<()>();
        if self.shared.client.progress {
            let name = uri.path().as_str().rsplit('/').next().unwrap_or_default().to_owned();
            let title = format!("Checking barriers of {name}");
            self.runtime.spawn(progress::show(self.client.clone(), id, title, ended));
        }
        self.runtime.spawn_blocking(move || {
            let stopped = || stop.load(Ordering::Relaxed);
            let work = || analyse(&mut snapshot, check, &messages, &Cancel::when(&stopped));
            let outcome = match catch_panic("the analysis", &sender, work) {
                Ok(Ok(analysis)) => AnalysisOutcome::Done(Arc::new(analysis)),
                Ok(Err(Cancelled)) => AnalysisOutcome::Stopped,
                Err(text) => AnalysisOutcome::Failed(text),
            };
            drop(done);
            let disk_revision = snapshot.workspace.view.revision;
            // A closed channel means that the process is about to end.
            let _ = messages.send(StateMessage::AnalysisEnded { uri, job: id, disk_revision, outcome });
        });
    }

    /// Starts analyses that wait until fewer run.
    pub(super) fn start_queued(&mut self) {
        while self.running < self.max_running {
            let Some(next) = self.queue.pop_front() else { break };
            self.analyse(next);
        }
    }

    /// Takes an outcome over, if it is for the present text; else sees to it that one comes.
    pub(super) fn keep(&mut self, uri: &Uri, job: u64, disk_revision: u64, outcome: AnalysisOutcome) {
        let Some(document) = self.documents.get_mut(uri) else { return };
        // A job of a document that was closed and opened again.
        let Some(ended) = document.job.take_if(|running| running.id == job) else { return };
        let cut_off = |document: &OpenDocument, why| {
            let snapshot = self.shared.snapshot(uri, document);
            Arc::new(diagnostics::document_analysis(&snapshot, Analysis::default(), None, Some(why)))
        };
        let current = ended.generation == document.generation;
        let analysis = match outcome {
            AnalysisOutcome::Failed(text) => {
                document.cache.renew_engine();
                cut_off(document, CutOff::Failed(text))
            }
            AnalysisOutcome::Done(analysis) => analysis,
            AnalysisOutcome::Stopped if current => cut_off(document, CutOff::Stopped),
            AnalysisOutcome::Stopped => {
                self.analyse(uri.clone());
                return;
            }
        };
        if !current {
            self.analyse(uri.clone());
            return;
        }
        document.disk_revision = disk_revision;
        document.analysis = Some(analysis.clone());
        let edited = ended.edited.iter().any(|path| document.depends_on(path, &self.shared.workspace));
        if edited || document.is_outdated_by(&self.shared.workspace) {
            self.analyse_again(vec![uri.clone()], DiskCheck::None);
            return;
        }
        let before = document.told.replace(analysis.result_id.clone());
        if std::mem::take(&mut document.rechecked) && before.is_some_and(|before| before != analysis.result_id) {
            self.refresher.iter().for_each(Refresher::ask);
        }
        self.answer_waiting(uri);
        let Some(document) = self.documents.get_mut(uri) else { return };
        if !self.shared.client.pull_diagnostics {
            document.published = true;
            let mut diagnostics = analysis.diagnostics.clone();
            diagnostics.extend(document.run_diagnostics(uri, &self.shared.client));
            self.sender.publish(uri.clone(), Some(document.version), diagnostics);
        }
        self.sender.report_changed(uri.clone(), document.report_subscribers.clone());
    }

    /// The outcome of a file without kernels: nobody needs to analyse it.
    fn keep_empty(&mut self, uri: &Uri) {
        let Some(document) = self.documents.get_mut(uri) else { return };
        let snapshot = self.shared.snapshot(uri, document);
        document.analysis = Some(Arc::new(diagnostics::document_analysis(&snapshot, Analysis::default(), None, None)));
        // Only where something was published before is there something to take back.
        let published = std::mem::take(&mut document.published);
        let version = document.version;
        self.answer_waiting(uri);
        if published && !self.shared.client.pull_diagnostics {
            self.sender.publish(uri.clone(), Some(version), Vec::new());
        }
    }

    fn answer_waiting(&mut self, uri: &Uri) {
        let Some(document) = self.documents.get_mut(uri) else { return };
        let waiting = std::mem::take(&mut document.waiting);
        let snapshot = self.shared.snapshot(uri, document);
        for request in waiting {
            let snapshot = snapshot.clone();
            self.runtime.spawn_blocking(move || (request.reply)(Ok(snapshot)));
        }
    }
}

/// Analyses a document, on a worker.
fn analyse(
    snapshot: &mut Snapshot,
    check: DiskCheck,
    messages: &UnboundedSender<StateMessage>,
    cancel: &Cancel<'_>,
) -> Result<DocumentAnalysis, Cancelled> {
    let blocked = |blocked| drop(messages.send(StateMessage::AnalysisBlocked(blocked)));
    if snapshot.source.python().is_some() {
        check_disk(snapshot, check, &blocked, cancel)?;
    }
    let elaborated = snapshot.elaborate(cancel, &blocked)?;
    let mut dependencies = Dependencies::default();
    // A panic may have poisoned it; then it has been replaced and nobody else holds it.
    let mut engine = snapshot.cache.engine.lock().unwrap_or_else(PoisonError::into_inner);
    let analysis = match (&*snapshot.source, elaborated) {
        (Source::Ir(document), _) => {
            let sources = snapshot.sources(cancel, &blocked);
            let configuration = sources.settings_of(&snapshot.path());
            if sources.is_incomplete() {
                return Err(Cancelled);
            }
            engine.set_limits(configuration.settings.limits());
            let mut analysis = engine.analyse(document, cancel)?;
            configuration.settings.apply(&mut analysis);
            analysis.problems.extend(configuration.problems);
            dependencies.extend(sources.dependencies());
            analysis
        }
        (Source::Other(text), _) => Analysis { problems: settings_problems(text), ..Analysis::default() },
        (Source::Python(_), Some(elaborated)) => {
            let sources = snapshot.sources(cancel, &blocked);
            let configuration = elaborated.configuration;
            engine.set_limits(configuration.settings.limits());
            let mut analysis = engine.analyse_python(&elaborated.elaboration, &sources, cancel)?;
            if sources.is_incomplete() {
                return Err(Cancelled);
            }
            configuration.settings.apply(&mut analysis);
            analysis.problems.extend(configuration.problems);
            dependencies.extend(elaborated.dependencies);
            dependencies.extend(sources.dependencies());
            analysis
        }
        (Source::Python(_), None) => Analysis::default(),
    };
    drop(engine);
    Ok(diagnostics::document_analysis(snapshot, analysis, Some(dependencies), None))
}

/// Brings the view of the disk up to date, as far as the analysis is to wait for that.
fn check_disk(
    snapshot: &mut Snapshot,
    check: DiskCheck,
    blocked: &dyn Fn(bool),
    cancel: &Cancel<'_>,
) -> Result<(), Cancelled> {
    let Some(loader) = &snapshot.loader else { return Ok(()) };
    let view = match check {
        DiskCheck::None => None,
        DiskCheck::Brief(asked) => loader.revalidate(asked, false).wait(cancel, Some(BRIEF_CHECK)),
        DiskCheck::Full(asked) => {
            LoaderClient::new(Some(loader), cancel, blocked).wait(&loader.revalidate(asked, false))
        }
    };
    cancel.check()?;
    if let Some(view) = view {
        Arc::make_mut(&mut snapshot.workspace).view = view;
    }
    Ok(())
}
