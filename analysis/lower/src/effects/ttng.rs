//! TritonNvidiaGPU: mbarriers, TMA, wgmma, tcgen05, tensor memory.
//!
//! Fences other than the async-proxy fence order global memory, descriptors, or the init of
//! barriers for the cluster, which Triton adds where it is needed.

use super::{Done, Row, Table, Touch, base, read, write};
use crate::view::Window;
use kernel::{CommitKind, Issuer, Proxy};

const CLC: &str = "cluster launch control before it has barriers is not followed";

const fn tma_load(barrier: &'static str) -> Row {
    const RESULT: &[Touch] = &[write("result", Proxy::Async, "")];
    Row::Memory { issuer: Issuer::Tma, touches: RESULT, done: Done::Transaction { barrier, of: "result" } }
}

const TMA_STORE: Row = Row::Memory {
    issuer: Issuer::Tma,
    touches: &[read("src", Proxy::Async, "")],
    done: Done::Group { kind: CommitKind::TmaStore, implicit: true, when: None },
};

pub(super) const ROWS: Table = &[
    ("init_barrier", Row::Init),
    ("inval_barrier", Row::Invalidate),
    ("barrier_expect", Row::Expect),
    ("arrive_barrier", Row::Arrive),
    ("wait_barrier", Row::WaitBarrier),
    ("async_copy_mbarrier_arrive", Row::AsyncCopyArrive { increments: true }),
    ("fence_async_shared", Row::ProxyFence),
    ("cluster_barrier", Row::ClusterBarrier),
    ("async_tma_copy_global_to_local", tma_load("barrier")),
    ("async_tma_gather", tma_load("barrier")),
    ("async_tma_copy_local_to_global", TMA_STORE),
    ("async_tma_reduce", TMA_STORE),
    ("async_tma_scatter", TMA_STORE),
    ("async_tma_store_wait", Row::Wait(CommitKind::TmaStore, "pendings")),
    (
        "async_shared_store",
        Row::Memory {
            issuer: Issuer::Tma,
            touches: &[write("dst", Proxy::Generic, "")],
            done: Done::Transaction { barrier: "mbarrier", of: "dst" },
        },
    ),
    (
        "warp_group_dot",
        Row::Memory {
            issuer: Issuer::Base,
            touches: &[read("a", Proxy::Async, "A"), read("b", Proxy::Async, "B")],
            done: Done::Group { kind: CommitKind::Wgmma, implicit: true, when: Some("isAsync") },
        },
    ),
    ("warp_group_dot_wait", Row::Wait(CommitKind::Wgmma, "pendings")),
    ("tc_gen5_mma", Row::Mma { scaled: false }),
    ("tc_gen5_mma_scaled", Row::Mma { scaled: true }),
    ("tc_gen5_commit", Row::TensorCoreCommit),
    ("tmem_alloc", Row::Allocate),
    ("tmem_load", base(&[read("src", Proxy::Tensor, "")])),
    ("tmem_store", base(&[write("dst", Proxy::Tensor, "")])),
    (
        "tmem_copy",
        Row::Memory {
            issuer: Issuer::TensorCore,
            touches: &[read("src", Proxy::Async, "Src"), write("dst", Proxy::Tensor, "Dst")],
            done: Done::InOrder,
        },
    ),
    ("tmem_subslice", Row::View(Window::Columns)),
    ("tmem_wait", Row::Nothing),
    ("tcgen5_global_alloc", Row::Nothing),
    ("packed_arith", Row::Nothing),
    ("vote_ballot_sync", Row::Nothing),
    ("cluster_size_1d", Row::ClusterSize),
    ("fence", Row::Nothing),
    ("fence_mbarrier_init_release_cluster", Row::Nothing),
    ("async_tma_prefetch", Row::Nothing),
    ("prefetch", Row::Nothing),
    ("prefetch_tensormap", Row::Nothing),
    ("tensormap_create", Row::Nothing),
    ("tensormap_fenceproxy_acquire", Row::Nothing),
    ("reinterpret_tensor_descriptor", Row::Nothing),
    ("clc_is_canceled", Row::ClcGranted),
    ("clc_get_program_id", Row::Nothing),
    ("cluster_arrive", Row::ClusterArrive),
    ("cluster_wait", Row::ClusterWait),
    ("map_to_remote_buffer", Row::MapToRemote),
    ("two_cta_peer_gather", Row::Unmodelled("an exchange between CTAs that is not lowered yet")),
    ("clc_try_cancel", Row::ClcRequest { result: "result", barrier: "mbarrier" }),
    ("clc_try_cancel_sync", Row::Unmodelled(CLC)),
    ("clc_load_result", Row::ClcLoad),
    ("clc_advance", Row::Unmodelled(CLC)),
    ("clc_try_cancel_async", Row::Unmodelled(CLC)),
    ("clc_read", Row::Unmodelled(CLC)),
    ("async_clc_try_cancel", Row::ClcRequest { result: "clcResAlloc", barrier: "mbarAlloc" }),
    ("clc_query_cancel", Row::ClcQuery),
    ("arrive_barrier_named", Row::NamedArrive),
    ("wait_barrier_named", Row::NamedWait),
    ("async_tma_store_token_wait", Row::StoreTokenWait),
    ("async_store", Row::Unmodelled("a bulk copy from shared memory, not followed yet")),
];
