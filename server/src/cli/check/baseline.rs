//! `--baseline FILE`: findings that are known do not fail, what is new does.
//!
//! The file is JSON with a line an entry, so that a review shows what came and went. An entry says how many findings
//! of a file have one fingerprint; paths count from the folder of the file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use findings::{KernelReport, Severity, Suppressed, SuppressedBy, TextProblem, Verdict};
use render::check::{CheckedFile, StaleEntry, fingerprint};
use serde::{Deserialize, Serialize};

use workspace::absolute;

/// The version of the file's form.
const SCHEMA: u32 = 1;

/// The most of a line that is shown to a reader of the file.
const SITE: usize = 120;

/// Findings of one file that look alike.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Entry {
    /// The file, from the folder of the baseline on.
    path: String,
    /// The kernel; empty for a problem of the file.
    #[serde(default)]
    kernel: String,
    /// The kind.
    kind: String,
    /// The line that they are drawn on, for readers.
    #[serde(default)]
    site: String,
    /// What tells them from others.
    fingerprint: String,
    /// How many there are.
    #[serde(default = "one")]
    pub(super) count: usize,
}

fn one() -> usize {
    1
}

#[derive(Deserialize)]
struct Document {
    schema: u32,
    findings: Vec<Entry>,
}

/// Findings that are known.
#[derive(Debug)]
pub(super) struct Baseline {
    folder: PathBuf,
    known: BTreeMap<String, Vec<Entry>>,
}

/// What a file has to do with a baseline.
#[derive(Debug, Default)]
pub(super) struct BaselineUse {
    /// Entries, or parts of them, that the file has no finding for.
    pub(super) stale: Vec<Entry>,
    /// What a baseline has to say of the file from now on.
    pub(super) entries: Vec<Entry>,
}

impl Baseline {
    /// One that knows nothing; its paths count from the folder of this file.
    pub(super) fn empty(file: &Path) -> Baseline {
        let folder = absolute(file).parent().map(Path::to_path_buf).unwrap_or_default();
        Baseline { folder, known: BTreeMap::new() }
    }

    /// Reads a file; `Err` says in a sentence what is wrong with it.
    pub(super) fn read(file: &Path) -> Result<Baseline, String> {
        let said = |what: String| format!("{}: {what}", file.display());
        let text = fs::read_to_string(file).map_err(|error| said(super::super::sources::plain(&error)))?;
        let document: Document =
            serde_json::from_str(&text).map_err(|error| said(format!("is no baseline: {error}")))?;
        if document.schema != SCHEMA {
            return Err(said(format!("has schema {}; this release reads schema {SCHEMA}", document.schema)));
        }
        let mut baseline = Baseline::empty(file);
        for entry in document.findings {
            baseline.known.entry(entry.path.clone()).or_default().push(entry);
        }
        Ok(baseline)
    }

    /// Takes out of a file's findings what is known.
    pub(super) fn apply(&self, file: &mut CheckedFile) -> BaselineUse {
        let (path, python, text) = (self.key(&file.path), file.is_python(), std::mem::take(&mut file.text));
        let mut left: Vec<Entry> = self.known.get(&path).cloned().unwrap_or_default();
        let mut present: BTreeMap<String, Entry> = BTreeMap::new();
        let mut is_known = |kernel: &str, kind: &str, print: String, at: u32| {
            let new = || Entry {
                path: path.clone(),
                kernel: kernel.to_owned(),
                kind: kind.to_owned(),
                site: fingerprint::site(&text, at, python).chars().take(SITE).collect(),
                fingerprint: print.clone(),
                count: 0,
            };
            present.entry(format!("{kernel}\0{kind}\0{print}")).or_insert_with(new).count += 1;
            let same = |entry: &&mut Entry| entry.count > 0 && entry.kind == kind && entry.fingerprint == print;
            let found = left.iter_mut().find(same);
            found.map(|entry| entry.count -= 1).is_some()
        };
        if let Ok(analysis) = &mut file.result {
            for kernel in &mut analysis.kernels {
                for finding in std::mem::take(&mut kernel.findings) {
                    let print = || fingerprint::of_finding(&finding, &text, python);
                    let counts = finding.severity <= Severity::Warning;
                    if counts && is_known(&finding.kernel, finding.kind.name(), print(), finding.range.start) {
                        let reason = "it is in the baseline".to_owned();
                        kernel.suppressed.push(Suppressed { finding, reason, by: SuppressedBy::Baseline });
                    } else {
                        kernel.findings.push(finding);
                    }
                }
            }
            let (problems, errors) = (std::mem::take(&mut analysis.problems), &mut analysis.known_error);
            let before = problems.len();
            let is_new = |problem: &TextProblem| {
                let print = fingerprint::of_problem(problem, &text, python);
                let counts = problem.severity <= Severity::Warning && problem.code != TextProblem::SYNTAX;
                let known = counts && is_known("", problem.code, print, problem.range.start);
                *errors |= known && problem.severity == Severity::Error;
                !known
            };
            analysis.problems = problems.into_iter().filter(is_new).collect();
            analysis.known_problems = before - analysis.problems.len();
        }
        left.retain(|entry| entry.count > 0);
        let (open, stale) = left.into_iter().partition(|entry| is_open(file, entry));
        file.text = text;
        BaselineUse { stale, entries: present.into_values().chain::<Vec<Entry>>(open).collect() }
    }

    /// The entries of files that were not looked at: those that are there, and those that are not.
    pub(super) fn others(&self, looked_at: &[String]) -> (Vec<Entry>, Vec<Entry>) {
        let looked_at: BTreeSet<String> = looked_at.iter().map(|path| self.key(path)).collect();
        let others = self.known.iter().filter(|(path, _)| !looked_at.contains(*path));
        others.flat_map(|(_, entries)| entries.clone()).partition(|entry| self.folder.join(&entry.path).exists())
    }

    /// How a path is named in the file.
    fn key(&self, path: &str) -> String {
        if path.starts_with('<') {
            return path.to_owned();
        }
        let path = absolute(path.as_ref());
        let path = path.strip_prefix(&self.folder).unwrap_or(&path);
        path.to_string_lossy().replace('\\', "/")
    }
}

/// Whether nobody knows if the finding of an entry is still there: of a file that could not be read, a kernel that is
/// not decided or was left out.
fn is_open(file: &CheckedFile, entry: &Entry) -> bool {
    let Ok(analysis) = &file.result else { return true };
    let left_out = analysis.left_out.iter().any(|name| *name == entry.kernel || entry.kernel.is_empty());
    let undecided =
        |kernel: &KernelReport| kernel.name == entry.kernel && matches!(kernel.verdict, Verdict::Undecided(_));
    let unread = |problem: &TextProblem| problem.code == TextProblem::SYNTAX;
    analysis.unchanged
        || left_out
        || !analysis.syntax.is_empty()
        || analysis.problems.iter().any(unread)
        || analysis.kernels.iter().any(undecided)
}

/// The text of a file with these entries.
pub(super) fn document(mut entries: Vec<Entry>) -> String {
    entries.sort();
    // An entry has string keys and small numbers only: this cannot fail.
    let lines: Vec<String> = entries.iter().filter_map(|entry| serde_json::to_string(entry).ok()).collect();
    let lines = if lines.is_empty() { String::new() } else { format!("\n{}\n", lines.join(",\n")) };
    format!("{{\"schema\":{SCHEMA},\"tool\":\"fencepost\",\"findings\":[{lines}]}}\n")
}

impl Entry {
    /// The entry in words, for one whose finding is gone.
    pub(super) fn stale(&self) -> StaleEntry {
        let Entry { path, kernel, kind, site, count, .. } = self;
        let times = if *count > 1 { format!(" ({count} times)") } else { String::new() };
        let of = if kernel.is_empty() { String::new() } else { format!(" in @{kernel}") };
        StaleEntry { path: path.clone(), text: format!("{kind}{of} at `{site}`{times}") }
    }
}
