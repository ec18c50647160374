//! What editors show of a Python file: hovers, uses, symbols.
//!
//! All of it is read off an elaborated instance, the first of its kernel that reaches the place.

use std::sync::Arc;

use super::{ElaboratedInstance, Elaboration, KernelInstances};
use crate::ide::{self, Hover, Symbol, SymbolKind};
use base::TextRange;
use gluon::FileId;
use ttgir::queries::memory;
use ttgir::{OpId, Tree, ValueId};

/// The hover at an offset of the text: of a barrier or buffer who does what with it, of another value of the
/// kernel what it is.
pub fn hover(of: &Elaboration, offset: u32) -> Option<Hover> {
    let (elaborated, range, op, value) = found(of, offset)?;
    let mut hover = ide::hover_of(&elaborated.document(), op, value)?;
    hover.title = elaborated.say(&hover.title);
    // The definition as Python has it.
    hover.code = defined(elaborated, value).unwrap_or_default();
    for row in &mut hover.rows {
        let place = elaborated.place(row.range);
        row.range = place.range;
        row.partition = elaborated.say(&row.partition);
        row.slot = elaborated.say(&row.slot);
        row.detail = elaborated.say(&row.detail) + &place.within();
    }
    for (name, text) in &mut hover.carried {
        (*name, *text) = (elaborated.say(name), elaborated.say(text));
    }
    hover.rows.dedup();
    hover.range = range;
    Some(hover)
}

/// The kernels, with their partitions, barriers and buffers.
pub fn symbols(of: &Elaboration) -> Vec<Symbol> {
    of.kernels.iter().map(|kernel| symbol(of, kernel)).collect()
}

fn symbol(of: &Elaboration, kernel: &KernelInstances) -> Symbol {
    let mut children = Vec::new();
    let mut detail = String::new();
    if let Some(elaborated) = kernel.instances.first() {
        detail.clone_from(&elaborated.instance.label);
        let roots = ide::symbols(&elaborated.document());
        children = roots.into_iter().flat_map(|root| root.children).map(|child| said(elaborated, child)).collect();
        children.dedup_by(|a, b| (&a.name, a.selection) == (&b.name, b.selection) && b.children.is_empty());
    }
    Symbol {
        name: kernel.entry.name.clone(),
        detail,
        kind: SymbolKind::Function,
        range: of.module.place(kernel.entry.range).0,
        selection: of.module.place(kernel.entry.name_range).0,
        children,
    }
}

fn said(elaborated: &ElaboratedInstance, symbol: Symbol) -> Symbol {
    let place = |range| elaborated.place(range).range;
    let selection = place(symbol.selection);
    Symbol {
        name: elaborated.say(&symbol.name),
        detail: elaborated.say(&symbol.detail),
        kind: symbol.kind,
        range: selection,
        selection,
        children: symbol.children.into_iter().map(|child| said(elaborated, child)).collect(),
    }
}

/// The value of an elaborated instance that an offset is about, an op that has to do with it, and the word or call in
/// Python.
pub(super) fn found(of: &Elaboration, offset: u32) -> Option<(&ElaboratedInstance, TextRange, OpId, ValueId)> {
    let inside = |kernel: &&KernelInstances| kernel.entry.range.touches(offset);
    let own = of.kernels.iter().filter(inside).flat_map(|kernel| &kernel.instances);
    let all = of.kernels.iter().flat_map(|kernel| &kernel.instances);
    let instances: Vec<&Arc<ElaboratedInstance>> = own.chain(all).collect();
    let word = word(of.module.text(), offset);
    let by_call = instances.iter().find_map(|elaborated| call(elaborated, offset));
    // The name of a variable says more than the call around it.
    if let Some(word) = word {
        let near = by_call.map(|(elaborated, ..)| elaborated);
        let first = near.into_iter().chain(instances.iter().map(|elaborated| &***elaborated));
        let function = function_around(of, offset);
        for elaborated in first.take(8) {
            if let Some((op, value)) = variable(elaborated, word.of(of.module.text()), function) {
                return Some((elaborated, word, op, value));
            }
        }
    }
    by_call
}

/// The innermost call around an offset that emits an op, and what the op is about.
fn call(elaborated: &ElaboratedInstance, offset: u32) -> Option<(&ElaboratedInstance, TextRange, OpId, ValueId)> {
    let tree = elaborated.tree()?;
    let mut best: Option<(u32, u32)> = None;
    for (start, origin) in &elaborated.origins().ops {
        let Some(origin) = elaborated.origins().origins.get(origin.0 as usize) else { continue };
        let here = origin.file == FileId(0) && origin.range.touches(offset);
        if here && best.is_none_or(|(_, len)| origin.range.len() < len) {
            best = Some((*start, origin.range.len()));
        }
    }
    let (start, len) = best?;
    // Of the ops of one call the one that touches memory.
    let same = elaborated.origins().ops.iter().filter(|(at, _)| {
        *at >= start
            && elaborated
                .origins()
                .at(*at)
                .is_some_and(|it| it.file == FileId(0) && it.range.len() == len && it.range.touches(offset))
    });
    let mut other = None;
    for (at, _) in same.take(16) {
        let Some(op) = tree.op_at(*at) else { continue };
        if let Some(value) = memory(tree, op) {
            return Some((elaborated, elaborated.place(TextRange::empty(*at)).range, op, value));
        }
        if let (None, Some(&value)) = (&other, tree.results(op).first()) {
            other = Some((elaborated, elaborated.place(TextRange::empty(*at)).range, op, value));
        }
    }
    other
}

/// What of a memory an op makes or uses.
fn memory(tree: &Tree, op: OpId) -> Option<ValueId> {
    let mut values = tree.results(op).iter().chain(tree.operands(op)).copied();
    values.find(|value| memory::is_memory(tree, *value))
}

/// The value that a variable of a function stands for: memory first.
fn variable(elaborated: &ElaboratedInstance, word: &str, function: Option<TextRange>) -> Option<(OpId, ValueId)> {
    let tree = elaborated.tree()?;
    let mut other = None;
    for (at, origin) in &elaborated.origins().ops {
        let Some(origin) = elaborated.origins().origins.get(origin.0 as usize) else { continue };
        let here = origin.file == FileId(0) && function.is_none_or(|function| function.contains(origin.range));
        if !here {
            continue;
        }
        let Some(op) = tree.op_at(*at) else { continue };
        for &value in tree.results(op).iter().chain(tree.operands(op)) {
            if elaborated.say(tree.value_name(value)) != word {
                continue;
            }
            if memory::is_memory(tree, value) {
                return Some((op, value));
            }
            other = other.or(Some((op, value)));
        }
    }
    other
}

/// The source of the call that makes a value.
fn defined(elaborated: &ElaboratedInstance, value: ValueId) -> Option<String> {
    let tree = elaborated.tree()?;
    let root = memory::root_of(tree, value);
    let origin = elaborated.origins().at(tree.value_range(root).start)?;
    let module = elaborated.modules.get(origin.file.0 as usize)?.as_ref()?;
    let source = module.slice(origin.range);
    let mut lines = source.lines();
    let first = lines.next()?.trim_end().to_owned();
    Some(if lines.next().is_some() { format!("{first} …") } else { first })
}

/// The identifier around an offset.
fn word(text: &str, offset: u32) -> Option<TextRange> {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let bytes = text.as_bytes();
    let at = (offset as usize).min(bytes.len());
    let start = at - bytes.get(..at)?.iter().rev().take_while(|byte| is_name(byte)).count();
    let end = at + bytes.get(at..)?.iter().take_while(|byte| is_name(byte)).count();
    let range = TextRange::new(start as u32, end as u32);
    let name = range.of(text);
    (!name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())).then_some(range)
}

/// The top-level statement around an offset.
fn function_around(of: &Elaboration, offset: u32) -> Option<TextRange> {
    use ruff_text_size::Ranged;
    let ranges = of.module.body().iter().map(|statement| {
        let range = statement.range();
        TextRange::new(range.start().to_u32(), range.end().to_u32())
    });
    ranges.filter(|range| range.touches(offset)).last()
}
