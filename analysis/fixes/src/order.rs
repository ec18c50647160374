//! An arrival that says too early, or does not say, that an access is over.

use super::context::{Candidate, FixContext, fix};
use super::draft;
use super::pending::next_wait;
use base::{Message, message};
use findings::Edit;
use kernel::{CommitKind, EffectKind, Issuer};
use machine::Event;
use ttgir::OpId;

/// Ops that arrive and can be moved: what arrives with an operation's completion cannot.
const ARRIVALS: &[&str] = &["arrive_barrier", "tc_gen5_commit", "async_copy_mbarrier_arrive"];

/// Arrivals moved behind the access that they should follow.
pub(crate) fn late(case: &FixContext<'_>) -> Vec<Candidate> {
    let Some((earlier, later)) = case.pair() else { return Vec::new() };
    let mut out = behind(case, &earlier, &later);
    out.extend(behind(case, &later, &earlier));
    out
}

fn behind(case: &FixContext<'_>, first: &Event, second: &Event) -> Vec<Candidate> {
    let (code, tree) = (case.code, case.code.tree);
    let Some(op) = case.op(first.effect) else { return Vec::new() };
    let mut out = Vec::new();
    for arrive in guards(case, first, second) {
        let Some(block) = tree.parent_block(arrive) else { continue };
        let Some(mut target) = code.ancestor_in(op, block) else { continue };
        if let Some(kind) = case.words.channels.family(first.channel)
            && let Some(wait) = next_wait(case, kind, target)
        {
            target = wait;
        }
        // A fence between belongs to what the arrival hands over.
        let target = case.past_fences(target);
        if code.before(arrive, target) {
            let title = message!("move `{op}` behind the access", Message::op(tree.op_name(arrive).to_owned()));
            out.push(fix(title, draft::put_after(code, arrive, target)));
        }
    }
    out
}

/// Arrivals of the first access's thread, those on the barrier that the second one waited for first.
fn guards(case: &FixContext<'_>, first: &Event, second: &Event) -> Vec<OpId> {
    let code = case.code;
    let moves = |op| ARRIVALS.iter().any(|name| code.is_barrier_op(op, name));
    let guard = case.replay.guard(&case.lowered.kernel, second).map(|(place, ..)| place.buffer);
    let mut out: Vec<OpId> = Vec::new();
    let others = case.replay.end.barriers().iter().map(|(place, _)| place.buffer);
    let mut buffers = Vec::new();
    for buffer in guard.into_iter().chain(others) {
        if !buffers.contains(&buffer) {
            buffers.push(buffer);
        }
    }
    for buffer in buffers {
        for (thread, op) in case.arrivals(buffer) {
            if thread == first.thread && moves(op) && !out.contains(&op) {
                out.push(op);
            }
        }
    }
    out.truncate(4);
    out
}

/// An arrival that also says that asynchronous operations are over.
pub(crate) fn stronger(case: &FixContext<'_>) -> Vec<Candidate> {
    let Some((earlier, later)) = case.pair() else { return Vec::new() };
    let mut out = Vec::new();
    for (event, other) in [(earlier, later), (later, earlier)] {
        let tensor_core = match case.lowered.kernel.effects.get(event.effect.index()).map(|effect| &effect.kind) {
            Some(EffectKind::Operation { issuer, .. }) => *issuer == Issuer::TensorCore,
            _ => false,
        };
        let copies = case.words.channels.family(event.channel) == Some(CommitKind::AsyncCopy);
        for arrive in guards(case, &event, &other) {
            if tensor_core {
                out.extend(commit(case, arrive));
            } else if copies {
                out.extend(copies_too(case, arrive));
            }
        }
    }
    out
}

/// `tc_gen5_commit` in the place of a plain arrival.
fn commit(case: &FixContext<'_>, arrive: OpId) -> Option<Candidate> {
    let (code, tree) = (case.code, case.code.tree);
    let count = tree.attr(arrive, "count").and_then(|attr| tree.attr_int(attr));
    if tree.op_name(arrive) != "ttng.arrive_barrier" || count != Some(1) || !tree.group(arrive, "pred").is_empty() {
        return None;
    }
    let range = tree.op_range(arrive);
    let written = range.of(tree.text());
    let tail = written.find(" loc(").map_or("", |at| &written[at..]);
    let barrier = *tree.group(arrive, "alloc").first()?;
    let text = format!("ttng.tc_gen5_commit {} : {}{tail}", code.name(barrier), code.type_of(barrier)?);
    Some(fix(message!("arrive when the MMAs are done: `{ttng.tc_gen5_commit}`"), [Edit { range, text }]))
}

/// `async_copy_mbarrier_arrive` beside a plain arrival: it raises the count and takes it back when
/// the copies are done.
fn copies_too(case: &FixContext<'_>, arrive: OpId) -> Option<Candidate> {
    let (code, tree) = (case.code, case.code.tree);
    if !code.is_barrier_op(arrive, "arrive_barrier") {
        return None;
    }
    let barrier = *tree.group(arrive, "alloc").first()?;
    let name = code.barrier_op("async_copy_mbarrier_arrive");
    let line = format!("{name} {} : {}", code.name(barrier), code.type_of(barrier)?);
    if code.amd() {
        // There it raises no count, and both arrive once a thread.
        let title = message!("arrive when the copies are done: `{op}`", Message::op(name));
        let range = tree.op_range(arrive);
        let written = range.of(tree.text());
        let tail = written.find(" loc(").map_or("", |at| &written[at..]);
        return Some(fix(title, [Edit { range, text: line + tail }]));
    }
    Some(fix(message!("insert `{ttng.async_copy_mbarrier_arrive}`"), [draft::before(code, arrive, &[line])]))
}
