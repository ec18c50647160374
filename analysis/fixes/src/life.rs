//! Inits that are missing, come twice, or are not repeated after an invalidation.

use super::context::{Candidate, FixContext, fix};
use super::count::inits;
use super::draft;
use super::slot::{Slot, slot_name, slots};
use base::message;
use machine::{BarrierAction, BarrierPlace, BlockedOn, Rule};
use ttgir::{OpId, ValueId};

/// A missing init.
pub(crate) fn init(case: &FixContext<'_>) -> Vec<Candidate> {
    let (Some(place), Rule::NotLive { invalidated }) = (case.found.violation.barrier, &case.found.violation.rule)
    else {
        return Vec::new();
    };
    let mut out = Vec::new();
    if *invalidated {
        let dead: Vec<(BarrierPlace, i64)> = case
            .replay
            .at_violation
            .barriers()
            .iter()
            .filter(|(_, barrier)| !barrier.live && barrier.initial > 0)
            .map(|(place, barrier)| (*place, barrier.initial))
            .collect();
        for act in [BarrierAction::Init, BarrierAction::Invalidate] {
            if let Some(last) = last(case, act) {
                out.extend(init_all(case, last, &dead));
                out.extend(init_all(
                    case,
                    last,
                    &dead.iter().copied().filter(|(dead, _)| *dead == place).collect::<Vec<_>>(),
                ));
            }
        }
        return out;
    }
    let siblings = inits(case, place.buffer);
    let tree = case.code.tree;
    let known = siblings.first().and_then(|(op, _)| tree.attr_int(tree.attr(*op, "count")?));
    let arriving = {
        let mut threads: Vec<u16> = case.arrivals(place.buffer).into_iter().map(|(thread, _)| thread).collect();
        threads.sort_unstable();
        threads.dedup();
        threads.len() as i64
    };
    let mut counts: Vec<i64> = known.into_iter().chain([1, arriving]).filter(|count| *count > 0).collect();
    counts.dedup();
    let alloc = case.alloc(place.buffer).and_then(|alloc| case.code.def(alloc));
    let Some(at) = siblings.last().map(|(op, _)| *op).or(alloc) else { return out };
    let missing = missing(case, place, siblings.iter().map(|(_, place)| *place).collect());
    for count in counts {
        let all: Vec<(BarrierPlace, i64)> = missing.iter().map(|place| (*place, count)).collect();
        out.extend(init_all(case, at, &all));
    }
    out
}

/// The places of an allocation that this run did not initialise.
fn missing(case: &FixContext<'_>, place: BarrierPlace, known: Vec<BarrierPlace>) -> Vec<BarrierPlace> {
    let Some(buffer) = case.lowered.kernel.buffers.get(place.buffer.0 as usize) else { return vec![place] };
    let slots = buffer.bits.checked_div(buffer.slot_bits).unwrap_or(1).min(16);
    let all = (0..slots).map(|slot| BarrierPlace { start: slot * buffer.slot_bits, ..place });
    let missing: Vec<BarrierPlace> = all.filter(|place| !known.contains(place)).collect();
    if missing.contains(&place) { missing } else { vec![place] }
}

/// Inits after an op.
fn init_all(case: &FixContext<'_>, at: OpId, places: &[(BarrierPlace, i64)]) -> Option<Candidate> {
    let (code, tree) = (case.code, case.code.tree);
    let mut draft = case.draft(at);
    for &(place, count) in places {
        let alloc = case.alloc(place.buffer)?;
        let own = tree.results(at).contains(&alloc);
        let (name, ty) = if own && code.extents(alloc)?.as_slice() == [1] {
            (code.name(alloc), code.type_of(alloc)?.to_owned())
        } else if own {
            slot_name(case, &mut draft, Slot::Number(alloc, case.slot_number(place)))?
        } else {
            let slot = slots(case, &draft, place, None).into_iter().next()?;
            slot_name(case, &mut draft, slot)?
        };
        draft.line(format!("{} {name}, {count} : {ty}", code.barrier_op("init_barrier")));
    }
    let title = match places {
        [(place, _)] => message!("initialise `{barrier}`", case.words.barrier(*place)),
        _ => "initialise the barriers".into(),
    };
    (!places.is_empty()).then(|| fix(title, [draft.insert_after()]))
}

/// The op of the last step that did this to any barrier.
fn last(case: &FixContext<'_>, act: BarrierAction) -> Option<OpId> {
    let record =
        case.replay.records.iter().rev().find(|record| record.barriers.iter().any(|barrier| barrier.act == act))?;
    case.site_op(record.site)
}

/// A second init: taken away, or preceded by an invalidation; all second inits alike, or one.
pub(crate) fn reinit(case: &FixContext<'_>) -> Vec<Candidate> {
    let (code, tree) = (case.code, case.code.tree);
    let Some(op) = case.site_op(case.found.violation.site) else { return Vec::new() };
    let mut all = second_inits(case, op);
    if !all.contains(&op) {
        all.push(op);
        all.sort_by_key(|op| tree.op_range(*op));
    }
    let mut out = Vec::new();
    for ops in [vec![op], all] {
        let inval = |op: &OpId| {
            let barrier = *tree.group(*op, "alloc").first()?;
            let line = format!("ttng.inval_barrier {} : {}", code.name(barrier), code.type_of(barrier)?);
            Some(draft::before(code, *op, &[line]))
        };
        let invals: Vec<_> = ops.iter().filter_map(inval).collect();
        // A barrier that was used lives on in what waits for it; one that was not is initialised in vain.
        let used = case.found.violation.barrier.is_some_and(|place| flipped(case, place));
        let delete = fix("take the second init away", ops.iter().map(|op| draft::delete(code, *op)));
        let inval = fix(message!("insert `{ttng.inval_barrier}`"), invals);
        // AMD has no op that ends a barrier's life.
        match used {
            _ if code.amd() => out.push(delete),
            true => out.extend([inval, delete]),
            false => out.extend([delete, inval]),
        }
    }
    out
}

fn flipped(case: &FixContext<'_>, place: BarrierPlace) -> bool {
    case.replay.at_violation.barriers().iter().any(|(other, barrier)| *other == place && barrier.flips > 0)
}

/// Inits of the thread that name a barrier which an earlier one names.
fn second_inits(case: &FixContext<'_>, op: OpId) -> Vec<OpId> {
    let (code, tree) = (case.code, case.code.tree);
    let Some(region) = code.thread(op) else { return Vec::new() };
    let mut seen: Vec<(ValueId, Result<i64, Option<ValueId>>)> = Vec::new();
    let mut out = Vec::new();
    for op in code.ops(region) {
        let ends = code.is_barrier_op(op, "inval_barrier");
        if !ends && !code.is_barrier_op(op, "init_barrier") {
            continue;
        }
        let Some(&barrier) = tree.group(op, "alloc").first() else { continue };
        let slot = code.slot(barrier);
        let key = (code.root(barrier), slot.and_then(|slot| code.constant(slot)).ok_or(slot));
        if ends {
            seen.retain(|other| *other != key);
        } else if seen.contains(&key) {
            out.push(op);
        } else {
            seen.push(key);
        }
    }
    out
}

/// The arrival that is one too many, taken away.
pub(crate) fn without(case: &FixContext<'_>) -> Vec<Candidate> {
    let code = case.code;
    let op = case.site_op(case.found.violation.site).filter(|op| code.is_barrier_op(*op, "arrive_barrier"));
    op.map(|op| fix("take the surplus arrival away", [draft::delete(code, op)])).into_iter().collect()
}

/// The second of two arrivals that complete two phases with no wait in between, taken away.
pub(crate) fn twice(case: &FixContext<'_>) -> Vec<Candidate> {
    let Rule::Deadlock(blocked) = &case.found.violation.rule else { return Vec::new() };
    let code = case.code;
    let again = blocked.iter().find_map(|stuck| match stuck.on {
        BlockedOn::Barrier { barrier, .. } => case.replay.completed_twice(barrier),
        BlockedOn::Partitions => None,
    });
    let op = again.and_then(|record| case.site_op(record.site));
    let op = op.filter(|op| code.is_barrier_op(*op, "arrive_barrier"));
    op.map(|op| fix("take the second arrival away", [draft::delete(code, op)])).into_iter().collect()
}
