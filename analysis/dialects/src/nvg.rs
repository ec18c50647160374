//! NVGPU: what is left just before LLVM.

use crate::declare::dialect;
use crate::effect::OpEffect;

dialect! {
    /// Ops of NVGPU, `nvg`.
    Nvg = "nvg", fallback OpEffect::Unknown;

    /// Waits until at most `pendings` wgmma groups are open, just above LLVM.
    WgmmaWaitGroup = "wgmma_wait_group": "input | output=input | %input @ : !input | pendings!i32" { effect: OpEffect::Unknown };
    /// One wgmma instruction, just above LLVM.
    Wgmma = "wgmma": "opA opB useC:i1 opC? | res | %opA , %opB , %useC ?{, %opC} @ : !fn | m!i32 n!i32 k!i32" { effect: OpEffect::Unknown };
    /// The number of this CTA in its cluster.
    ClusterId = "cluster_id": "| result:i32 | @ |" { effect: OpEffect::Unknown };
    /// Loads from global memory with acquire order.
    LdAcquire = "ld_acquire": "addr mask? | result | ... |" { effect: OpEffect::Unknown };
    /// Where the kernel's tensor memory starts.
    TensorMemoryBase = "tensor_memory_base": "| result:!llvm.ptr<6> | @ |" { effect: OpEffect::Unknown };
    // Of one version only, or of an older one.
    /// The number of the hardware barrier of this warp group.
    WarpGroupBarrierId = "warp_group_barrier_id": "| result:i32 | @ |" { effect: OpEffect::Unknown };
}
