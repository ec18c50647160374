//! Gluon.

use crate::declare::dialect;
use crate::effect::OpEffect;

dialect! {
    /// Gluon.
    Gluon = "gluon", fallback OpEffect::Pure;

    /// Gives a tensor whose layout is inferred a fixed one.
    SetAutoLayout = "set_auto_layout": "src | result | %src @ : !src -> !result | shape elem";
}
