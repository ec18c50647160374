//! What an op does, by its declaration, and what it does with its barrier.

use super::content::Hover;
use super::memory;
use crate::effects::{effects, operand};
use base::TextRange;
use dialects::Ttg;
use ttgir::OpId;
use ttgir::queries::memory::is_memory;
use ttgir::queries::spot::{Spot, function, walk};

/// The hover of the op whose name is at the place.
pub(super) fn hover(spot: Spot<'_>) -> Option<Hover> {
    let tree = spot.tree();
    let op = tree.op_at(spot.offset)?;
    if tree.op_name_range(op).touches(spot.offset) {
        return of(spot, op);
    }
    let name = tree.attr(op, "sym_name").filter(|_| function(tree, op) == Some(op))?;
    tree.attr_range(name).touches(spot.offset).then(|| of_function(spot, op, tree.attr_range(name)))
}

/// The hover of a function at its name: its arguments and partitions.
fn of_function(spot: Spot<'_>, op: OpId, name: TextRange) -> Hover {
    let tree = spot.tree();
    let (mut partitions, mut warps) = (Vec::new(), Vec::new());
    walk(tree, &[op], &mut |inner| {
        if tree.is(inner, Ttg::WarpSpecialize) {
            warps.extend(tree.attr(inner, "partitionNumWarps").map(|attr| tree.attr_ints(attr)).unwrap_or_default());
            let holder = |op: &OpId| tree.is(*op, Ttg::WarpSpecializePartitions);
            let blocks = tree.regions(inner).iter().flat_map(|region| tree.blocks(*region));
            let held = blocks.flat_map(|block| tree.block_ops(*block)).find(|op| holder(op));
            let count = held.map_or(tree.regions(inner).len().saturating_sub(1), |held| tree.regions(*held).len());
            partitions.extend(0..count);
        }
    });
    let said = partitions.iter().enumerate().map(|(at, number)| match warps.get(at) {
        Some(1) => format!("`partition{number}` of 1 warp"),
        Some(warps) => format!("`partition{number}` of {warps} warps"),
        None => format!("`partition{number}`"),
    });
    let said: Vec<String> = said.collect();
    let words = if said.is_empty() {
        vec!["One partition executes it.".to_owned()]
    } else {
        vec![format!("Executed by `default` and {}.", said.join(", "))]
    };
    Hover { range: spot.lift(name), title: name.of(tree.text()).to_owned(), words, ..Hover::default() }
}

/// The hover of an op.
pub(super) fn of(spot: Spot<'_>, op: OpId) -> Option<Hover> {
    let tree = spot.tree();
    let range = spot.lift(tree.op_name_range(op));
    let Some(code) = tree.code(op) else {
        let title = tree.op_name(op).to_owned();
        let words =
            vec!["Not an op that is known here; what it does to memory and barriers is not followed.".to_owned()];
        return (!title.is_empty()).then(|| Hover { range, title, words, ..Hover::default() });
    };
    let decl = code.decl();
    let title = format!("{}: {}", decl.name, decl.doc.trim());
    let words = effects(decl, &|group| operand(tree, op, group));
    let words: Vec<String> = words.into_iter().filter(|sentence| !sentence.is_empty()).collect();
    let mut hover = Hover { range, title, words, ..Hover::default() };
    let barrier = decl.barrier.and_then(|barrier| tree.group(op, barrier.group).first().copied());
    if let Some(barrier) = barrier.filter(|barrier| is_memory(tree, *barrier))
        && let Some(about) = memory::hover(spot, barrier, range)
    {
        hover.subject = about.title;
        hover.words.extend(about.words);
        hover = Hover { rows: about.rows, more: about.more, cadence: about.cadence, carried: about.carried, ..hover };
    }
    Some(hover)
}
