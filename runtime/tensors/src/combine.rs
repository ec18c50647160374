//! What a read-modify-write leaves in memory: atomics and reductions through descriptors.

use super::float_ops::{float2, maximum, minimum};
use super::integer::{BinaryIntOp, int2};
use super::tensor::TensorValue;
use super::trap::Trap;
use crate::array::ElemType;

pub(crate) fn unknown_combination(kind: &str, dtype: ElemType) -> Trap {
    Trap::not_followed(format!("the atomic `{kind}` of `{}` is not followed", dtype.name()))
}

/// Element by element, what a read-modify-write of this kind (`add`, `fadd`, `max`, …) leaves in memory.
pub(crate) fn combine(kind: &str, old: &TensorValue, value: &TensorValue) -> Result<TensorValue, Trap> {
    let dtype = old.dtype();
    if !dtype.is_int() {
        return match kind {
            "add" | "fadd" => Ok(float2(old, value, |a, b| a + b, |a, b| a + b)),
            "max" | "fmax" => Ok(maximum(old, value, false)),
            "min" | "fmin" => Ok(minimum(old, value, false)),
            "and" | "or" | "xor" => {
                let int = dtype.int_of_width();
                Ok(combine(kind, &old.with_dtype(int), &value.with_dtype(int))?.with_dtype(dtype))
            }
            _ => Err(unknown_combination(kind, dtype)),
        };
    }
    let op = match kind {
        "add" | "4" => BinaryIntOp::Add,
        "and" | "1" => BinaryIntOp::And,
        "or" | "2" => BinaryIntOp::Or,
        "xor" | "3" => BinaryIntOp::Xor,
        "max" | "smax" | "6" => BinaryIntOp::MaxS,
        "min" | "smin" | "7" => BinaryIntOp::MinS,
        "umax" | "8" => BinaryIntOp::MaxU,
        "umin" | "9" => BinaryIntOp::MinU,
        _ => return Err(unknown_combination(kind, dtype)),
    };
    Ok(int2(op, old, value))
}
