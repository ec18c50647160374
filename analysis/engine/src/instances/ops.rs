//! What the ops of an elaborated instance are called in Python.

/// Name of an op, and of the function or method that emits it.
const OPS: &[(&str, &str)] = &[
    ("amdg.arrive_barrier", "mbarrier.arrive"),
    ("amdg.async_copy_local_to_global", "async_copy.shared_to_global"),
    ("amdg.async_copy_mbarrier_arrive", "async_copy.mbarrier_arrive"),
    ("amdg.async_tdm_copy_global_to_local", "tdm.async_load"),
    ("amdg.async_tdm_copy_local_to_global", "tdm.async_store"),
    ("amdg.async_tdm_gather", "tdm.async_gather"),
    ("amdg.async_tdm_scatter", "tdm.async_scatter"),
    ("amdg.async_tdm_wait", "tdm.async_wait"),
    ("amdg.async_wait", "async_copy.wait_group"),
    ("amdg.buffer_load_to_local", "async_copy.buffer_load_to_shared"),
    ("amdg.init_barrier", "mbarrier.init"),
    ("amdg.wait_barrier", "mbarrier.wait"),
    ("scf.for", "for"),
    ("scf.if", "if"),
    ("scf.while", "while"),
    ("tt.return", "return"),
    ("ttg.async_commit_group", "async_copy.commit_group"),
    ("ttg.async_copy_global_to_local", "async_copy.async_load"),
    ("ttg.async_wait", "async_copy.wait_group"),
    ("ttg.barrier", "gl.barrier"),
    ("ttg.local_alloc", "gl.allocate_shared_memory"),
    ("ttg.local_atomic_scatter_rmw", "atomic_scatter_add"),
    ("ttg.local_dealloc", "dealloc"),
    ("ttg.local_gather", "gather"),
    ("ttg.local_load", "load"),
    ("ttg.local_scatter", "scatter"),
    ("ttg.local_store", "store"),
    ("ttg.memdesc_index", "index"),
    ("ttg.memdesc_reinterpret", "reinterpret"),
    ("ttg.memdesc_reshape", "reshape"),
    ("ttg.memdesc_subslice", "slice"),
    ("ttg.memdesc_trans", "permute"),
    ("ttg.warp_return", "return"),
    ("ttg.warp_specialize", "gl.warp_specialize"),
    ("ttg.warp_yield", "return"),
    ("ttng.arrive_barrier", "mbarrier.arrive"),
    ("ttng.async_copy_mbarrier_arrive", "async_copy.mbarrier_arrive"),
    ("ttng.async_shared_store", "async_store"),
    ("ttng.async_tma_copy_global_to_local", "tma.async_load"),
    ("ttng.async_tma_copy_local_to_global", "tma.async_store"),
    ("ttng.async_tma_gather", "tma.async_gather"),
    ("ttng.async_tma_reduce", "tma.async_atomic_add"),
    ("ttng.async_tma_scatter", "tma.async_scatter"),
    ("ttng.async_tma_store_wait", "tma.store_wait"),
    ("ttng.barrier_expect", "mbarrier.expect"),
    ("ttng.clc_load_result", "clc.load_result"),
    ("ttng.clc_try_cancel", "clc.try_cancel"),
    ("ttng.cluster_barrier", "cluster.barrier"),
    ("ttng.fence_async_shared", "fence_async_shared"),
    ("ttng.init_barrier", "mbarrier.init"),
    ("ttng.inval_barrier", "mbarrier.invalidate"),
    ("ttng.tc_gen5_commit", "tcgen05_commit"),
    ("ttng.tc_gen5_mma", "tcgen05_mma"),
    ("ttng.tc_gen5_mma_scaled", "tcgen05_mma_scaled"),
    ("ttng.tmem_alloc", "allocate_tensor_memory"),
    ("ttng.tmem_copy", "tcgen05_copy"),
    ("ttng.tmem_load", "load"),
    ("ttng.tmem_store", "store"),
    ("ttng.tmem_subslice", "slice"),
    ("ttng.wait_barrier", "mbarrier.wait"),
    ("ttng.warp_group_dot", "warpgroup_mma"),
    ("ttng.warp_group_dot_wait", "warpgroup_mma_wait"),
];

/// What Python calls an op.
pub(super) fn python(op: &str) -> Option<&'static str> {
    OPS.binary_search_by_key(&op, |row| row.0).ok().and_then(|at| OPS.get(at)).map(|row| row.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order() {
        assert!(OPS.is_sorted_by_key(|row| row.0));
        assert_eq!(python("ttng.wait_barrier"), Some("mbarrier.wait"));
        assert_eq!(python("arith.addi"), None);
    }
}
