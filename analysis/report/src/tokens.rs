//! Tokens that loops should carry and do not: a load of tensor memory whose token nobody takes, in a
//! loop whose next round writes the same memory with a token of its own.
//!
//! Told only where tokens are all that orders the ops, which is before code partitioning puts
//! barriers in their place.

use super::trace::Trace;
use super::{Remark, RemarkKind};
use kernel::Stage;
use ttgir::queries::spot::walk;
use ttgir::{OpId, Tree, ValueId};

/// Loads whose tokens are dropped.
pub(super) fn dropped(trace: &Trace<'_>) -> Vec<Remark> {
    let tree = trace.tree;
    let mut remarks = Vec::new();
    if trace.lowered.map.stage != Stage::Planned {
        return remarks;
    }
    let name = trace.lowered.map.kernel_range;
    let Some(function) = tree.op_at(name.start) else { return remarks };
    walk(tree, &[function], &mut |op| {
        if tree.op_name(op) != "ttng.tmem_load" {
            return;
        }
        let (Some(&memory), [_, token]) = (tree.group(op, "src").first(), tree.results(op)) else { return };
        if tree.group(op, "dep").is_empty() || tree.uses(*token).len() > 1 {
            return;
        }
        let Some(around) = enclosing(tree, op) else { return };
        let mut writes = Vec::new();
        walk(tree, &[around], &mut |other| {
            if writes_with_token(tree, other, memory) {
                writes.push(tree.op_name_range(other));
            }
        });
        let Some(first) = writes.first().copied() else { return };
        let loop_name = tree.op_name(around);
        let writer = tree.op_at(first.start).map_or("write", |op| tree.op_name(op));
        remarks.push(Remark {
            kind: RemarkKind::DroppedToken,
            range: tree.value_range(*token),
            text: format!(
                "`{}` is taken by nobody: no token tells the next round of the `{loop_name}` around it that \
                 `{}` has been read when `{writer}` writes it again",
                tree.value_name(*token),
                tree.value_name(memory),
            ),
            sites: writes,
        });
    });
    remarks
}

/// The loop around an op.
fn enclosing(tree: &Tree, op: OpId) -> Option<OpId> {
    let mut op = op;
    loop {
        op = tree.parent_op(tree.parent_region(tree.parent_block(op)?))?;
        if matches!(tree.op_name(op), "scf.for" | "scf.while") {
            return Some(op);
        }
    }
}

/// Whether an op writes a memdesc and takes a token for that.
fn writes_with_token(tree: &Tree, op: OpId, memory: ValueId) -> bool {
    let (target, token) = match tree.op_name(op) {
        "ttng.tmem_store" => ("dst", "dep"),
        "ttng.tc_gen5_mma" | "ttng.tc_gen5_mma_scaled" => ("d", "acc_dep"),
        _ => return false,
    };
    tree.group(op, target).first() == Some(&memory) && !tree.group(op, token).is_empty()
}
