//! Hints behind waits, arrivals and expectations: slot, phase and bytes as people write them.

use super::roles::transaction;
use super::sizes::bytes;
use base::TextRange;
use dialects::BarrierVerb;
use ttgir::queries::expr::expression;
use ttgir::queries::memory::path;
use ttgir::queries::spot::lift;
use ttgir::{Document, IrLevel, OpId, Tree};

/// A hint behind a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inlay {
    /// Where it stands.
    pub offset: u32,
    /// What it says.
    pub label: String,
    /// What each instance says, a line each, where they differ; empty otherwise.
    pub instances: String,
}

/// The hints of a range of a document; only the sections that it touches are read.
pub fn inlays(document: &Document, range: TextRange) -> Vec<Inlay> {
    let mut found = Vec::new();
    let touched = |of: TextRange| of.start <= range.end && range.start <= of.end;
    let sections = document.sections().iter();
    for section in sections.filter(|section| touched(section.range()) && section.level() != IrLevel::Llvm) {
        let tree = section.tree();
        let mut todo: Vec<OpId> = tree.top().iter().rev().copied().collect();
        while let Some(op) = todo.pop() {
            if !touched(lift(section, tree.op_range(op))) {
                continue;
            }
            if let Some(label) = inlay_of(tree, op) {
                let (offset, label) = (section.offset() + end_of(tree, op), friendly(&label));
                if range.start <= offset && offset <= range.end {
                    found.push(Inlay { offset, label, instances: String::new() });
                }
            }
            let inner = tree.regions(op).iter().flat_map(|region| tree.blocks(*region));
            let inner: Vec<OpId> = inner.flat_map(|block| tree.block_ops(*block)).copied().collect();
            todo.extend(inner.into_iter().rev());
        }
    }
    found
}

/// What there is to say behind an op: `slot %i % 2, phase (%i / 2) & 1`, `16 KiB`.
pub(crate) fn inlay_of(tree: &Tree, op: OpId) -> Option<String> {
    let barrier = tree.code(op)?.decl().barrier?;
    if matches!(barrier.verb, BarrierVerb::Init | BarrierVerb::Invalidate) {
        return None;
    }
    let mut slots: Vec<String> = tree.group(op, barrier.group).iter().map(|value| path(tree, *value)).collect();
    slots.retain(|slot| !slot.is_empty());
    slots.dedup();
    let mut parts = Vec::new();
    if !slots.is_empty() {
        let bare = |slot: &String| match slot.strip_prefix('[').and_then(|slot| slot.strip_suffix(']')) {
            Some(one) if !one.contains("][") => one.to_owned(),
            _ => slot.clone(),
        };
        parts.push(format!("slot {}", slots.iter().map(bare).collect::<Vec<_>>().join(", ")));
    }
    match barrier.verb {
        BarrierVerb::Wait => {
            parts.extend(tree.group(op, "phase").first().map(|phase| format!("phase {}", expression(tree, *phase))));
        }
        BarrierVerb::Expect => {
            parts.extend(tree.attr(op, "size").and_then(|attr| tree.attr_int(attr)).map(bytes));
        }
        _ => parts.extend(transaction(tree, op).map(bytes)),
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Names of values without their sigil, where they are no numbers.
pub(crate) fn friendly(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let named = from.get(1..).is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'));
        out.push_str(if named { "" } else { "%" });
        rest = from.get(1..).unwrap_or("");
    }
    out.push_str(rest);
    out
}

/// Where the text of an op ends, in front of its location.
fn end_of(tree: &Tree, op: OpId) -> u32 {
    let range = tree.op_header_range(op);
    let text = range.of(tree.text());
    let text = text.find(" loc(").and_then(|at| text.get(..at)).unwrap_or(text);
    range.start + text.trim_end().len() as u32
}
