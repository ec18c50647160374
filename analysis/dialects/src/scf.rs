//! scf, of MLIR: structured control flow.

use crate::declare::dialect;
use crate::effect::OpEffect;
use crate::facts::PythonName;

dialect! {
    /// Structured control flow.
    Scf = "scf", fallback OpEffect::Pure;

    /// Counts from a lower to an upper bound by a step and carries values along.
    For = "for": "lowerBound upperBound step initArgs* | results* | =for | bare" { python: PythonName::called("for") } get { operands init_args = "initArgs" };
    /// Runs one of two regions, by a condition.
    If = "if": "condition:i1 | results* | =if | bare" { python: PythonName::called("if") };
    /// Repeats its second region as long as its first says so.
    While = "while": "inits* | results* | =while |" { python: PythonName::called("while") };
    /// Ends the first region of a `while`: whether to go on, and with which values.
    Condition = "condition": "condition:i1 args* |  | ( %condition ) @ ?{%args : !args} | term";
    /// Ends a region with the values that it gives.
    Yield = "yield": "results* |  | @ ?{%results : !results} | term";
    /// Runs a region once.
    ExecuteRegion = "execute_region": "| results* | =execute_region |";
    /// Runs one of several regions, by an index.
    IndexSwitch = "index_switch": "arg:index | results* | =index_switch |";
    /// Runs its region for all points of a range, in any order.
    Forall = "forall": "| results* | ... | bare";
    /// Ends the region of a `forall`.
    ForallInParallel = "forall.in_parallel": "|  | ... | term bare";
    /// Runs nested loops in any order and combines their results.
    Parallel = "parallel": "| results* | ... | bare";
    /// Ends the region of a parallel loop with what it combines.
    Reduce = "reduce": "operands* |  | ... | term bare";
    /// Ends the region of a reduction.
    ReduceReturn = "reduce.return": "result |  | %result @ : !result | term";
}
