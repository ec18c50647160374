//! Operands of register tensors, their shapes and their layouts.

use std::rc::Rc;

use crate::operand;
use dialects::Gluon;
use python::emit::Op;
use python::eval::registers::Extent;
use python::interp::{Eval, Interp, Stop};
use python::library::Bound;
use python::target::Target;
use python::value::{DType, Tensor, Value};

/// The scalar or register tensor that the argument at a place is.
pub(super) fn tensor<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, at: usize) -> Result<Tensor<'a>, Stop> {
    match bound.iter().nth(at) {
        Some((name, Some(value))) => operand::tensor(interp, &value.clone(), name),
        Some((name, None)) => interp.raise(format!("`{name}` is not given")),
        None => interp.raise("an argument is missing"),
    }
}

/// A layout that registers are given: an object, or `None` where it is not known.
pub(super) fn layout<'a>(value: Option<&Value<'a>>) -> Value<'a> {
    match value {
        Some(layout @ Value::Object(_)) => layout.clone(),
        _ => Value::None,
    }
}

/// A value that the kernel computes from what is not followed: registers, or a scalar that may be anything.
pub fn opaque<'a>(interp: &mut Interp<'a>, dtype: DType, shape: &[i64], layout: Value<'a>) -> Value<'a> {
    if shape.is_empty() && !dtype.is_float() {
        return Value::Tensor(interp.free(dtype));
    }
    interp.registers(dtype, shape, layout)
}

/// Registers like some others, of another element type.
pub(super) fn like<'a>(interp: &mut Interp<'a>, of: &Tensor<'a>, dtype: DType) -> Value<'a> {
    opaque(interp, dtype, &of.shape, (*of.layout).clone())
}

/// The shape and layout of tensors that are broadcast to each other.
pub fn broadcast<'a>(interp: &Interp<'a>, of: &[&Tensor<'a>]) -> Result<(Rc<[i64]>, Value<'a>), Stop> {
    let mut extent: Extent<'a> = (Rc::from([]), Rc::new(Value::None));
    for tensor in of {
        extent = interp.together(extent, extent_of(tensor))?;
    }
    Ok((extent.0, (*extent.1).clone()))
}

/// The same of values; numbers have no shape.
pub(super) fn together<'a>(interp: &Interp<'a>, of: &[&Value<'a>]) -> Result<Extent<'a>, Stop> {
    followed(interp, of.iter().copied())?;
    let mut extent: Extent<'a> = (Rc::from([]), Rc::new(Value::None));
    for value in of {
        if let Value::Tensor(tensor) = value {
            extent = interp.together(extent, extent_of(tensor))?;
        }
    }
    Ok(extent)
}

/// The shape and layout of a tensor.
pub fn extent_of<'a>(tensor: &Tensor<'a>) -> Extent<'a> {
    (tensor.shape.clone(), tensor.layout.clone())
}

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

/// A shape that is given as one list, or as several numbers.
pub fn shape_of<'a>(interp: &Interp<'a>, args: &[Value<'a>], name: &str) -> Result<Vec<i64>, Stop> {
    match args {
        [list @ (Value::List(_) | Value::Tuple(_))] => operand::ints(interp, list, name),
        numbers => numbers.iter().map(|number| operand::int(interp, number, name)).collect(),
    }
}

/// An axis of a tensor of this rank; negative ones count from the end.
pub(super) fn axis_of<'a>(interp: &Interp<'a>, value: &Value<'a>, rank: usize) -> Result<usize, Stop> {
    let axis = operand::int(interp, value, "axis")?;
    let at = if axis < 0 { axis + rank as i64 } else { axis };
    match usize::try_from(at) {
        Ok(at) if at < rank => Ok(at),
        _ => interp.raise(format!("axis {axis} is none of a tensor of {rank} dimensions")),
    }
}

/// Fails where a value is not followed.
pub(super) fn followed<'a, 'v>(interp: &Interp<'a>, values: impl IntoIterator<Item = &'v Value<'a>>) -> Result<(), Stop>
where
    'a: 'v,
{
    for value in values {
        if let Value::Unknown(why) = value {
            return interp.unknown(why.clone());
        }
    }
    Ok(())
}

/// No value.
pub(super) fn none<'a>(_: &mut Interp<'a>, _: &Bound<'a>) -> Eval<'a> {
    Ok(Value::None)
}

/// The warps may meet here, because an operation on registers exchanges values among them. It matters on AMD only.
///
/// # Errors
///
/// As [`Interp::emit`].
pub(super) fn exchange(interp: &mut Interp<'_>) -> Result<(), Stop> {
    if !matches!(interp.target, Target::Cuda(_)) {
        interp.emit(Op::new(Gluon::Exchange))?;
    }
    Ok(())
}
