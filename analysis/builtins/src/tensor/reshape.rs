//! Shapes of register tensors: reshaping, permuting, splitting, broadcasting, slices.

use std::rc::Rc;

use super::shapes::{axis_of, exchange, opaque, shape_of, tensor};
use crate::values::arg;
use python::interp::{Eval, Interp, Stop};
use python::library::operand;
use python::library::{Args, Bound, NOTHING, Part, Row};
use python::value::{Tensor, Value};

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("gl.reshape", "input, *shape, can_reorder=False", 4, reshape),
        Row::new("gl.permute", "input, *dims", 4, permute),
        Row::new("gl.trans", "input, *dims", 4, permute),
        Row::new("gl.expand_dims", "input, axis", 4, expand),
        Row::new("gl.broadcast", "input, other", 4, broadcast),
        Row::new("gl.join", "a, b", 4, join),
        Row::new("gl.split", "a", 4, split),
        Row::new("gl.ravel", "x, can_reorder=False", 4, ravel),
        Row::new("gl.gather", "src, index, axis", 4, gather),
        Row::new("tl.broadcast_to", "input, *shape", 4, broadcast_to),
        Row::new("tl.view", "input, *shape", 4, reshape),
        Row::new("tl.interleave", "a, b", 4, interleave),
        Row::new("tl.flip", "x, dim=None", 4, same),
        Row::new("tl.sort", "x, dim=None, descending=False", 4, same),
        Row::new("tl.squeeze", "x, dim", 9, squeeze),
        Row::new("tl.unsqueeze", "x, dim", 9, expand),
        Row::new("tensor.flip", "self, dim=None", 4, same),
        Row::new("tensor.reshape", "self, *shape, can_reorder=False", 4, reshape),
        Row::new("tensor.view", "self, *shape", 4, reshape),
        Row::new("tensor.permute", "self, *dims", 4, permute),
        Row::new("tensor.trans", "self, *dims", 4, permute),
        Row::new("tensor.@T", "self", 4, permute),
        Row::new("tensor.expand_dims", "self, axis", 4, expand),
        Row::new("tensor.broadcast_to", "self, *shape", 4, broadcast_to),
        Row::new("tensor.split", "self", 4, split),
        Row::new("tensor.ravel", "self", 4, ravel),
        Row::new("tensor.gather", "self, index, axis", 4, gather),
        Row::new("tensor.item", "self", 4, item),
        Row::new("tensor.__getitem__", "self, index", 4, subscript),
    ],
    ..NOTHING
};

fn reshape<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let source = tensor(interp, bound, 0)?;
    let mut shape = shape_of(interp, &bound.rest, "shape")?;
    let elements: i64 = source.shape.iter().product();
    if let Some(at) = shape.iter().position(|size| *size == -1) {
        let rest: i64 = shape.iter().filter(|size| **size != -1).product();
        if let Some(size) = shape.get_mut(at) {
            *size = elements.checked_div(rest).unwrap_or(0);
        }
    }
    if shape.iter().product::<i64>() != elements {
        return interp.raise(format!("{:?} is not reshaped to {shape:?}: they differ in elements", source.shape));
    }
    Ok(opaque(interp, source.dtype, &shape, Value::None))
}

fn permute<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let source = tensor(interp, bound, 0)?;
    let rank = source.shape.len();
    let dims = shape_of(interp, &bound.rest, "dims")?;
    // Without an order the last two dimensions change places.
    let dims: Vec<usize> = if dims.is_empty() {
        let mut dims: Vec<usize> = (0..rank).collect();
        if rank >= 2 {
            dims.swap(rank - 1, rank - 2);
        }
        dims
    } else {
        dims.into_iter().filter_map(|dim| usize::try_from(if dim < 0 { dim + rank as i64 } else { dim }).ok()).collect()
    };
    let mut seen = dims.clone();
    seen.sort_unstable();
    if !seen.iter().copied().eq(0..rank) {
        return interp.raise(format!("{dims:?} is no order of {rank} dimensions"));
    }
    let shape: Vec<i64> = dims.iter().filter_map(|dim| source.shape.get(*dim).copied()).collect();
    Ok(opaque(interp, source.dtype, &shape, Value::None))
}

fn expand<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let source = tensor(interp, bound, 0)?;
    let axis = axis_of(interp, &arg(bound, 1), source.shape.len() + 1)?;
    Ok(Value::Tensor(expand_dims(&source, axis)))
}

/// `x[:, None]`: a dimension for each `None`; what else there may be is `:`.
fn subscript<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let mut result = tensor(interp, bound, 0)?;
    let parts = match arg(bound, 1) {
        Value::Tuple(parts) => parts.to_vec(),
        one => vec![one],
    };
    let (rank, mut used) = (result.shape.len(), 0);
    for (at, part) in parts.iter().enumerate() {
        match part {
            Value::None => result = expand_dims(&result, at),
            Value::Slice(bounds) if bounds.iter().all(|bound| matches!(bound, Value::None)) => {
                used += 1;
                if used > rank {
                    return interp.raise(format!("too many indices for a tensor of {rank} dimensions"));
                }
            }
            Value::Unknown(why) => return interp.unknown(why.clone()),
            _ => return interp.raise("a tensor is indexed with `:` and `None` only"),
        }
    }
    Ok(Value::Tensor(result))
}

/// With a dimension of size 1 put in; a slice of a layout becomes what it is a slice of.
pub(super) fn expand_dims<'a>(source: &Tensor<'a>, axis: usize) -> Tensor<'a> {
    let mut shape = source.shape.to_vec();
    shape.insert(axis.min(shape.len()), 1);
    let layout = match &*source.layout {
        Value::Object(object) if object.class.path == "gl.SliceLayout" => {
            operand::field(object, "parent").cloned().unwrap_or(Value::None)
        }
        _ => Value::None,
    };
    Tensor { ssa: None, dtype: source.dtype, shape: shape.into(), layout: Rc::new(layout), constant: None }
}

/// The slice of a layout without one dimension; not known where the layout is not.
pub(super) fn slice_layout<'a>(interp: &mut Interp<'a>, axis: usize, parent: &Value<'a>) -> Value<'a> {
    if !matches!(parent, Value::Object(_)) {
        return Value::None;
    }
    let Some(Value::LibClass(class)) = interp.library.lookup("gl.SliceLayout", interp.version) else {
        return Value::None;
    };
    let args = Args { pos: vec![Value::Int(axis as i128), parent.clone()], named: Vec::new() };
    class.call(interp, args).unwrap_or(Value::None)
}

fn broadcast<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (a, b) = (tensor(interp, bound, 0)?, tensor(interp, bound, 1)?);
    let (shape, layout) = super::shapes::broadcast(interp, &[&a, &b])?;
    let both = [&a, &b].map(|of| opaque(interp, of.dtype, &shape, layout.clone()));
    Ok(Value::Tuple(Rc::from(both)))
}

fn broadcast_to<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let source = tensor(interp, bound, 0)?;
    let shape = shape_of(interp, &bound.rest, "shape")?;
    Ok(opaque(interp, source.dtype, &shape, (*source.layout).clone()))
}

/// The same elements in another order along a dimension.
fn same<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let source = tensor(interp, bound, 0)?;
    if let Some(dim @ Value::Int(_)) = operand::given(bound, "dim") {
        axis_of(interp, &dim.clone(), source.shape.len())?;
    }
    Ok(opaque(interp, source.dtype, &source.shape, Value::None))
}

/// `join`, with the new dimension laid into the last one.
fn interleave<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (a, b) = (tensor(interp, bound, 0)?, tensor(interp, bound, 1)?);
    let (shape, _) = super::shapes::broadcast(interp, &[&a, &b])?;
    let mut shape = shape.to_vec();
    match shape.last_mut() {
        Some(size) => *size = size.saturating_mul(2),
        None => shape.push(2),
    }
    Ok(opaque(interp, a.dtype, &shape, Value::None))
}

fn squeeze<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let source = tensor(interp, bound, 0)?;
    let axis = axis_of(interp, &arg(bound, 1), source.shape.len())?;
    let mut shape = source.shape.to_vec();
    if shape.get(axis) != Some(&1) {
        return interp.raise(format!("dimension {axis} of {shape:?} is not of size 1"));
    }
    shape.remove(axis);
    Ok(opaque(interp, source.dtype, &shape, Value::None))
}

fn join<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (a, b) = (tensor(interp, bound, 0)?, tensor(interp, bound, 1)?);
    let (shape, _) = super::shapes::broadcast(interp, &[&a, &b])?;
    if shape.is_empty() {
        return interp.raise("scalars cannot be joined");
    }
    let shape: Vec<i64> = shape.iter().copied().chain([2]).collect();
    Ok(opaque(interp, a.dtype, &shape, Value::None))
}

fn split<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let source = tensor(interp, bound, 0)?;
    match source.shape.split_last() {
        Some((2, shape)) => {
            let half = |interp: &mut Interp<'a>| opaque(interp, source.dtype, shape, Value::None);
            Ok(Value::Tuple(Rc::from([half(interp), half(interp)])))
        }
        _ => interp.raise(format!("only a tensor whose last dimension is 2 is split, not {:?}", source.shape)),
    }
}

fn ravel<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let source = tensor(interp, bound, 0)?;
    let elements: i64 = source.shape.iter().product();
    Ok(interp.registers(source.dtype, &[elements], Value::None))
}

fn gather<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    exchange(interp)?;
    let (source, index) = (tensor(interp, bound, 0)?, tensor(interp, bound, 1)?);
    Ok(opaque(interp, source.dtype, &index.shape, (*index.layout).clone()))
}

fn item<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let source = tensor(interp, bound, 0)?;
    scalar(interp, &source)
}

fn scalar<'a>(interp: &mut Interp<'a>, of: &Tensor<'a>) -> Result<Value<'a>, Stop> {
    Ok(opaque(interp, of.dtype, &[], Value::None))
}
