//! TritonGPU: layouts, shared memory, `cp.async`, warp specialisation.
//!
//! `ttg.barrier` orders a partition within itself, which the machine takes as given.

use crate::declare::dialect;
use crate::effect::{OpEffect, RemoteStoreKind, ViewKind, async_copy, by_threads, read, write};
use crate::facts::{DataMovement, MutationRole, PartitionHint, PythonName, arrives};
use kernel::{CommitKind, Proxy};

dialect! {
    /// Ops of TritonGPU, `ttg`.
    Ttg = "ttg", fallback OpEffect::Pure;

    /// Moves a tensor to another layout of registers, through scratch memory where threads have to exchange.
    ConvertLayout = "convert_layout": "src | result | %src @ : !src -> !result | shape elem" { effect: OpEffect::Pure };
    /// Waits until at most `num` groups of this thread's asynchronous copies are open.
    AsyncWait = "async_wait": "asyncToken:!ttg.async.token* | retToken:!ttg.async.token | ?{%asyncToken} @ | num!i32" {
        effect: OpEffect::WaitGroup { kind: CommitKind::AsyncCopy, pending: "num" },
        python: PythonName::function("gl.nvidia.ampere", "async_copy.wait_group"),
        mutation: Some(MutationRole::GroupWait("num")),
    };
    /// Closes a group of the asynchronous copies issued so far.
    AsyncCommitGroup = "async_commit_group": "inputTokens:!ttg.async.token* | asyncToken:!ttg.async.token | ?{tokens %inputTokens}:{?{%inputTokens}} @ |" {
        effect: OpEffect::Commit(CommitKind::AsyncCopy),
        python: PythonName::function("gl.nvidia.ampere", "async_copy.commit_group"),
        mutation: Some(MutationRole::Commit),
    };
    /// Copies from pointers to shared memory asynchronously (`cp.async`); done with its commit group.
    AsyncCopyGlobalToLocal = "async_copy_global_to_local": "src result mask=i1(src)? other=pointee(src)? bulkSize:i32? barrier? | token:!ttg.async.token | %src , %result ?{mask %mask} ?{other %other} ?{bulk_size %bulkSize : !bulkSize} ?{barrier %barrier : !barrier} *{cacheModifier = $cache | evictionPolicy = $evict} @ : !src -> !<result | sized isVolatile?bool useBulk?bool contiguity?i32" {
        effect: async_copy(&[write("result", Proxy::Generic, "")]),
        barrier: arrives("barrier", "when the copy has landed"),
        python: PythonName::called("async_copy.async_load"),
        movement: Some(DataMovement::CopyIn),
        partition: Some(PartitionHint::AsyncCopy),
        mutation: Some(MutationRole::Access),
    };
    /// Allocates shared memory, and stores a tensor there where it has a source.
    LocalAlloc = "local_alloc": "src? | result | ?{%src} @ : !fn | alignment?i32" {
        effect: OpEffect::Allocate,
        python: PythonName::called("gl.allocate_shared_memory"),
        movement: Some(DataMovement::Alloc),
    };
    /// Ends the life of a shared memory allocation.
    LocalDealloc = "local_dealloc": "src |  | %src @ : !src |" {
        effect: OpEffect::Nothing,
        python: PythonName::called("dealloc"),
        movement: Some(DataMovement::Nothing),
    };
    /// One slot of a buffer along its leading dimension.
    MemdescIndex = "memdesc_index": "src index:i32 | result | %src [ %index ] @ : !src -> !result |" {
        effect: OpEffect::View(ViewKind::Index),
        python: PythonName::called("index"),
        mutation: Some(MutationRole::Index("index")),
    };
    /// A part of a buffer at constant offsets.
    MemdescSubslice = "memdesc_subslice": "src | result | %src [ ~offsets(offsets) ] @ : !src -> !result |" {
        effect: OpEffect::View(ViewKind::Subslice),
        python: PythonName::called("slice"),
    };
    /// A part of a buffer at offsets known only at run time.
    MemdescDynamicSubslice = "memdesc_dynamic_subslice": "src offsets:i32* | result | %src [ %offsets ] @ : !src -> !result |" {
        effect: OpEffect::Unmodelled("a slice at an offset known only at run time"),
    };
    /// The same memory with its dimensions in another order.
    MemdescTrans = "memdesc_trans": "src | result | %src @ : !src -> !result | elem" {
        effect: OpEffect::View(ViewKind::Trans),
        python: PythonName::called("permute"),
    };
    /// The same memory with other dimensions.
    MemdescReshape = "memdesc_reshape": "src | result | %src @ : !src -> !result | elem" {
        effect: OpEffect::View(ViewKind::Reshape),
        python: PythonName::called("reshape"),
    };
    /// The same memory as another element type or shape.
    MemdescReinterpret = "memdesc_reinterpret": "src | result | %src @ : !src -> !result |" {
        effect: OpEffect::View(ViewKind::Reinterpret),
        python: PythonName::called("reinterpret"),
    };
    /// Loads a buffer in shared memory into registers.
    LocalLoad = "local_load": "src token:!ttg.async.token? | result | %src ?{token %token} @ : !src -> !result |" {
        effect: by_threads(&[read("src", Proxy::Generic, "")]),
        python: PythonName::called("load"),
        movement: Some(DataMovement::Load),
        partition: Some(PartitionHint::SharedLoad),
        mutation: Some(MutationRole::Access),
    };
    /// Stores registers to a buffer in shared memory.
    LocalStore = "local_store": "src dst |  | %src , %dst @ : !src -> !dst |" {
        effect: by_threads(&[write("dst", Proxy::Generic, "")]),
        python: PythonName::called("store"),
        movement: Some(DataMovement::Store),
        partition: Some(PartitionHint::SharedStore),
        mutation: Some(MutationRole::Access),
    };
    /// Stores registers to the shared memory of another CTA of the cluster.
    RemoteShmemStore = "remote_shmem_store": "src dst ctaRank:i32 |  | %src , rank %ctaRank , %dst @ : !src -> !dst |" {
        effect: OpEffect::RemoteStore(RemoteStoreKind::Store),
        movement: Some(DataMovement::SharedStore),
        mutation: Some(MutationRole::Access),
    };
    /// Stores registers to another CTA's shared memory and counts the bytes on a barrier there.
    AsyncRemoteShmemStore = "async_remote_shmem_store": "src dst ctaRank:i32 barrier |  | %src , rank %ctaRank , %dst barrier %barrier @ : !src -> !dst barrier_ty !barrier |" {
        effect: OpEffect::RemoteStore(RemoteStoreKind::AsyncStore),
        movement: Some(DataMovement::SharedStore),
        mutation: Some(MutationRole::Access),
    };
    /// Copies shared memory to another CTA's shared memory and counts the bytes on a barrier there.
    AsyncRemoteShmemCopy = "async_remote_shmem_copy": "src dst ctaRank:i32 barrier |  | %src , rank %ctaRank , %dst barrier %barrier @ : !src -> !dst barrier_ty !barrier |" {
        effect: OpEffect::RemoteStore(RemoteStoreKind::AsyncCopy),
        movement: Some(DataMovement::RemoteCopy),
    };
    /// Loads elements of shared memory that indices pick along an axis.
    LocalGather = "local_gather": "src indices token:!ttg.async.token? | result | %src [ %indices ] ?{token %token} @ : !src , !indices -> !result | axis!i32" {
        effect: by_threads(&[read("src", Proxy::Generic, "")]),
        python: PythonName::called("gather"),
        movement: Some(DataMovement::LocalGather),
        mutation: Some(MutationRole::Access),
    };
    /// Stores elements to places in shared memory that indices pick along an axis.
    LocalScatter = "local_scatter": "dst values indices token:!ttg.async.token? |  | %dst [ %indices ] , %values ?{token %token} @ : !dst , !indices , !values | axis!i32" {
        effect: by_threads(&[write("dst", Proxy::Generic, "")]),
        python: PythonName::called("scatter"),
        movement: Some(DataMovement::LocalScatter),
        mutation: Some(MutationRole::Access),
    };
    /// Combines elements atomically into places in shared memory that indices pick.
    LocalAtomicScatterRmw = "local_atomic_scatter_rmw": "dst values indices mask=i1(values)? | result=values | $atomic_rmw_op , %dst [ %indices ] , %values ?{, %mask} @ : !fn | axis!i32" {
        effect: by_threads(&[read("dst", Proxy::Generic, ""), write("dst", Proxy::Generic, "")]),
        python: PythonName::called("atomic_scatter_add"),
        movement: Some(DataMovement::LocalAtomic),
        mutation: Some(MutationRole::Access),
    };
    /// Whether a stage of a software pipeline is active in this iteration.
    PredicateStage = "predicate_stage": "iv ub=iv step=iv | result:i1 | %iv , %ub , %step maxStage $maxStage stage $stage @ : !iv -> !result |" { effect: OpEffect::Pure };
    /// Runs its region where a predicate holds; the pipeliner expands it.
    Mask = "mask": "pred:i1 | result* | - |" {
        effect: OpEffect::Unmodelled("a predicated region, which the pipeliner has not expanded yet"),
    };
    /// Ends a masked region with its results.
    MaskReturn = "mask.return": "result* |  | %result @ : !result | term" { effect: OpEffect::Pure };
    /// Unpacks pairs of 4-bit floats to a wider format.
    Fp4ToFp = "fp4_to_fp": "src | result | %src @ : !src -> !result | axis!i32" { effect: OpEffect::Pure };
    /// Allocates scratch space in global memory.
    GlobalScratchAlloc = "global_scratch_alloc": "| result | @ : !result | nbytes!i32 alignment!i32" { effect: OpEffect::Nothing };
    /// Starts one group of warps for each partition beside the default region and waits for all of them.
    WarpSpecialize = "warp_specialize": "explicitCaptures* | defaultPassthrough* | =warp_specialize | defaultRequestedRegisters?i32" {
        effect: OpEffect::Pure,
        python: PythonName::called("gl.warp_specialize"),
    };
    /// Holds the regions of the partitions and what they capture.
    WarpSpecializePartitions = "warp_specialize.partitions": "explicitCaptures* |  | - | term isolated" { effect: OpEffect::Pure };
    /// Ends the default region of a warp specialisation with its results.
    WarpYield = "warp_yield": "values* |  | ?{%values} @ ?{: !values} | term" {
        effect: OpEffect::Pure,
        python: PythonName::called("return"),
    };
    /// Ends a partition of a warp specialisation.
    WarpReturn = "warp_return": "|  | @ | term" {
        effect: OpEffect::Pure,
        python: PythonName::called("return"),
    };
    /// Reads the 64-bit cycle counter.
    Clock64 = "clock64": "| res:i64 | @ |" { effect: OpEffect::Pure };
    /// Synchronises the warps of one partition with each other.
    Barrier = "barrier": "|  | =barrier |" {
        effect: OpEffect::Nothing,
        python: PythonName::called("gl.barrier"),
        movement: Some(DataMovement::Nothing),
    };
    /// The number of the executing warp.
    WarpId = "warp_id": "| result:i32 | @ |" { effect: OpEffect::Pure };
    // Of one version only, or of an older one.
    /// A slot of a buffer, or a part at constant offsets, as Triton up to 3.4 writes it.
    MemdescSubview = "memdesc_subview": "src offsets:i32* | result | %src [ %offsets ] @ : !src -> !result |" {
        effect: OpEffect::View(ViewKind::Subview),
        python: PythonName::called("subview"),
    };
    /// Inline assembly over whole tensors.
    InlineAsm = "inline_asm": "operands* | results* | ... |" { effect: OpEffect::Pure };
}
