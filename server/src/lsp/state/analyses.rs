//! When analyses run, and what becomes of their outcomes.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use base::{Cancel, Cancelled};
use engine::{Analysis, Listener, Progress, Source};
use execution::recipe_check;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
use tokio::time::timeout;
use tower_lsp::ls_types::Uri;

use super::{AnalysisOutcome, FoundSoFar, SessionState, StateMessage};
use crate::limits::disk::BRIEF_CHECK;
use crate::limits::typing::PAUSE;
use crate::lsp::diagnostics::{self, CutOff};
use crate::lsp::document::{AnalysisJob, DiskCheck, InterimFindings, JobSignals, OpenDocument, WaitingRequest};
use crate::lsp::panics::catch_panic;
use crate::lsp::snapshot::{DocumentAnalysis, Snapshot};
use transport::Refresher;
use transport::progress::{self, Job};
use workspace::{Dependencies, LoaderClient, settings_problems};

/// When an analysis first shows what it has found, and how often at least it does so then.
const FIRST_SHOWN: Duration = Duration::from_millis(100);
const SHOWN_AT_LEAST: Duration = Duration::from_millis(800);

impl SessionState {
    /// Starts the analysis of a document's present text, or queues it.
    pub(super) fn analyse(&mut self, uri: Uri) {
        let Some(document) = self.documents.get_mut(&uri) else { return };
        if document.out_of_sync.is_some() {
            return;
        }
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
        let (id, generation, signals) = (self.last_id, document.generation, Arc::<JobSignals>::default());
        let (edited, findings) = (Vec::new(), InterimFindings::default());
        document.job = Some(AnalysisJob { id, generation, signals: signals.clone(), edited, findings });
        let (name, check) = (uri.clone(), std::mem::take(&mut document.disk_check));
        let focus = document.focus;
        let mut snapshot = self.shared.snapshot(&uri, document);
        let (messages, sender) = (self.messages.clone(), self.sender.clone());
        let (done, ended) = oneshot::channel::<()>();
        let (shown, unshown) = oneshot::channel::<()>();
        if self.shared.client.progress {
            let file = uri.path().as_str().rsplit('/').next().unwrap_or_default();
            let title = format!("Checking barriers of {file}");
            self.runtime.spawn(progress::show(self.client.clone(), Job::Analysis(id), title, ended));
        }
        self.runtime.spawn(show_now_and_then(messages.clone(), uri.clone(), id, unshown));
        self.runtime.spawn_blocking(move || {
            let stopped = || signals.stop.load(Ordering::Relaxed);
            let mut listener = |found: Progress<'_>| {
                if signals.superseded.load(Ordering::Relaxed) {
                    // What it was at is remembered now; nobody wants the rest.
                    signals.stop.store(true, Ordering::Relaxed);
                    return;
                }
                let found = match found {
                    Progress::Kernel { number, depth, report } => {
                        FoundSoFar::Kernel(number, depth, Box::new(report.clone()))
                    }
                    Progress::Syntax(errors) => FoundSoFar::Syntax(errors.to_vec()),
                };
                let _ = messages.send(StateMessage::AnalysisProgress { uri: uri.clone(), job: id, found });
            };
            // A closed channel means that the process is about to end.
            let blocked = |blocked| drop(messages.send(StateMessage::AnalysisBlocked(blocked)));
            let judging = || signals.judging.store(true, Ordering::Relaxed);
            let work = || {
                let watched = Watched { blocked: &blocked, judging: &judging, cancel: &Cancel::when(&stopped) };
                analyse(&mut snapshot, check, focus, &watched, &mut listener)
            };
            let outcome = match catch_panic("the analysis", &sender, work) {
                Ok(Ok(analysis)) => AnalysisOutcome::Done(Arc::new(analysis)),
                Ok(Err(Cancelled)) => AnalysisOutcome::Stopped,
                Err(text) => AnalysisOutcome::Failed(text),
            };
            drop((done, shown));
            let disk_revision = snapshot.workspace.view.revision;
            // A closed channel means that the process is about to end.
            let _ = messages.send(StateMessage::AnalysisEnded { uri, job: id, disk_revision, outcome });
        });
        self.tell_status(&name);
    }

    /// Notes what an analysis of the present text has found out.
    pub(super) fn note_progress(&mut self, uri: &Uri, job: u64, found: FoundSoFar) {
        let Some(document) = self.documents.get_mut(uri) else { return };
        let Some(job) = document.job.as_mut().filter(|running| running.id == job) else { return };
        match found {
            FoundSoFar::Kernel(number, depth, report) => {
                job.findings.kernels.insert(number, (depth, *report));
            }
            FoundSoFar::Syntax(errors) => job.findings.syntax.extend(errors),
        }
        job.findings.is_new = true;
        let (id, is_due) = (job.id, std::mem::take(&mut job.findings.is_due));
        if is_due {
            self.show_interim(uri, id);
        }
    }

    /// Shows what an analysis of the present text has found out so far.
    pub(super) fn show_interim(&mut self, uri: &Uri, job: u64) {
        let Some(document) = self.documents.get_mut(uri) else { return };
        if document.known().is_some() {
            return;
        }
        let generation = document.generation;
        let Some(found) = document.job.as_mut().filter(|it| it.id == job && it.generation == generation) else {
            return;
        };
        if !found.findings.is_new {
            found.findings.is_due = true;
            return;
        }
        let Some(document) = self.documents.get(uri) else { return };
        let Some(found) = document.job.as_ref() else { return };
        let snapshot = self.shared.snapshot(uri, document);
        let interim = Arc::new(diagnostics::interim(&snapshot, &found.findings, &document.last_good));
        let Some(document) = self.documents.get_mut(uri) else { return };
        document.job.iter_mut().for_each(|job| job.findings.is_new = false);
        if interim.diagnostics.is_empty() {
            // That a few runs found nothing is no answer yet: what was not followed is said at the end.
            document.job.iter_mut().for_each(|job| job.findings.is_due = true);
            self.tell_status(uri);
            return;
        }
        document.interim = Some(interim.clone());
        if self.shared.client.pull_diagnostics {
            // Who has got earlier ones asks again.
            if document.owes_refresh {
                self.refresher.iter().for_each(Refresher::ask);
            }
            self.answer_waiting_with_interim(uri);
        } else {
            self.publish(uri, &interim);
        }
        self.tell_status(uri);
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
        drop(document.superseded.take_if(|running| running.id == job));
        // A job of an earlier text, or of a document that was closed and opened again.
        let Some(ended) = document.job.take_if(|running| running.id == job) else { return };
        let cut_off = |document: &OpenDocument, why| {
            let snapshot = self.shared.snapshot(uri, document);
            Arc::new(diagnostics::document_analysis(&snapshot, Analysis::default(), None, Some(why)))
        };
        let current = ended.generation == document.generation;
        let is_whole = matches!(outcome, AnalysisOutcome::Done(_));
        let analysis = match outcome {
            AnalysisOutcome::Failed(text) => cut_off(document, CutOff::Failed(text)),
            AnalysisOutcome::Done(analysis) => analysis,
            AnalysisOutcome::Stopped if current => {
                let snapshot = self.shared.snapshot(uri, document);
                Arc::new(diagnostics::stopped(&snapshot, &ended.findings, &document.last_good))
            }
            AnalysisOutcome::Stopped => {
                self.analyse(uri.clone());
                return;
            }
        };
        if !current {
            self.analyse(uri.clone());
            return;
        }
        // Nobody needs what the one before it is still at.
        document.superseded.iter().for_each(AnalysisJob::cancel);
        document.disk_revision = disk_revision;
        let analysis = if is_whole && document.last_good.adds_to(&analysis.analysis) {
            let snapshot = self.shared.snapshot(uri, document);
            Arc::new(diagnostics::with_last_good(&snapshot, &analysis, &document.last_good))
        } else {
            analysis
        };
        let Some(document) = self.documents.get_mut(uri) else { return };
        if is_whole {
            document.last_good.keep(&analysis.analysis);
        }
        document.analysis = Some(analysis.clone());
        let settled = document.settled.take();
        let edited = ended.edited.iter().any(|path| document.depends_on(path, &self.shared.workspace));
        if edited || document.is_outdated_by(&self.shared.workspace) {
            self.analyse_again(vec![uri.clone()], DiskCheck::None);
            return;
        }
        // Not before: who was answered while it ran is still to be told where it is analysed once more.
        let owes_refresh = std::mem::take(&mut document.owes_refresh);
        let now = (analysis.result_id.clone(), analysis.instances);
        let before = document.told.replace(now.clone());
        if std::mem::take(&mut document.rechecked) && before.is_some_and(|before| before != now) {
            self.refresher.iter().for_each(Refresher::ask);
        }
        self.answer_waiting(uri);
        if !self.shared.client.pull_diagnostics {
            if settled.is_none_or(|settled| settled.analysis.result_id != analysis.result_id) {
                self.publish(uri, &analysis);
            }
        } else if owes_refresh {
            self.refresher.iter().for_each(Refresher::ask);
        }
        self.push_settings();
        self.tell_status(uri);
        let Some(document) = self.documents.get(uri) else { return };
        self.sender.report_changed(uri.clone(), document.report_subscribers.clone());
        if self.shared.client.code_lenses && self.shared.client.refreshable.code_lenses {
            self.sender.refresh_lenses();
        }
    }

    /// Says of a text that differs from an earlier one in what code ignores what was said of that one; its own analysis comes when
    /// nobody types.
    pub(super) fn settle(&mut self, uri: &Uri) {
        let Some(document) = self.documents.get(uri) else { return };
        let Some(settled) = &document.settled else { return };
        let paused = StateMessage::Paused { uri: uri.clone(), generation: document.generation };
        let messages = self.messages.clone();
        self.runtime.spawn(async move {
            tokio::time::sleep(PAUSE).await;
            // A closed channel means that the process is about to end.
            let _ = messages.send(paused);
        });
        if !self.shared.client.pull_diagnostics {
            let analysis = settled.analysis.clone();
            self.publish(uri, &analysis);
        }
        self.tell_status(uri);
    }

    /// Pushes diagnostics, with the marks of a run.
    fn publish(&mut self, uri: &Uri, analysis: &DocumentAnalysis) {
        let Some(document) = self.documents.get_mut(uri) else { return };
        document.published = true;
        let mut diagnostics = analysis.diagnostics.clone();
        diagnostics.extend(document.run_diagnostics(uri, &self.shared.client));
        self.sender.publish(uri.clone(), Some(document.version), diagnostics);
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
        self.push_settings();
    }

    /// Answers those who take what there is to show now.
    fn answer_waiting_with_interim(&mut self, uri: &Uri) {
        let Some(document) = self.documents.get_mut(uri) else { return };
        let (now, later) = std::mem::take(&mut document.waiting).into_iter().partition(|waiting| waiting.interim);
        document.waiting = later;
        document.owes_refresh |= !VecDeque::is_empty(&now);
        self.answer(uri, now);
    }

    pub(super) fn answer_waiting(&mut self, uri: &Uri) {
        let Some(document) = self.documents.get_mut(uri) else { return };
        let waiting = std::mem::take(&mut document.waiting);
        self.answer(uri, waiting);
    }

    fn answer(&mut self, uri: &Uri, waiting: VecDeque<WaitingRequest>) {
        let Some(document) = self.documents.get_mut(uri) else { return };
        let snapshot = self.shared.snapshot(uri, document);
        for request in waiting {
            let snapshot = snapshot.clone();
            self.runtime.spawn_blocking(move || (request.reply)(Ok(snapshot)));
        }
    }
}

/// Says now and then, until `done` is closed, that what an analysis has found should be shown.
async fn show_now_and_then(
    messages: UnboundedSender<StateMessage>,
    uri: Uri,
    job: u64,
    mut done: oneshot::Receiver<()>,
) {
    let mut wait = FIRST_SHOWN;
    while timeout(wait, &mut done).await.is_err() {
        if messages.send(StateMessage::ShowInterim { uri: uri.clone(), job }).is_err() {
            return;
        }
        wait = (wait * 2).min(SHOWN_AT_LEAST);
    }
}

/// How an analysis hears of whoever wants it, and the other way round.
pub(crate) struct Watched<'a> {
    /// Told when it begins and when it ends to wait for files.
    pub(crate) blocked: &'a (dyn Fn(bool) + Sync),
    /// Told when kernels begin to be judged.
    pub(crate) judging: &'a dyn Fn(),
    /// Whether it is to stop.
    pub(crate) cancel: &'a Cancel<'a>,
}

/// Analyses a document, on a worker; what is near `focus` first.
pub(crate) fn analyse(
    snapshot: &mut Snapshot,
    check: DiskCheck,
    focus: u32,
    watched: &Watched<'_>,
    listener: &mut Listener<'_>,
) -> Result<DocumentAnalysis, Cancelled> {
    let (cancel, blocked) = (watched.cancel, watched.blocked);
    if snapshot.source.python().is_some() {
        check_disk(snapshot, check, blocked, cancel)?;
    }
    let elaborated = snapshot.elaborate(cancel, blocked, Some(listener))?;
    (watched.judging)();
    let mut dependencies = Dependencies::default();
    let mut wrong = None;
    let mut engine = snapshot.cache.engine();
    let mut analysis = match (&*snapshot.source, elaborated) {
        (Source::Ir(document), _) => {
            let sources = snapshot.sources(cancel, blocked);
            let configuration = sources.settings_of(&snapshot.path());
            if sources.is_incomplete() {
                return Err(Cancelled);
            }
            engine.set_limits(configuration.settings.limits());
            let mut listener = configuration.settings.listener(listener);
            let mut analysis = engine.analyse_telling(document, focus, cancel, &mut listener)?;
            configuration.settings.apply(&mut analysis);
            wrong = diagnostics::wrong_settings(snapshot, &configuration);
            dependencies.extend(sources.dependencies());
            analysis
        }
        (Source::Other(text), _) => Analysis { problems: settings_problems(text), ..Analysis::default() },
        (Source::Python(_), Some(elaborated)) => {
            let sources = snapshot.sources(cancel, blocked);
            let configuration = elaborated.configuration;
            engine.set_limits(configuration.settings.limits());
            let mut listener = configuration.settings.listener(listener);
            let mut analysis =
                engine.analyse_python_telling(&elaborated.elaboration, &sources, cancel, &mut listener)?;
            if sources.is_incomplete() {
                return Err(Cancelled);
            }
            configuration.settings.apply(&mut analysis);
            wrong = diagnostics::wrong_settings(snapshot, &configuration);
            dependencies.extend(elaborated.dependencies);
            dependencies.extend(sources.dependencies());
            analysis
        }
        (Source::Python(_), None) => Analysis::default(),
    };
    if !matches!(&*snapshot.source, Source::Other(_)) {
        let slips = recipe_check::problems(snapshot.source.text(), &analysis.kernels, analysis.gluon.as_deref());
        analysis.problems.extend(slips);
    }
    let made = diagnostics::document_analysis(snapshot, analysis, Some(dependencies), None);
    Ok(DocumentAnalysis { wrong_settings: wrong, ..made })
}

/// Brings the view of the disk up to date, as far as the analysis is to wait for that.
fn check_disk(
    snapshot: &mut Snapshot,
    check: DiskCheck,
    blocked: &(dyn Fn(bool) + Sync),
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
