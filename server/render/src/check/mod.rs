//! What `check` and `run` print of a file: excerpts for people or a line each, JSON, SARIF, annotations for GitHub.

pub mod concise;
mod excerpt;
pub mod fingerprint;
pub mod github;
pub mod human;
pub mod json;
pub mod sarif;

use std::collections::BTreeSet;

use findings::{Finding, KernelReport, Pin, Proof, Severity, Suppressed, SuppressedBy, TextProblem, Verdict};
use ttgir::SyntaxError;

/// What was found in one file.
#[derive(Clone, Debug, Default)]
pub struct FileAnalysis {
    /// Its kernels, in order; ranges count from the file's start.
    pub kernels: Vec<KernelReport>,
    /// Its syntax errors.
    pub syntax: Vec<SyntaxError>,
    /// What Triton would refuse of a Python file, and what is wrong with its configuration.
    pub problems: Vec<TextProblem>,
    /// What was left out, one sentence each.
    pub skipped: Vec<String>,
    /// For which release of Triton its kernels were analysed, where it is Python.
    pub triton: Option<TritonRelease>,
    /// Problems that a baseline knows, and which are not shown.
    pub known_problems: usize,
    /// Whether one of them is an error: such a file is no better for being known.
    pub known_error: bool,
    /// Whether it was left out, because nothing that concerns it has changed.
    pub unchanged: bool,
    /// The kernels that were left out, because nothing that concerns them has changed.
    pub left_out: Vec<String>,
}

/// A release of Triton that a file is analysed for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TritonRelease {
    /// `3.9`
    pub version: String,
    /// Who says so.
    pub source: String,
    /// Whether that is an environment, which nobody named.
    pub installed: bool,
}

/// Why a file cannot be checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// One sentence.
    pub message: String,
    /// Where reading stopped, if that is known.
    pub position: Option<SourcePosition>,
}

/// A position in a file that could not be read to its end; all three count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourcePosition {
    /// Line.
    pub line: u32,
    /// Column in characters.
    pub column: u32,
    /// Column in UTF-16 code units.
    pub utf16: u32,
}

impl ReadError {
    /// An error without a position.
    pub fn new(message: impl Into<String>) -> ReadError {
        ReadError { message: message.into(), position: None }
    }
}

/// A checked file.
pub struct CheckedFile {
    /// The path as given, or `<stdin>`.
    pub path: String,
    /// Whether the user named it.
    pub named: bool,
    /// Its text, empty where it could not be read.
    pub text: String,
    /// What was found, or why nothing could be.
    pub result: Result<FileAnalysis, ReadError>,
    /// The accounts of the kernels' verdicts, where they were asked for.
    pub proofs: Vec<Proof>,
}

impl CheckedFile {
    /// All findings, by kernel, in the order of the text.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.result.iter().flat_map(|analysis| &analysis.kernels).flat_map(|kernel| &kernel.findings)
    }

    /// All findings that are not shown.
    pub fn suppressed(&self) -> impl Iterator<Item = &Suppressed> {
        self.result.iter().flat_map(|analysis| &analysis.kernels).flat_map(|kernel| &kernel.suppressed)
    }

    /// Whether it is Python, by its name or by what was made of it.
    pub fn is_python(&self) -> bool {
        self.path.ends_with(".py") || self.result.as_ref().is_ok_and(|analysis| analysis.triton.is_some())
    }

    /// The kernels that were left out.
    pub fn left_out(&self) -> &[String] {
        self.result.as_ref().map_or(&[], |analysis| &analysis.left_out)
    }

    /// Whether nothing of it was looked at.
    pub fn is_unchanged(&self) -> bool {
        self.result.as_ref().is_ok_and(|analysis| analysis.unchanged)
    }

    /// The verdict on the file: the worst of its kernels; `none` where it has none, since nothing was looked at.
    pub fn verdict(&self) -> &'static str {
        let Ok(analysis) = &self.result else { return "undecided" };
        let any = |test: fn(&Verdict) -> bool| analysis.kernels.iter().any(|kernel| test(&kernel.verdict));
        let blames = |finding: &Finding| finding.severity <= Severity::Warning;
        if any(|verdict| matches!(verdict, Verdict::Found)) || self.findings().any(blames) {
            "found"
        } else if !analysis.syntax.is_empty()
            || analysis.problems.iter().any(|problem| problem.severity == Severity::Error)
            || analysis.known_error
            || (analysis.kernels.is_empty() && !analysis.skipped.is_empty())
            || any(|verdict| matches!(verdict, Verdict::Undecided(_)))
        {
            "undecided"
        } else if analysis.kernels.is_empty() {
            "none"
        } else if any(|verdict| matches!(verdict, Verdict::Clean(_))) {
            "clean"
        } else {
            "proved"
        }
    }
}

/// What a printer makes of a file.
#[derive(Default)]
pub struct FileOutput {
    /// Its part of the output.
    pub body: String,
    /// Its part of what stands apart from the findings, for formats that have such a place.
    pub notifications: String,
}

/// An output format: pieces are made side by side and written in order.
pub trait Printer: Sync {
    /// Before the first piece.
    fn begin(&self) -> String {
        String::new()
    }
    /// The piece of a file.
    fn file(&self, file: &CheckedFile) -> FileOutput;
    /// Between two pieces that are not empty.
    fn separator(&self) -> &'static str {
        ""
    }
    /// After the last piece.
    fn end(&self, tally: &Tally, notifications: &[String]) -> String;
}

/// The code of a kernel that could not be decided.
pub const UNDECIDED: &str = "undecided";

/// The code of findings that are not shown.
pub const SUPPRESSED: &str = "suppressed";

/// What a pin asks for: `a line above it with a value for `layout``.
fn pin_words(pin: &Pin) -> String {
    let names: Vec<String> = pin.open.iter().map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        None => "this line above it".to_owned(),
        Some((last, [])) => format!("a line above it with a value for {last}"),
        Some((last, rest)) => format!("a line above it with values for {} and {last}", rest.join(", ")),
    }
}

/// `; global memory: …`, where a verdict on something else does not say it.
pub fn global_words(kernel: &KernelReport) -> String {
    let Some(global) = &kernel.global else { return String::new() };
    let words = match &global.told() {
        Verdict::Found => return String::new(),
        Verdict::Proved(how) | Verdict::Clean(how) => match &kernel.verdict {
            Verdict::Proved(all) | Verdict::Clean(all) if all.starts_with(how.as_str()) => return String::new(),
            _ => format!("{}, {}", global.verdict.name(), how.replacen(" in global memory", "", 1)),
        },
        Verdict::Undecided(why) => {
            let own: &[String] = if let Verdict::Undecided(own) = &kernel.verdict { own } else { &[] };
            let said = |reason: &String| own.iter().any(|own| own.ends_with(reason.as_str()));
            if why.iter().all(said) {
                return String::new();
            }
            format!("not decided, because {}", why.join("; "))
        }
    };
    format!("; global memory: {words}")
}

/// Why a kernel is undecided, and what would decide it, in one sentence or two.
pub fn undecided(kernel: &KernelReport) -> Option<String> {
    let Verdict::Undecided(why) = &kernel.verdict else { return None };
    let why = if why.is_empty() { "no reason is known".to_owned() } else { why.join("; ") };
    let pin = kernel.pin.as_ref();
    let pin = pin.map_or_else(String::new, |pin| format!("; {} would decide it: `{}`", pin_words(pin), pin.line));
    Some(format!("@{} is not decided: {why}{pin}", kernel.name))
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
    pub suppressed: usize,
    pub known: usize,
    pub unchanged: usize,
    pub left_out: usize,
    pub triton: BTreeSet<TritonRelease>,
    /// Names of the kinds of what was found.
    pub kinds: BTreeSet<&'static str>,
    /// Entries of a baseline for which there is no finding any more, in the order of the file.
    pub stale: Vec<StaleEntry>,
}

/// An entry of a baseline for which there is no finding any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaleEntry {
    /// The file, as the baseline names it.
    pub path: String,
    /// What it is about, in words.
    pub text: String,
}

impl StaleEntry {
    /// The sentence that says so.
    pub fn words(&self) -> String {
        format!("{}: the baseline has {}, which is not found any more", self.path, self.text)
    }
}

impl Tally {
    /// Counts one file.
    pub fn of(file: &CheckedFile) -> Tally {
        let mut tally = Tally { files: 1, ..Tally::default() };
        match &file.result {
            Err(_) => tally.unreadable = 1,
            Ok(analysis) => {
                tally.syntax_errors = analysis.syntax.len();
                tally.triton.extend(analysis.triton.clone());
                tally.unchanged = usize::from(analysis.unchanged);
                tally.left_out = analysis.left_out.len();
                let known = file.suppressed().filter(|it| it.by == SuppressedBy::Baseline).count();
                tally.suppressed = file.suppressed().count() - known;
                tally.known = known + analysis.known_problems;
                for kernel in &analysis.kernels {
                    match kernel.verdict {
                        Verdict::Proved(_) => tally.proved += 1,
                        Verdict::Clean(_) => tally.clean += 1,
                        Verdict::Found => tally.found += 1,
                        Verdict::Undecided(_) => tally.undecided += 1,
                    }
                }
                let (unread, other): (Vec<&TextProblem>, Vec<&TextProblem>) =
                    analysis.problems.iter().partition(|problem| problem.code == TextProblem::SYNTAX);
                tally.syntax_errors += unread.len();
                let found = file.findings().map(|finding| finding.severity);
                let all: Vec<Severity> = found.chain(other.iter().map(|problem| problem.severity)).collect();
                tally.kinds.extend(file.findings().map(|finding| finding.kind.name()));
                tally.errors = all.iter().filter(|severity| **severity == Severity::Error).count();
                tally.warnings = all.iter().filter(|severity| **severity == Severity::Warning).count();
            }
        }
        tally
    }

    /// Adds the counts of another file.
    pub fn add(&mut self, other: &Tally) {
        self.files += other.files;
        self.proved += other.proved;
        self.clean += other.clean;
        self.undecided += other.undecided;
        self.found += other.found;
        self.errors += other.errors;
        self.warnings += other.warnings;
        self.syntax_errors += other.syntax_errors;
        self.unreadable += other.unreadable;
        self.suppressed += other.suppressed;
        self.known += other.known;
        self.unchanged += other.unchanged;
        self.left_out += other.left_out;
        self.triton.extend(other.triton.iter().cloned());
        self.kinds.extend(&other.kinds);
        self.stale.extend(other.stale.iter().cloned());
    }

    /// What was left out for being unchanged; nothing where all was looked at.
    pub fn left_out_words(&self) -> Option<String> {
        let count = |number: usize, one: &str| match number {
            0 => None,
            1 => Some(format!("1 {one}")),
            more => Some(format!("{more} {one}s")),
        };
        let parts = [count(self.unchanged, "file"), count(self.left_out, "kernel")];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("{} not looked at, since unchanged", parts.join(" and ")))
    }
}
