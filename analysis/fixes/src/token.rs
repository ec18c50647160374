//! Tokens of automatic warp specialisation: a slot that a consumer does not hand back, or that a producer does not
//! hand over.

use super::context::{Candidate, FixContext, fix};
use super::draft;
use base::{Message, message};
use machine::Rule;
use ttgir::{OpId, Ty, ValueId};

/// Who waits, who should have ended that wait, and by what.
const PAIRS: &[(&str, &str, &str)] = &[
    ("nvws.producer_acquire", "nvws.consumer_wait", "nvws.consumer_release"),
    ("nvws.consumer_wait", "nvws.producer_acquire", "nvws.producer_commit"),
];

/// The release or the commit that a stuck task waits for, behind what the other task does with the slot.
pub(crate) fn handed_on(case: &FixContext<'_>) -> Vec<Candidate> {
    let Rule::Deadlock(blocked) = &case.found.violation.rule else { return Vec::new() };
    let tree = case.code.tree;
    let mut out = Vec::new();
    for stuck in blocked {
        let Some(waits) = case.site_op(stuck.site) else { continue };
        let Some((_, opens, ends)) = PAIRS.iter().find(|(name, ..)| *name == tree.op_name(waits)) else { continue };
        let Some(root) = token(case, waits) else { continue };
        for opened in of_token(case, root, opens) {
            out.extend(end(case, root, opened, ends));
        }
    }
    out
}

/// The token of an op, as it was made.
fn token(case: &FixContext<'_>, op: OpId) -> Option<ValueId> {
    case.code.tree.group(op, "token").first().map(|value| case.code.base(*value))
}

/// Ops of a name that use a token.
fn of_token(case: &FixContext<'_>, root: ValueId, name: &str) -> Vec<OpId> {
    let ops = case.lowered.map.sites.iter().filter_map(|site| case.code.op_of(site));
    let mut out: Vec<OpId> =
        ops.filter(|op| case.code.tree.op_name(*op) == name && token(case, *op) == Some(root)).collect();
    out.sort_unstable();
    out.dedup();
    out
}

/// What ends the use of a slot that `opened` began, where nothing in its block does: behind the last op there that
/// touches memory.
fn end(case: &FixContext<'_>, root: ValueId, opened: OpId, ends: &str) -> Vec<Candidate> {
    let (code, tree) = (case.code, case.code.tree);
    let Some(block) = tree.parent_block(opened) else { return Vec::new() };
    let later: Vec<OpId> = tree.block_ops(block).iter().copied().filter(|op| code.before(opened, *op)).collect();
    if later.iter().any(|op| tree.op_name(*op) == ends && token(case, *op) == Some(root)) {
        return Vec::new();
    }
    let (Some(&token), Some(&slot)) = (tree.group(opened, "token").first(), tree.group(opened, "idx").first()) else {
        return Vec::new();
    };
    let (Some(token_type), Some(slot_type)) = (code.type_of(token), code.type_of(slot)) else { return Vec::new() };
    // Its task, as its own op says it.
    let written = tree.op_range(opened).of(tree.text());
    let task = written.find('{').and_then(|open| Some(&written[open..=written.rfind('}')?]));
    let task = task.map_or_else(String::new, |task| format!(" {task}"));
    let line = format!("{ends} {}, {}{task} : {token_type}, {slot_type}", code.name(token), code.name(slot));
    let last = later.iter().rev().copied().find(|op| touches_memory(case, *op)).unwrap_or(opened);
    let title = message!("insert `{op}`", Message::op(ends.to_owned()));
    vec![fix(title, [draft::after(code, case.past_fences(last), &[line])])]
}

/// Whether an op, or one inside it, has an operand in memory.
fn touches_memory(case: &FixContext<'_>, op: OpId) -> bool {
    let (code, tree) = (case.code, case.code.tree);
    let name = tree.op_name(op);
    let view = name.starts_with("ttg.memdesc") || name == "ttng.tmem_subslice";
    let memory = |value: &ValueId| tree.value_type(*value).is_some_and(|ty| matches!(tree.ty(ty), Ty::MemDesc { .. }));
    let inside = tree.regions(op).iter().flat_map(|region| code.ops(*region));
    (!view && tree.operands(op).iter().any(memory)) || inside.into_iter().any(|op| touches_memory(case, op))
}
