//! TritonAMDGPU: LDS barriers and the tensor data mover (TDM) of CDNA 5, asynchronous copies of
//! CDNA 3 to 5.
//!
//! An arrival counts once for every thread that executes it, one that a TDM operation brings once
//! for every warp. LDS has one proxy, so no fences. A TDM operation that is told to do nothing by its
//! descriptor's predicate counts like any other, as in the sanitizer.
//!
//! Missed: that with `warp_used_hint` some warps only start the operation, so that operations of
//! different warps are in no order.

use crate::declare::dialect;
use crate::effect::{OpCompletion, OpEffect, OperandAccess, async_copy, by_threads, read, write};
use crate::facts::{BarrierVerb, DataMovement, MutationRole, PartitionHint, PythonName, arrives, barrier};
use kernel::{CommitKind, Issuer, Proxy};

const fn tdm(accesses: &'static [OperandAccess]) -> OpEffect {
    OpEffect::Memory { issuer: Issuer::Tma, accesses, completion: OpCompletion::InTurn { barrier: "barrier" } }
}

dialect! {
    /// Ops of TritonAMDGPU, `amdg`.
    Amdg = "amdg", fallback OpEffect::Unknown;

    /// A part of a tensor in registers.
    ExtractSlice = "extract_slice": "source | result | %source $static_offsets @ : !source to !result |" { effect: OpEffect::Nothing };
    /// Puts tensors together to a larger one, in registers.
    Concat = "concat": "sources* | result | %sources @ : !sources -> !result |" { effect: OpEffect::Nothing };
    /// Synchronises the warps where a predicate holds, so that they run out of step.
    CondBarrier = "cond_barrier": "pred:i1 |  | %pred @ |" {
        effect: OpEffect::Unmodelled("the warps that it holds back run behind the others, and no barrier for those others brings them together in the same block"),
        movement: Some(DataMovement::Nothing),
    };
    /// Promises that a value is the same in all threads of a warp.
    AssumeUniform = "assume_uniform": "src | result=src | %src @ : !src |" {
        effect: OpEffect::Nothing,
        movement: Some(DataMovement::Pass),
    };
    /// Loads from a base and offsets into registers.
    BufferLoad = "buffer_load": "ptr offsets=i32(result) stride:i32? mask=i1(result)? other=result? | result | %ptr [ %offsets ] ?{, %mask} ?{, %other} *{cachePolicy = $cachePolicy | cacheModifier = $cache} ?{stride = %stride} @ : ~pointer(ptr) !result | sized contiguity?i32" {
        effect: OpEffect::Nothing,
        partition: Some(PartitionHint::Load),
    };
    /// Copies from a base and offsets to LDS asynchronously; done with its commit group.
    BufferLoadToLocal = "buffer_load_to_local": "dest ptr offsets mask=i1(offsets)? other? stride:i32? | token:!ttg.async.token | %ptr [ %offsets ] ?{mask = %mask} ?{other = %other} ?{stride = %stride} *{cachePolicy = $cachePolicy | cacheModifier = $cache} into %dest @ : !<ptr [ !offsets ] !other -> !<dest | sized contiguity?i32" {
        effect: async_copy(&[write("dest", Proxy::Generic, "")]),
        python: PythonName::called("async_copy.buffer_load_to_shared"),
        movement: Some(DataMovement::BufferIn),
        partition: Some(PartitionHint::AsyncCopy),
        mutation: Some(MutationRole::Access),
    };
    /// Combines values into global memory at a base and offsets, atomically.
    BufferAtomicRmw = "buffer_atomic_rmw": "ptr offsets=i32(value) value=result stride:i32? mask=i1(value)? | result | $atomic_rmw_op , $sem , $scope , %value , %ptr [ %offsets ] ?{, %mask} ?{stride = %stride} @ : ~pointer(ptr) !result | sized contiguity?i32" { effect: OpEffect::Nothing };
    /// Replaces values at a base and offsets where they equal a given one, atomically.
    BufferAtomicCas = "buffer_atomic_cas": "ptr offsets=i32(val) cmp=val val=result stride:i32? | result | $sem , $scope , %cmp , %val , %ptr [ %offsets ] ?{stride = %stride} @ : ~pointer(ptr) !result |" { effect: OpEffect::Nothing };
    /// Stores registers to a base and offsets.
    BufferStore = "buffer_store": "value ptr offsets=i32(value) stride:i32? mask=i1(value)? |  | %value , %ptr [ %offsets ] ?{, %mask} *{cachePolicy = $cachePolicy | cacheModifier = $cache} ?{stride = %stride} @ : ~pointer(ptr) !value | sized contiguity?i32" {
        effect: OpEffect::Nothing,
        partition: Some(PartitionHint::Store),
    };
    /// Loads from global memory where a mask holds.
    MaskedLoad = "masked_load": "ptr mask:i1 falseVal multicastMask:i16? | result | %ptr , %mask , %falseVal ?{, %multicastMask} *{cachePolicy = $cachePolicy | cacheModifier = $cache} ?{forceNoAlias $forceNoAlias} @ : !fn |" { effect: OpEffect::Nothing };
    /// Stores to global memory where a mask holds.
    MaskedStore = "masked_store": "ptr value mask:i1 |  | %ptr , %value , %mask *{cachePolicy = $cachePolicy | cacheModifier = $cache} ?{forceNoAlias $forceNoAlias} @ : !operands |" { effect: OpEffect::Nothing };
    /// Widens 4-bit floats and applies their scales.
    ScaledUpcastFp4 = "scaled_upcast_fp4": "input scale | output | %input scale %scale @ : !input , !scale -> !output | axis!i32" { effect: OpEffect::Nothing };
    /// Widens 8-bit floats and applies their scales.
    ScaledUpcastFp8 = "scaled_upcast_fp8": "input scale | output | %input scale %scale @ : !input , !scale -> !output | shape" { effect: OpEffect::Nothing };
    /// Puts the elements that one thread holds in another order.
    InThreadTranspose = "in_thread_transpose": "src | result | %src @ : !src -> !result |" { effect: OpEffect::Nothing };
    /// Loads 4-bit values packed in LDS into registers, transposed; older spelling.
    LocalLoadPackedTranposed = "local_load_packed_tranposed": "src token:!ttg.async.token? | result | %src ?{token %token} @ : !src -> !result |" {
        effect: by_threads(&[read("src", Proxy::Generic, "")]),
        movement: Some(DataMovement::Unknown),
    };
    /// Integers that are computed again where they are needed.
    RematerializedRange = "rematerialized_range": "placement:i32 | result | $start to $end identity $identity at %placement @ : !result |" { effect: OpEffect::Nothing };
    /// Keeps a value in registers of a class.
    RegisterResident = "register_resident": "input | result=input | %input class $register_class groups $registers_per_group @ : !input |" {
        effect: OpEffect::Nothing,
        movement: Some(DataMovement::Pass),
    };
    /// Passes a value on in registers of a class.
    RegisterHandoff = "register_handoff": "input | result=input | %input class $register_class @ : !input |" { effect: OpEffect::Nothing };
    /// Ends a sequence of scheduled MFMA operations.
    MfmaCommit = "mfma_commit": "inputs* | outputs=inputs* | %inputs @ : !inputs |" { effect: OpEffect::Nothing };
    /// One MFMA operation with its registers chosen.
    ScheduledMfma = "scheduled_mfma": "a b acc | result | %a , %b , %acc resident $resident_operand accumulator $accumulator_role register_class $accumulator_register_class initialize $initialize @ : !a , !b , !acc -> !result |" { effect: OpEffect::Nothing };
    /// Copies LDS to pointers asynchronously; done with its commit group.
    AsyncCopyLocalToGlobal = "async_copy_local_to_global": "src dst mask=i1(dst)? | token:!ttg.async.token | %src , %dst ?{mask %mask} *{cachePolicy = $cachePolicy | cacheModifier = $cache | evictionPolicy = $evict} @ : !src -> !dst | contiguity?i32" {
        effect: async_copy(&[read("src", Proxy::Generic, "")]),
        python: PythonName::called("async_copy.shared_to_global"),
        movement: Some(DataMovement::CopyOut),
        mutation: Some(MutationRole::Access),
    };
    /// Initialises a barrier in LDS with the number of arrivals that complete a phase.
    InitBarrier = "init_barrier": "alloc |  | %alloc , $count @ : !alloc |" {
        effect: OpEffect::InitBarrier,
        barrier: barrier(BarrierVerb::Init),
        python: PythonName::counting("gl.amd.cdna5", "mbarrier.init", "count"),
        mutation: Some(MutationRole::Init("count")),
    };
    /// Reads the phase that a barrier in LDS is in.
    ReadBarrierPhase = "read_barrier_phase": "alloc | result:i32 | - |" { effect: OpEffect::ReadPhase };
    /// The tensor data mover loads a block of a tensor to LDS, in order with its other transfers.
    AsyncTdmCopyGlobalToLocal = "async_tdm_copy_global_to_local": "desc indices:i32* result pred? barrier? | token:!ttg.async.token | %desc ?{[ %indices ]} into %result ?{, barrier = %barrier}:{?{, %pred ?{, barrier = %barrier}}} @ : !desc ?{, !barrier} -> !result | warp_used_hint?i32" {
        effect: tdm(&[write("result", Proxy::Generic, "")]),
        barrier: arrives("barrier", "by every warp, when the load has landed"),
        python: PythonName::called("tdm.async_load"),
        movement: Some(DataMovement::TdmLoad),
        partition: Some(PartitionHint::TdmLoad),
        mutation: Some(MutationRole::Access),
    };
    /// The tensor data mover loads blocks of several tensors to LDS with one instruction.
    AsyncTdmFusedCopyGlobalToLocal = "async_tdm_fused_copy_global_to_local": "descs* dests* | token:!ttg.async.token | %descs into %dests @ : !descs -> !dests |" { effect: tdm(&[write("dests", Proxy::Generic, "")]) };
    /// The tensor data mover stores LDS to a block of a tensor, in order with its other transfers.
    AsyncTdmCopyLocalToGlobal = "async_tdm_copy_local_to_global": "desc indices:i32* src barrier? | token:!ttg.async.token? | %desc ?{[ %indices ]} from %src ?{, barrier = %barrier} @ : !src ?{, !barrier} -> !desc ~named(token) |" {
        effect: tdm(&[read("src", Proxy::Generic, "")]),
        barrier: arrives("barrier", "by every warp, when the store is done"),
        python: PythonName::called("tdm.async_store"),
        movement: Some(DataMovement::TdmStore),
        partition: Some(PartitionHint::BlockStore),
        mutation: Some(MutationRole::Access),
    };
    /// The tensor data mover stores LDS to chosen rows of a tensor.
    AsyncTdmScatter = "async_tdm_scatter": "desc dst_row_indices src barrier? | retToken:!ttg.async.token | %desc [ %dst_row_indices ] from %src ?{, barrier = %barrier} @ : !dst_row_indices , !src ?{, !barrier} -> !desc |" {
        effect: tdm(&[read("src", Proxy::Generic, "")]),
        barrier: arrives("barrier", "by every warp, when the scatter is done"),
        python: PythonName::called("tdm.async_scatter"),
        movement: Some(DataMovement::TdmScatter),
        partition: Some(PartitionHint::BlockStore),
        mutation: Some(MutationRole::Access),
    };
    /// The tensor data mover loads chosen rows of a tensor to LDS.
    AsyncTdmGather = "async_tdm_gather": "desc src_row_indices dst barrier? | token:!ttg.async.token | %desc [ %src_row_indices ] to %dst ?{, barrier = %barrier} @ : !src_row_indices , !dst ?{, !barrier} -> !desc |" {
        effect: tdm(&[write("dst", Proxy::Generic, "")]),
        barrier: arrives("barrier", "by every warp, when the gather has landed"),
        python: PythonName::called("tdm.async_gather"),
        movement: Some(DataMovement::TdmGather),
        partition: Some(PartitionHint::TdmLoad),
        mutation: Some(MutationRole::Access),
    };
    /// Waits until at most `num` transfers of the tensor data mover are open.
    AsyncTdmWait = "async_tdm_wait": "asyncToken:!ttg.async.token* | retToken:!ttg.async.token | %asyncToken @ | num!i32" {
        effect: OpEffect::WaitGroup { kind: CommitKind::Tdm, pending: "num" },
        python: PythonName::function("gl.amd.cdna5", "tdm.async_wait"),
        mutation: Some(MutationRole::GroupWait("num")),
    };
    /// Waits until at most `count` instructions of the tensor data mover are open.
    AsyncTdmIntrinsicWait = "async_tdm_intrinsic_wait": "asyncToken:!ttg.async.token* | retToken:!ttg.async.token | ?{%asyncToken} @ | count!i32" {
        effect: OpEffect::LoweredWaitGroup { kind: CommitKind::Tdm, groups: "ttg.num_tdm_ops", instructions: "count" },
        mutation: Some(MutationRole::GroupWait("count")),
    };
    /// The tensor data mover brings a block of a tensor to the L2 cache.
    TdmPrefetch = "tdm_prefetch": "desc indices:i32* pred:i1 | maybeOffsets? | %desc [ %indices ] , %pred , speculative = $speculative ?{returnOffsets $!returnOffsets} @ : !desc ?{-> !maybeOffsets} |" {
        effect: OpEffect::Nothing,
        movement: Some(DataMovement::Nothing),
    };
    /// A tensor descriptor moved by offsets, or with other bounds or another predicate.
    UpdateTensorDescriptor = "update_tensor_descriptor": "desc add_offsets:i32* set_bounds:i32* pred:i32? | result=desc | %desc *{add_offsets = [ %add_offsets ] | set_bounds = [ %set_bounds ] | pred = %pred} @ : !desc | sized" { effect: OpEffect::Nothing };
    /// Waits until at most `num_inst` asynchronous copy instructions are open.
    AsyncWait = "async_wait": "asyncToken:!ttg.async.token* | retToken:!ttg.async.token | ?{%asyncToken} @ | num_inst!i32" {
        effect: OpEffect::LoweredWaitGroup { kind: CommitKind::AsyncCopy, groups: "ttg.num_commit_groups", instructions: "num_inst" },
        python: PythonName::called("async_copy.wait_group"),
        mutation: Some(MutationRole::GroupWait("num_inst")),
    };
    /// Waits until the hardware's counters of open memory operations are low enough.
    MemoryCounterWait = "memory_counter_wait": "|  | *{load ( $load ) | store ( $store ) | ds ( $ds )} @ |" {
        effect: OpEffect::Nothing,
        movement: Some(DataMovement::Nothing),
    };
    /// Waits until the phase of a barrier in LDS with this parity has completed.
    WaitBarrier = "wait_barrier": "alloc phase:i32 |  | %alloc , %phase @ : !alloc |" {
        effect: OpEffect::WaitBarrier,
        barrier: barrier(BarrierVerb::Wait),
        python: PythonName::function("gl.amd.cdna5", "mbarrier.wait"),
        mutation: Some(MutationRole::BarrierWait("phase")),
    };
    /// Every thread arrives on a barrier in LDS and is told the phase it arrived in.
    ArriveBarrier = "arrive_barrier": "alloc | result:i32 | %alloc , $count @ : !alloc -> !result |" {
        effect: OpEffect::ArriveByThreads,
        barrier: arrives("alloc", "by every thread"),
        python: PythonName::counting("gl.amd.cdna5", "mbarrier.arrive", "count"),
        movement: Some(DataMovement::Nothing),
        mutation: Some(MutationRole::Arrive(Some("count"))),
    };
    /// Every thread arrives on a barrier in LDS when its asynchronous copies so far have landed.
    AsyncCopyMbarrierArrive = "async_copy_mbarrier_arrive": "barrier |  | %barrier @ : !barrier |" {
        effect: OpEffect::AsyncCopyArrive { increments: false },
        barrier: arrives("barrier", "by every thread, when its copies so far are done"),
        python: PythonName::function("gl.amd.cdna5", "async_copy.mbarrier_arrive"),
        mutation: Some(MutationRole::Arrive(None)),
    };
    /// Arrives at the barrier of the cluster without waiting.
    ClusterBarrierArrive = "cluster_barrier_arrive": "|  | @ |" {
        effect: OpEffect::ClusterArrive,
        mutation: Some(MutationRole::Arrive(None)),
    };
    /// Waits until all CTAs have arrived at the barrier of the cluster.
    ClusterBarrierWait = "cluster_barrier_wait": "|  | @ |" {
        effect: OpEffect::ClusterWait,
        mutation: Some(MutationRole::Rendezvous),
    };
    // Of one version only, or of an older one.
    /// Loads 4-bit values packed in LDS into registers, transposed.
    LocalLoadPackedTransposed = "local_load_packed_transposed": "src token:!ttg.async.token? | result | %src ?{token %token} @ : !src -> !result |" {
        effect: by_threads(&[read("src", Proxy::Generic, "")]),
        movement: Some(DataMovement::Unknown),
        mutation: Some(MutationRole::Access),
    };
    /// Narrows floats to 4 bits with scales.
    ScaledDowncastFp4 = "scaled_downcast_fp4": "operands* | results* | ... |" { effect: OpEffect::Nothing };
    /// Narrows floats to 8 bits with scales.
    ScaledDowncastFp8 = "scaled_downcast_fp8": "operands* | results* | ... |" { effect: OpEffect::Nothing };
    /// Loads from global memory into registers, in the layout of an operand, past LDS.
    BypassLdsLoad = "bypass_lds_load": "operands* | results* | ... |" { effect: OpEffect::Nothing };
    /// Converts and reorders 4-bit values that one thread holds.
    InThreadTcastFp4 = "in_thread_tcast_fp4": "operands* | results* | ... |" { effect: OpEffect::Nothing };
    /// Tells the instruction scheduler which pattern to use.
    InstructionSchedHint = "instruction_sched_hint": "operands* | results* | ... |" {
        effect: OpEffect::Nothing,
        movement: Some(DataMovement::Nothing),
    };
}
