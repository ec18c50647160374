//! Gluon.

use crate::declare::dialect;
use crate::effect::OpEffect;

dialect! {
    /// Ops of the dialect `gluon`.
    Gluon = "gluon", fallback OpEffect::Pure;

    /// Gives a tensor whose layout is inferred a fixed one.
    SetAutoLayout = "set_auto_layout": "src | result | %src @ : !src -> !result | shape elem";
}
