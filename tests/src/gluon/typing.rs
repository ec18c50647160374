//! A kernel's file as it looks while it is typed: cut off anywhere, or with one token missing.

use base::{Cancel, Limits, TextRange};
use engine::Engine;
use engine::instances::{Config, Elaborator, PythonFile};
use gluon::{Elaborated, FileId, Spec, elaborate};
use python::syntax::Module;
use std::ops::Range;
use std::sync::Arc;

use super::files::Disk;

/// A text that somebody might have on the way to another.
#[derive(Clone, Debug)]
pub struct Typed {
    /// What was done: `up to byte 120`, `without bytes 7..9`.
    pub what: String,
    /// The text.
    pub text: String,
}

/// Every text that is a prefix of `text`.
pub fn prefixes(text: &str) -> impl Iterator<Item = Typed> {
    text.char_indices().map(|(at, _)| Typed { what: format!("up to byte {at}"), text: text[..at].to_owned() })
}

/// Every text that lacks one token of `text`.
pub fn deletions(text: &str) -> impl Iterator<Item = Typed> {
    tokens(text).into_iter().map(|range| {
        let rest = [&text[..range.start], &text[range.end..]].concat();
        Typed { what: format!("without bytes {}..{} (`{}`)", range.start, range.end, &text[range.clone()]), text: rest }
    })
}

/// Names, numbers, operators and whole strings; comments are none.
fn tokens(text: &str) -> Vec<Range<usize>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = match first {
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '"' | '\'' => string(rest),
            _ if first.is_alphanumeric() || first == '_' => {
                rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
            }
            _ => first.len_utf8(),
        };
        if first != '#' && !first.is_whitespace() {
            tokens.push(at..at + length);
        }
        at += length;
    }
    tokens
}

/// How long the string is that `text` starts with.
fn string(text: &str) -> usize {
    let quote = if text.starts_with("\"\"\"") || text.starts_with("'''") { &text[..3] } else { &text[..1] };
    text[quote.len()..].find(quote).map_or(text.len(), |end| end + 2 * quote.len())
}

/// What is said of a kernel in a text: the verdict, and whether the text is broken where the kernel is.
pub struct Said {
    /// `proved`, `clean`, `found`, `undecided`.
    pub verdict: &'static str,
    /// A statement that the kernel needs does not parse.
    pub broken: bool,
}

/// Analyses a text; of its kernels the one that `spec` is for.
pub fn say(script: &PythonFile, files: &Disk, spec: &Spec) -> Option<Said> {
    let never = Cancel::never();
    let done = elaborate(script.module(), files, spec, &never).ok()?;
    let elaboration = Elaborator::new(Config::default()).elaborate(script, files, &never).ok()?;
    let mut engine = Engine::new(Limits { total_steps: 200_000, ..Limits::default() });
    let analysis = engine.analyse_python(&Arc::new(elaboration), files, &never).ok()?;
    let report = analysis.kernels.iter().find(|kernel| kernel.name == done.kernel)?;
    Some(Said { verdict: report.verdict.name(), broken: broken(script.module(), &done) })
}

fn broken(module: &Module, done: &Elaborated) -> bool {
    let own = done.touched.iter().filter(|(file, _)| *file == FileId(0)).map(|(_, range)| *range);
    let own: Vec<TextRange> = own.chain([done.name]).collect();
    module.broken().iter().any(|broken| {
        let now = broken.range;
        own.iter().any(|range| now.start <= range.start && range.start < now.end)
    })
}
