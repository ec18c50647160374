//! One kernel in both languages: is it the same kernel, does it do the same at the same places, is it
//! judged alike?

use super::files::Disk;
use super::skeleton::{Event, Place, compiled, differences, elaborated, skeleton};
use super::{module, python};
use base::{Cancel, Limits};
use engine::Engine;
use findings::{Kind, Severity};
use gluon::{Elaborated, FileId, Spec};
use kernel::Lowered;
use lower::lower;
use python::syntax::Module;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use ttgir::{Document, Tree};

/// What is said of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// `proved`, `clean`, `found`, `undecided`; `none` where there is no kernel.
    pub verdict: String,
    /// Kind and place in the Python of each finding; hints and what is not modelled left out.
    pub findings: BTreeSet<(String, Option<Place>)>,
    /// Places of all sites of these, by kind.
    pub sites: BTreeMap<String, BTreeSet<Place>>,
    /// Why it is undecided.
    pub reasons: Vec<String>,
}

/// A kernel in one language.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// What it does.
    pub events: Vec<Event>,
    /// What is said of it.
    pub judged: Judged,
    /// What it is lowered to.
    pub lowered: Option<Lowered>,
}

/// A kernel in Python, with what could not be elaborated.
#[derive(Clone, Debug, Default)]
pub struct PythonSide {
    /// The kernel.
    pub side: Side,
    /// What the elaborator says: problems and what it did not follow, with places.
    pub notes: Vec<String>,
    /// The elaborated text.
    pub ir: String,
}

fn judge(text: &str, places: &dyn Fn(u32) -> Vec<Place>) -> Judged {
    let document = Document::new(text);
    let Ok(analysis) = Engine::new(Limits::default()).analyse(&document, &Cancel::never()) else {
        return Judged::default();
    };
    let mut judged = Judged { verdict: "none".into(), ..Judged::default() };
    for error in &analysis.syntax {
        judged.reasons.push(format!("syntax: {}", error.message));
    }
    if let Some(kernel) = analysis.kernels.first() {
        judged.verdict = kernel.verdict.name().into();
        if let findings::Verdict::Undecided(reasons) = &kernel.verdict {
            judged.reasons.extend(reasons.iter().cloned());
        }
        for finding in &kernel.findings {
            if finding.kind == Kind::Unmodelled || finding.severity == Severity::Hint {
                continue;
            }
            let kind = finding.kind.name().to_owned();
            let place = places(finding.range.start).into_iter().next();
            let ranges = std::iter::once(finding.range).chain(finding.sites.iter().map(|site| site.range));
            judged.sites.entry(kind.clone()).or_default().extend(ranges.flat_map(|range| places(range.start)));
            judged.findings.insert((kind, place));
        }
    }
    judged
}

fn first(text: &str) -> (Tree, Option<Lowered>) {
    let tree = Tree::parse(text);
    let lowered = lower(&tree).into_iter().next();
    (tree, lowered)
}

/// A compiled kernel; `def` is the line of its `def`.
pub fn compiled_side(text: &str, def: u32) -> Side {
    let (tree, lowered) = first(text);
    let places = |offset: u32| compiled(&tree, offset, def);
    let events = lowered.as_ref().map(|lowered| skeleton(lowered, places)).unwrap_or_default();
    Side { events, judged: judge(text, &places), lowered }
}

/// A kernel as its Python gives it.
pub fn python_side(module: &Arc<Module>, files: &Disk, spec: &Spec) -> Result<PythonSide, String> {
    let done = python(module, files, spec)?;
    let sources = texts(&done, module);
    let read = |path: &str| sources.get(path).cloned();
    let places = |offset: u32| elaborated(&done, &read, offset);
    let (_, lowered) = first(&done.ir);
    let events = lowered.as_ref().map(|lowered| skeleton(lowered, places)).unwrap_or_default();
    let mut judged = judge(&done.ir, &places);
    let notes = notes(&done, &read);
    if !notes.is_empty() && matches!(judged.verdict.as_str(), "proved" | "clean") {
        judged.verdict = "undecided".into();
    }
    Ok(PythonSide { side: Side { events, judged, lowered }, notes, ir: done.ir })
}

fn texts(done: &Elaborated, own: &Module) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::from([(own.path().to_owned(), own.source().to_owned())]);
    for path in &done.files {
        if !texts.contains_key(path)
            && let Ok(module) = module(Path::new(path))
        {
            texts.insert(path.clone(), module.source().to_owned());
        }
    }
    texts
}

fn notes(done: &Elaborated, read: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let at = |file: FileId, start: u32| {
        let path = done.files.get(file.0 as usize).map_or("", String::as_str);
        let text = read(path).unwrap_or_default();
        let line = text.get(..start as usize).unwrap_or("").matches('\n').count() + 1;
        format!("{}:{line}", path.rsplit('/').next().unwrap_or(path))
    };
    let problems = done.problems.iter().filter(|problem| !problem.hint);
    let problems = problems.map(|one| format!("{} {}: {}", at(one.file, one.range.start), one.code, one.message));
    let unfollowed = done.unmodelled.iter();
    let unfollowed = unfollowed.map(|(file, range, why)| format!("{} not followed: {why}", at(*file, range.start)));
    problems.chain(unfollowed).collect()
}

/// In what the two languages differ: nothing where they are one kernel.
pub fn disagreement(python: &PythonSide, compiled: &Side) -> Vec<String> {
    let mut lines = differences(&python.side.events, &compiled.events);
    if python.side.lowered.is_none() && compiled.lowered.is_some() {
        lines.insert(0, "the Python gives no kernel".into());
    }
    if !lines.is_empty() {
        lines.extend(python.notes.iter().map(|note| format!("Python: {note}")));
    }
    lines
}

/// Whether both are lowered to the same kernel text.
pub fn same_kernel(python: &PythonSide, compiled: &Side) -> bool {
    match (&python.side.lowered, &compiled.lowered) {
        (Some(a), Some(b)) => a.kernel == b.kernel,
        _ => false,
    }
}
