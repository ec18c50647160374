//! What an operation does with a barrier, in words. One row an operand group.

use ttgir::queries::expr::expression;
use ttgir::queries::memory::Use;
use ttgir::{OpId, Tree};

/// What an operation does with a barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// One word: `init`, `wait`, `arrive`, `expect`, `invalidate`, or the op's name.
    pub verb: String,
    /// Counts, phases, predicates.
    pub detail: String,
}

/// Operand group, verb, and what to add.
const ROLES: [(&str, &str, &str, &str); 23] = [
    ("ttng.init_barrier", "alloc", "init", ""),
    ("ttng.inval_barrier", "alloc", "invalidate", ""),
    ("ttng.wait_barrier", "alloc", "wait", ""),
    ("ttng.arrive_barrier", "alloc", "arrive", ""),
    ("ttng.barrier_expect", "alloc", "expect", ""),
    ("ttng.async_tma_copy_global_to_local", "barrier", "arrive", "when the TMA load has landed"),
    ("ttng.async_tma_gather", "barrier", "arrive", "when the TMA gather has landed"),
    ("ttng.tc_gen5_mma", "barriers", "arrive", "when the MMA is done"),
    ("ttng.tc_gen5_mma_scaled", "barriers", "arrive", "when the MMA is done"),
    ("ttng.tc_gen5_commit", "barrier", "arrive", "when the tensor core is done so far"),
    ("ttng.tmem_copy", "barrier", "arrive", "when the copy is done"),
    ("ttng.async_copy_mbarrier_arrive", "barrier", "arrive", "when the cp.async so far are done"),
    ("ttg.async_copy_global_to_local", "barrier", "arrive", "when the copy has landed"),
    ("ttng.async_shared_store", "mbarrier", "arrive", "when the store has landed"),
    ("ttng.clc_try_cancel", "mbarrier", "arrive", "when the answer has landed"),
    ("amdg.init_barrier", "alloc", "init", ""),
    ("amdg.wait_barrier", "alloc", "wait", ""),
    ("amdg.arrive_barrier", "alloc", "arrive", "by every thread"),
    ("amdg.async_tdm_copy_global_to_local", "barrier", "arrive", "by every warp, when the load has landed"),
    ("amdg.async_tdm_copy_local_to_global", "barrier", "arrive", "by every warp, when the store is done"),
    ("amdg.async_tdm_gather", "barrier", "arrive", "by every warp, when the gather has landed"),
    ("amdg.async_tdm_scatter", "barrier", "arrive", "by every warp, when the scatter is done"),
    ("amdg.async_copy_mbarrier_arrive", "barrier", "arrive", "by every thread, when its copies so far are done"),
];

/// What `used` does with a barrier; none if it is no operation on barriers.
pub fn role(tree: &Tree, used: &Use) -> Option<Role> {
    let op = used.op;
    let name = tree.op_name(op);
    let of = |group: &str| tree.group_span(op, group).is_some_and(|(at, len)| (at..at + len).contains(&used.operand));
    let (_, _, verb, when) = ROLES.iter().find(|(row, group, _, _)| *row == name && of(group))?;
    let mut parts: Vec<String> = Vec::new();
    match *verb {
        "init" => {
            parts.extend(number(tree, op, "count").map(|count| plural(count, "arrival a phase", "arrivals a phase")))
        }
        "expect" => parts.extend(number(tree, op, "size").map(|size| plural(size, "byte", "bytes"))),
        "wait" => parts.extend(operand(tree, op, "phase").map(|phase| format!("phase {phase}"))),
        "arrive" if matches!(name, "ttng.arrive_barrier" | "amdg.arrive_barrier") => {
            parts.extend(number(tree, op, "count").map(|count| plural(count, "arrival", "arrivals")));
        }
        _ => {}
    }
    if !when.is_empty() {
        parts.push((*when).to_owned());
    }
    let predicate =
        if name.starts_with("ttng.tc_gen5_mma") { predicate_of(tree, used) } else { operand(tree, op, "pred") };
    parts.extend(predicate.filter(|text| text != "true").map(|text| format!("if {text}")));
    Some(Role { verb: (*verb).to_owned(), detail: parts.join(", ") })
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
