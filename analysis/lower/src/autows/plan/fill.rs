//! Who fills an allocation with a source: the task that computes the source, which need not be one of those that the
//! allocation names. Source: buffer allocation in the facebookexperimental fork.

use rustc_hash::FxHashMap;

use super::super::origin::origins;
use super::channel::Who;
use dialects::{Arith, OpCode, Ttg, Ttng};
use ttgir::{OpId, Tree};

/// The tasks that fill an allocation with a source.
pub(super) fn fillers(tree: &Tree, op: OpId, who: Who<'_>, named: Who<'_>) -> Vec<usize> {
    let own = who(op);
    let Some(&source) = tree.group(op, "src").first() else { return own };
    let made = origins(tree, source).unwrap_or_default().into_iter().filter(|op| !tree.is(*op, Arith::Constant));
    let mut tasks: Vec<usize> = made.flat_map(named).collect();
    tasks.sort_unstable();
    tasks.dedup();
    if tasks.len() == 1 { tasks } else { own }
}

/// The tasks that fill each allocation with a source.
pub(super) fn fills(tree: &Tree, function: OpId, who: Who<'_>, named: Who<'_>) -> FxHashMap<OpId, Vec<usize>> {
    let mut all = Vec::new();
    super::super::tasks::below(tree, function, &mut all);
    let allocates =
        |op: &OpId| matches!(tree.code(*op), Some(OpCode::Ttg(Ttg::LocalAlloc) | OpCode::Ttng(Ttng::TmemAlloc)));
    all.retain(|op| allocates(op) && !tree.group(*op, "src").is_empty());
    all.into_iter().map(|op| (op, fillers(tree, op, who, named))).collect()
}
