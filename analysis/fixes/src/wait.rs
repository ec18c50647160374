//! A missing `ttng.wait_barrier`: before the access that comes too soon, on the barrier whose flip
//! says that the other access is over.

use super::context::{Candidate, FixContext, fix};
use super::slot::{phase_name, phases, slot_index, slot_name, slots};
use base::{Message, message};
use machine::{BarrierPlace, Event, Rule};
use ttgir::{OpId, ValueId};

/// Waits with the phases that might fit.
pub(crate) fn waits(case: &FixContext<'_>) -> Vec<Candidate> {
    let Some((earlier, later)) = case.pair() else { return Vec::new() };
    let mut out = after(case, &earlier, &later);
    if read_nothing(case, &earlier) {
        out = after(case, &later, &earlier);
    }
    out
}

/// Waits before the loop in which an overwrite stands deeper than the read that it must not overtake: once a tile, not
/// once an inner iteration.
pub(crate) fn around(case: &FixContext<'_>) -> Vec<Candidate> {
    let Some((earlier, later)) = case.pair() else { return Vec::new() };
    let (Some(reads), Some(writes)) = (case.op(earlier.effect), case.op(later.effect)) else { return Vec::new() };
    let loops = case.code.loops(writes);
    let deeper = loops.len().saturating_sub(case.code.loops(reads).len());
    let Some(&at) = deeper.checked_sub(1).and_then(|last| loops.get(last)) else { return Vec::new() };
    let like = case.operand(&later);
    // A sibling's writer waits until its reader is done: so may the overwrite.
    let guard = case.replay.guard(&case.lowered.kernel, &earlier).map(|(place, ..)| place);
    let places = guard.into_iter().chain(case.completes(&earlier)).filter(|place| case.can_flip(place.buffer));
    super::phase::interleave(places.map(|place| insert(case, at, place, like)).collect())
}

/// Whether the earlier access read what the later one writes: then it is the one to wait.
fn read_nothing(case: &FixContext<'_>, read: &Event) -> bool {
    case.replay.end.violations().iter().any(|other| match &other.rule {
        Rule::Uninitialised { read: empty } => empty.effect == read.effect && empty.access == read.access,
        _ => false,
    })
}

fn after(case: &FixContext<'_>, first: &Event, second: &Event) -> Vec<Candidate> {
    let Some(op) = case.op(second.effect) else { return Vec::new() };
    let like = case.operand(second);
    let mut out = Vec::new();
    let release = released_by_others(case, op);
    for place in case.completes(first).into_iter().chain(release) {
        let at = before_expect(case, op);
        let mut fixes = insert(case, at, place, like);
        if fixes.is_empty() && at != op {
            fixes = insert(case, op, place, like);
        }
        out.push(fixes);
    }
    // A write over a write of its own thread: what is missing is the release by the readers.
    if first.thread == second.thread { super::phase::interleave(out) } else { out.concat() }
}

/// Barriers that other threads arrive on and the thread of `op` neither does nor waits for.
fn released_by_others(case: &FixContext<'_>, op: OpId) -> Vec<BarrierPlace> {
    let (code, tree) = (case.code, case.code.tree);
    let own = code.thread(op);
    let ops = own.map(|region| code.ops(region)).unwrap_or_default();
    let waits = ops.into_iter().filter(|op| code.is_barrier_op(*op, "wait_barrier"));
    let awaited: Vec<ValueId> = waits.filter_map(|wait| Some(code.root(*tree.group(wait, "alloc").first()?))).collect();
    let mut out: Vec<BarrierPlace> = Vec::new();
    for (place, _) in case.replay.end.barriers() {
        let place = BarrierPlace { start: 0, ..*place };
        let arriving = case.arriving(place.buffer);
        let ours = arriving.iter().any(|op| code.thread(*op) == own);
        let waited = case.alloc(place.buffer).is_none_or(|alloc| awaited.contains(&alloc));
        if !arriving.is_empty() && !ours && !waited && !out.contains(&place) {
            out.push(place);
        }
    }
    out
}

fn insert(case: &FixContext<'_>, at: OpId, place: BarrierPlace, like: Option<ValueId>) -> Vec<Candidate> {
    let mut out = Vec::new();
    let op = case.code.barrier_op("wait_barrier");
    let scope = case.draft(at);
    for slot in slots(case, &scope, place, like) {
        for phase in phases(case, &scope, at, place, slot_index(case, slot)) {
            let mut draft = case.draft(at);
            let Some((name, ty)) = slot_name(case, &mut draft, slot) else { continue };
            let phase = phase_name(case, &mut draft, phase);
            draft.line(format!("{op} {name}, {phase} : {ty}"));
            out.push(fix(
                message!("insert `{op}` on `{barrier}`", Message::op(op.clone()), case.words.barrier(place)),
                [draft.insert()],
            ));
        }
    }
    out
}

/// A wait for what is still to arrive on a barrier, before it is invalidated.
pub(crate) fn before_invalidation(case: &FixContext<'_>) -> Vec<Candidate> {
    let (Rule::InFlight { .. }, Some(place)) = (&case.found.violation.rule, case.found.violation.barrier) else {
        return Vec::new();
    };
    case.site_op(case.found.violation.site).map_or_else(Vec::new, |at| insert(case, at, place, None))
}

/// A wait for the last copy before the kernel ends.
pub(crate) fn at_the_end(case: &FixContext<'_>) -> Vec<Candidate> {
    let Rule::Outlives { access } = case.found.violation.rule else { return Vec::new() };
    let place = case.completes(&access).filter(|_| case.words.channels.barrier_of(access.channel).is_some());
    match (case.site_op(case.found.violation.site), place) {
        (Some(end), Some(place)) => insert(case, end, place, None),
        _ => Vec::new(),
    }
}

/// A wait behind the commit that an access's end is told by, in the same thread.
pub(crate) fn at_once(case: &FixContext<'_>) -> Vec<Candidate> {
    let Some((earlier, later)) = case.pair() else { return Vec::new() };
    let (code, tree) = (case.code, case.code.tree);
    let commit = case.arrival_after(earlier.thread, earlier.step.saturating_sub(1)).and_then(|step| case.step_op(step));
    let (Some(commit), Some(place), true) = (commit, case.completes(&earlier), earlier.thread == later.thread) else {
        return Vec::new();
    };
    let Some(&barrier) = tree.group(commit, "barrier").first() else { return Vec::new() };
    let (Some(ty), true) = (code.type_of(barrier), tree.op_name(commit) == "ttng.tc_gen5_commit") else {
        return Vec::new();
    };
    let scope = case.draft(commit);
    let mut out = Vec::new();
    for phase in phases(case, &scope, commit, place, code.slot(barrier)).into_iter().take(4) {
        let mut draft = case.draft(commit);
        let phase = phase_name(case, &mut draft, phase);
        draft.line(format!("ttng.wait_barrier {}, {phase} : {ty}", code.name(barrier)));
        out.push(fix(message!("insert `{ttng.wait_barrier}` behind the commit"), [draft.insert_after()]));
    }
    out
}

/// A copy that announces its bytes first waits before it does.
fn before_expect(case: &FixContext<'_>, op: OpId) -> OpId {
    let (code, tree) = (case.code, case.code.tree);
    let Some(&barrier) = tree.group(op, "barrier").first() else { return op };
    let Some(block) = tree.parent_block(op) else { return op };
    let earlier = tree.block_ops(block).iter().rev().filter(|other| code.before(**other, op));
    for &other in earlier {
        match tree.op_name(other) {
            "ttng.barrier_expect" if tree.group(other, "alloc").first() == Some(&barrier) => return other,
            "ttng.async_tma_copy_global_to_local" | "ttng.async_tma_gather" => {}
            name if name.starts_with("arith.") || name.starts_with("ttg.memdesc") => {}
            _ => return op,
        }
    }
    op
}
