//! rocdl, of MLIR: what stands between Triton's ops in kernels for AMD; ops that are not here may do anything.

use crate::declare::dialect;
use crate::effect::OpEffect;
use crate::facts::{DataMovement, PythonName};

dialect! {
    /// Instructions of AMD's GPUs.
    Rocdl = "rocdl", fallback OpEffect::Unknown;

    /// Keeps the compiler from moving instructions across; orders no thread and no memory.
    SchedBarrier = "sched.barrier": "|  | $mask @ |" {
        effect: OpEffect::Nothing,
        python: PythonName::called("gl.amd.hint.sched_barrier"),
        movement: Some(DataMovement::Nothing),
    };
    /// Says how the compiler is to mix instructions of several kinds; orders no thread and no memory.
    SchedGroupBarrier = "sched.group.barrier": "|  | $mask , $size , $group @ |" {
        effect: OpEffect::Nothing,
        movement: Some(DataMovement::Nothing),
    };
    /// The number of the executing thread in its block.
    WorkitemIdX = "workitem.id.x": "| result | @ : !result |" { effect: OpEffect::Pure };
    /// Sets the priority of the executing warp.
    SetPriority = "s.setprio": "|  | $priority @ |" {
        effect: OpEffect::Nothing,
        movement: Some(DataMovement::Nothing),
    };
    /// Synchronises the warps of a block, and waits for no memory.
    SBarrier = "s.barrier": "|  | @ |" {
        effect: OpEffect::Nothing,
        movement: Some(DataMovement::Nothing),
    };
    /// Synchronises the warps of a block.
    Barrier = "barrier": "|  | @ |" {
        effect: OpEffect::Nothing,
        movement: Some(DataMovement::Nothing),
    };
}
