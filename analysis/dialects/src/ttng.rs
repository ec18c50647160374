//! TritonNvidiaGPU: mbarriers, TMA, wgmma, tcgen05, tensor memory.
//!
//! Fences other than the async-proxy fence order global memory, descriptors, or the init of
//! barriers for the cluster, which Triton adds where it is needed.

use crate::declare::dialect;
use crate::effect::{OpCompletion, OpEffect, OperandAccess, ViewKind, by_threads, read, write};
use crate::facts::{BarrierVerb, DataMovement, MutationRole, PartitionHint, PythonName, arrives, barrier};
use kernel::{CommitKind, Issuer, Proxy};

const CLC: &str = "cluster launch control before it has barriers is not followed";

const fn tma_load(barrier: &'static str) -> OpEffect {
    const RESULT: &[OperandAccess] = &[write("result", Proxy::Async, "")];
    let completion = OpCompletion::Transaction { barrier, of: "result" };
    OpEffect::Memory { issuer: Issuer::Tma, accesses: RESULT, completion }
}

const TMA_STORE: OpEffect = OpEffect::Memory {
    issuer: Issuer::Tma,
    accesses: &[read("src", Proxy::Async, "")],
    completion: OpCompletion::Group { kind: CommitKind::TmaStore, implicit: true, when: None },
};

dialect! {
    /// Ops of TritonNvidiaGPU, `ttng`.
    Ttng = "ttng", fallback OpEffect::Unknown;

    /// Arithmetic on pairs of floats packed into one register.
    PackedArith = "packed_arith": "operands* | result | $op_kind %operands @ : !fn |" { effect: OpEffect::Nothing };
    /// Orders this thread's earlier accesses to shared memory before later ones by TMA, wgmma and tcgen05.
    FenceAsyncShared = "fence_async_shared": "|  | @ | bCluster!bool" {
        effect: OpEffect::ProxyFence,
        python: PythonName::function("gl.nvidia.hopper", "fence_async_shared"),
        mutation: Some(MutationRole::Fence),
    };
    /// A memory fence for global memory.
    Fence = "fence": "|  | @ |" {
        effect: OpEffect::Nothing,
        movement: Some(DataMovement::Nothing),
    };
    /// Makes initialised barriers visible to the other CTAs of the cluster.
    FenceMbarrierInitReleaseCluster = "fence_mbarrier_init_release_cluster": "|  | @ |" {
        effect: OpEffect::Nothing,
        movement: Some(DataMovement::Nothing),
    };
    /// Arrives at the barrier of the cluster without waiting.
    ClusterArrive = "cluster_arrive": "|  | @ | relaxed?bool" {
        effect: OpEffect::ClusterArrive,
        mutation: Some(MutationRole::Arrive(None)),
    };
    /// Exchanges halves of a tensor with the other CTA of a pair.
    TwoCtaPeerGather = "two_cta_peer_gather": "src | result=src | %src split_dim = $splitDim num_ctas = $numCTAs @ : !src |" {
        effect: OpEffect::Unmodelled("an exchange between CTAs that is not lowered yet"),
    };
    /// Waits until all CTAs have arrived at the barrier of the cluster.
    ClusterWait = "cluster_wait": "|  | @ |" {
        effect: OpEffect::ClusterWait,
        mutation: Some(MutationRole::Rendezvous),
    };
    /// The number of CTAs in the cluster.
    ClusterSize1d = "cluster_size_1d": "| result:i32 | @ |" { effect: OpEffect::ClusterSize };
    /// The same buffer in the shared memory of another CTA of the cluster.
    MapToRemoteBuffer = "map_to_remote_buffer": "src ctaRank:i32 | result | %src , %ctaRank @ : !src -> !result |" { effect: OpEffect::MapToRemote };
    /// Arrives at the barrier of the cluster and waits for all other CTAs.
    ClusterBarrier = "cluster_barrier": "|  | @ | relaxed?bool" {
        effect: OpEffect::ClusterBarrier,
        python: PythonName::called("cluster.barrier"),
        mutation: Some(MutationRole::Rendezvous),
    };
    /// Asks cluster launch control for another tile; the answer lands in shared memory and arrives on a barrier.
    ClcTryCancel = "clc_try_cancel": "result mbarrier |  | %result , %mbarrier @ : !result , !mbarrier |" {
        effect: OpEffect::ClcRequest { result: "result", barrier: "mbarrier" },
        barrier: arrives("mbarrier", "when the answer has landed"),
        python: PythonName::called("clc.try_cancel"),
        movement: Some(DataMovement::ClcRequest),
        partition: Some(PartitionHint::Schedule),
        mutation: Some(MutationRole::Access),
    };
    /// Loads the answer of cluster launch control from shared memory.
    ClcLoadResult = "clc_load_result": "src | clcResult:i128 | %src @ : !src -> !clcResult |" {
        effect: OpEffect::ClcLoad,
        python: PythonName::called("clc.load_result"),
        movement: Some(DataMovement::ClcLoad),
        mutation: Some(MutationRole::Access),
    };
    /// Whether an answer of cluster launch control holds a tile.
    ClcIsCanceled = "clc_is_canceled": "clcResult:i128 | is_canceled:i1 | %clcResult @ : !clcResult -> !is_canceled |" {
        effect: OpEffect::ClcGranted,
        movement: Some(DataMovement::ClcGranted),
    };
    /// The program number of the tile that cluster launch control gave.
    ClcGetProgramId = "clc_get_program_id": "clcResult:i128 | result:i32 | %clcResult , $dim @ : !clcResult -> !result |" {
        effect: OpEffect::Nothing,
        movement: Some(DataMovement::ClcProgram),
    };
    /// Takes the next tile from cluster launch control, before its barriers are made explicit.
    ClcAdvance = "clc_advance": "| isValid:i1 x:i32 y:i32 z:i32 | @ : !isValid , !x , !y , !z |" { effect: OpEffect::ClcAnswer };
    /// Asks cluster launch control for a tile, before its barriers are made explicit.
    ClcTryCancelAsync = "clc_try_cancel_async": "| token:!ttg.async.token | @ : !<token |" { effect: OpEffect::ClcAsk };
    /// Reads the answer to a request for a tile, before its barriers are made explicit.
    ClcRead = "clc_read": "token:!ttg.async.token | isValid:i1 x:i32 y:i32 z:i32 | %token @ : !<token -> !isValid , !x , !y , !z |" { effect: OpEffect::ClcAnswer };
    /// Multiplies matrices in shared memory with wgmma; asynchronous where `isAsync` says so.
    WarpGroupDot = "warp_group_dot": "a b c=d useC:i1? | d | %a , %b , %c ?{, %useC} @ : !a * !b -> !d | maxNumImpreciseAcc?i32 isAsync?bool" {
        effect: OpEffect::Memory { issuer: Issuer::Base, accesses: &[read("a", Proxy::Async, "A"), read("b", Proxy::Async, "B")], completion: OpCompletion::Group { kind: CommitKind::Wgmma, implicit: true, when: Some("isAsync") }, },
        python: PythonName::called("warpgroup_mma"),
        movement: Some(DataMovement::Dot),
        partition: Some(PartitionHint::Mma),
        mutation: Some(MutationRole::Access),
    } get { operand c = "c" };
    /// Waits until at most `pendings` asynchronous wgmma groups are open.
    WarpGroupDotWait = "warp_group_dot_wait": "inputs* | outputs=inputs* | %inputs @ : !inputs | pendings!i32" {
        effect: OpEffect::WaitGroup { kind: CommitKind::Wgmma, pending: "pendings" },
        python: PythonName::called("warpgroup_mma_wait"),
        movement: Some(DataMovement::Pass),
        mutation: Some(MutationRole::GroupWait("pendings")),
    };
    /// Initialises an mbarrier with the number of arrivals that complete a phase.
    InitBarrier = "init_barrier": "alloc |  | %alloc , $count @ : !alloc |" {
        effect: OpEffect::InitBarrier,
        barrier: barrier(BarrierVerb::Init),
        python: PythonName::counting("gl.nvidia.ampere", "mbarrier.init", "count"),
        mutation: Some(MutationRole::Init("count")),
    };
    /// Ends the use of an mbarrier, so that its memory can hold something else.
    InvalBarrier = "inval_barrier": "alloc |  | %alloc @ : !alloc |" {
        effect: OpEffect::InvalidateBarrier,
        barrier: barrier(BarrierVerb::Invalidate),
        python: PythonName::function("gl.nvidia.ampere", "mbarrier.invalidate"),
    };
    /// Arrives on an mbarrier and announces bytes that the phase also waits for.
    BarrierExpect = "barrier_expect": "alloc pred:i1 |  | %alloc , $size @ , %pred : !alloc |" {
        effect: OpEffect::ExpectBytes,
        barrier: barrier(BarrierVerb::Expect),
        python: PythonName::function("gl.nvidia.hopper", "mbarrier.expect"),
        mutation: Some(MutationRole::Expect("size")),
    };
    /// Waits until the phase of an mbarrier with this parity has completed.
    WaitBarrier = "wait_barrier": "alloc phase:i32 pred:i1? deps* |  | %alloc , %phase ?{, %pred} ?{deps %deps} @ : !alloc ?{, !deps} | sized" {
        effect: OpEffect::WaitBarrier,
        barrier: barrier(BarrierVerb::Wait),
        python: PythonName::function("gl.nvidia.ampere", "mbarrier.wait"),
        mutation: Some(MutationRole::BarrierWait("phase")),
    };
    /// Arrives on an mbarrier `count` times.
    ArriveBarrier = "arrive_barrier": "alloc pred:i1? |  | %alloc , $count ?{, %pred} @ : !alloc | ctaMask?i32" {
        effect: OpEffect::ArriveBarrier,
        barrier: arrives("alloc", ""),
        python: PythonName::counting("gl.nvidia.hopper", "mbarrier.arrive", "count"),
        mutation: Some(MutationRole::Arrive(Some("count"))),
    };
    /// Arrives on an mbarrier when this thread's `cp.async` copies so far have landed.
    AsyncCopyMbarrierArrive = "async_copy_mbarrier_arrive": "barrier |  | %barrier @ : !barrier |" {
        effect: OpEffect::AsyncCopyArrive { increments: true },
        barrier: arrives("barrier", "when the cp.async so far are done"),
        python: PythonName::function("gl.nvidia.ampere", "async_copy.mbarrier_arrive"),
        mutation: Some(MutationRole::Arrive(None)),
    };
    /// Arrives at a hardware barrier that has a number, without waiting.
    ArriveBarrierNamed = "arrive_barrier_named": "bar:i32 numThreads:i32 |  | %bar , %numThreads @ : !operands |" {
        effect: OpEffect::NamedArrive,
        mutation: Some(MutationRole::Arrive(None)),
    };
    /// Arrives at a hardware barrier that has a number and waits for the other threads.
    WaitBarrierNamed = "wait_barrier_named": "bar:i32 numThreads:i32 |  | %bar , %numThreads @ : !operands |" {
        effect: OpEffect::NamedWait,
        mutation: Some(MutationRole::Rendezvous),
    };
    /// Asks cluster launch control for another tile; the answer lands in shared memory and arrives on a barrier.
    AsyncClcTryCancel = "async_clc_try_cancel": "mbarAlloc clcResAlloc |  | %mbarAlloc , %clcResAlloc @ : !operands |" {
        effect: OpEffect::ClcRequest { result: "clcResAlloc", barrier: "mbarAlloc" },
        movement: Some(DataMovement::ClcRequest),
    };
    /// Decodes an answer of cluster launch control: the CTA of the tile, or -1 where there is none.
    ClcQueryCancel = "clc_query_cancel": "clcResAlloc | ctaIdX:i32 ctaIdY:i32 ctaIdZ:i32 | %clcResAlloc @ : !fn |" {
        effect: OpEffect::ClcQuery,
        movement: Some(DataMovement::ClcQuery),
    };
    /// One bit for each thread of the warp whose predicate holds.
    VoteBallotSync = "vote_ballot_sync": "mask:i32 pred | result | %mask , %pred @ : !pred -> !result |" { effect: OpEffect::Nothing };
    /// Stores registers to shared memory asynchronously; the bytes are counted on an mbarrier.
    AsyncSharedStore = "async_shared_store": "src dst mbarrier |  | %src , %dst , %mbarrier @ : !src -> !dst , !mbarrier |" {
        effect: OpEffect::Memory { issuer: Issuer::Tma, accesses: &[write("dst", Proxy::Generic, "")], completion: OpCompletion::Transaction { barrier: "mbarrier", of: "dst" }, },
        barrier: arrives("mbarrier", "when the store has landed"),
        python: PythonName::called("async_store"),
        movement: Some(DataMovement::SharedStore),
        partition: Some(PartitionHint::SharedStore),
        mutation: Some(MutationRole::Access),
    };
    /// TMA loads a block of a tensor to shared memory; the bytes are counted on an mbarrier.
    AsyncTmaCopyGlobalToLocal = "async_tma_copy_global_to_local": "multicastTargets:i32? desc coord:i32* offsets:i16* barrier result pred:i1 |  | %desc [ %coord ] ?{offsets = [ %offsets ]} %result , %barrier , %pred ?{, %multicastTargets} *{cacheModifier = $cache | evictionPolicy = $evict | tensorMode = $tensorMode} @ : !desc , !barrier -> !result | sized isVolatile?bool two_cta?bool" {
        effect: tma_load("barrier"),
        barrier: arrives("barrier", "when the TMA load has landed"),
        python: PythonName::called("tma.async_load"),
        movement: Some(DataMovement::TmaLoad),
        partition: Some(PartitionHint::TmaLoad),
        mutation: Some(MutationRole::Access),
    };
    /// TMA brings a block of a tensor to the L2 cache.
    AsyncTmaPrefetch = "async_tma_prefetch": "desc coord:i32* pred:i1 |  | %desc [ %coord ] , %pred *{evictionPolicy = $evict} @ : !desc |" {
        effect: OpEffect::Nothing,
        movement: Some(DataMovement::Nothing),
    };
    /// Brings global memory to a cache.
    Prefetch = "prefetch": "ptr mask? |  | %ptr ?{, %mask} *{cacheModifier = $cache} @ : !ptr ?{, !mask} |" {
        effect: OpEffect::Nothing,
        movement: Some(DataMovement::Nothing),
    };
    /// TMA stores shared memory to a block of a tensor; done with its store group.
    AsyncTmaCopyLocalToGlobal = "async_tma_copy_local_to_global": "desc coord:i32* src | token:!ttg.async.token? | %desc [ %coord ] %src *{evictionPolicy = $evict} @ : !desc , !src ?{-> !token} |" {
        effect: TMA_STORE,
        python: PythonName::called("tma.async_store"),
        movement: Some(DataMovement::TmaStore),
        partition: Some(PartitionHint::BlockStore),
        mutation: Some(MutationRole::Access),
    };
    /// TMA combines shared memory into a block of a tensor; done with its store group.
    AsyncTmaReduce = "async_tma_reduce": "desc coord:i32* src | token:!ttg.async.token? | $kind , %desc [ %coord ] %src *{evictionPolicy = $evict} @ : !desc , !src ?{-> !token} |" {
        effect: TMA_STORE,
        python: PythonName::called("tma.async_atomic_add"),
        movement: Some(DataMovement::TmaReduce),
        partition: Some(PartitionHint::BlockStore),
        mutation: Some(MutationRole::Access),
    };
    /// TMA loads chosen rows of a tensor to shared memory; the bytes are counted on an mbarrier.
    AsyncTmaGather = "async_tma_gather": "desc x_offsets y_offset:i32 barrier result pred:i1 |  | %desc [ %x_offsets , %y_offset ] %result , %barrier , %pred @ : !operands |" {
        effect: tma_load("barrier"),
        barrier: arrives("barrier", "when the TMA gather has landed"),
        python: PythonName::called("tma.async_gather"),
        movement: Some(DataMovement::TmaGather),
        partition: Some(PartitionHint::TmaLoad),
        mutation: Some(MutationRole::Access),
    };
    /// TMA stores shared memory to chosen rows of a tensor; done with its store group.
    AsyncTmaScatter = "async_tma_scatter": "desc x_offsets y_offset:i32 src |  | %desc [ %x_offsets , %y_offset ] %src @ : !operands |" {
        effect: TMA_STORE,
        python: PythonName::called("tma.async_scatter"),
        movement: Some(DataMovement::TmaScatter),
        partition: Some(PartitionHint::BlockStore),
        mutation: Some(MutationRole::Access),
    };
    /// Waits until at most `pendings` of this thread's TMA stores still read shared memory.
    AsyncTmaStoreWait = "async_tma_store_wait": "|  | @ | pendings!i32" {
        effect: OpEffect::WaitGroup { kind: CommitKind::TmaStore, pending: "pendings" },
        python: PythonName::function("gl.nvidia.hopper", "tma.store_wait"),
        mutation: Some(MutationRole::GroupWait("pendings")),
    };
    /// Waits for one TMA store by its token, then arrives on barriers.
    AsyncTmaStoreTokenWait = "async_tma_store_token_wait": "token:!ttg.async.token barriers* barrier_preds:i1* nvws_tokens* nvws_token_indices:i32* |  | %token ~barriers(barriers barrier_preds) ~tokens(nvws_tokens nvws_token_indices) @ : !<token ?{, !barriers} ?{, !nvws_tokens} | sized" {
        effect: OpEffect::StoreTokenWait,
        mutation: Some(MutationRole::Rendezvous),
    } get { operand token = "token", operands barriers = "barriers", operands barrier_preds = "barrier_preds", operands nvws_tokens = "nvws_tokens", operands nvws_token_indices = "nvws_token_indices" };
    /// The tensor core multiplies matrices into tensor memory (tcgen05); barriers are told when it is done.
    TcGen5Mma = "tc_gen5_mma": "a b d acc_dep:!ttg.async.token? useD:i1 pred:i1 barriers* barrier_preds:i1* | token:!ttg.async.token? | %a , %b , %d ~token(acc_dep) , %useD , %pred ~barriers(barriers barrier_preds) @ : !a , !b , !d ?{, !barriers} | sized" {
        effect: OpEffect::Mma { scaled: false },
        barrier: arrives("barriers", "when the MMA is done"),
        python: PythonName::called("tcgen05_mma"),
        movement: Some(DataMovement::Mma),
        partition: Some(PartitionHint::Mma),
        mutation: Some(MutationRole::Access),
    };
    /// The tensor core multiplies matrices of small floats with block scales into tensor memory.
    TcGen5MmaScaled = "tc_gen5_mma_scaled": "a b d acc_dep:!ttg.async.token? a_scale b_scale useD:i1 pred:i1 barriers* barrier_preds:i1* | token:!ttg.async.token? | %a , %b , %d ~token(acc_dep) , %a_scale , %b_scale , %useD , %pred lhs = $a_type rhs = $b_type ~barriers(barriers barrier_preds) @ : !a , !b , !d , !a_scale , !b_scale ?{, !barriers} | sized" {
        effect: OpEffect::Mma { scaled: true },
        barrier: arrives("barriers", "when the MMA is done"),
        python: PythonName::called("tcgen05_mma_scaled"),
        movement: Some(DataMovement::Mma),
        partition: Some(PartitionHint::Mma),
        mutation: Some(MutationRole::Access),
    };
    /// Arrives on an mbarrier when all tensor core operations issued so far are done.
    TcGen5Commit = "tc_gen5_commit": "barrier pred:i1? descs* |  | %barrier ?{, %pred} ?{descs %descs} @ : !barrier ?{, !descs} | sized" {
        effect: OpEffect::TensorCoreCommit,
        barrier: arrives("barrier", "when the tensor core is done so far"),
        python: PythonName::function("gl.nvidia.blackwell", "tcgen05_commit"),
        partition: Some(PartitionHint::MmaHelper),
        mutation: Some(MutationRole::Commit),
    } get { operands descs = "descs" };
    /// Loads tensor memory into registers.
    TmemLoad = "tmem_load": "src dep:!ttg.async.token? | result token:!ttg.async.token? red? | %src ~token(dep) @ : !src -> !result ?{, !red} | abs?bool NaN?bool" {
        effect: by_threads(&[read("src", Proxy::Tensor, "")]),
        python: PythonName::called("load"),
        movement: Some(DataMovement::Load),
        partition: Some(PartitionHint::TensorLoad),
        mutation: Some(MutationRole::Access),
    };
    /// Stores registers to tensor memory.
    TmemStore = "tmem_store": "dst dep:!ttg.async.token? src pred:i1 | token:!ttg.async.token? | %src , %dst ~token(dep) , %pred @ : !src -> !dst |" {
        effect: by_threads(&[write("dst", Proxy::Tensor, "")]),
        python: PythonName::called("store"),
        movement: Some(DataMovement::Store),
        partition: Some(PartitionHint::TensorStore),
        mutation: Some(MutationRole::Access),
    };
    /// Allocates tensor memory, and stores a tensor there where it has a source.
    TmemAlloc = "tmem_alloc": "src? | result token:!ttg.async.token? | ?{%src} @ : !fn |" {
        effect: OpEffect::Allocate,
        python: PythonName::called("allocate_tensor_memory"),
        movement: Some(DataMovement::Alloc),
    };
    /// Allocates the tensor memory of the whole kernel.
    Tcgen5GlobalAlloc = "tcgen5_global_alloc": "|  | @ | tensor_memory_size!i32 two_ctas?bool" { effect: OpEffect::Nothing };
    /// A part of a buffer in tensor memory, by its columns.
    TmemSubslice = "tmem_subslice": "src | result | %src @ : !src -> !result | N?i32" {
        effect: OpEffect::View(ViewKind::Columns),
        python: PythonName::called("slice"),
    };
    /// The tensor core copies shared memory to tensor memory.
    TmemCopy = "tmem_copy": "src dst |  | %src , %dst @ : !operands |" {
        effect: OpEffect::Memory { issuer: Issuer::TensorCore, accesses: &[read("src", Proxy::Async, "Src"), write("dst", Proxy::Tensor, "Dst")], completion: OpCompletion::InOrder, },
        python: PythonName::called("tcgen05_copy"),
        movement: Some(DataMovement::TmemCopy),
        partition: Some(PartitionHint::MmaHelper),
        mutation: Some(MutationRole::Access),
    };
    /// Takes raw memory as a descriptor of a given block type.
    ReinterpretTensorDescriptor = "reinterpret_tensor_descriptor": "rawDesc | result | %rawDesc @ : !rawDesc to !result |" { effect: OpEffect::Nothing };
    /// Writes a TMA descriptor to global memory.
    TensormapCreate = "tensormap_create": "desc_ptr global_address box_dim:i32* global_dim:i32* global_stride:i64* element_stride:i32* |  | %desc_ptr , %global_address , [ %box_dim ] , [ %global_dim ] , [ %global_stride ] , [ %element_stride ] @ : !fn | sized elem_type!i32 interleave_layout!i32 swizzle_mode!i32 fill_mode!i32" { effect: OpEffect::Nothing };
    /// Copies shared memory to global memory in bulk.
    AsyncStore = "async_store": "src dst size:i32 |  | %src , %dst , %size @ : !src , !dst |" {
        effect: TMA_STORE,
        partition: Some(PartitionHint::BlockStore),
        mutation: Some(MutationRole::Access),
    };
    /// Makes a TMA descriptor that was just written visible to TMA.
    TensormapFenceproxyAcquire = "tensormap_fenceproxy_acquire": "desc_ptr |  | %desc_ptr @ : !desc_ptr |" {
        effect: OpEffect::Nothing,
        movement: Some(DataMovement::Nothing),
    };
    /// Brings a TMA descriptor to its cache.
    PrefetchTensormap = "prefetch_tensormap": "desc |  | %desc @ : !desc |" {
        effect: OpEffect::Nothing,
        movement: Some(DataMovement::Nothing),
    };
    /// Runs its region once for each tile that its operands are cut into.
    SubtiledRegion = "subtiled_region": "perTileArgs* sharedArgs* | results* | =subtiled_region | isolated sized numTiles!i32" { effect: OpEffect::Structure };
    /// Ends the region of one tile with its results.
    SubtiledRegionYield = "subtiled_region_yield": "results* |  | ?{%results : !results} @ | term" { effect: OpEffect::Structure };
    // Of one version only, or of an older one.
    /// Waits until this thread's own loads and stores of tensor memory are done.
    TmemWait = "tmem_wait": "operands* | results* | ... |" {
        effect: OpEffect::Nothing,
        movement: Some(DataMovement::Nothing),
    };
    /// Asks cluster launch control for a tile, before its barriers are made explicit.
    ClcTryCancelSync = "clc_try_cancel_sync": "operands* | results* | ... |" { effect: OpEffect::Unmodelled(CLC) };
    /// Arrives at a hardware barrier that has a number (one version's spelling).
    NamedBarrierArrive = "named_barrier_arrive": "operands* | results* | ... |" { effect: OpEffect::Unknown };
    /// Waits at a hardware barrier that has a number (one version's spelling).
    NamedBarrierWait = "named_barrier_wait": "operands* | results* | ... |" { effect: OpEffect::Unknown };
    /// Stores to another CTA's shared memory (one version's spelling).
    RemoteStore = "remote_store": "operands* | results* | ... |" { effect: OpEffect::Unknown };
    /// Stores to another CTA's shared memory asynchronously (one version's spelling).
    AsyncRemoteStore = "async_remote_store": "operands* | results* | ... |" { effect: OpEffect::Unknown };
    /// Marks where automatic warp specialisation wants a barrier.
    BarrierAnnotation = "barrier_annotation": "operands* | results* | ... |" { effect: OpEffect::Unknown };
    /// Marks where automatic warp specialisation wants a token.
    TokenAnnotation = "token_annotation": "operands* | results* | ... |" { effect: OpEffect::Unknown };
}
