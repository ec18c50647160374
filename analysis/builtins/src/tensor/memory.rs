//! Global memory: loads, stores and atomics.
//!
//! What they give is not followed, except that a scalar load is a load in the kernel too: where two
//! partitions load one word they agree on it.

use super::shapes::{exchange, none, opaque, tensor};
use crate::values::arg;
use dialects::Tt;
use python::emit::Op;
use python::interp::{Eval, Interp, Stop};
use python::library::operand;
use python::library::{Bound, NOTHING, Part, Row};
use python::value::{DType, Tensor, Value};

const LOAD: &str =
    "pointer, mask=None, other=None, *, cache_modifier=None, eviction_policy=None, volatile=False, cache_policy=None";
const STORE: &str = "pointer, value, mask=None, *, cache_modifier=None, eviction_policy=None, cache_policy=None";
const RMW: &str = "pointer, val, mask=None, sem=None, scope=None";

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("gl.load", LOAD, 4, load),
        Row::new("gl.store", STORE, 4, none),
        Row::new("gl.atomic_add", RMW, 4, atomic),
        Row::new("gl.atomic_and", RMW, 4, atomic),
        Row::new("gl.atomic_or", RMW, 4, atomic),
        Row::new("gl.atomic_xor", RMW, 4, atomic),
        Row::new("gl.atomic_max", RMW, 4, atomic),
        Row::new("gl.atomic_min", RMW, 4, atomic),
        Row::new("gl.atomic_xchg", RMW, 4, atomic),
        Row::new("gl.atomic_cas", "pointer, cmp, val, sem=None, scope=None", 4, atomic),
        Row::new("gl.atomic_load", "pointer, mask=None, sem=None, scope=None", 9, atomic),
        Row::new("gl.atomic_store", RMW, 9, none),
        Row::new("gl.atomic_poll", "pointer, expected_value, sem=None, scope=None, timeout_ns=None", 9, poll),
        Row::new("tensor.load", LOAD, 4, load),
        Row::new("tensor.store", STORE, 4, none),
        Row::new("tensor.atomic_add", RMW, 4, atomic),
        Row::new("tensor.atomic_and", RMW, 4, atomic),
        Row::new("tensor.atomic_or", RMW, 4, atomic),
        Row::new("tensor.atomic_xor", RMW, 4, atomic),
        Row::new("tensor.atomic_max", RMW, 4, atomic),
        Row::new("tensor.atomic_min", RMW, 4, atomic),
        Row::new("tensor.atomic_xchg", RMW, 4, atomic),
        Row::new("tensor.atomic_cas", "pointer, cmp, val, sem=None, scope=None", 4, atomic),
    ],
    ..NOTHING
};

/// What a pointer points to.
pub fn pointee<'a>(interp: &Interp<'a>, pointer: &Tensor<'a>) -> Result<DType, Stop> {
    match pointer.dtype {
        DType::Ptr(to) => match to.copied() {
            Some(dtype) => Ok(dtype),
            None => interp.unknown("what the pointer points to is not known"),
        },
        other => interp.raise(format!("a pointer is wanted here, not {}", other.name())),
    }
}

fn load<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let pointer = tensor(interp, bound, 0)?;
    let dtype = pointee(interp, &pointer)?;
    let volatile = operand::flag(interp, bound.get("volatile"), false, "volatile")?;
    let single = |name: &str| match operand::given(bound, name) {
        Some(Value::Tensor(tensor)) => tensor.shape.is_empty(),
        Some(Value::Bool(_) | Value::Int(_) | Value::Float(_)) | None => true,
        Some(_) => false,
    };
    if !pointer.shape.is_empty() || dtype.is_float() || volatile || !single("mask") || !single("other") {
        return Ok(opaque(interp, dtype, &pointer.shape, (*pointer.layout).clone()));
    }
    // A boolean is loaded as the byte that it is.
    let word = if dtype == DType::Int1 { DType::Int8 } else { dtype };
    let pointer = super::arith::cast(interp, &pointer, word.pointer());
    let ssa = interp.ssa(&pointer);
    let made = interp.computed(Op::new(Tt::Load).operand("ptr", ssa), "result", &word.ir());
    let shape = std::rc::Rc::from([]);
    let value = Tensor { ssa: Some(made), dtype: word, shape, layout: pointer.layout.clone(), constant: None };
    let value = super::arith::cast(interp, &value, dtype);
    let Some(mask) = operand::given(bound, "mask").cloned() else { return Ok(Value::Tensor(value)) };
    // What stands behind a mask that does not hold is another value, or none that matters.
    let mask = interp.scalar_tensor(&mask, DType::Int1)?;
    let other = match operand::given(bound, "other") {
        Some(other) => Value::Tensor(interp.scalar_tensor(&other.clone(), dtype)?),
        None => Value::Tensor(interp.constant(0, dtype)),
    };
    super::arith::choose(interp, &mask, &Value::Tensor(value), &other)
}

/// What was in memory before.
fn atomic<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    exchange(interp)?;
    let pointer = tensor(interp, bound, 0)?;
    let dtype = pointee(interp, &pointer)?;
    Ok(opaque(interp, dtype, &pointer.shape, (*pointer.layout).clone()))
}

fn poll<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    super::shapes::followed(interp, &[arg(bound, 0)])?;
    Ok(opaque(interp, DType::Int1, &[], Value::None))
}
