//! The value that a word or call of a kernel stands for.

use std::sync::Arc;

use super::super::word;
use crate::Hover;
use base::TextRange;
use engine::instances::{ElaboratedInstance, Elaboration, KernelInstances};
use gluon::FileId;
use ttgir::queries::memory;
use ttgir::{OpId, Tree, ValueId};

/// The value that an offset is about, an op that has to do with it, and the word or call in Python.
type FoundValue<'e> = (&'e ElaboratedInstance, TextRange, OpId, ValueId);

/// The value of the variable at an offset, or else what the call around it is about.
pub(crate) fn found(of: &Elaboration, offset: u32) -> Option<FoundValue<'_>> {
    variable_at(of, offset).or_else(|| {
        let (elaborated, range, ops) = call(of, offset)?;
        let (op, value) = about(elaborated, &ops)?;
        Some((elaborated, range, op, value))
    })
}

/// The hover of the value that an offset is about.
pub(super) fn of_value(of: &Elaboration, offset: u32) -> Option<Hover> {
    let (elaborated, range, op, value) = found(of, offset)?;
    said(of, elaborated, range, crate::hover_of(elaborated.document(), op, value)?, Some(value))
}

/// The hover of the variable at an offset.
pub(super) fn of_variable(of: &Elaboration, offset: u32) -> Option<Hover> {
    let (elaborated, range, op, value) = variable_at(of, offset)?;
    said(of, elaborated, range, crate::hover_of(elaborated.document(), op, value)?, Some(value))
}

fn variable_at(of: &Elaboration, offset: u32) -> Option<FoundValue<'_>> {
    let text = of.module.text();
    let range = word(text, offset)?;
    // The name of an attribute or function is no variable.
    if range.start > 0 && text.as_bytes().get(range.start as usize - 1) == Some(&b'.') {
        return None;
    }
    let near = call(of, offset).map(|(elaborated, ..)| elaborated);
    let function = function_around(of, offset);
    let all = near.into_iter().chain(instances(of, offset).into_iter().map(|elaborated| &**elaborated));
    all.take(8).find_map(|elaborated| {
        let (op, value) = variable(elaborated, range.of(text), function)?;
        Some((elaborated, range, op, value))
    })
}

/// The instances of the kernel around an offset, then all others.
fn instances(of: &Elaboration, offset: u32) -> Vec<&Arc<ElaboratedInstance>> {
    let inside = |kernel: &&KernelInstances| kernel.entry.range.touches(offset);
    let own = of.kernels.iter().filter(inside).flat_map(|kernel| &kernel.instances);
    own.chain(of.kernels.iter().flat_map(|kernel| &kernel.instances)).collect()
}

/// The innermost call around an offset that emits ops in some instance, and these.
pub(super) fn call(of: &Elaboration, offset: u32) -> Option<(&ElaboratedInstance, TextRange, Vec<OpId>)> {
    instances(of, offset).into_iter().find_map(|elaborated| {
        let (range, ops) = call_in(elaborated, offset)?;
        Some((&**elaborated, range, ops))
    })
}

/// Ops of one call that are looked at.
const OPS: usize = 16;

fn call_in(elaborated: &ElaboratedInstance, offset: u32) -> Option<(TextRange, Vec<OpId>)> {
    let tree = elaborated.tree()?;
    let origin_of = |id: gluon::OriginId| elaborated.origins().origins.get(id.0 as usize);
    let own = |file: FileId, range: TextRange| file == FileId(0) && range.touches(offset);
    let mut best: Option<TextRange> = None;
    for (_, id) in &elaborated.origins().ops {
        let Some(origin) = origin_of(*id).filter(|origin| own(origin.file, origin.range)) else { continue };
        if best.is_none_or(|range| origin.range.len() < range.len()) {
            best = Some(origin.range);
        }
    }
    let range = best?;
    let same = elaborated
        .origins()
        .ops
        .iter()
        .filter(|(_, id)| origin_of(*id).is_some_and(|origin| origin.file == FileId(0) && origin.range == range));
    let ops: Vec<OpId> = same.take(OPS).filter_map(|(at, _)| tree.op_at(*at)).collect();
    (!ops.is_empty()).then(|| (elaborated.module().place(range).0, ops))
}

/// What the ops of a call are about: memory first.
pub(super) fn about(elaborated: &ElaboratedInstance, ops: &[OpId]) -> Option<(OpId, ValueId)> {
    let tree = elaborated.tree()?;
    let of_memory = |op: &OpId| memory_of(tree, *op).map(|value| (*op, value));
    let result = |op: &OpId| tree.results(*op).first().map(|value| (*op, *value));
    ops.iter().find_map(of_memory).or_else(|| ops.iter().find_map(result))
}

/// What of a memory an op makes or uses.
fn memory_of(tree: &Tree, op: OpId) -> Option<ValueId> {
    let mut values = tree.results(op).iter().chain(tree.operands(op)).copied();
    values.find(|value| memory::is_memory(tree, *value))
}

/// A hover of an instance in Python's words and at its places.
pub(super) fn said(
    of: &Elaboration,
    elaborated: &ElaboratedInstance,
    range: TextRange,
    mut hover: Hover,
    value: Option<ValueId>,
) -> Option<Hover> {
    hover.title = elaborated.say(&hover.title);
    hover.subject = elaborated.say(&hover.subject);
    // The definition as Python has it.
    hover.code = value.and_then(|value| defined(elaborated, value)).unwrap_or_default();
    hover.words.iter_mut().for_each(|words| *words = elaborated.say(words));
    for row in &mut hover.rows {
        let place = elaborated.place(row.range);
        row.range = place.range;
        row.partition = elaborated.say(&row.partition);
        row.slot = elaborated.say(&row.slot);
        row.detail = elaborated.say(&row.detail) + &place.within();
    }
    for row in &mut hover.cadence {
        row.range = elaborated.place(row.range).range;
        row.partition = elaborated.say(&row.partition);
    }
    for (name, text) in &mut hover.carried {
        (*name, *text) = (elaborated.say(name), elaborated.say(text));
    }
    hover.rows.dedup();
    hover.range = range;
    let kernel =
        of.kernels.iter().find(|kernel| kernel.instances.iter().any(|known| std::ptr::eq(&**known, elaborated)));
    hover.kernel = kernel.map(|kernel| of.module.place(kernel.entry.name_range).0);
    if let Some(kernel) = kernel.filter(|kernel| kernel.instances.len() > 1) {
        let label = &elaborated.instance.label;
        hover.words.push(format!("Of {} instances this is that with {label}.", kernel.instances.len()));
    }
    Some(hover)
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
    let module = elaborated.module_of(origin.file)?;
    let source = module.slice(origin.range);
    let mut lines = source.lines();
    let first = lines.next()?.trim_end().to_owned();
    Some(if lines.next().is_some() { format!("{first} …") } else { first })
}

/// The top-level statement around an offset.
pub(super) fn function_around(of: &Elaboration, offset: u32) -> Option<TextRange> {
    let ranges = of.module.body().iter().map(python::syntax::range);
    ranges.filter(|range| range.touches(offset)).last()
}
