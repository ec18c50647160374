//! A text without all that its threads wait for: whoever calls that clean has looked at nothing.

use super::edit::{Change, ops, spelling};
use dialects::MutationRole;
use std::collections::HashMap;
use ttgir::{OpId, Tree, ValueId};

/// Whether an op only waits: for a barrier, for a group of copies or products, for other threads.
pub(super) fn waits(tree: &Tree, op: OpId) -> bool {
    let role = tree.code(op).and_then(|code| code.decl().mutation);
    matches!(role, Some(MutationRole::BarrierWait(_) | MutationRole::GroupWait(_) | MutationRole::Rendezvous))
}

/// The text with no wait in it and how many there were; `None` where there was none, or where something uses a
/// result that no operand stands for.
pub fn without_waits(tree: &Tree) -> Option<(usize, String)> {
    let removed: Vec<OpId> = ops(tree).into_iter().filter(|op| waits(tree, *op)).collect();
    if removed.is_empty() {
        return None;
    }
    // What is used in place of a result: the operand of its number, or what is used in place of that.
    let mut instead: HashMap<ValueId, ValueId> = HashMap::new();
    for &op in &removed {
        for (number, &result) in tree.results(op).iter().enumerate() {
            if let Some(&operand) = tree.operands(op).get(number) {
                instead.insert(result, instead.get(&operand).copied().unwrap_or(operand));
            }
        }
    }
    let lines: Vec<_> = removed.iter().map(|op| Change::lines(tree, *op)).collect();
    let mut change = Change::new(tree);
    for &op in &removed {
        for result in tree.results(op) {
            let uses = tree.uses(*result);
            let mut uses = uses.into_iter().filter(|at| !lines.iter().any(|line| line.contains(*at))).peekable();
            if uses.peek().is_none() {
                continue;
            }
            let name = spelling(tree, *instead.get(result)?);
            for at in uses {
                change = change.replace(at, name.clone());
            }
        }
    }
    for line in &lines {
        change = change.replace(*line, "");
    }
    Some((removed.len(), change.apply()?))
}
