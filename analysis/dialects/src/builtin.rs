//! builtin and func, of MLIR.

use crate::declare::dialect;
use crate::effect::OpEffect;

dialect! {
    /// MLIR's own module.
    Builtin = "builtin", fallback OpEffect::Pure;

    /// Holds the functions of one compilation and its target, warp and CTA counts.
    Module = "module": "|  | =module | isolated graph bare";
    /// Stands for a conversion of types that a later pass has to carry out.
    UnrealizedConversionCast = "unrealized_conversion_cast": "inputs* | outputs* | ?{%inputs : !inputs} to !outputs @ |";
}

dialect! {
    /// Ops of MLIR's `func`.
    Func = "func", fallback OpEffect::Pure;

    /// A function of MLIR's own `func` dialect.
    Func = "func": "|  | =func | isolated";
    /// Calls a function by its symbol.
    Call = "call": "operands* | results* | $callee ( %operands ) @ : !fn |";
    /// Calls a function by a value that holds it.
    CallIndirect = "call_indirect": "callee callee_operands* | results* | ... |";
    /// Gives a function as a value.
    Constant = "constant": "| result | @ $value : !result |";
    /// Ends a function with its results.
    Return = "return": "operands* |  | @ ?{%operands : !operands} | term";
}
