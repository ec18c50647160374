//! Which ops a slip can be made in, as data: a new dialect needs new rows here and nothing else.

/// What an op does for synchronisation, and where its numbers stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Waits for a phase of a barrier; the group of operands that holds the phase.
    BarrierWait(&'static str),
    /// Waits until few enough commit groups are open; the attribute that says how many.
    GroupWait(&'static str),
    /// Waits for other threads or CTAs, with nothing to count.
    Rendezvous,
    /// Arrives on a barrier; the attribute with the count, if it has one.
    Arrive(Option<&'static str>),
    /// Commits what was issued, to a barrier or to a group.
    Commit,
    /// Announces bytes; the attribute that says how many.
    Expect(&'static str),
    /// Orders the proxies.
    Fence,
    /// Initialises a barrier; the attribute with the count.
    Init(&'static str),
    /// Chooses a slot; the group of operands that holds the index.
    Index(&'static str),
    /// Touches memory: a wait that is too late comes after one of these.
    Access,
}

const ROLES: &[(&str, Role)] = &[
    ("ttng.wait_barrier", Role::BarrierWait("phase")),
    ("ttng.warp_group_dot_wait", Role::GroupWait("pendings")),
    ("ttng.async_tma_store_wait", Role::GroupWait("pendings")),
    ("ttng.async_tma_store_token_wait", Role::Rendezvous),
    ("ttng.cluster_wait", Role::Rendezvous),
    ("ttng.cluster_barrier", Role::Rendezvous),
    ("ttng.wait_barrier_named", Role::Rendezvous),
    ("ttng.arrive_barrier", Role::Arrive(Some("count"))),
    ("ttng.async_copy_mbarrier_arrive", Role::Arrive(None)),
    ("ttng.arrive_barrier_named", Role::Arrive(None)),
    ("ttng.cluster_arrive", Role::Arrive(None)),
    ("ttng.tc_gen5_commit", Role::Commit),
    ("ttng.barrier_expect", Role::Expect("size")),
    ("ttng.fence_async_shared", Role::Fence),
    ("ttng.init_barrier", Role::Init("count")),
    ("ttng.async_tma_copy_global_to_local", Role::Access),
    ("ttng.async_tma_copy_local_to_global", Role::Access),
    ("ttng.async_tma_gather", Role::Access),
    ("ttng.async_tma_scatter", Role::Access),
    ("ttng.async_tma_reduce", Role::Access),
    ("ttng.async_shared_store", Role::Access),
    ("ttng.warp_group_dot", Role::Access),
    ("ttng.tc_gen5_mma", Role::Access),
    ("ttng.tc_gen5_mma_scaled", Role::Access),
    ("ttng.tmem_load", Role::Access),
    ("ttng.tmem_store", Role::Access),
    ("ttng.tmem_copy", Role::Access),
    ("ttng.clc_try_cancel", Role::Access),
    ("ttng.clc_load_result", Role::Access),
    ("amdg.wait_barrier", Role::BarrierWait("phase")),
    ("amdg.async_tdm_wait", Role::GroupWait("num")),
    ("amdg.cluster_barrier_wait", Role::Rendezvous),
    ("amdg.arrive_barrier", Role::Arrive(Some("count"))),
    ("amdg.async_copy_mbarrier_arrive", Role::Arrive(None)),
    ("amdg.cluster_barrier_arrive", Role::Arrive(None)),
    ("amdg.init_barrier", Role::Init("count")),
    ("amdg.async_tdm_copy_global_to_local", Role::Access),
    ("amdg.async_tdm_copy_local_to_global", Role::Access),
    ("amdg.async_tdm_gather", Role::Access),
    ("amdg.async_tdm_scatter", Role::Access),
    ("amdg.buffer_load_to_local", Role::Access),
    ("amdg.async_copy_local_to_global", Role::Access),
    ("ttg.async_wait", Role::GroupWait("num")),
    ("ttg.async_commit_group", Role::Commit),
    ("ttg.memdesc_index", Role::Index("index")),
    ("ttg.local_load", Role::Access),
    ("ttg.local_store", Role::Access),
    ("ttg.local_gather", Role::Access),
    ("ttg.local_scatter", Role::Access),
    ("ttg.local_atomic_scatter_rmw", Role::Access),
    ("ttg.async_copy_global_to_local", Role::Access),
    ("ttg.remote_shmem_store", Role::Access),
    ("ttg.async_remote_shmem_store", Role::Access),
    ("amdg.wait_barrier", Role::BarrierWait("phase")),
    ("amdg.async_wait", Role::GroupWait("num_inst")),
    ("amdg.async_tdm_wait", Role::GroupWait("num")),
    ("amdg.async_tdm_intrinsic_wait", Role::GroupWait("count")),
    ("amdg.cluster_barrier_wait", Role::Rendezvous),
    ("amdg.arrive_barrier", Role::Arrive(Some("count"))),
    ("amdg.async_copy_mbarrier_arrive", Role::Arrive(None)),
    ("amdg.cluster_barrier_arrive", Role::Arrive(None)),
    ("amdg.init_barrier", Role::Init("count")),
    ("amdg.buffer_load_to_local", Role::Access),
    ("amdg.async_copy_local_to_global", Role::Access),
    ("amdg.async_tdm_copy_global_to_local", Role::Access),
    ("amdg.async_tdm_copy_local_to_global", Role::Access),
    ("amdg.async_tdm_gather", Role::Access),
    ("amdg.async_tdm_scatter", Role::Access),
    ("amdg.local_load_packed_transposed", Role::Access),
];

/// The role of an op, by its full name.
pub fn role(name: &str) -> Option<Role> {
    ROLES.iter().find(|row| row.0 == name).map(|row| row.1)
}

/// The kernels whose arrivals can be mutated have an op of these names.
pub fn names() -> impl Iterator<Item = &'static str> {
    ROLES.iter().map(|row| row.0)
}
