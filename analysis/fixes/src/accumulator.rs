//! An accumulator that nobody has zeroed: the first product of a tile overwrites it instead of adding to it.
//!
//! What a kernel computes is changed by that, from a sum on top of whatever the last kernel left to the product alone.

use super::context::{Candidate, FixContext, fix};
use super::draft;
use base::message;
use machine::Rule;
use ttgir::{OpId, ValueId};

/// `useD` that is false the first time.
pub(crate) fn first_use(case: &FixContext<'_>) -> Vec<Candidate> {
    let Rule::Uninitialised { read } = &case.found.violation.rule else { return Vec::new() };
    let (code, tree) = (case.code, case.code.tree);
    let Some(op) = case.op(read.effect).filter(|op| tree.op_name(*op).starts_with("ttng.tc_gen5_mma")) else {
        return Vec::new();
    };
    let accumulator = tree.group(op, "d").first().map(|value| code.root(*value));
    let adds = tree.group(op, "useD").first().and_then(|value| code.constant(*value));
    let (Some(root), Some(adds), Some((at, _))) = (accumulator, adds, tree.group_span(op, "useD")) else {
        return Vec::new();
    };
    if adds == 0 || case.operand(read).map(|value| code.root(value)) != Some(root) {
        return Vec::new();
    }
    let mut out = Vec::new();
    for (counter, first) in loops(case, op) {
        let Some(width) = code.width(counter) else { continue };
        let mut draft = case.draft(op);
        if !draft.sees(first) && code.constant(first).is_none() {
            continue;
        }
        let first = match code.constant(first) {
            Some(number) => draft.constant(number, width),
            None => code.name(first),
        };
        let name = draft.fresh("use_acc");
        draft.line(format!("{name} = arith.cmpi ne, {}, {first} : i{width}", code.name(counter)));
        let edits = [draft.insert(), draft::operand(code, op, at, &name)];
        out.push(fix(message!("overwrite the accumulator in the first iteration"), edits));
    }
    // In a loop that would drop the sum.
    if case.code.is_repeated(op) {
        return out;
    }
    let mut draft = case.draft(op);
    let never = draft.constant(0, 1);
    let edit = draft::operand(code, op, at, &never);
    let lines = draft.insert();
    let edits = [lines, edit].into_iter().filter(|edit| !(edit.range.is_empty() && edit.text.trim().is_empty()));
    out.push(fix(message!("overwrite the accumulator: `useD` is false"), edits));
    out
}

/// Counters of the loops around an op, each with where it starts; the innermost first.
fn loops(case: &FixContext<'_>, op: OpId) -> Vec<(ValueId, ValueId)> {
    let tree = case.code.tree;
    let counted = |op: OpId| {
        let body = tree.regions(op).first().and_then(|region| tree.blocks(*region).first().copied())?;
        Some((*tree.block_args(body).first()?, *tree.group(op, "lowerBound").first()?))
    };
    case.code.loops(op).into_iter().filter_map(counted).collect()
}
