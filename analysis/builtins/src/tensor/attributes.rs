//! Attributes of scalars and register tensors. The type of a register tensor is the tensor itself.

use super::shapes::tensor;
use crate::operand;
use crate::values::arg;
use python::interp::{Eval, Interp};
use python::library::{Bound, NOTHING, Part, Row};
use python::value::Value;

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("tensor.@dtype", "self", 4, dtype),
        Row::new("tensor.@scalar", "self", 4, dtype),
        Row::new("tensor.@element_ty", "self", 4, dtype),
        Row::new("tensor.@shape", "self", 4, shape),
        Row::new("tensor.@numel", "self", 4, numel),
        Row::new("tensor.@type", "self", 4, kind),
        Row::new("tensor.@layout", "self", 4, layout),
        Row::new("tensor.@rank", "self", 4, rank),
        Row::new("tensor.is_block", "self", 4, is_block),
        Row::new("tensor.get_block_shapes", "self", 4, shape),
        Row::new("gl.DistributedLayout.format_tensor_view", "self, shape", 6, drawing),
        Row::new("gl.DistributedLayout.format_hardware_view", "self, shape", 6, drawing),
        Row::new("gl.SharedLayout.format_tensor_view", "self, shape", 6, drawing),
        Row::new("gl.SharedLayout.format_hardware_view", "self, shape", 6, drawing),
        Row::new("tensor.with_element_ty", "self, element_ty", 4, with_element),
    ],
    ..NOTHING
};

fn dtype<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(Value::DType(tensor(interp, bound, 0)?.dtype))
}

fn shape<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let tensor = tensor(interp, bound, 0)?;
    Ok(Value::Tuple(tensor.shape.iter().map(|size| Value::Int(i128::from(*size))).collect()))
}

fn numel<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(Value::Int(tensor(interp, bound, 0)?.shape.iter().map(|size| i128::from(*size)).product()))
}

fn rank<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(Value::Int(tensor(interp, bound, 0)?.shape.len() as i128))
}

fn kind<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let tensor = tensor(interp, bound, 0)?;
    Ok(if tensor.shape.is_empty() { Value::DType(tensor.dtype) } else { Value::Tensor(tensor) })
}

fn layout<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    match &*tensor(interp, bound, 0)?.layout {
        Value::None => Ok(Value::Unknown("the layout of these registers is not worked out".into())),
        layout => Ok(layout.clone()),
    }
}

/// A picture of a layout, which is only printed.
fn drawing<'a>(_: &mut Interp<'a>, _: &Bound<'a>) -> Eval<'a> {
    Ok(Value::Str("".into()))
}

fn is_block<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(Value::Bool(!tensor(interp, bound, 0)?.shape.is_empty()))
}

fn with_element<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let of = tensor(interp, bound, 0)?;
    let dtype = operand::dtype(interp, &arg(bound, 1), "element_ty")?;
    Ok(interp.registers(dtype, &of.shape, (*of.layout).clone()))
}
