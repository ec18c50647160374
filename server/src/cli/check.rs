//! `fencepost check`: files are checked side by side and printed in the order they were named.

use engine::instances::Elaborator;
use engine::{Analysis, Engine, Source as Text, is_python};
use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use base::{Cancel, Cancelled, Limits, Semantics};
use findings::{Finding, Problem, Proof, Severity, Verdict};

use super::args::{Check, Format, Python};
use super::paint::Paint;
use super::sources::{Origin, Source, Trouble, collect, read};
use super::{Exit, STACK_BYTES};
use super::{github, human, json, sarif};
use crate::python::configuration;
use crate::workspace::{Workspace, absolute};

/// Findings in one Python file for which a fix is looked for.
const FIXES: usize = 8;

/// A checked file.
pub struct Checked {
    /// The path as given, or `<stdin>`.
    pub path: String,
    /// Whether the user named it.
    pub named: bool,
    /// Its text, empty where it could not be read.
    pub text: String,
    /// What was found, or why nothing could be.
    pub result: Result<Analysis, Trouble>,
    /// The accounts of the kernels' verdicts, where they were asked for.
    pub proofs: Vec<Proof>,
}

impl Checked {
    /// All findings, by kernel, in the order of the text.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.result.iter().flat_map(|analysis| &analysis.kernels).flat_map(|kernel| &kernel.findings)
    }

    /// The verdict on the file: the worst of its kernels.
    pub fn verdict(&self) -> &'static str {
        let Ok(analysis) = &self.result else { return "undecided" };
        let any = |test: fn(&Verdict) -> bool| analysis.kernels.iter().any(|kernel| test(&kernel.verdict));
        let blames = |finding: &Finding| finding.severity <= Severity::Warning;
        if any(|verdict| matches!(verdict, Verdict::Found)) || self.findings().any(blames) {
            "found"
        } else if !analysis.syntax.is_empty()
            || analysis.problems.iter().any(|problem| problem.severity == Severity::Error)
            || (analysis.kernels.is_empty() && !analysis.skipped.is_empty())
            || any(|verdict| matches!(verdict, Verdict::Undecided(_)))
        {
            "undecided"
        } else if any(|verdict| matches!(verdict, Verdict::Clean(_))) || analysis.kernels.is_empty() {
            "clean"
        } else {
            "proved"
        }
    }
}

/// What a printer makes of a file.
#[derive(Default)]
pub struct Piece {
    /// Its part of the output.
    pub body: String,
    /// Its part of what stands apart from the findings, for formats that have such a place.
    pub notes: String,
}

/// An output format: pieces are made side by side and written in order.
pub trait Printer: Sync {
    /// Before the first piece.
    fn begin(&self) -> String {
        String::new()
    }
    /// The piece of a file.
    fn file(&self, file: &Checked) -> Piece;
    /// Between two pieces that are not empty.
    fn separator(&self) -> &'static str {
        ""
    }
    /// After the last piece.
    fn end(&self, tally: &Tally, notes: &[String]) -> String;
}

/// Counts over all files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Tally {
    pub files: usize,
    pub proved: usize,
    pub clean: usize,
    pub undecided: usize,
    pub found: usize,
    pub errors: usize,
    pub warnings: usize,
    pub syntax_errors: usize,
    pub unreadable: usize,
}

impl Tally {
    /// Counts one file.
    pub fn of(file: &Checked) -> Tally {
        let mut tally = Tally { files: 1, ..Tally::default() };
        match &file.result {
            Err(_) => tally.unreadable = 1,
            Ok(analysis) => {
                tally.syntax_errors = analysis.syntax.len();
                for kernel in &analysis.kernels {
                    match kernel.verdict {
                        Verdict::Proved(_) => tally.proved += 1,
                        Verdict::Clean(_) => tally.clean += 1,
                        Verdict::Found => tally.found += 1,
                        Verdict::Undecided(_) => tally.undecided += 1,
                    }
                }
                let (unread, other): (Vec<&Problem>, Vec<&Problem>) =
                    analysis.problems.iter().partition(|problem| problem.code == Problem::SYNTAX);
                tally.syntax_errors += unread.len();
                let found = file.findings().map(|finding| finding.severity);
                let all: Vec<Severity> = found.chain(other.iter().map(|problem| problem.severity)).collect();
                tally.errors = all.iter().filter(|severity| **severity == Severity::Error).count();
                tally.warnings = all.iter().filter(|severity| **severity == Severity::Warning).count();
            }
        }
        tally
    }

    fn add(&mut self, other: &Tally) {
        self.files += other.files;
        self.proved += other.proved;
        self.clean += other.clean;
        self.undecided += other.undecided;
        self.found += other.found;
        self.errors += other.errors;
        self.warnings += other.warnings;
        self.syntax_errors += other.syntax_errors;
        self.unreadable += other.unreadable;
    }

    /// What the process says.
    fn exit(&self, strict: bool) -> Exit {
        if self.unreadable + self.syntax_errors > 0 || (strict && self.undecided > 0) {
            Exit::Trouble
        } else if self.errors + self.warnings > 0 {
            Exit::Findings
        } else {
            Exit::Clean
        }
    }
}

/// Checks everything that the arguments name.
pub fn run(args: &Check) -> io::Result<Exit> {
    let sources = collect(&args.paths);
    let printer: Box<dyn Printer> = match args.format {
        Format::Human => Box::new(human::Human::new(Paint::stdout(args.color), args.verbose)),
        Format::Json => Box::new(json::Json),
        Format::Sarif => Box::new(sarif::Sarif),
        Format::Github => Box::new(github::Github),
    };
    let jobs = match args.jobs {
        Some(jobs) => jobs.get(),
        None => thread::available_parallelism().map_or(1, |cores| cores.get()),
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    out.write_all(printer.begin().as_bytes())?;
    let python = args.python.clone();
    let how = How { explain: args.explain_proof, semantics: args.semantics.into(), python };
    let (tally, notes) = print_all(&sources, printer.as_ref(), (jobs, &how), &mut out)?;
    out.write_all(printer.end(&tally, &notes).as_bytes())?;
    out.flush()?;
    Ok(tally.exit(args.strict))
}

/// How a file is checked.
#[derive(Clone)]
pub struct How {
    /// Whether the verdicts are accounted for.
    pub explain: bool,
    /// By whose rules.
    pub semantics: Semantics,
    /// With what kernels in Python are analysed.
    pub python: Python,
}

/// Checks `sources`, so many at a time, and writes their pieces in order as they become ready.
fn print_all(
    sources: &[Source],
    printer: &dyn Printer,
    (jobs, how): (usize, &How),
    out: &mut dyn Write,
) -> io::Result<(Tally, Vec<String>)> {
    let next = AtomicUsize::new(0);
    let (send, receive) = mpsc::channel::<(usize, Tally, Piece)>();
    thread::scope(|scope| {
        for _ in 0..jobs.min(sources.len()) {
            let (send, next) = (send.clone(), &next);
            thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(source) = sources.get(at) else { break };
                    let file = check(source, how);
                    if send.send((at, Tally::of(&file), printer.file(&file))).is_err() {
                        break;
                    }
                }
            })?;
        }
        drop(send);
        let mut progress = Progress::new(sources.len());
        let mut waiting = BTreeMap::new();
        let (mut tally, mut notes, mut written, mut first) = (Tally::default(), Vec::new(), 0, true);
        for (at, counts, piece) in receive {
            progress.done();
            waiting.insert(at, (counts, piece));
            while let Some((counts, piece)) = waiting.remove(&written) {
                written += 1;
                tally.add(&counts);
                if !piece.notes.is_empty() {
                    notes.push(piece.notes);
                }
                if !piece.body.is_empty() {
                    progress.clear();
                    if !first {
                        out.write_all(printer.separator().as_bytes())?;
                    }
                    first = false;
                    out.write_all(piece.body.as_bytes())?;
                }
            }
        }
        progress.clear();
        Ok((tally, notes))
    })
}

/// A text with what its analysis asks for.
pub struct File {
    /// The text.
    pub text: Text,
    /// The files around it.
    pub workspace: Workspace,
    /// Elaborates it, where it is Python.
    pub elaborator: Elaborator,
    /// What is wrong with its configuration.
    pub problems: Vec<Problem>,
}

impl File {
    /// The text of a source.
    pub fn new(source: &Source, text: &str, python: &Python) -> File {
        let path = match &source.origin {
            Origin::File(path) => absolute(path),
            Origin::Stdin if looks_like_python(text) => absolute("stdin.py".as_ref()),
            Origin::Stdin | Origin::Nowhere(..) => PathBuf::new(),
        };
        let name = path.to_string_lossy();
        if !is_python(&name) {
            let (workspace, elaborator) = (Workspace::default(), Elaborator::default());
            return File { text: Text::new("", text), workspace, elaborator, problems: Vec::new() };
        }
        let (config, problems) = configuration(&path);
        let workspace = Workspace::around(&path);
        File { text: Text::new(&name, text), workspace, elaborator: Elaborator::new(python.over(config)), problems }
    }
}

/// Looks for fixes of what was found in Python.
fn fix(engine: &mut Engine, analysis: &mut Analysis, workspace: &Workspace) -> Result<(), Cancelled> {
    let Some(elaboration) = analysis.gluon.clone() else { return Ok(()) };
    let mut left = FIXES;
    for at in 0..analysis.kernels.len() {
        let Some(report) = analysis.kernels.get(at).cloned() else { continue };
        for (number, finding) in report.findings.iter().enumerate() {
            if left == 0 || finding.severity > Severity::Warning {
                continue;
            }
            left -= 1;
            let found = engine.fix_python(&elaboration, at, finding, workspace, &Cancel::never())?;
            if let Some(finding) = analysis.kernels.get_mut(at).and_then(|it| it.findings.get_mut(number)) {
                finding.fix = found;
            }
        }
    }
    Ok(())
}

/// Python from standard input has no name that tells it.
fn looks_like_python(text: &str) -> bool {
    text.lines().any(|line| ["import ", "from ", "def ", "@"].iter().any(|word| line.starts_with(word)))
}

/// Reads and analyses one source. A panic of ours is trouble with that file only.
pub fn check(source: &Source, how: &How) -> Checked {
    let path = source.path();
    let named = source.named;
    let text = match read(source) {
        Ok(text) => text,
        Err(trouble) => return Checked { path, named, text: String::new(), result: Err(trouble), proofs: Vec::new() },
    };
    let analysed = catch_unwind(AssertUnwindSafe(|| {
        let File { text, workspace, mut elaborator, problems } = File::new(source, &text, &how.python);
        let mut engine = Engine::new(Limits { semantics: how.semantics, ..Limits::default() });
        let mut analysis = engine.analyse_source(&text, &mut elaborator, &workspace, &Cancel::never())?;
        fix(&mut engine, &mut analysis, &workspace)?;
        analysis.problems.extend(problems);
        let proofs = if how.explain { engine.explain_source(&text, &analysis, &Cancel::never())? } else { Vec::new() };
        Ok::<_, Cancelled>((analysis, proofs))
    }));
    let mut proofs = Vec::new();
    let result = match analysed {
        Ok(Ok((analysis, accounts))) => {
            proofs = accounts;
            Ok(analysis)
        }
        Ok(Err(_)) => Err(Trouble::new("the analysis was cancelled")),
        Err(_) => Err(Trouble::new("the analysis failed; this is a bug in fencepost, please report it")),
    };
    Checked { path, named, text, result, proofs }
}

/// How far it is, on stderr where that is a terminal and the work takes a while.
struct Progress {
    total: usize,
    done: usize,
    start: Instant,
    shown: bool,
    terminal: bool,
}

impl Progress {
    fn new(total: usize) -> Progress {
        let terminal = total > 1 && io::stderr().is_terminal();
        Progress { total, done: 0, start: Instant::now(), shown: false, terminal }
    }

    fn done(&mut self) {
        self.done += 1;
        if self.terminal && self.start.elapsed() > Duration::from_millis(300) {
            let _ = write!(io::stderr(), "\r\x1b[Kchecked {} of {} files", self.done, self.total);
            self.shown = true;
        }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
