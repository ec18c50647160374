//! What a host op does, by its name: the ops that move data between memories, and the rest.

use lower::HostOp;
use ttgir::{Tree, Ty};

/// What a host op does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Does {
    /// Nothing to values.
    Nothing,
    /// Values in, values out.
    Evaluate,
    /// Its results are its operands.
    Pass,
    /// A buffer, with a source.
    Alloc,
    /// Memory to registers.
    Load,
    /// Registers to memory.
    Store,
    /// Elements picked along an axis.
    LocalGather,
    /// Elements put along an axis.
    LocalScatter,
    /// Pointers to shared memory, asynchronous.
    CopyIn,
    /// Pointer and offsets to shared memory, asynchronous.
    BufferIn,
    /// Shared memory to pointers, asynchronous.
    CopyOut,
    /// A block of a tensor to shared memory.
    TmaLoad,
    /// Shared memory to a block of a tensor.
    TmaStore,
    /// The same, combined with what is there.
    TmaReduce,
    /// Rows of a tensor to shared memory.
    TmaGather,
    /// Shared memory to rows of a tensor.
    TmaScatter,
    /// AMD: the descriptor has the coordinates.
    TdmLoad,
    /// The same, out.
    TdmStore,
    /// Rows in.
    TdmGather,
    /// Rows out.
    TdmScatter,
    /// Registers to another place of shared memory, asynchronous.
    SharedStore,
    /// Shared memory to shared memory of another CTA.
    RemoteCopy,
    /// A dot product of the warp group.
    Dot,
    /// A dot product of the tensor core.
    Mma,
    /// Shared memory to tensor memory.
    TmemCopy,
    /// A request to cluster launch control.
    ClcRequest,
    /// Its answer.
    ClcLoad,
    /// Whether the answer is a tile.
    ClcGranted,
    /// Which tile it is.
    ClcProgram,
    /// Which tile it is, or -1.
    ClcQuery,
    /// It moves data in a way that is not followed.
    Unknown,
}

/// Ops that move data, and ops of these dialects that do nothing to values.
const OPS: &[(&str, Does)] = &[
    // Where the phase that it gives is used, an effect has read it.
    ("amdg.arrive_barrier", Does::Nothing),
    ("amdg.assume_uniform", Does::Pass),
    ("amdg.async_copy_local_to_global", Does::CopyOut),
    ("amdg.async_tdm_copy_global_to_local", Does::TdmLoad),
    ("amdg.async_tdm_copy_local_to_global", Does::TdmStore),
    ("amdg.async_tdm_gather", Does::TdmGather),
    ("amdg.async_tdm_scatter", Does::TdmScatter),
    ("amdg.buffer_load_to_local", Does::BufferIn),
    ("amdg.cond_barrier", Does::Nothing),
    ("amdg.instruction_sched_hint", Does::Nothing),
    ("amdg.local_load_packed_tranposed", Does::Unknown),
    ("amdg.local_load_packed_transposed", Does::Unknown),
    ("amdg.memory_counter_wait", Does::Nothing),
    ("amdg.register_resident", Does::Pass),
    ("amdg.tdm_prefetch", Does::Nothing),
    ("gpu.barrier", Does::Nothing),
    ("llvm.intr.assume", Does::Nothing),
    ("ttg.async_copy_global_to_local", Does::CopyIn),
    ("ttg.async_remote_shmem_copy", Does::RemoteCopy),
    ("ttg.async_remote_shmem_store", Does::SharedStore),
    ("ttg.barrier", Does::Nothing),
    ("ttg.local_alloc", Does::Alloc),
    ("ttg.local_atomic_scatter_rmw", Does::Unknown),
    ("ttg.local_dealloc", Does::Nothing),
    ("ttg.local_gather", Does::LocalGather),
    ("ttg.local_load", Does::Load),
    ("ttg.local_scatter", Does::LocalScatter),
    ("ttg.local_store", Does::Store),
    ("ttg.remote_shmem_store", Does::SharedStore),
    ("ttng.async_clc_try_cancel", Does::ClcRequest),
    ("ttng.async_shared_store", Does::SharedStore),
    ("ttng.async_tma_copy_global_to_local", Does::TmaLoad),
    ("ttng.async_tma_copy_local_to_global", Does::TmaStore),
    ("ttng.async_tma_gather", Does::TmaGather),
    ("ttng.async_tma_prefetch", Does::Nothing),
    ("ttng.async_tma_reduce", Does::TmaReduce),
    ("ttng.async_tma_scatter", Does::TmaScatter),
    ("ttng.clc_get_program_id", Does::ClcProgram),
    ("ttng.clc_is_canceled", Does::ClcGranted),
    ("ttng.clc_load_result", Does::ClcLoad),
    ("ttng.clc_query_cancel", Does::ClcQuery),
    ("ttng.clc_try_cancel", Does::ClcRequest),
    ("ttng.fence", Does::Nothing),
    ("ttng.fence_mbarrier_init_release_cluster", Does::Nothing),
    ("ttng.prefetch", Does::Nothing),
    ("ttng.prefetch_tensormap", Does::Nothing),
    ("ttng.tc_gen5_mma", Does::Mma),
    ("ttng.tc_gen5_mma_scaled", Does::Mma),
    ("ttng.tensormap_fenceproxy_acquire", Does::Nothing),
    ("ttng.tmem_alloc", Does::Alloc),
    ("ttng.tmem_copy", Does::TmemCopy),
    ("ttng.tmem_load", Does::Load),
    ("ttng.tmem_store", Does::Store),
    ("ttng.tmem_wait", Does::Nothing),
    ("ttng.warp_group_dot", Does::Dot),
    ("ttng.warp_group_dot_wait", Does::Pass),
];

/// What an op does.
pub(super) fn does(tree: &Tree, host: &HostOp) -> Does {
    let name = tree.op_name(host.op);
    if let Ok(at) = OPS.binary_search_by_key(&name, |row| row.0) {
        return OPS[at].1;
    }
    let token = |value| matches!(tree.value_type(value).map(|ty| tree.ty(ty)), Some(Ty::AsyncToken));
    let results = tree.results(host.op);
    if host.effects.0 != host.effects.1 {
        // A wait, an arrival, a commit: the machine has done it. What gives values in some other way is not followed.
        let given = results.iter().zip(&host.results).all(|(result, var)| var.is_none() || token(*result));
        return if given { Does::Nothing } else { Does::Unknown };
    }
    let view = |value| matches!(tree.value_type(value).map(|ty| tree.ty(ty)), Some(Ty::MemDesc { .. }));
    if tree.operands(host.op).iter().any(|value| view(*value)) {
        // A predicate that is always false leaves nothing of an op.
        return if results.is_empty() { Does::Nothing } else { Does::Unknown };
    }
    if !results.is_empty() && results.iter().all(|result| token(*result)) {
        return Does::Nothing;
    }
    Does::Evaluate
}

#[cfg(test)]
mod tests {
    use super::OPS;

    #[test]
    fn the_table_is_sorted() {
        assert!(OPS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
