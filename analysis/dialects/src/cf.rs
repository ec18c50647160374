//! cf and ub, of MLIR: branches between blocks, undefined behaviour.

use crate::declare::dialect;
use crate::effect::OpEffect;

dialect! {
    /// Unstructured control flow.
    Cf = "cf", fallback OpEffect::Pure;

    /// Stops the kernel with a message unless the condition holds.
    Assert = "assert": "arg:i1 |  | %arg , $msg @ |";
    /// Goes to another block.
    Br = "br": "destOperands* |  | =br | term";
    /// Goes to one of two blocks, by a condition.
    CondBr = "cond_br": "condition:i1 trueDestOperands* falseDestOperands* |  | =cond_br | term sized";
    /// Goes to one of several blocks, by an integer.
    Switch = "switch": "flag defaultOperands* caseOperands* |  | =switch | term sized";
}

dialect! {
    /// Ops of MLIR's `ub`.
    Ub = "ub", fallback OpEffect::Pure;

    /// A value of which nothing is known.
    Poison = "poison": "| result | @ ?{< $value >} : !result |";
    /// A place that is never reached.
    Unreachable = "unreachable": "|  | @ | term";
}
