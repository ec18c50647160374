//! Atomics.

use super::Trap;
use super::tensor::Tensor;

/// Element by element, what a read-modify-write of this kind (`add`, `fadd`, `max`, …) leaves in memory.
pub fn combine(kind: &str, _old: &Tensor, _value: &Tensor) -> Result<Tensor, Trap> {
    Err(Trap::not_followed(format!("`{kind}` of this type is not followed")))
}
