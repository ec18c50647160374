//! A phase that nobody completes: an arrival after the last access, in another thread, of the
//! buffer that the blocked thread touches next.

use super::context::{Candidate, FixContext, fix};
use super::slot::{slot_name, slots};
use base::{Message, message};
use machine::{BarrierPlace, BlockedOn, Rule};
use ttgir::{OpId, RegionId, Ty, ValueId};

const MMAS: &[&str] = &["ttng.tc_gen5_mma", "ttng.tc_gen5_mma_scaled", "ttng.tmem_copy"];

/// Arrivals for each barrier that a thread waits for in vain.
pub(crate) fn arrivals(case: &FixContext<'_>) -> Vec<Candidate> {
    let Rule::Deadlock(blocked) = &case.found.violation.rule else { return Vec::new() };
    let mut out = Vec::new();
    // A barrier that no op arrives on is the likeliest cause.
    let mut blocked: Vec<_> = blocked.iter().collect();
    blocked.sort_by_key(|stuck| match stuck.on {
        BlockedOn::Barrier { barrier, .. } => case.can_flip(barrier.buffer),
        BlockedOn::Partitions => true,
    });
    for stuck in blocked {
        if let BlockedOn::Barrier { barrier, pending, .. } = stuck.on
            && pending > 0
            && let Some(wait) = case.site_op(stuck.site)
        {
            out.extend(commit_before(case, wait, barrier));
            out.extend(release(case, wait, barrier));
        }
    }
    out
}

/// A commit after the MMA that precedes the wait in its own thread.
fn commit_before(case: &FixContext<'_>, wait: OpId, place: BarrierPlace) -> Vec<Candidate> {
    let (code, tree) = (case.code, case.code.tree);
    let ops = code.thread(wait).map(|region| code.ops(region)).unwrap_or_default();
    let mma =
        ops.into_iter().rev().find(|op| code.before(*op, wait) && tree.op_name(*op).starts_with("ttng.tc_gen5_mma"));
    let Some(mma) = mma else { return Vec::new() };
    let like = tree.operands(mma).iter().copied().find(|operand| code.slot(*operand).is_some());
    signal(case, mma, place, like, true)
}

/// Arrivals where another thread is done with the buffers that the wait protects.
fn release(case: &FixContext<'_>, wait: OpId, place: BarrierPlace) -> Vec<Candidate> {
    let (code, tree) = (case.code, case.code.tree);
    let Some(own) = code.thread(wait) else { return Vec::new() };
    let next = code.ops(own).into_iter().find_map(|op| {
        let buffers = buffers(case, op);
        (code.before(wait, op) && !buffers.is_empty()).then_some(buffers)
    });
    let Some(buffers_next) = next else { return Vec::new() };
    let mut out = Vec::new();
    for region in threads(case).into_iter().filter(|region| *region != own) {
        for &(root, _) in &buffers_next {
            let touches = |op: &OpId| buffers(case, *op).into_iter().find(|(other, _)| *other == root);
            let last = code.ops(region).into_iter().rev().find_map(|op| Some((op, touches(&op)?.1)));
            let Some((op, operand)) = last else { continue };
            if MMAS.contains(&tree.op_name(op)) {
                out.extend(signal(case, op, place, Some(operand), true));
                continue;
            }
            let after = case.past_fences(dot_wait(case, op).unwrap_or(op));
            out.extend(signal(case, after, place, Some(operand), false));
        }
    }
    out
}

/// An arrival after an op.
fn signal(case: &FixContext<'_>, at: OpId, place: BarrierPlace, like: Option<ValueId>, commit: bool) -> Vec<Candidate> {
    let (op, count, result) = match (commit, case.code.amd()) {
        (true, _) => ("ttng.tc_gen5_commit", "", ""),
        (false, true) => ("amdg.arrive_barrier", ", 1", " -> i32"),
        (false, false) => ("ttng.arrive_barrier", ", 1", ""),
    };
    let mut out = Vec::new();
    for slot in slots(case, &case.draft(at), place, like) {
        let mut draft = case.draft(at);
        let Some((name, ty)) = slot_name(case, &mut draft, slot) else { continue };
        draft.line(format!("{op} {name}{count} : {ty}{result}"));
        out.push(fix(
            message!("insert `{op}` on `{barrier}`", Message::op(op), case.words.barrier(place)),
            [draft.insert_after()],
        ));
    }
    out
}

/// An asynchronous wgmma is done at its wait.
fn dot_wait(case: &FixContext<'_>, op: OpId) -> Option<OpId> {
    let tree = case.code.tree;
    (tree.op_name(op) == "ttng.warp_group_dot")
        .then(|| super::pending::next_wait(case, kernel::CommitKind::Wgmma, op))?
}

/// The allocations, barriers left out, that an op touches, each with its operand.
fn buffers(case: &FixContext<'_>, op: OpId) -> Vec<(ValueId, ValueId)> {
    let (code, tree) = (case.code, case.code.tree);
    let name = tree.op_name(op);
    if name.starts_with("ttg.memdesc") || name == "ttng.tmem_subslice" || name == "ttg.warp_specialize" {
        return Vec::new();
    }
    let memory = |value: &&ValueId| match tree.value_type(**value).map(|ty| tree.ty(ty)) {
        Some(Ty::MemDesc { elem, .. }) => elem.bits != 64,
        _ => false,
    };
    tree.operands(op).iter().filter(memory).map(|value| (code.root(*value), *value)).collect()
}

/// All threads' code.
fn threads(case: &FixContext<'_>) -> Vec<RegionId> {
    let code = case.code;
    let ops = case.lowered.map.sites.iter().filter_map(|site| code.op_of(site));
    let mut out: Vec<RegionId> = ops.filter_map(|op| code.thread(op)).collect();
    out.sort_unstable();
    out.dedup();
    out
}
