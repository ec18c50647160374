//! An open document: its text, and the newest analysis of it.

use engine::instances::{Elaboration, Elaborator, PythonFile};
use engine::{Analysis, Engine, Source, is_python};
use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use ttgir::Document;

use base::{Cancel, Cancelled, Limits, TextRange};
use findings::Problem;
use ropey::Rope;
use tower_lsp::ls_types::{Diagnostic, TextDocumentContentChangeEvent, Uri};

use super::facts::Facts;
use super::position::Mapper;
use super::runs::{self, Mark};
use super::state::Reply;
use crate::python::configuration;
use crate::workspace::{Workspace, absolute};

/// What a worker needs to answer a request: cheap to copy, and nothing in it changes.
#[derive(Clone)]
pub struct Snapshot {
    /// The document's name.
    pub uri: Uri,
    /// The client's version of the text.
    pub version: i32,
    /// The text, for positions.
    pub rope: Rope,
    /// The text, for everything else.
    pub source: Arc<Source>,
    /// The Python files around it.
    pub workspace: Arc<Workspace>,
    /// The client.
    pub facts: Arc<Facts>,
    /// The analysis of this very text, where it is ready.
    pub checked: Option<Arc<Checked>>,
    /// What makes reports of it.
    pub desk: Desk,
}

/// Where the reports of a text are made.
#[derive(Clone)]
pub struct Desk {
    /// The document's engine: it remembers the outcome of a text that is analysed.
    pub engine: Arc<Mutex<Engine>>,
    /// Another one, so that a report need not wait for an analysis that takes long.
    pub quick: Arc<Mutex<Engine>>,
    /// What elaborates it, where it is Python.
    pub elaborator: Arc<Mutex<Elaborator>>,
    /// The text this is about.
    pub generation: u64,
    /// The text that the document has now.
    pub now: Arc<AtomicU64>,
}

impl Desk {
    /// For a document's first text.
    pub fn new() -> Desk {
        let engine = || Arc::new(Mutex::new(Engine::new(Limits::default())));
        Desk {
            engine: engine(),
            quick: engine(),
            elaborator: Arc::default(),
            generation: 0,
            now: Arc::new(AtomicU64::new(0)),
        }
    }

    /// Whether the document has another text by now.
    pub fn is_outdated(&self) -> bool {
        self.now.load(Ordering::Relaxed) != self.generation
    }
}

impl Snapshot {
    /// Converts places of this text.
    pub fn mapper(&self) -> Mapper<'_> {
        Mapper::new(&self.rope, self.facts.encoding)
    }

    /// The kernels of a Python file as they are elaborated; `None` of TTGIR.
    pub fn elaboration(&self, cancel: &Cancel<'_>) -> Result<Option<Arc<Elaboration>>, Cancelled> {
        let Source::Python(python) = &*self.source else { return Ok(None) };
        if let Some(known) = self.checked.as_ref().and_then(|checked| checked.analysis.gluon.clone()) {
            return Ok(Some(known));
        }
        let mut elaborator = self.desk.elaborator.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        elaborator.elaborate(python, &*self.workspace, cancel).map(|made| Some(Arc::new(made)))
    }
}

/// The outcome of an analysis, as the client will see it.
pub struct Checked {
    /// What was found; empty if the analysis was cut off.
    pub analysis: Analysis,
    /// The same in the protocol's form.
    pub diagnostics: Vec<Diagnostic>,
    /// Equal for equal diagnostics.
    pub result_id: String,
}

/// An analysis under way.
pub struct Job {
    /// Its number, which is also in its progress token.
    pub id: u64,
    /// The text it is for.
    pub generation: u64,
    /// Set to stop it.
    pub stop: Arc<AtomicBool>,
}

impl Job {
    /// Asks it to stop.
    pub fn cancel(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// An open document.
pub struct Open {
    /// The client's version.
    pub version: i32,
    /// Counts the texts this document has had here; versions are the client's and may repeat.
    pub generation: u64,
    /// The text as a rope: positions are found and edits made without touching the rest.
    pub rope: Rope,
    /// The text as the analysis wants it.
    pub source: Arc<Source>,
    /// The file's path, of Python.
    pub path: Option<String>,
    /// What is wrong with the configuration that holds for it.
    pub configuration: Vec<Problem>,
    /// Keeps outcomes from one text to the next. One analysis of a document runs at a time.
    pub desk: Desk,
    /// The analysis under way.
    pub job: Option<Job>,
    /// The analysis of the present text.
    pub checked: Option<Arc<Checked>>,
    /// Requests that wait for it, with the generation they were asked in.
    pub parked: VecDeque<(u64, Reply)>,
    /// Who shows a report of it.
    pub watched: Watched,
    /// Whether diagnostics of it were published.
    pub said: bool,
    /// What came of the last run of it.
    pub marks: Vec<Mark>,
    /// Whether that was of an earlier text.
    pub old_marks: bool,
}

/// Who wants to know that a report has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// Names of documents that the client asks the server for.
    pub pages: BTreeSet<String>,
    /// Whether the client asked for the text itself.
    pub text: bool,
}

impl Watched {
    /// Whether nobody does.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty() && !self.text
    }
}

impl Open {
    /// A document as the client opened it.
    pub fn new(uri: &Uri, language: &str, version: i32, text: String) -> Open {
        let rope = Rope::from_str(&text);
        let mut desk = Desk::new();
        let (mut path, mut problems) = (None, Vec::new());
        let python = language == "python" || (language.is_empty() && is_python(uri.path().as_str()));
        let source = if python {
            let file = uri.to_file_path().map_or_else(|| PathBuf::from(uri.as_str()), |path| absolute(&path));
            let (config, wrong) = configuration(&file);
            desk.elaborator = Arc::new(Mutex::new(Elaborator::new(config)));
            problems = wrong;
            let name = file.to_string_lossy().into_owned();
            path = Some(name.clone());
            Source::Python(PythonFile::new(name, text))
        } else {
            Source::Ir(Document::new(text))
        };
        Open {
            version,
            generation: 0,
            rope,
            source: Arc::new(source),
            path,
            configuration: problems,
            desk,
            job: None,
            checked: None,
            parked: VecDeque::new(),
            watched: Watched::default(),
            said: false,
            marks: Vec::new(),
            old_marks: false,
        }
    }

    /// Makes the client's changes, in order.
    pub fn change(&mut self, version: i32, changes: Vec<TextDocumentContentChangeEvent>, facts: &Facts) {
        for change in changes {
            let (range, text) = match change.range {
                Some(range) => (Mapper::new(&self.rope, facts.encoding).text_range(range), change.text),
                None => difference(self.source.text(), change.text),
            };
            self.replace(range, &text);
        }
        self.version = version;
        self.outdate();
    }

    /// Reads its configuration again, for an elaborator that remembers nothing.
    pub fn reconfigure(&mut self) -> Elaborator {
        let path = self.path.clone().unwrap_or_default();
        let (config, problems) = configuration(path.as_ref());
        self.configuration = problems;
        Elaborator::new(config)
    }

    /// What came of the last run of it, for the client.
    pub fn run_diagnostics(&self, uri: &Uri, facts: &Facts) -> Vec<Diagnostic> {
        runs::diagnostics(&self.marks, self.old_marks, Mapper::new(&self.rope, facts.encoding), uri, facts)
    }

    /// Whether it can hold kernels at all.
    pub fn holds_kernels(&self) -> bool {
        self.source.python().is_none_or(PythonFile::mentions_gluon)
    }

    /// Whether what is known of it depends on the file at a path.
    pub fn depends_on(&self, path: &str) -> bool {
        let known = self.checked.as_ref().and_then(|checked| checked.analysis.gluon.as_ref());
        self.path.as_deref() != Some(path) && known.is_some_and(|known| known.looks_at(path))
    }

    /// What was found out is not to be trusted any more.
    pub fn outdate(&mut self) {
        self.generation += 1;
        self.desk.now.store(self.generation, Ordering::Relaxed);
        self.checked = None;
        if let Some(job) = &self.job {
            job.cancel();
        }
    }

    fn replace(&mut self, range: TextRange, text: &str) {
        runs::stale(&mut self.marks, range, text.len());
        self.old_marks = true;
        let from = self.rope.byte_to_char(range.start as usize);
        let to = self.rope.byte_to_char(range.end as usize);
        self.rope.remove(from..to);
        self.rope.insert(from, text);
        self.source = Arc::new(self.source.edit(range, text));
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
