//! A generic access that an async one follows: `ttng.fence_async_shared` between them.
//!
//! Where two partitions are involved the fence belongs before the arrival that hands the bytes
//! over; a fence that comes after it is moved there. Else it belongs before the async op.

use super::context::{Candidate, FixContext, fix};
use super::draft;
use base::message;

const FENCE: &str = "ttng.fence_async_shared {bCluster = false}";

/// Fences, the producer's side first.
pub(crate) fn fences(case: &FixContext<'_>) -> Vec<Candidate> {
    let Some((earlier, later)) = case.pair() else { return Vec::new() };
    let code = case.code;
    let mut out = Vec::new();
    let title = message!("insert `{ttng.fence_async_shared}`");
    if earlier.thread != later.thread
        && let Some(arrive) = case.arrival_after(earlier.thread, earlier.step).and_then(|step| case.step_op(step))
    {
        let block = code.tree.parent_block(arrive);
        let ops = block.map(|block| code.tree.block_ops(block)).unwrap_or_default();
        let late =
            ops.iter().find(|op| code.before(arrive, **op) && code.tree.op_name(**op) == "ttng.fence_async_shared");
        if let Some(&late) = late {
            out.push(fix(
                message!("move `{ttng.fence_async_shared}` before the arrival"),
                draft::put_before(code, late, arrive),
            ));
        }
        out.push(fix(
            message!("{insert} before the arrival", title),
            [draft::before(code, arrive, &[FENCE.to_owned()])],
        ));
    }
    if let Some(op) = case.op(later.effect) {
        out.push(fix(title, [draft::before(code, op, &[FENCE.to_owned()])]));
    }
    out
}
