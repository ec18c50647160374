//! Operations that complete by commit group: a wait that allows one group too many, no wait, no
//! commit, or a wait that comes after the access.

use super::context::{Candidate, FixContext, fix};
use super::draft;
use base::{Message, message};
use kernel::{CommitKind, EffectKind};
use machine::{Event, Rule};
use ttgir::OpId;

/// Name of a family's wait and of the attribute that counts the groups it leaves open, where it has one.
fn wait_of(kind: CommitKind) -> Option<(&'static str, &'static str)> {
    Some(match kind {
        CommitKind::AsyncCopy => ("ttg.async_wait", "num"),
        CommitKind::Wgmma => ("ttng.warp_group_dot_wait", "pendings"),
        CommitKind::TmaStore => ("ttng.async_tma_store_wait", "pendings"),
        CommitKind::Tdm => ("amdg.async_tdm_wait", "num"),
        CommitKind::RelaxedRead | CommitKind::Stage => return None,
    })
}

/// The first wait of a family after an op in its block.
pub(crate) fn next_wait(case: &FixContext<'_>, kind: CommitKind, op: OpId) -> Option<OpId> {
    let (code, tree) = (case.code, case.code.tree);
    let ops = tree.block_ops(tree.parent_block(op)?);
    ops.iter()
        .copied()
        .find(|other| code.before(op, *other) && wait_of(kind).is_some_and(|(name, _)| name == tree.op_name(*other)))
}

/// Waits for the group of the earlier access.
pub(crate) fn waits(case: &FixContext<'_>) -> Vec<Candidate> {
    if let Rule::PendingResult { dot } = case.found.violation.rule {
        let until = case.found.violation.step;
        let before = case.replay.records.get(..until as usize).unwrap_or_default();
        let started = before.iter().rposition(|record| record.effect == Some(dot)).map_or(0, |at| at as u32 + 1);
        return fewer(case, CommitKind::Wgmma, case.found.violation.thread, started, until);
    }
    let Some((earlier, later)) = case.pair() else { return Vec::new() };
    let Some(kind) = case.words.channels.family(earlier.channel) else { return Vec::new() };
    let Some((name, attr)) = wait_of(kind) else { return Vec::new() };
    let mut out = Vec::new();
    if kind == CommitKind::AsyncCopy && !committed(case, &earlier, &later) {
        out.extend(commit(case, &earlier));
    }
    // Another partition is told by an arrival; the group must be over before it.
    let (until, at) = if earlier.thread == later.thread {
        (later.step, case.op(later.effect))
    } else {
        let Some(step) = case.arrival_after(earlier.thread, earlier.step) else { return out };
        (step, case.step_op(step))
    };
    let Some(at) = at else { return out };
    out.extend(fewer(case, kind, earlier.thread, earlier.step, until));
    out.extend(earlier_wait(case, kind, at));
    if kind != CommitKind::Wgmma {
        let line = format!("{name} {{{attr} = 0 : i32}}");
        out.push(fix(message!("insert `{op}`", Message::op(name)), [draft::before(case.code, at, &[line])]));
    }
    out
}

/// A wait for all groups before the kernel ends.
pub(crate) fn at_the_end(case: &FixContext<'_>) -> Vec<Candidate> {
    let Rule::Outlives { access } = case.found.violation.rule else { return Vec::new() };
    let family = case.words.channels.family(access.channel).filter(|kind| *kind != CommitKind::Wgmma);
    let (Some(kind), Some(end)) = (family, case.site_op(case.found.violation.site)) else { return Vec::new() };
    let Some((name, attr)) = wait_of(kind) else { return Vec::new() };
    let line = format!("{name} {{{attr} = 0 : i32}}");
    vec![fix(message!("insert `{op}`", Message::op(name)), [draft::before(case.code, end, &[line])])]
}

/// Whether the thread closed a group between the accesses.
fn committed(case: &FixContext<'_>, earlier: &Event, later: &Event) -> bool {
    let records = case.replay.records.get(earlier.step as usize..later.step as usize).unwrap_or_default();
    records.iter().any(|record| {
        record.thread == earlier.thread && case.kind(record) == Some(&EffectKind::Commit(CommitKind::AsyncCopy))
    })
}

/// A commit after the last copy of the block.
fn commit(case: &FixContext<'_>, earlier: &Event) -> Option<Candidate> {
    let (code, tree) = (case.code, case.code.tree);
    let copy = case.op(earlier.effect)?;
    let block = tree.parent_block(copy)?;
    let last = tree.block_ops(block).iter().rev().find(|op| tree.op_name(**op) == tree.op_name(copy))?;
    Some(fix(
        message!("insert `{ttg.async_commit_group}`"),
        [draft::after(code, *last, &["ttg.async_commit_group".to_owned()])],
    ))
}

/// The last wait in between, allowing fewer open groups.
fn fewer(case: &FixContext<'_>, kind: CommitKind, thread: u16, from: u32, until: u32) -> Vec<Candidate> {
    let tree = case.code.tree;
    let records = case.replay.records.get(..(until as usize).saturating_sub(1)).unwrap_or_default();
    let last = records.iter().enumerate().rev().find(|(_, record)| {
        let waits = matches!(case.kind(record), Some(EffectKind::WaitGroup { kind: own, .. }) if *own == kind);
        record.thread == thread && waits
    });
    let Some((step, record)) = last else { return Vec::new() };
    if (step as u32) < from {
        return Vec::new();
    }
    let Some((name, attr)) = wait_of(kind) else { return Vec::new() };
    let Some(attr) = case.site_op(record.site).and_then(|op| tree.attr(op, attr)) else { return Vec::new() };
    let Some(now) = tree.attr_int(attr) else { return Vec::new() };
    let mut fewer: Vec<i64> = [now - 1, 0].into_iter().filter(|pending| (0..now).contains(pending)).collect();
    fewer.dedup();
    let what = if kind == CommitKind::Tdm { "operations" } else { "groups" };
    let title = |pending| message!("let `{op}` leave {pending} {what} open", Message::op(name), pending, what);
    fewer
        .into_iter()
        .filter_map(|pending| Some(fix(title(pending), [draft::number(case.code, attr, pending)?])))
        .collect()
}

/// A wait that comes later in the block, moved before the access.
fn earlier_wait(case: &FixContext<'_>, kind: CommitKind, at: OpId) -> Option<Candidate> {
    let (code, tree) = (case.code, case.code.tree);
    let wait = next_wait(case, kind, at)?;
    let draft = case.draft(at);
    let known = tree.operands(wait).iter().all(|operand| draft.sees(*operand));
    let (name, _) = wait_of(kind).filter(|_| known)?;
    Some(fix(message!("move `{op}` before this", Message::op(name)), draft::put_before(code, wait, at)))
}
