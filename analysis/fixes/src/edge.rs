//! A back edge that a kernel has no barrier for: a barrier of its own, on which the reader arrives and for which the
//! overwriting partition waits.
//!
//! The barrier is allocated and initialised before the partitions start, and all of them capture it. One barrier does
//! for a buffer without slots; for a ring nothing is made.

use super::context::{Candidate, FixContext};
use super::draft::{self, Draft};
use super::slot::{Phase, enclosing_loop, phase_name};
use base::{TextRange, message};
use findings::Edit;
use machine::Event;
use ttgir::{OpId, RegionId, Tree, ValueId};

/// Back edges with the phases and at the loop levels that might fit.
pub(crate) fn back(case: &FixContext<'_>) -> Vec<Candidate> {
    let Some((earlier, later)) = case.pair() else { return Vec::new() };
    let code = case.code;
    let (Some(reads), Some(writes)) = (case.op(earlier.effect), case.op(later.effect)) else { return Vec::new() };
    let (Some(reader), Some(writer)) = (code.thread(reads), code.thread(writes)) else { return Vec::new() };
    let ring = |event: &Event| case.operand(event).is_some_and(|value| code.slot(value).is_some());
    if reader == writer || ring(&earlier) || ring(&later) {
        return Vec::new();
    }
    let Some(specialize) = specialize(case, reader).or_else(|| specialize(case, writer)) else { return Vec::new() };
    let Some(ty) = barrier_type(case) else { return Vec::new() };
    let mut out = Vec::new();
    for (at, counter) in levels(case, writes) {
        let phases: &[i64] = if counter.is_some() { &[1, 0] } else { &[0, 1] };
        for &plus in phases {
            let phase = counter.map_or(Phase::Constant(plus), |counter| Phase::Lap(counter, 1, plus));
            out.extend(edge(case, specialize, (reads, reader), (at, writer, phase), ty));
        }
    }
    out
}

/// The `ttg.warp_specialize` that a region is a partition of.
fn specialize(case: &FixContext<'_>, region: RegionId) -> Option<OpId> {
    let tree = case.code.tree;
    let op = tree.parent_op(region)?;
    match tree.op_name(op) {
        "ttg.warp_specialize" => Some(op),
        "ttg.warp_specialize.partitions" => tree.parent_op(tree.parent_region(tree.parent_block(op)?)),
        _ => None,
    }
}

/// How the text writes the type of a single barrier.
fn barrier_type<'t>(case: &FixContext<'t>) -> Option<&'t str> {
    let (code, tree) = (case.code, case.code.tree);
    let ops = case.lowered.map.sites.iter().filter_map(|site| code.op_of(site));
    let mut inits = ops.filter(|op| code.is_barrier_op(*op, "init_barrier"));
    inits.find_map(|op| {
        let barrier = *tree.group(op, "alloc").first()?;
        // A view of a ring has a shape that no allocation has.
        let single = code.extents(barrier).is_some_and(|shape| shape == [1]);
        code.type_of(barrier).filter(|_| single && code.slot(barrier).is_none())
    })
}

/// Where the overwrite may wait: before itself, or before a loop around it; each with the counter of the loop that it
/// is then in.
fn levels(case: &FixContext<'_>, writes: OpId) -> Vec<(OpId, Option<ValueId>)> {
    let around = case.code.loops(writes).into_iter().take(2);
    [writes].into_iter().chain(around).map(|at| (at, enclosing_loop(case, at))).collect()
}

fn edge(
    case: &FixContext<'_>,
    specialize: OpId,
    (reads, reader): (OpId, RegionId),
    (waits, writer, phase): (OpId, RegionId, Phase),
    ty: &str,
) -> Option<Candidate> {
    let (code, tree) = (case.code, case.code.tree);
    let mut made = case.draft(specialize);
    let outside = made.fresh("is_read");
    made.line(format!("{outside} = ttg.local_alloc : () -> {ty}"));
    made.line(format!("ttng.init_barrier {outside}, 1 : {ty}"));
    let inside = made.fresh("was_read");
    let mut edits = vec![made.insert()];
    edits.extend(captured(tree, specialize, (&outside, &inside), ty)?);
    let name = |region: RegionId| if partitions(tree, specialize).contains(&region) { &inside } else { &outside };
    let after = case.past_fences(reads);
    edits.push(draft::after(code, after, &[format!("ttng.arrive_barrier {}, 1 : {ty}", name(reader))]));
    let mut draft = Draft::new(code, waits);
    let phase = phase_name(case, &mut draft, phase);
    draft.line(format!("ttng.wait_barrier {}, {phase} : {ty}", name(writer)));
    edits.push(draft.insert());
    Some(Candidate {
        title: message!("insert a barrier: the reader arrives on it, and the overwrite waits for it"),
        edits: draft::ordered(edits),
    })
}

/// The regions of the partitions but the default one.
fn partitions(tree: &Tree, specialize: OpId) -> Vec<RegionId> {
    let own = tree.regions(specialize).iter().copied().skip(1);
    let nested = |region: RegionId| -> Vec<RegionId> {
        let ops = tree.blocks(region).iter().flat_map(|block| tree.block_ops(*block).to_vec());
        let held = ops.filter(|op| tree.op_name(*op) == "ttg.warp_specialize.partitions");
        let inner: Vec<RegionId> = held.flat_map(|op| tree.regions(op).to_vec()).collect();
        if inner.is_empty() { vec![region] } else { inner }
    };
    own.flat_map(nested).collect()
}

/// The edits by which all partitions capture a value: as an operand, as their last argument, and in the types.
fn captured(tree: &Tree, specialize: OpId, (outside, inside): (&str, &str), ty: &str) -> Option<Vec<Edit>> {
    let text = tree.text();
    let insert = |at: u32, with: String| Edit { range: TextRange::empty(at), text: with };
    let last = tree.operands(specialize).len().checked_sub(1)?;
    let mut edits = vec![insert(tree.operand_range(specialize, last).end, format!(", {outside}"))];
    for region in partitions(tree, specialize) {
        let block = *tree.blocks(region).first()?;
        let named = tree.value_range(*tree.block_args(block).last()?);
        let close = text.get(named.end as usize..)?.find(')')? as u32;
        edits.push(insert(named.end + close, format!(", {inside}: {ty}")));
    }
    let whole = tree.op_range(specialize);
    let written = whole.of(text);
    let arrow = written.rfind("->")?;
    let close = written.get(..arrow)?.rfind(')')? as u32;
    edits.push(insert(whole.start + close, format!(", {ty}")));
    Some(edits)
}
