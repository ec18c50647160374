//! Gluon.

use crate::declare::dialect;
use crate::effect::OpEffect;
use crate::facts::DataMovement;

dialect! {
    /// Ops of the dialect `gluon`.
    Gluon = "gluon", fallback OpEffect::Pure;

    /// Gives a tensor whose layout is inferred a fixed one.
    SetAutoLayout = "set_auto_layout": "src | result | %src @ : !src -> !result | shape elem";
    /// Stands for an operation on registers that may exchange values among warps through memory of its own, so
    /// that they meet: a reduction, a change of layout. Only the elaboration of Gluon makes it, for AMD.
    Exchange = "exchange": "|  | @ |" {
        effect: OpEffect::Nothing,
        movement: Some(DataMovement::Nothing),
    };
}
