//! The value that a word or call of a kernel stands for.

use std::sync::Arc;

use super::super::name_values::{Spot, of_uses, of_variable as of_variable_in};
use super::super::word;
use crate::Hover;
use crate::hover::ALSO_KNOWN;
use base::TextRange;
use dialects::{Arith, OpCode, Ttg};
use engine::instances::{ElaboratedInstance, Elaboration, KernelInstances};
use gluon::FileId;
use ttgir::queries::memory;
use ttgir::{Def, OpId, Tree, ValueId};

/// The values that an offset is about, each with an op that has to do with it, and the word or call in Python.
pub(crate) struct Found<'e> {
    /// The instance that has the values.
    pub(crate) elaborated: &'e ElaboratedInstance,
    /// The word or call.
    pub(crate) range: TextRange,
    /// The values; several where a name stands for several.
    pub(crate) values: Vec<(OpId, ValueId)>,
}

/// The values that the name at an offset stands for; at what a call calls, those that the call is about.
pub(crate) fn found(of: &Elaboration, offset: u32) -> Option<Found<'_>> {
    at_name(of, &Spot::at(of, offset), offset)
}

fn at_name<'e>(of: &'e Elaboration, spot: &Spot, offset: u32) -> Option<Found<'e>> {
    let word = word(of.module.text(), offset)?;
    let values = |elaborated: &ElaboratedInstance| match spot {
        Spot::Variable(variable) => of_variable_in(elaborated, variable),
        Spot::Field(uses) => of_uses(elaborated, uses),
        _ => Vec::new(),
    };
    match spot {
        Spot::Variable(_) | Spot::Field(_) => {
            let near = call(of, offset).map(|(elaborated, ..)| elaborated);
            let all = near.into_iter().chain(instances(of, offset).into_iter().map(|elaborated| &**elaborated));
            all.take(8).find_map(|elaborated| {
                let values = values(elaborated);
                (!values.is_empty()).then_some(Found { elaborated, range: word, values })
            })
        }
        Spot::Callee(called) => {
            let (elaborated, range, ops) = call(of, offset)?;
            let subject = about(elaborated, &ops).filter(|_| range == *called)?;
            Some(Found { elaborated, range, values: vec![subject] })
        }
        Spot::Other | Spot::Nothing => None,
    }
}

/// The hover of the values that the name at an offset stands for.
pub(super) fn of_name(of: &Elaboration, spot: &Spot, offset: u32) -> Option<Hover> {
    let found = at_name(of, spot, offset)?;
    let elaborated = found.elaborated;
    let (&(op, value), others) = found.values.split_first()?;
    let hover = crate::hover_of(elaborated.document(), op, value)?;
    let mut hover = said(of, elaborated, found.range, hover, Some(value))?;
    if let Some(tree) = elaborated.tree().filter(|_| !others.is_empty()) {
        let names = others.iter().map(|(_, other)| format!("`{}`", elaborated.say(tree.value_name(*other))));
        hover.words.push(format!("In other calls it is {}.", names.collect::<Vec<_>>().join(", ")));
    }
    Some(hover)
}

/// The hover of what the call or operation around an offset is about.
pub(super) fn around(of: &Elaboration, offset: u32) -> Option<Hover> {
    let (elaborated, range, ops) = call(of, offset)?;
    let (op, value) = about(elaborated, &ops)?;
    said(of, elaborated, range, crate::hover_of(elaborated.document(), op, value)?, Some(value))
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

/// What the ops of a call or operation are about: memory first, or else what it comes to. A constant is an operand of it,
/// unless it is all that there is.
pub(super) fn about(elaborated: &ElaboratedInstance, ops: &[OpId]) -> Option<(OpId, ValueId)> {
    let tree = elaborated.tree()?;
    let of_memory = |op: &OpId| memory_of(tree, *op).map(|value| (*op, value));
    let result = |op: &OpId| tree.results(*op).first().map(|value| (*op, *value));
    let constant = |op: &&OpId| tree.is(**op, Arith::Constant);
    ops.iter().find_map(of_memory).or_else(|| match ops.iter().rev().find(|op| !constant(op)) {
        Some(last) => result(last),
        None => match ops {
            [only] => result(only),
            _ => None,
        },
    })
}

/// What of a memory an op makes or uses; what partitions are handed is not what the op is about.
fn memory_of(tree: &Tree, op: OpId) -> Option<ValueId> {
    if matches!(tree.code(op), Some(OpCode::Ttg(Ttg::WarpSpecialize | Ttg::WarpSpecializePartitions))) {
        return None;
    }
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
    if let Some(value) = value.and_then(|value| Some(elaborated.say(elaborated.tree()?.value_name(value)))) {
        // What is handed on under its own name is no other value.
        if let Some(rest) = hover.title.strip_prefix(&format!("{value} is {value}: ")) {
            hover.title = format!("{value}: {rest}");
        }
        if let Some(rest) = hover.title.strip_suffix(&format!(" = {value}")) {
            hover.title = rest.to_owned();
        }
    }
    // The definition as Python has it.
    hover.code = value.and_then(|value| defined(elaborated, value)).unwrap_or_default();
    hover.words.iter_mut().for_each(|words| *words = once_each(&elaborated.say(words)));
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
    // Several values of the IR are one variable in Python, and what it goes on to may have no other name than its own.
    let mut told: Vec<(String, String)> = Vec::new();
    for (name, text) in std::mem::take(&mut hover.carried) {
        if !text.ends_with(&format!(", then {name}")) && !told.contains(&(name.clone(), text.clone())) {
            told.push((name, text));
        }
    }
    hover.carried = told;
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

/// A sentence that lists names, each name once: several values of the IR are one variable in Python.
fn once_each(sentence: &str) -> String {
    let Some(names) = sentence.strip_prefix(ALSO_KNOWN).and_then(|rest| rest.strip_suffix('.')) else {
        return sentence.to_owned();
    };
    let mut told: Vec<&str> = Vec::new();
    for name in names.split(", ") {
        if !told.contains(&name) {
            told.push(name);
        }
    }
    format!("{ALSO_KNOWN}{}.", told.join(", "))
}

/// The source of the call that makes a value.
fn defined(elaborated: &ElaboratedInstance, value: ValueId) -> Option<String> {
    let tree = elaborated.tree()?;
    let root = memory::root_of(tree, value);
    let Def::Result(..) = tree.value_def(root) else { return None };
    let origin = elaborated.origins().at(tree.value_range(root).start)?;
    let module = elaborated.module_of(origin.file)?;
    let source = module.slice(origin.range);
    let mut lines = source.lines();
    let first = lines.next()?.trim_end().to_owned();
    Some(if lines.next().is_some() { format!("{first} …") } else { first })
}
