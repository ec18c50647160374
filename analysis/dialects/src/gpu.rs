//! gpu and llvm, of MLIR: only what shapes blocks and regions; the rest of them is skimmed.
//!
//! Of llvm there is what occurs above its level; anything else is code that we do not read.

use crate::declare::dialect;
use crate::effect::OpEffect;
use crate::facts::DataMovement;

dialect! {
    /// MLIR's gpu dialect.
    Gpu = "gpu", fallback OpEffect::Pure;

    /// The number of the thread in its block along a dimension.
    ThreadId = "thread_id": "| result:index | $dimension ?{upper_bound $upper_bound} @ |";
    /// The number of the block in the grid along a dimension.
    BlockId = "block_id": "| result:index | $dimension ?{upper_bound $upper_bound} @ |";
    /// The number of threads of a block along a dimension.
    BlockDim = "block_dim": "| result:index | $dimension ?{upper_bound $upper_bound} @ |";
    /// The number of blocks of the grid along a dimension.
    GridDim = "grid_dim": "| result:index | $dimension ?{upper_bound $upper_bound} @ |";
    /// The number of the cluster in the grid along a dimension.
    ClusterId = "cluster_id": "| result:index | $dimension ?{upper_bound $upper_bound} @ |";
    /// The number of the block in its cluster along a dimension.
    ClusterBlockId = "cluster_block_id": "| result:index | $dimension ?{upper_bound $upper_bound} @ |";
    /// The number of clusters of the grid along a dimension.
    ClusterDim = "cluster_dim": "| result:index | $dimension ?{upper_bound $upper_bound} @ |";
    /// The number of blocks of a cluster along a dimension.
    ClusterDimBlocks = "cluster_dim_blocks": "| result:index | $dimension ?{upper_bound $upper_bound} @ |";
    /// The number of the thread in the grid along a dimension.
    GlobalId = "global_id": "| result:index | $dimension ?{upper_bound $upper_bound} @ |";
    /// The number of the thread in its warp.
    LaneId = "lane_id": "| result:index | ?{upper_bound $upper_bound} @ : !result |";
    /// The number of the warp in its block.
    SubgroupId = "subgroup_id": "| result:index | ?{upper_bound $upper_bound} @ : !result |";
    /// The number of warps of a block.
    NumSubgroups = "num_subgroups": "| result:index | ?{upper_bound $upper_bound} @ : !result |";
    /// The number of threads of a warp.
    SubgroupSize = "subgroup_size": "| result:index | ?{upper_bound $upper_bound} @ : !result |";
    /// Ends a device function.
    Return = "return": "operands* |  | ... | term";
    /// Ends a region with the values that it gives.
    Yield = "yield": "operands* |  | ... | term";
    /// Ends a launched region.
    Terminator = "terminator": "operands* |  | ... | term";
    /// Ends a device module.
    ModuleEnd = "module_end": "operands* |  | ... | term";
    /// Synchronises the threads of a block.
    Barrier = "barrier": "|  | ... |" {
        effect: OpEffect::Nothing,
        movement: Some(DataMovement::Nothing),
    };
    /// A device function.
    Func = "func": "|  | ... | isolated";
    /// A device module.
    Module = "module": "|  | ... | isolated graph bare";
    /// A module that holds device modules.
    ContainerModule = "container_module": "|  | ... |";
}

dialect! {
    /// Ops of MLIR's `llvm`.
    Llvm = "llvm", fallback OpEffect::Unknown;

    /// A function at the level of LLVM.
    Func = "func": "|  | =func | isolated";
    /// Ends a function.
    Return = "return": "arg? |  | ... | term";
    /// Goes to another block.
    Br = "br": "destOperands* |  | ... | term";
    /// Goes to one of two blocks, by a condition.
    CondBr = "cond_br": "operands* |  | ... | term";
    /// Goes to one of several blocks, by an integer.
    Switch = "switch": "operands* |  | ... | term";
    /// A place that is never reached.
    Unreachable = "unreachable": "|  | @ | term";
    /// Goes on with an exception.
    Resume = "resume": "value |  | ... | term";
    /// Goes to a block by its address.
    Indirectbr = "indirectbr": "operands* |  | ... | term";
    /// Calls a function that may raise an exception.
    Invoke = "invoke": "operands* | result? | ... | term";
    /// A global variable.
    MlirGlobal = "mlir.global": "|  | ... | isolated bare";
    /// Promises that a condition holds.
    IntrAssume = "intr.assume": "operands* | results* | ... |" {
        effect: OpEffect::Nothing,
        movement: Some(DataMovement::Nothing),
    };
    /// A constant of any type.
    MlirConstant = "mlir.constant": "operands* | results* | ... |" { effect: OpEffect::Nothing };
    /// A value without a definition.
    MlirUndef = "mlir.undef": "operands* | results* | ... |" { effect: OpEffect::Nothing };
    /// A value of which nothing is known.
    MlirPoison = "mlir.poison": "operands* | results* | ... |" { effect: OpEffect::Nothing };
    /// The zero of a type.
    MlirZero = "mlir.zero": "operands* | results* | ... |" { effect: OpEffect::Nothing };
}
