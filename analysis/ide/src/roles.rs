//! What an operation does with a barrier, in words.

use super::sizes::{bytes_of, ctas};
use dialects::{Amdg, BarrierVerb, OpCompletion, OpEffect, Ttng};
use ttgir::queries::expr::expression;
use ttgir::queries::memory::Use;
use ttgir::{OpId, Tree};

/// What an operation does with a barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Role {
    /// One word: `init`, `wait`, `arrive`, `expect`, `invalidate`, or the op's name.
    pub verb: String,
    /// Counts, phases, predicates.
    pub detail: String,
}

/// What `used` does with a barrier; none if it is no operation on barriers.
pub(super) fn role(tree: &Tree, used: &Use) -> Option<Role> {
    let op = used.op;
    let barrier = tree.code(op)?.decl().barrier?;
    let (first, len) = tree.group_span(op, barrier.group)?;
    if !(first..first + len).contains(&used.operand) {
        return None;
    }
    let mut parts: Vec<String> = Vec::new();
    match barrier.verb {
        BarrierVerb::Init => {
            parts.extend(number(tree, op, "count").map(|count| plural(count, "arrival a phase", "arrivals a phase")))
        }
        BarrierVerb::Expect => parts.extend(number(tree, op, "size").map(|size| plural(size, "byte", "bytes"))),
        BarrierVerb::Wait => parts.extend(operand(tree, op, "phase").map(|phase| format!("phase {phase}"))),
        BarrierVerb::Arrive if tree.is(op, Ttng::ArriveBarrier) || tree.is(op, Amdg::ArriveBarrier) => {
            parts.extend(number(tree, op, "count").map(|count| plural(count, "arrival", "arrivals")));
        }
        BarrierVerb::Arrive | BarrierVerb::Invalidate => {}
    }
    if !barrier.when.is_empty() {
        let bytes =
            transaction(tree, op).map_or_else(String::new, |bytes| format!("{} ", plural(bytes, "byte", "bytes")));
        parts.push(format!("{bytes}{}", barrier.when));
    }
    let predicate = if barrier.group == "barriers" { predicate_of(tree, used) } else { operand(tree, op, "pred") };
    parts.extend(predicate.filter(|text| text != "true").map(|text| format!("if {text}")));
    Some(Role { verb: barrier.verb.word().to_owned(), detail: parts.join(", ") })
}

/// Bytes that an operation counts on its barrier. The shapes of a cluster's buffers are those of all its CTAs, whose
/// copies may count elsewhere.
pub(super) fn transaction(tree: &Tree, op: OpId) -> Option<i64> {
    let OpEffect::Memory { completion: OpCompletion::Transaction { of, .. }, .. } = tree.effect(op) else {
        return None;
    };
    let written = tree.group(op, of).first().filter(|_| ctas(tree) == 1)?;
    bytes_of(tree, *written)
}

/// The predicate beside a barrier of an MMA.
fn predicate_of(tree: &Tree, used: &Use) -> Option<String> {
    let (first, _) = tree.group_span(used.op, "barriers")?;
    let predicate = tree.group(used.op, "barrier_preds").get(used.operand.checked_sub(first)?)?;
    Some(expression(tree, *predicate))
}

fn number(tree: &Tree, op: OpId, attr: &str) -> Option<i64> {
    tree.attr_int(tree.attr(op, attr)?)
}

fn operand(tree: &Tree, op: OpId, group: &str) -> Option<String> {
    tree.group(op, group).first().map(|value| expression(tree, *value))
}

fn plural(count: i64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
