//! TritonAMDGPU: LDS barriers and the tensor data mover (TDM) of CDNA 5, asynchronous copies of
//! CDNA 3 to 5.
//!
//! An arrival counts once for every thread that executes it, one that a TDM operation brings once
//! for every warp. LDS has one proxy, so no fences. A TDM operation that is told to do nothing by its
//! descriptor's predicate counts like any other, as in the sanitizer.
//!
//! Missed: that with `warp_used_hint` some warps only start the operation, so that operations of
//! different warps are in no order.

use super::{Done, Row, Table, base, read, write};
use kernel::{CommitKind, Issuer, Proxy};

const fn tdm(touches: &'static [super::Touch]) -> Row {
    Row::Memory { issuer: Issuer::Tma, touches, done: Done::InTurn { barrier: "barrier" } }
}

const fn async_copy(touches: &'static [super::Touch]) -> Row {
    let done = Done::Group { kind: CommitKind::AsyncCopy, implicit: false, when: None };
    Row::Memory { issuer: Issuer::Base, touches, done }
}

pub(super) const ROWS: Table = &[
    ("init_barrier", Row::Init),
    ("arrive_barrier", Row::ArriveThreads),
    ("wait_barrier", Row::WaitBarrier),
    ("read_barrier_phase", Row::ReadPhase),
    ("async_copy_mbarrier_arrive", Row::AsyncCopyArrive { increments: false }),
    ("async_tdm_copy_global_to_local", tdm(&[write("result", Proxy::Generic, "")])),
    ("async_tdm_fused_copy_global_to_local", tdm(&[write("dests", Proxy::Generic, "")])),
    ("async_tdm_gather", tdm(&[write("dst", Proxy::Generic, "")])),
    ("async_tdm_copy_local_to_global", tdm(&[read("src", Proxy::Generic, "")])),
    ("async_tdm_scatter", tdm(&[read("src", Proxy::Generic, "")])),
    ("async_tdm_wait", Row::Wait(CommitKind::Tdm, "num")),
    ("async_tdm_intrinsic_wait", Row::LoweredWait { kind: CommitKind::Tdm, groups: "ttg.num_tdm_ops", rest: "count" }),
    ("async_wait", Row::LoweredWait { kind: CommitKind::AsyncCopy, groups: "ttg.num_commit_groups", rest: "num_inst" }),
    ("buffer_load_to_local", async_copy(&[write("dest", Proxy::Generic, "")])),
    ("async_copy_local_to_global", async_copy(&[read("src", Proxy::Generic, "")])),
    ("local_load_packed_tranposed", base(&[read("src", Proxy::Generic, "")])),
    ("local_load_packed_transposed", base(&[read("src", Proxy::Generic, "")])),
    ("cluster_barrier_arrive", Row::ClusterArrive),
    ("cluster_barrier_wait", Row::ClusterWait),
    // Orders the warps of one partition, as `ttg.barrier` does.
    ("cond_barrier", Row::Nothing),
    ("memory_counter_wait", Row::Nothing),
    ("assume_uniform", Row::Nothing),
    ("bypass_lds_load", Row::Nothing),
    ("buffer_atomic_cas", Row::Nothing),
    ("buffer_atomic_rmw", Row::Nothing),
    ("buffer_load", Row::Nothing),
    ("buffer_store", Row::Nothing),
    ("concat", Row::Nothing),
    ("extract_slice", Row::Nothing),
    ("in_thread_tcast_fp4", Row::Nothing),
    ("in_thread_transpose", Row::Nothing),
    ("instruction_sched_hint", Row::Nothing),
    ("masked_load", Row::Nothing),
    ("masked_store", Row::Nothing),
    ("mfma_commit", Row::Nothing),
    ("register_handoff", Row::Nothing),
    ("register_resident", Row::Nothing),
    ("rematerialized_range", Row::Nothing),
    ("scaled_downcast_fp4", Row::Nothing),
    ("scaled_downcast_fp8", Row::Nothing),
    ("scaled_upcast_fp4", Row::Nothing),
    ("scaled_upcast_fp8", Row::Nothing),
    ("scheduled_mfma", Row::Nothing),
    ("tdm_prefetch", Row::Nothing),
    ("update_tensor_descriptor", Row::Nothing),
];
