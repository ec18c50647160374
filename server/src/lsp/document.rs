//! An open document as the state thread keeps it.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use base::TextRange;
use engine::instances::PythonFile;
use engine::{Depth, KernelNumber, SharedCache, Source, is_python};
use findings::KernelReport;
use ropey::Rope;
use tower_lsp::ls_types::{Diagnostic, TextDocumentContentChangeEvent, Uri};
use ttgir::{Document, SyntaxError};

use super::client_config::ClientConfig;
use super::last_good::LastGood;
use super::position::Mapper;
use super::runs::diagnostics::{self, Marks};
use super::snapshot::{AnalysisCache, DocumentAnalysis, Snapshot};
use super::state::judged_kernels;
use transport::{KernelStatus, ReportSubscribers};
use workspace::absolute;

/// Answers a request; told why if it cannot be answered.
pub(crate) type Reply = Box<dyn FnOnce(Result<Snapshot, Refusal>) + Send>;

/// Why a request is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The document is not open.
    UnknownDocument,
    /// The text that the request is about is gone.
    Outdated,
}

/// A request that waits for an analysis.
pub(crate) struct WaitingRequest {
    /// The text it is about; `None` where the analysis of any later text will do.
    pub(crate) generation: Option<u64>,
    /// Whether an interim answer will do.
    pub(crate) interim: bool,
    /// Answers it.
    pub(crate) reply: Reply,
}

/// An analysis under way.
pub(crate) struct AnalysisJob {
    /// Its number, which is also in its progress token.
    pub(crate) id: u64,
    /// The text it is for.
    pub(crate) generation: u64,
    /// How it is asked to stop.
    pub(crate) signals: Arc<JobSignals>,
    /// Open documents that have changed since it began.
    pub(crate) edited: Vec<String>,
    /// What it has found out so far.
    pub(crate) findings: InterimFindings,
}

/// What an analysis and the state thread tell each other.
#[derive(Debug, Default)]
pub(crate) struct JobSignals {
    /// It is to stop.
    pub(crate) stop: AtomicBool,
    /// Its text is no longer the newest: what it is at may serve the newest one, what comes after that does not.
    pub(crate) superseded: AtomicBool,
    /// It has come to judging kernels.
    pub(crate) judging: AtomicBool,
}

/// What an analysis under way has found out.
#[derive(Debug, Default)]
pub(crate) struct InterimFindings {
    /// Kernels, and how far what is said of them goes.
    pub(crate) kernels: BTreeMap<KernelNumber, (Depth, KernelReport)>,
    /// What does not parse.
    pub(crate) syntax: Vec<SyntaxError>,
    /// Whether there is more than what was shown.
    pub(crate) is_new: bool,
    /// Whether it was time to show something when there was nothing new: what comes next is shown at once.
    pub(crate) is_due: bool,
}

impl AnalysisJob {
    /// Asks it to stop.
    pub(crate) fn cancel(&self) {
        self.signals.stop.store(true, Ordering::Relaxed);
    }
}

/// How an analysis makes sure that its view of the disk is the newest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DiskCheck {
    /// The view is new.
    #[default]
    None,
    /// It waits for a comparison with the disk that begins after this moment, but not long.
    Brief(Instant),
    /// The same for as long as it takes, the list of files included: somebody has said that files have changed.
    Full(Instant),
}

/// What is known of a text by lines and columns.
pub(crate) struct Settled {
    /// The analysis of an earlier text, whose diagnostics hold.
    pub(crate) analysis: Arc<DocumentAnalysis>,
    /// What was said of its kernels.
    pub(crate) kernels: Vec<KernelStatus>,
}

/// An open document.
pub(crate) struct OpenDocument {
    /// The client's version.
    pub(crate) version: i32,
    /// Counts the texts this document has had here; versions are the client's and may repeat.
    pub(crate) generation: u64,
    /// The text as a rope: positions are found and edits made without touching the rest.
    pub(crate) rope: Rope,
    /// The text as the analysis wants it.
    pub(crate) source: Arc<Source>,
    /// The file's path, of Python and of settings.
    pub(crate) path: Option<String>,
    /// Keeps outcomes from one text to the next. One analysis of a document runs at a time.
    pub(crate) cache: AnalysisCache,
    /// The analysis under way.
    pub(crate) job: Option<AnalysisJob>,
    /// One of an earlier text that is still at a kernel which may be in the present one, too.
    pub(crate) superseded: Option<AnalysisJob>,
    /// What there is to show of the present text while its analysis goes on.
    pub(crate) interim: Option<Arc<DocumentAnalysis>>,
    /// The client that asks for diagnostics has got interim ones.
    pub(crate) owes_refresh: bool,
    /// Where somebody looks, as far as that is known: the place of the last edit or question.
    pub(crate) focus: u32,
    /// What was found in earlier texts, at its places in this one.
    pub(crate) last_good: LastGood,
    /// The analysis of the present text.
    pub(crate) analysis: Option<Arc<DocumentAnalysis>>,
    /// That of an earlier text from which this one differs at the ends of lines, in blank space and comments: what it says by lines and columns holds of this
    /// one, too, whose own analysis comes when nobody types.
    pub(crate) settled: Option<Settled>,
    /// The view of the disk that the analysis was made with, as [`workspace::FileView::revision`].
    pub(crate) disk_revision: u64,
    /// What the next analysis does about that.
    pub(crate) disk_check: DiskCheck,
    /// The last [`DocumentAnalysis::result_id`] that the client could ask for.
    pub(crate) told: Option<(String, u64)>,
    /// Whether it is analysed anew for something else than its text.
    pub(crate) rechecked: bool,
    /// Requests that wait for the analysis.
    pub(crate) waiting: VecDeque<WaitingRequest>,
    /// Who shows a report of it.
    pub(crate) report_subscribers: ReportSubscribers,
    /// Whether diagnostics of it were published.
    pub(crate) published: bool,
    /// What came of the last run of a kernel.
    pub(crate) run: Marks,
    /// What the user's own Triton compiled of it when it was saved.
    pub(crate) compiled: Marks,
    /// Why the text here is not the client's any more: a change was lost, or cannot be made. Then nothing is said of
    /// it until the client sends it as a whole.
    pub(crate) out_of_sync: Option<String>,
}

impl OpenDocument {
    /// A document as the client opened it.
    pub(crate) fn new(uri: &Uri, language: &str, version: i32, text: String, shared: Arc<SharedCache>) -> OpenDocument {
        let rope = Rope::from_str(&text);
        let python = language == "python" || (language.is_empty() && is_python(uri.path().as_str()));
        let is_settings = uri.path().as_str().ends_with(&format!("/{}", settings::FILE));
        let path = (python || is_settings).then(|| {
            let file = uri.to_file_path().map_or_else(|| PathBuf::from(uri.as_str()), |path| absolute(&path));
            file.to_string_lossy().into_owned()
        });
        let source = match &path {
            _ if is_settings => Source::Other(text.into()),
            Some(path) => Source::Python(PythonFile::new(path.clone(), text)),
            None => Source::Ir(Document::new(text)),
        };
        OpenDocument {
            version,
            generation: 0,
            rope,
            source: Arc::new(source),
            path,
            cache: AnalysisCache::new(shared),
            job: None,
            superseded: None,
            interim: None,
            owes_refresh: false,
            focus: 0,
            last_good: LastGood::default(),
            analysis: None,
            settled: None,
            disk_revision: 0,
            disk_check: DiskCheck::Brief(Instant::now()),
            told: None,
            rechecked: false,
            waiting: VecDeque::new(),
            report_subscribers: ReportSubscribers::default(),
            published: false,
            run: Marks::default(),
            compiled: Marks::default(),
            out_of_sync: None,
        }
    }

    /// Makes the client's changes, in order.
    ///
    /// # Errors
    ///
    /// Why the text here is not the client's. Then nothing is known of it until a change replaces all of it.
    pub(crate) fn change(
        &mut self,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
        client: &ClientConfig,
    ) -> Result<(), String> {
        // What stands before the last whole text is gone with it.
        let whole = changes.iter().rposition(|change| change.range.is_none());
        match (whole, &self.out_of_sync) {
            (None, Some(why)) => return Err(why.clone()),
            (None, None) if version < self.version => {
                return Err(format!("a change to version {version} came after version {}", self.version));
            }
            _ => self.out_of_sync = None,
        }
        let mut settled = self.settle(client);
        for change in changes.into_iter().skip(whole.unwrap_or(0)) {
            let (range, text) = match change.range {
                Some(range) => (Mapper::new(&self.rope, client.encoding).existing_range(range)?, change.text),
                None => difference(self.source.text(), change.text),
            };
            let alike = settled.is_some().then(|| self.source.edit_line_end(range, &text)).flatten();
            settled.take_if(|_| alike.is_none());
            self.replace(range, &text, alike);
        }
        self.version = version;
        // Whoever types does not wait for the disk; what has changed there comes later.
        self.disk_check = DiskCheck::Brief(Instant::now());
        self.outdate();
        self.settled = settled;
        Ok(())
    }

    /// What is known of the present text by lines and columns, where all is.
    fn settle(&mut self, client: &ClientConfig) -> Option<Settled> {
        if self.out_of_sync.is_some() {
            return None;
        }
        if let Some(settled) = self.settled.take() {
            return Some(settled);
        }
        let analysis = self.analysis.clone().filter(|known| known.dependencies.is_some())?;
        let kernels = judged_kernels(self, &analysis.analysis, client.encoding);
        Some(Settled { analysis, kernels })
    }

    /// The analysis of the present text, or of one that says the same at the same lines and columns.
    pub(crate) fn known(&self) -> Option<&Arc<DocumentAnalysis>> {
        self.analysis.as_ref().or(self.settled.as_ref().map(|settled| &settled.analysis))
    }

    /// What came of the last run of it, for the client.
    pub(crate) fn run_diagnostics(&self, uri: &Uri, client: &ClientConfig) -> Vec<Diagnostic> {
        let mapper = Mapper::new(&self.rope, client.encoding);
        let marks = [&self.run, &self.compiled];
        marks.into_iter().flat_map(|marks| diagnostics::to_proto(marks, mapper, uri, client)).collect()
    }

    /// Whether it can hold kernels at all.
    pub(crate) fn holds_kernels(&self) -> bool {
        self.source.python().is_none_or(PythonFile::mentions_kernels)
    }

    /// Whether it is Python that can hold kernels, and so depends on files on disk.
    pub(crate) fn depends_on_disk(&self) -> bool {
        self.source.python().is_some() && self.holds_kernels()
    }

    /// What was found out is not to be trusted any more.
    pub(crate) fn outdate(&mut self) {
        self.generation += 1;
        self.cache.newest.store(self.generation, Ordering::Relaxed);
        self.analysis = None;
        self.settled = None;
        self.interim = None;
        let Some(job) = self.job.take_if(|job| job.generation != self.generation) else { return };
        // What it is at is remembered once it is done, and the new text may want it. One such is enough.
        if self.superseded.is_none() && job.signals.judging.load(Ordering::Relaxed) {
            job.signals.superseded.store(true, Ordering::Relaxed);
            self.superseded = Some(job);
        } else {
            job.cancel();
        }
    }

    /// The analyses under way.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = &AnalysisJob> {
        self.job.iter().chain(&self.superseded)
    }

    /// Refuses the requests that are about a text that is gone.
    pub(crate) fn refuse_outdated(&mut self) {
        let now = self.generation;
        let outdated = |waiting: &WaitingRequest| waiting.generation.is_some_and(|of| of != now);
        let (gone, stay) = std::mem::take(&mut self.waiting).into_iter().partition::<VecDeque<_>, _>(outdated);
        self.waiting = stay;
        gone.into_iter().for_each(|gone| (gone.reply)(Err(Refusal::Outdated)));
    }

    /// Replaces a range of the text; `made` is the source with it, where that is known.
    fn replace(&mut self, range: TextRange, text: &str, made: Option<Source>) {
        self.run.edit(range, text.len());
        self.compiled.edit(range, text.len());
        self.last_good.edit(range, text.len());
        self.focus = range.start;
        let from = self.rope.byte_to_char(range.start as usize);
        let to = self.rope.byte_to_char(range.end as usize);
        self.rope.remove(from..to);
        self.rope.insert(from, text);
        self.source = Arc::new(made.unwrap_or_else(|| self.source.edit(range, text)));
    }
}

/// The one replacement that makes `old` into `new`: clients that send whole texts get the reuse
/// that an incremental change gets.
fn difference(old: &str, new: String) -> (TextRange, String) {
    let same = |(a, b): &(u8, u8)| a == b;
    let mut front = old.bytes().zip(new.bytes()).take_while(same).count();
    while !(old.is_char_boundary(front) && new.is_char_boundary(front)) {
        front -= 1;
    }
    let rest = old.len().min(new.len()) - front;
    let mut back = old.bytes().rev().zip(new.bytes().rev()).take(rest).take_while(same).count();
    while !(old.is_char_boundary(old.len() - back) && new.is_char_boundary(new.len() - back)) {
        back -= 1;
    }
    let range = TextRange::new(front as u32, (old.len() - back) as u32);
    (range, new[front..new.len() - back].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_text_is_reduced_to_its_difference() {
        let cases = [("abc", "abXc"), ("abc", ""), ("", "abc"), ("aaa", "aa"), ("é𝒳", "é𝒴"), ("same", "same")];
        for (old, new) in cases {
            let (range, text) = difference(old, new.to_owned());
            let mut made = old.to_owned();
            made.replace_range(range.start as usize..range.end as usize, &text);
            assert_eq!(made, new);
        }
        assert_eq!(difference("abc", "abXc".to_owned()), (TextRange::new(2, 2), "X".to_owned()));
    }
}
