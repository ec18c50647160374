//! Where names are defined and used: values, functions, attribute and type aliases.

use base::TextRange;
use ttgir::queries::spot::{Spot, walk};
use ttgir::{Document, OpId, Tree};

/// A place where a name stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Occurrence {
    /// The name.
    pub range: TextRange,
    /// Whether it is defined here.
    pub definition: bool,
}

/// Where the name at `offset` is defined.
pub fn definition(document: &Document, offset: u32) -> Option<TextRange> {
    let found = occurrences(document, offset);
    found.into_iter().find(|occurrence| occurrence.definition).map(|occurrence| occurrence.range)
}

/// Every place of the name at `offset`, in the order of the text.
pub fn occurrences(document: &Document, offset: u32) -> Vec<Occurrence> {
    let Some(spot) = Spot::at(document, offset) else { return Vec::new() };
    let tree = spot.tree();
    let mut found = match tree.value_at(spot.offset) {
        Some((value, _)) => {
            let defined = tree.value_range(value);
            let known = super::hover::defining_op(tree, value).is_some();
            let uses = tree.uses(value).into_iter().filter(|range| !known || *range != defined);
            let mut found: Vec<Occurrence> = uses.map(|range| Occurrence { range, definition: false }).collect();
            if known {
                found.push(Occurrence { range: defined, definition: true });
            }
            found
        }
        None => words(tree, spot.offset),
    };
    for occurrence in &mut found {
        occurrence.range = spot.lift(occurrence.range);
    }
    found.sort();
    found.dedup();
    found
}

/// The places of a `#alias`, `!alias` or `@function`.
fn words(tree: &Tree, offset: u32) -> Vec<Occurrence> {
    let Some(word) = word_at(tree.text(), offset as usize) else { return Vec::new() };
    let text = tree.text();
    let functions = if word.starts_with('@') { function_names(tree, word) } else { Vec::new() };
    let mut found = Vec::new();
    for (start, _) in text.match_indices(word) {
        let end = start + word.len();
        let longer = text.as_bytes().get(end).is_some_and(|byte| is_name(*byte));
        let after_name = start > 0 && text.as_bytes().get(start - 1).is_some_and(|byte| is_name(*byte));
        if longer || after_name || in_string_or_comment(text, start) {
            continue;
        }
        let range = TextRange::new(start as u32, end as u32);
        let definition = if word.starts_with('@') {
            functions.iter().any(|name| name.contains(range) || range.contains(*name))
        } else {
            at_line_start(text, start) && text.get(end..).is_some_and(|rest| rest.trim_start().starts_with('='))
        };
        found.push(Occurrence { range, definition });
    }
    found
}

/// Where the functions of this name are defined.
fn function_names(tree: &Tree, word: &str) -> Vec<TextRange> {
    let mut names = Vec::new();
    let mut take = |op: OpId| {
        let name = tree.attr(op, "sym_name").filter(|_| tree.op_name(op).ends_with(".func"));
        if let Some(attr) = name
            && tree.attr_str(attr) == word.strip_prefix('@')
        {
            names.push(tree.attr_range(attr));
        }
    };
    walk(tree, tree.top(), &mut take);
    names
}

/// The sigil and name around an offset.
fn word_at(text: &str, offset: usize) -> Option<&str> {
    let bytes = text.as_bytes();
    let mut start = offset;
    while start > 0 && bytes.get(start - 1).is_some_and(|byte| is_name(*byte)) {
        start -= 1;
    }
    let sigil = |at: usize| bytes.get(at).is_some_and(|byte| matches!(byte, b'#' | b'!' | b'@'));
    if start > 0 && sigil(start - 1) {
        start -= 1;
    } else if !sigil(start) {
        return None;
    }
    let mut end = start + 1;
    while bytes.get(end).is_some_and(|byte| is_name(*byte)) {
        end += 1;
    }
    text.get(start..end).filter(|word| word.len() > 1)
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.')
}

fn line_before(text: &str, at: usize) -> &str {
    let before = text.get(..at).unwrap_or("");
    before.rsplit('\n').next().unwrap_or(before)
}

fn at_line_start(text: &str, at: usize) -> bool {
    line_before(text, at).trim().is_empty()
}

fn in_string_or_comment(text: &str, at: usize) -> bool {
    let before = line_before(text, at);
    before.contains("//") || before.bytes().filter(|byte| *byte == b'"').count() % 2 == 1
}
