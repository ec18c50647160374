//! Counts that do not fit: arrivals of an init, bytes of an expect.

use super::context::{Candidate, FixContext, fix};
use super::draft;
use base::message;
use findings::Edit;
use kernel::{BufferId, EffectKind};
use machine::{BarrierAction, BarrierPlace, BlockedOn, Rule};
use ttgir::{AttrId, OpId};

/// Init counts lowered to what arrives.
pub(crate) fn arrivals(case: &FixContext<'_>) -> Vec<Candidate> {
    let Rule::Deadlock(blocked) = &case.found.violation.rule else { return Vec::new() };
    let mut out = Vec::new();
    for stuck in blocked {
        if let BlockedOn::Barrier { barrier, pending, initial, .. } = stuck.on
            && pending < initial
        {
            out.extend(recount(case, barrier, initial - pending));
        }
    }
    out
}

/// Init counts raised to all arrivals between two waits of the thread that causes them itself.
pub(crate) fn unseen(case: &FixContext<'_>) -> Vec<Candidate> {
    let Rule::Deadlock(blocked) = &case.found.violation.rule else { return Vec::new() };
    let counts = blocked.iter().filter_map(|stuck| {
        let BlockedOn::Barrier { barrier, initial, .. } = stuck.on else { return None };
        let (_, flips) = case.replay.unseen_flips(stuck.thread, barrier)?;
        recount(case, barrier, initial * i64::from(flips))
    });
    counts.collect()
}

/// Init counts raised to the threads that arrive, of each barrier on which more do than a phase of it counts.
pub(crate) fn undercounted(case: &FixContext<'_>) -> Vec<Candidate> {
    let mut known: Vec<BufferId> = Vec::new();
    let mut out = Vec::new();
    for (place, barrier) in case.replay.end.barriers() {
        let threads = case.replay.arriving(&case.lowered.kernel, *place).len() as i64;
        if threads > barrier.initial && barrier.initial > 0 && !known.contains(&place.buffer) {
            known.push(place.buffer);
            out.extend(recount(case, *place, threads));
        }
    }
    out
}

/// Init counts raised: of the barrier that overflows, or of the one that an access waited for.
pub(crate) fn more(case: &FixContext<'_>) -> Vec<Candidate> {
    let mut places: Vec<BarrierPlace> = case.found.violation.barrier.into_iter().collect();
    if let Some((earlier, later)) = case.pair() {
        let guards = [later, earlier].map(|event| case.replay.guard(&case.lowered.kernel, &event));
        places.extend(guards.into_iter().flatten().map(|(place, ..)| place));
    }
    let mut out = Vec::new();
    for place in places {
        let state = case.replay.at_violation.barriers().iter().find(|(other, _)| *other == place);
        let Some(initial) = state.map(|(_, barrier)| barrier.initial) else { continue };
        let arriving = case.arrivals(place.buffer).len() as i64;
        let mut counts = vec![initial + 1, arriving];
        counts.extend(arrival_counts(case).into_iter().flat_map(|count| [count, initial + count]));
        let mut known = Vec::new();
        counts.retain(|count| {
            *count > initial && !known.contains(count) && {
                known.push(*count);
                true
            }
        });
        out.extend(counts.into_iter().filter_map(|count| recount(case, place, count)));
    }
    out
}

/// Init counts raised to the threads that arrive on the barrier which a racing access waited for: where several do, the
/// first of them may complete the phase alone.
pub(crate) fn shared(case: &FixContext<'_>) -> Vec<Candidate> {
    let Some((earlier, later)) = case.pair() else { return Vec::new() };
    let mut out: Vec<Candidate> = Vec::new();
    for event in [later, earlier] {
        let Some((place, ..)) = case.replay.guard(&case.lowered.kernel, &event) else { continue };
        let threads = case.replay.arriving(&case.lowered.kernel, place).len() as i64;
        let fix = case.replay.initial(place).filter(|initial| threads > *initial);
        out.extend(fix.and_then(|_| recount(case, place, threads)));
    }
    out
}

/// How many arrivals single ops bring, where that is more than one: AMD's count threads or warps.
fn arrival_counts(case: &FixContext<'_>) -> Vec<i64> {
    let mut counts = Vec::new();
    for effect in &case.lowered.kernel.effects {
        match &effect.kind {
            EffectKind::Arrive { count, .. } => counts.push(i64::from(*count)),
            EffectKind::Operation { completion, .. } => {
                counts.extend(completion.arrivals().iter().map(|arrival| i64::from(arrival.count)));
            }
            _ => {}
        }
    }
    counts.retain(|count| *count > 1);
    counts.sort_unstable();
    counts.dedup();
    counts.truncate(3);
    counts
}

/// All inits of a barrier's allocation with another count.
fn recount(case: &FixContext<'_>, place: BarrierPlace, count: i64) -> Option<Candidate> {
    let tree = case.code.tree;
    let mut edits = Vec::new();
    for (op, _) in inits(case, place.buffer) {
        edits.push(draft::number(case.code, tree.attr(op, "count")?, count)?);
    }
    let arrivals = if count == 1 { "arrival" } else { "arrivals" };
    let title = message!("initialise `{barrier}` for {count} {arrivals}", case.words.barrier(place), count, arrivals);
    (!edits.is_empty()).then(|| fix(title, edits))
}

/// The ops that initialised barriers of an allocation in this run, each with one of them.
pub(crate) fn inits(case: &FixContext<'_>, buffer: BufferId) -> Vec<(OpId, BarrierPlace)> {
    let mut out: Vec<(OpId, BarrierPlace)> = Vec::new();
    for record in &case.replay.records {
        let Some(init) = record.barriers.iter().find(|barrier| barrier.act == BarrierAction::Init) else { continue };
        if init.place.buffer == buffer
            && let Some(op) = case.site_op(record.site)
            && !out.iter().any(|(other, _)| *other == op)
        {
            out.push((op, init.place));
        }
    }
    out
}

/// Announced bytes corrected by what is missing or too many.
pub(crate) fn bytes(case: &FixContext<'_>) -> Vec<Candidate> {
    let mut out = Vec::new();
    for (barrier, bytes) in wrong_bytes(case) {
        let expects = expects_of(case, barrier.buffer);
        let mut literals: Vec<(AttrId, i64)> = Vec::new();
        let on_it = expects.iter().rev().filter(|(_, place)| *place == barrier);
        for (op, _) in on_it.chain(expects.iter()) {
            if let Some(literal) = size(case, *op)
                && !literals.contains(&literal)
            {
                literals.push(literal);
            }
        }
        let Some(&(_, now)) = literals.first() else { continue };
        let right = now - bytes;
        if bytes == 0 || right <= 0 {
            continue;
        }
        let title = message!("expect {right} bytes on `{barrier}`", right, case.words.barrier(barrier));
        let all = || literals.iter().filter(|(_, size)| *size == now);
        let mut edits: Vec<Edit> = all().filter_map(|(attr, _)| draft::number(case.code, *attr, right)).collect();
        edits.sort_by_key(|edit| edit.range);
        out.push(fix(title.clone(), edits.clone()));
        out.extend(
            literals
                .first()
                .and_then(|(attr, _)| draft::number(case.code, *attr, right))
                .map(|edit| fix(title, [edit])),
        );
    }
    out
}

/// Barriers whose bytes do not add up when the finding is made: positive ones never come, negative
/// ones are not announced.
fn wrong_bytes(case: &FixContext<'_>) -> Vec<(BarrierPlace, i64)> {
    match &case.found.violation.rule {
        Rule::Deadlock(blocked) => blocked
            .iter()
            .filter_map(|stuck| match stuck.on {
                BlockedOn::Barrier { barrier, bytes, .. } => Some((barrier, bytes)),
                BlockedOn::Partitions => None,
            })
            .collect(),
        _ => {
            let Some(place) = case.pair().and_then(|(earlier, _)| case.completes(&earlier)) else { return Vec::new() };
            let records = case.replay.records.iter().flat_map(|record| &record.barriers);
            let least = records.filter(|barrier| barrier.place == place).map(|barrier| barrier.bytes).min();
            least.map(|bytes| (place, bytes)).into_iter().collect()
        }
    }
}

fn size(case: &FixContext<'_>, op: OpId) -> Option<(AttrId, i64)> {
    let tree = case.code.tree;
    let attr = tree.attr(op, "size")?;
    Some((attr, tree.attr_int(attr)?))
}

/// The expects on an allocation's barriers, in the order of the run.
fn expects_of(case: &FixContext<'_>, buffer: BufferId) -> Vec<(OpId, BarrierPlace)> {
    let records =
        case.replay.records.iter().filter(|record| matches!(case.kind(record), Some(EffectKind::Expect { .. })));
    let on = records.filter_map(|record| {
        let place = record.barriers.first()?.place;
        Some((case.site_op(record.site)?, place)).filter(|(_, place)| place.buffer == buffer)
    });
    on.collect()
}

/// An expect before the copies that bring bytes which nobody announced.
pub(crate) fn expects(case: &FixContext<'_>) -> Vec<Candidate> {
    let Rule::Deadlock(blocked) = &case.found.violation.rule else { return Vec::new() };
    let (code, tree) = (case.code, case.code.tree);
    let mut out = Vec::new();
    for stuck in blocked {
        let BlockedOn::Barrier { barrier, bytes, .. } = stuck.on else { continue };
        let copy = case
            .arrivals(barrier.buffer)
            .into_iter()
            .map(|(_, op)| op)
            .find(|op| !tree.group(*op, "barrier").is_empty());
        let (Some(copy), true) = (copy, bytes < 0) else { continue };
        let Some(&operand) = tree.group(copy, "barrier").first() else { continue };
        let Some(ty) = code.type_of(operand) else { continue };
        let mut draft = case.draft(copy);
        let always = draft.constant(1, 1);
        draft.line(format!("ttng.barrier_expect {}, {}, {always} : {ty}", code.name(operand), -bytes));
        out.push(fix(message!("insert `{ttng.barrier_expect}`"), [draft.insert()]));
    }
    out
}
