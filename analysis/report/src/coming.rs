//! What a text does not hold yet, because passes of Triton are still to come, and what of it is not followed.
//!
//! A report of a text from the middle of the pipeline is no less right for what later passes add, but it has to
//! say so: what is absent then is no fault of the kernel. What the analysis does not follow is another matter:
//! what such an op orders, or what orders it, is missing in the graph and in the tables.

use dialects::{OpCode, Ttg, Ttng};
use kernel::{AbstractOf, Stage};
use ttgir::OpId;
use ttgir::queries::spot::walk;

use super::Coming;
use super::trace::Trace;

/// What later passes add to the text, in the order in which they run.
pub(super) fn coming(trace: &Trace<'_>) -> Vec<Coming> {
    let map = &trace.lowered.map;
    let mut all: Vec<Coming> = Vec::new();
    let mut add = |pass: &'static str, adds: String| all.push(Coming { pass, adds });
    let specialises = |op| trace.tree.attr(op, "tt.warp_specialize").is_some();
    if map.stage == Stage::Final && trace.kernel().partitions.len() == 1 && any(trace, &specialises) {
        let pass = "partition scheduling (tritongpu-partition-scheduling, nvgpu-partition-scheduling-meta)";
        add(pass, "partitions for the loop that asks for them; here one does all of it".to_owned());
    }
    if map.stage == Stage::Planned {
        if !map.registers.is_empty() {
            let names: Vec<String> = map.registers.iter().map(|buffer| map.buffer(*buffer)).collect();
            add("buffer allocation (doBufferAllocation)", format!("buffers for registers: {}", names.join(", ")));
        }
        if unplanned(trace) {
            let adds = "slots and shared storage: buffer.copy and buffer.id; each buffer counts as one slot of its own";
            add("memory planning (doMemoryPlanner)", adds.to_owned());
        }
        let adds =
            "the barriers, their waits and arrivals; edges here are those of the channels that follow from the buffers";
        add("code partitioning (doCodePartition)", adds.to_owned());
        if trace.lowered.map.pairs {
            let adds = "what holds the two CTAs of a pair together; here each does its own half".to_owned();
            add("2-CTA synchronisation (nvgpu-insert-2cta-sync)", adds);
        }
    }
    if map.stage == Stage::Tagged {
        let adds = "partitions: tasks still share a region".to_owned();
        add("code partitioning (doCodePartition)", adds);
    }
    for (of, pass) in [
        (AbstractOf::Aref, "aref lowering (nvws-lower-aref)"),
        (AbstractOf::Semaphore, "semaphore lowering (nvws-lower-semaphore)"),
        (AbstractOf::Token, "token lowering (doTokenLowering)"),
    ] {
        let count = map.abstracts.iter().filter(|known| known.of == of).count();
        if count > 0 {
            add(pass, format!("mbarriers: {count} array{} of them", if count == 1 { "" } else { "s" }));
        }
    }
    if any(trace, &|op| trace.tree.attr(op, "loop.stage").is_some()) {
        let adds = "slots for what each iteration allocates, and waits for what runs on over iterations";
        add("pipelining (tritongpu-pipeline)", adds.to_owned());
    }
    let asks = |op| matches!(trace.tree.code(op), Some(OpCode::Ttng(Ttng::ClcRead | Ttng::ClcAdvance)));
    if any(trace, &asks) {
        let adds = "memory and a barrier for each request for a tile; here an answer is there when it is asked for";
        add("CLC materialisation (triton-nvidia-gpu-clc-materialize)", adds.to_owned());
    }
    if map.unfenced {
        let adds = "proxy fences; here generic and TMA accesses of shared memory count as one proxy".to_owned();
        add("fence insertion (triton-nvidia-gpu-proxy-fence-insertion)", adds);
    }
    all
}

/// Whether some op of the function is one of these.
fn any(trace: &Trace<'_>, what: &dyn Fn(OpId) -> bool) -> bool {
    let mut found = false;
    let function: Vec<OpId> = trace.function.into_iter().collect();
    walk(trace.tree, &function, &mut |op| found |= what(op));
    found
}

/// Whether no allocation of a function says where the memory planner has put it.
fn unplanned(trace: &Trace<'_>) -> bool {
    let tree = trace.tree;
    let allocates = |op| matches!(tree.code(op), Some(OpCode::Ttg(Ttg::LocalAlloc) | OpCode::Ttng(Ttng::TmemAlloc)));
    let planned = any(trace, &|op| allocates(op) && tree.attr(op, "buffer.id").is_some());
    !planned && (any(trace, &allocates) || !trace.lowered.map.registers.is_empty())
}
