//! What a host op does, by its name: the ops that move data between memories, and the rest.

use lower::HostOp;
use ttgir::{Tree, Ty};

/// What a host op does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DataMovement {
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
const OPS: &[(&str, DataMovement)] = &[
    // Where the phase that it gives is used, an effect has read it.
    ("amdg.arrive_barrier", DataMovement::Nothing),
    ("amdg.assume_uniform", DataMovement::Pass),
    ("amdg.async_copy_local_to_global", DataMovement::CopyOut),
    ("amdg.async_tdm_copy_global_to_local", DataMovement::TdmLoad),
    ("amdg.async_tdm_copy_local_to_global", DataMovement::TdmStore),
    ("amdg.async_tdm_gather", DataMovement::TdmGather),
    ("amdg.async_tdm_scatter", DataMovement::TdmScatter),
    ("amdg.buffer_load_to_local", DataMovement::BufferIn),
    ("amdg.cond_barrier", DataMovement::Nothing),
    ("amdg.instruction_sched_hint", DataMovement::Nothing),
    ("amdg.local_load_packed_tranposed", DataMovement::Unknown),
    ("amdg.local_load_packed_transposed", DataMovement::Unknown),
    ("amdg.memory_counter_wait", DataMovement::Nothing),
    ("amdg.register_resident", DataMovement::Pass),
    ("amdg.tdm_prefetch", DataMovement::Nothing),
    ("gpu.barrier", DataMovement::Nothing),
    ("llvm.intr.assume", DataMovement::Nothing),
    ("ttg.async_copy_global_to_local", DataMovement::CopyIn),
    ("ttg.async_remote_shmem_copy", DataMovement::RemoteCopy),
    ("ttg.async_remote_shmem_store", DataMovement::SharedStore),
    ("ttg.barrier", DataMovement::Nothing),
    ("ttg.local_alloc", DataMovement::Alloc),
    ("ttg.local_atomic_scatter_rmw", DataMovement::Unknown),
    ("ttg.local_dealloc", DataMovement::Nothing),
    ("ttg.local_gather", DataMovement::LocalGather),
    ("ttg.local_load", DataMovement::Load),
    ("ttg.local_scatter", DataMovement::LocalScatter),
    ("ttg.local_store", DataMovement::Store),
    ("ttg.remote_shmem_store", DataMovement::SharedStore),
    ("ttng.async_clc_try_cancel", DataMovement::ClcRequest),
    ("ttng.async_shared_store", DataMovement::SharedStore),
    ("ttng.async_tma_copy_global_to_local", DataMovement::TmaLoad),
    ("ttng.async_tma_copy_local_to_global", DataMovement::TmaStore),
    ("ttng.async_tma_gather", DataMovement::TmaGather),
    ("ttng.async_tma_prefetch", DataMovement::Nothing),
    ("ttng.async_tma_reduce", DataMovement::TmaReduce),
    ("ttng.async_tma_scatter", DataMovement::TmaScatter),
    ("ttng.clc_get_program_id", DataMovement::ClcProgram),
    ("ttng.clc_is_canceled", DataMovement::ClcGranted),
    ("ttng.clc_load_result", DataMovement::ClcLoad),
    ("ttng.clc_query_cancel", DataMovement::ClcQuery),
    ("ttng.clc_try_cancel", DataMovement::ClcRequest),
    ("ttng.fence", DataMovement::Nothing),
    ("ttng.fence_mbarrier_init_release_cluster", DataMovement::Nothing),
    ("ttng.prefetch", DataMovement::Nothing),
    ("ttng.prefetch_tensormap", DataMovement::Nothing),
    ("ttng.tc_gen5_mma", DataMovement::Mma),
    ("ttng.tc_gen5_mma_scaled", DataMovement::Mma),
    ("ttng.tensormap_fenceproxy_acquire", DataMovement::Nothing),
    ("ttng.tmem_alloc", DataMovement::Alloc),
    ("ttng.tmem_copy", DataMovement::TmemCopy),
    ("ttng.tmem_load", DataMovement::Load),
    ("ttng.tmem_store", DataMovement::Store),
    ("ttng.tmem_wait", DataMovement::Nothing),
    ("ttng.warp_group_dot", DataMovement::Dot),
    ("ttng.warp_group_dot_wait", DataMovement::Pass),
];

/// What an op does.
pub(super) fn data_movement(tree: &Tree, host: &HostOp) -> DataMovement {
    let name = tree.op_name(host.op);
    if let Ok(at) = OPS.binary_search_by_key(&name, |row| row.0) {
        return OPS[at].1;
    }
    let token = |value| matches!(tree.value_type(value).map(|ty| tree.ty(ty)), Some(Ty::AsyncToken));
    let results = tree.results(host.op);
    if host.effects.0 != host.effects.1 {
        // A wait, an arrival, a commit: the machine has done it. What gives values in some other way is not followed.
        let given = results.iter().zip(&host.results).all(|(result, var)| var.is_none() || token(*result));
        return if given { DataMovement::Nothing } else { DataMovement::Unknown };
    }
    let view = |value| matches!(tree.value_type(value).map(|ty| tree.ty(ty)), Some(Ty::MemDesc { .. }));
    if tree.operands(host.op).iter().any(|value| view(*value)) {
        // A predicate that is always false leaves nothing of an op.
        return if results.is_empty() { DataMovement::Nothing } else { DataMovement::Unknown };
    }
    if !results.is_empty() && results.iter().all(|result| token(*result)) {
        return DataMovement::Nothing;
    }
    DataMovement::Evaluate
}

#[cfg(test)]
mod tests {
    use super::OPS;

    #[test]
    fn the_table_is_sorted() {
        assert!(OPS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
