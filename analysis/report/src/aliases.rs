//! Every value of the text that names a barrier.

use super::Alias;
use super::barriers::Barriers;
use super::trace::Trace;
use rustc_hash::{FxHashMap, FxHashSet};
use ttgir::queries::expr::{expression, name};
use ttgir::queries::memory::{is_memory, roots};
use ttgir::queries::spot::walk;
use ttgir::{BlockId, Def, OpId, Tree, ValueId};

/// Notes the values that name each barrier, in the order of the text.
pub(super) fn fill(trace: &Trace<'_>, barriers: &mut Barriers) {
    let tree = trace.tree;
    let mut rows: FxHashMap<ValueId, Vec<usize>> = FxHashMap::default();
    for (number, row) in barriers.rows.iter_mut().enumerate().filter(|(_, row)| !row.range.is_empty()) {
        let Some(root) = trace.value_at(row.range) else { continue };
        row.aliases.push(alias(tree, root, "allocation".to_owned()));
        // What a channel is made for is no barrier.
        if row.abstract_of.is_none_or(|(of, _)| of != "channel") {
            rows.entry(root).or_default().push(number);
        }
    }
    // A token or the like is no memory, but of the type that its root has.
    let types: Vec<_> = rows.keys().filter_map(|root| tree.value_type(*root)).collect();
    let may = |value: ValueId| is_memory(tree, value) || tree.value_type(value).is_some_and(|ty| types.contains(&ty));
    let mut values = Vec::new();
    let mut used: FxHashSet<ValueId> = FxHashSet::default();
    let within: Vec<OpId> = trace.function.into_iter().collect();
    walk(tree, &within, &mut |op| {
        used.extend(tree.operands(op).iter().copied());
        values.extend(tree.results(op).iter().copied().filter(|value| may(*value)));
        for block in tree.regions(op).iter().flat_map(|region| tree.blocks(*region)) {
            values.extend(tree.block_args(*block).iter().copied().filter(|value| may(*value)));
        }
    });
    for value in values {
        // What a partition is handed and never names does not matter to it.
        if rows.contains_key(&value) || (!used.contains(&value) && is_capture(tree, value)) {
            continue;
        }
        let found = roots(tree, value);
        let Some(how) = found.iter().any(|root| rows.contains_key(root)).then(|| how(tree, value)) else { continue };
        for &number in found.iter().filter_map(|root| rows.get(root)).flatten() {
            barriers.rows[number].aliases.push(alias(tree, value, how.clone()));
        }
    }
    for row in &mut barriers.rows {
        row.aliases.sort_by_key(|alias| (alias.range.start, alias.range.end));
    }
}

fn alias(tree: &Tree, value: ValueId, how: String) -> Alias {
    Alias { name: name(tree, value), range: tree.value_range(value), how }
}

/// How a value comes to name what it names.
fn how(tree: &Tree, value: ValueId) -> String {
    match tree.value_def(value) {
        Def::BlockArg(block, number) => argument(tree, block, number as usize),
        Def::Result(op, _) => result(tree, op),
        Def::Undefined => "undefined".to_owned(),
    }
}

/// Whether a value is what a partition calls something from outside of it.
fn is_capture(tree: &Tree, value: ValueId) -> bool {
    matches!(tree.value_def(value), Def::BlockArg(..)) && how(tree, value).starts_with("capture")
}

fn argument(tree: &Tree, block: BlockId, number: usize) -> String {
    let region = tree.parent_region(block);
    let Some(op) = tree.parent_op(region) else { return "block argument".to_owned() };
    let entry = tree.blocks(region).first() == Some(&block);
    let place = tree.regions(op).iter().position(|other| *other == region).unwrap_or(0);
    match tree.op_name(op) {
        "ttg.warp_specialize" if entry && place > 0 => format!("capture of partition{}", place - 1),
        "ttg.warp_specialize.partitions" if entry => format!("capture of partition{place}"),
        "nvws.warp_group" if entry => format!("capture of partition{place}"),
        "scf.for" if entry && number > 0 => "loop argument".to_owned(),
        "scf.while" if entry => "loop argument".to_owned(),
        _ => "block argument".to_owned(),
    }
}

fn result(tree: &Tree, op: OpId) -> String {
    let int = |attr: &str| tree.attr(op, attr).and_then(|attr| tree.attr_int(attr));
    match tree.op_name(op) {
        "ttg.memdesc_index" => {
            let index = tree.operands(op).get(1).map(|index| expression(tree, *index)).unwrap_or_default();
            format!("index [{index}]")
        }
        "ttg.memdesc_subslice" => {
            let offsets = tree.attr(op, "offsets").map(|attr| tree.attr_ints(attr)).unwrap_or_default();
            let offsets: Vec<String> = offsets.iter().map(i64::to_string).collect();
            format!("subslice {}", offsets.join(", "))
        }
        "ttng.tmem_subslice" => format!("subslice {}", int("N").or_else(|| int("offset")).unwrap_or(0)),
        "ttg.memdesc_trans" => "transposed".to_owned(),
        "ttg.memdesc_reshape" => "reshaped".to_owned(),
        "ttg.memdesc_reinterpret" => "reinterpreted".to_owned(),
        "arith.select" => "choice".to_owned(),
        "scf.for" | "scf.while" => "result of a loop".to_owned(),
        other => format!("result of {other}"),
    }
}
