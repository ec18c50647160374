//! TritonInstrument: what the sanitizers insert.

use crate::declare::dialect;
use crate::effect::OpEffect;

dialect! {
    /// Ops of TritonInstrument, `tti`.
    Tti = "tti", fallback OpEffect::Pure;

    /// Sanitizer: checks that a condition holds in all threads.
    ExperimentalAssertUniform = "experimental_assert_uniform": "condition:i1 |  | %condition , $message @attributes |";
    /// Sanitizer: the offsets and lengths of the buffers it watches.
    ExperimentalBufferDescriptors = "experimental_buffer_descriptors": "| result | $offsets , $lengths , $memType @ : !result |";
    /// Sanitizer: the address of a buffer as an integer.
    ExperimentalMemdescToI32 = "experimental_memdesc_to_i32": "memdesc | result:i32 | %memdesc @ : !<memdesc |";
    /// Sanitizer: an offset in shared or tensor memory as an integer.
    ExperimentalMemoryOffsetToI32 = "experimental_memory_offset_to_i32": "| result:i32 | $offset , $memType @ |";
    /// Sanitizer: the number of this CTA in its cluster.
    ExperimentalClusterCtaId = "experimental_cluster_cta_id": "| result:i32 | @ : !result |";
    /// Sanitizer: reads elements of a buffer at computed offsets.
    ExperimentalLocalGather = "experimental_local_gather": "src indices offsets:i32* | result | %src [ %indices ] offsets = [ %offsets ] @ : !src , !indices -> !result | axis!i32";
    /// Sanitizer of global memory: sets up its state.
    ExperimentalGsanInit = "experimental_gsan_init": "|  | - |";
    /// Sanitizer of global memory: what a tensor descriptor says.
    ExperimentalGsanTensordescInfo = "experimental_gsan_tensordesc_info": "desc | result* | %desc @ : !desc -> !result |";
    /// Sanitizer of global memory: notes an access.
    ExperimentalGsanTensorAccess = "experimental_gsan_tensor_access": "ptr mask=i1(ptr)? |  | %ptr , $isStore ?{, %mask} @ : !ptr |";
    /// Sanitizer of global memory: notes an atomic access.
    ExperimentalGsanAtomicTensorAccess = "experimental_gsan_atomic_tensor_access": "ptr mask=i1(ptr)? |  | $sem , $scope , %ptr ?{, %mask} @ : !ptr |";
    /// Sanitizer of global memory: an atomic update that it watches.
    ExperimentalGsanAtomicRmw = "experimental_gsan_atomic_rmw": "ptr val mask=i1(val)? | result | $atomic_rmw_op , $sem , $scope , %ptr , %val ?{, %mask} @ : !fn | shape";
    /// Sanitizer of global memory: an atomic compare and swap that it watches.
    ExperimentalGsanAtomicCas = "experimental_gsan_atomic_cas": "ptr cmp val mask=i1(val)? | result | $sem , $scope , %ptr , %cmp , %val ?{, %mask} @ : !fn | shape";
    /// Sanitizer: takes a lock.
    ExperimentalLockAcquire = "experimental_lock_acquire": "lock pred:i1? |  | %lock ?{, %pred} @ : !lock |";
    /// Sanitizer: gives a lock back.
    ExperimentalLockRelease = "experimental_lock_release": "lock pred:i1? |  | %lock ?{, %pred} @ : !lock |";
    /// Multiplies matrices of 8-bit integers, with a choice of signs.
    DotI8 = "dot_i8": "a b c=d | d | %a , %b , %c , aSigned = $aSigned , bSigned = $bSigned @ : !a * !b -> !d |";
    /// Sanitizer of floats: puts a float into its integer domain.
    ExperimentalFpsanEmbed = "experimental_fpsan_embed": "val | result | %val @ : !fn | shape";
    /// Sanitizer of floats: takes a float out of its integer domain.
    ExperimentalFpsanUnembed = "experimental_fpsan_unembed": "val | result | %val @ : !fn | shape";
    // Of one version only, or of an older one.
    /// Sanitizer of global memory: an atomic load that it watches.
    ExperimentalGsanAtomicLoad = "experimental_gsan_atomic_load": "operands* | results* | ... |";
    /// Sanitizer of global memory: a polling load that it watches.
    ExperimentalGsanAtomicPoll = "experimental_gsan_atomic_poll": "operands* | results* | ... |";
    /// Sanitizer of global memory: an atomic store that it watches.
    ExperimentalGsanAtomicStore = "experimental_gsan_atomic_store": "operands* | results* | ... |";
    /// Sanitizer of global memory: notes an atomic access through a descriptor.
    ExperimentalGsanAtomicTensordescAccess = "experimental_gsan_atomic_tensordesc_access": "operands* | results* | ... |";
    /// Sanitizer of global memory: sets up its record of the cluster barrier.
    ExperimentalGsanClusterBarrierInit = "experimental_gsan_cluster_barrier_init": "operands* | results* | ... |";
    /// Sanitizer of global memory: notes a cluster barrier.
    ExperimentalGsanClusterBarrierSync = "experimental_gsan_cluster_barrier_sync": "operands* | results* | ... |";
    /// Sanitizer of global memory: notes a wait for earlier kernels.
    ExperimentalGsanGridDependencyWait = "experimental_gsan_grid_dependency_wait": "operands* | results* | ... |";
    /// Sanitizer of global memory: notes a gather or scatter through a descriptor.
    ExperimentalGsanIndexedTensordescAccess = "experimental_gsan_indexed_tensordesc_access": "operands* | results* | ... |";
    /// Sanitizer of global memory: notes the end of the kernel.
    ExperimentalGsanKernelExit = "experimental_gsan_kernel_exit": "operands* | results* | ... |";
    /// Sanitizer of global memory: notes an arrival on an mbarrier.
    ExperimentalGsanMbarrierArrive = "experimental_gsan_mbarrier_arrive": "operands* | results* | ... |";
    /// Sanitizer of global memory: notes the start of an mbarrier.
    ExperimentalGsanMbarrierInit = "experimental_gsan_mbarrier_init": "operands* | results* | ... |";
    /// Sanitizer of global memory: sets up its table of mbarriers.
    ExperimentalGsanMbarrierTableInit = "experimental_gsan_mbarrier_table_init": "operands* | results* | ... |";
    /// Sanitizer of global memory: notes a wait on an mbarrier.
    ExperimentalGsanMbarrierWait = "experimental_gsan_mbarrier_wait": "operands* | results* | ... |";
    /// Sanitizer of global memory: notes an access through a descriptor.
    ExperimentalGsanTensordescAccess = "experimental_gsan_tensordesc_access": "operands* | results* | ... |";
    /// Keeps the compiler from giving registers from one warp group to another.
    DisableSetmaxregister = "disable_setmaxregister": "operands* | results* | ... |";
    /// Sanitizer of global memory: where its state lies.
    GsanGlobalState = "gsan_global_state": "operands* | results* | ... |";
    /// Sanitizer of global memory: the number of this launch.
    GsanLaunchIndex = "gsan_launch_index": "operands* | results* | ... |";
    /// Sanitizer of global memory: the table of launches.
    GsanLaunchTable = "gsan_launch_table": "operands* | results* | ... |";
    /// Sanitizer of global memory: its scratch space for mbarriers.
    GsanMbarrierScratch = "gsan_mbarrier_scratch": "operands* | results* | ... |";
}
