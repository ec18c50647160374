//! What operations do with a barrier or buffer: reads and waits, writes and arrivals.

use super::occurrence::{Occurrence, OccurrenceAccess};
use dialects::{BarrierVerb, OpEffect};
use kernel::Mode;
use ttgir::queries::memory::{self, Use, is_memory, roots};
use ttgir::queries::spot::function;
use ttgir::{Tree, ValueId};

/// The allocations that a value may be, with every operation on them; empty of what is no memory.
pub(super) fn of_memory(tree: &Tree, value: ValueId) -> Vec<Occurrence> {
    if !is_memory(tree, value) {
        return Vec::new();
    }
    let roots = roots(tree, value);
    let mut found: Vec<Occurrence> = Vec::new();
    let defined = roots.iter().filter(|root| super::hover::defining_op(tree, **root).is_some());
    found.extend(defined.map(|root| Occurrence::definition(tree.value_range(*root))));
    for used in all(tree, &roots) {
        found.push(Occurrence::of(tree.operand_range(used.op, used.operand), access(tree, &used)));
    }
    found
}

/// The uses of allocations in the function that they are in.
pub(crate) fn all(tree: &Tree, roots: &[ValueId]) -> Vec<Use> {
    let holder = roots.iter().find_map(|root| super::hover::defining_op(tree, *root));
    holder.and_then(|op| function(tree, op)).map_or_else(Vec::new, |within| memory::uses(tree, within, roots))
}

/// What is done with a barrier by a use, if the operand is one.
pub(crate) fn verb(tree: &Tree, used: &Use) -> Option<BarrierVerb> {
    let barrier = tree.code(used.op)?.decl().barrier?;
    let (first, len) = tree.group_span(used.op, barrier.group)?;
    (first..first + len).contains(&used.operand).then_some(barrier.verb)
}

/// Whether a use reads or writes. An accumulator is written.
pub(crate) fn access(tree: &Tree, used: &Use) -> OccurrenceAccess {
    match verb(tree, used) {
        Some(BarrierVerb::Wait) => return OccurrenceAccess::Read,
        Some(_) => return OccurrenceAccess::Write,
        None => {}
    }
    let in_group = |group: &str| {
        let span = tree.group_span(used.op, group);
        span.is_some_and(|(first, len)| (first..first + len).contains(&used.operand))
    };
    let writes = match tree.effect(used.op) {
        OpEffect::Memory { accesses, .. } => {
            accesses.iter().any(|access| access.mode == Mode::Write && in_group(access.group))
        }
        OpEffect::Mma { .. } => in_group("d"),
        OpEffect::RemoteStore(_) => in_group("dst"),
        OpEffect::ClcRequest { result, .. } => in_group(result),
        _ => false,
    };
    if writes { OccurrenceAccess::Write } else { OccurrenceAccess::Read }
}
