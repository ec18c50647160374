//! Shapes of register tensors: reshaping, permuting, splitting, broadcasting, slices.

use std::rc::Rc;

use ruff_python_ast::Operator;

use super::shapes::{axis_of, exchange, extent_of, opaque, shape_of, tensor};
use crate::operand;
use crate::values::arg;
use dialects::Tt;
use python::emit::Op;
use python::eval::registers::Extent;
use python::interp::{Eval, Interp, Stop};
use python::library::{Args, Bound, NOTHING, Part, Row};
use python::value::{DType, Tensor, Value};

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("gl.reshape", "input, *shape, can_reorder=False", 4, reshape),
        Row::new("gl.permute", "input, *dims", 4, permute),
        Row::new("tl.trans", "input, *dims", 4, permute),
        Row::new("gl.expand_dims", "input, axis", 4, expand),
        Row::new("gl.broadcast", "input, other", 4, broadcast),
        Row::new("gl.join", "a, b", 4, join),
        Row::new("gl.split", "a", 4, split),
        Row::new("gl.ravel", "x, can_reorder=False", 4, ravel),
        Row::new("gl.gather", "src, index, axis", 4, gather),
        Row::new("tl.broadcast_to", "input, *shape", 4, broadcast_to),
        Row::new("tl.view", "input, *shape", 4, reshape),
        Row::new("tl.interleave", "a, b", 4, interleave),
        Row::new("tl.flip", "x, dim=None", 4, flip),
        Row::new("tl.sort", "x, dim=None, descending=False", 4, sorted),
        Row::new("tl.topk", "x, k, dim=None, descending=True", 4, topk),
        Row::new("tl.cat", "input, other, can_reorder=False, dim=0", 4, cat),
        Row::new("tl.squeeze", "x, dim", 9, squeeze),
        Row::new("tl.unsqueeze", "x, dim", 9, expand),
        Row::new("tensor.flip", "self, dim=None", 4, flip),
        Row::new("tensor.sort", "self, dim=None, descending=False", 4, sorted),
        Row::new("tensor.reshape", "self, *shape, can_reorder=False", 4, reshape),
        Row::new("tensor.view", "self, *shape", 4, reshape),
        Row::new("tensor.permute", "self, *dims", 4, permute),
        Row::new("tensor.trans", "self, *dims", 4, permute),
        Row::new("tensor.@T", "self", 4, permute),
        Row::new("tensor.expand_dims", "self, axis", 4, expand),
        Row::new("tensor.broadcast_to", "self, *shape", 4, broadcast_to),
        Row::new("tensor.split", "self", 4, split),
        Row::new("tensor.ravel", "self, can_reorder=False", 4, ravel),
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
    interp.check_block(&shape)?;
    Ok(Value::Tensor(reshaped(interp, &source, &shape)))
}

/// The same elements in another shape.
pub(super) fn reshaped<'a>(interp: &mut Interp<'a>, source: &Tensor<'a>, shape: &[i64]) -> Tensor<'a> {
    let extent = plain(shape);
    if source.shape.is_empty() {
        return interp.shaped(source, &extent);
    }
    if *source.shape == *shape {
        return source.clone();
    }
    if shape.is_empty() {
        return unsplat(interp, source);
    }
    let src = interp.ssa(source);
    interp.register_op(Op::new(Tt::Reshape).operand("src", src), "result", source.dtype, &extent)
}

/// A shape of registers whose layout is not known.
fn plain<'a>(shape: &[i64]) -> Extent<'a> {
    (shape.into(), Rc::new(Value::None))
}

/// The only element of a tensor.
pub(super) fn unsplat<'a>(interp: &mut Interp<'a>, source: &Tensor<'a>) -> Tensor<'a> {
    if source.shape.is_empty() {
        return source.clone();
    }
    let src = interp.ssa(source);
    interp.register_op(Op::new(Tt::Unsplat).operand("src", src), "result", source.dtype, &plain(&[]))
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
    let order: Vec<i64> = dims.iter().map(|dim| *dim as i64).collect();
    let src = interp.ssa(&source);
    let op = Op::new(Tt::Trans).operand("src", src).attr("order", order);
    Ok(Value::Tensor(interp.register_op(op, "result", source.dtype, &plain(&shape))))
}

fn expand<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let source = tensor(interp, bound, 0)?;
    let axis = axis_of(interp, &arg(bound, 1), source.shape.len() + 1)?;
    if matches!(arg(bound, 1), Value::Int(axis) if axis >= 0) {
        interp.check_slice(&source, axis)?;
    }
    Ok(Value::Tensor(expand_dims(interp, &source, axis)))
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
            Value::None => {
                // Up to 3.8 a dimension too many counted for nothing.
                let at = at.min(result.shape.len());
                interp.check_slice(&result, at)?;
                result = expand_dims(interp, &result, at);
            }
            Value::Slice(bounds) if bounds.iter().all(|bound| matches!(bound, Value::None)) => {
                used += 1;
                if used > rank {
                    python::library::as_before(interp, interp.at, "counts dimensions that are not there", 8);
                }
            }
            Value::Unknown(why) => return interp.unknown(why.clone()),
            _ => return interp.raise("a tensor is indexed with `:` and `None` only"),
        }
    }
    Ok(Value::Tensor(result))
}

/// With a dimension of size 1 put in; a slice of a layout becomes what it is a slice of.
pub(super) fn expand_dims<'a>(interp: &mut Interp<'a>, source: &Tensor<'a>, axis: usize) -> Tensor<'a> {
    let layout = match &*source.layout {
        Value::Object(object) if object.class.path == "gl.SliceLayout" => {
            operand::field(object, "parent").cloned().unwrap_or(Value::None)
        }
        _ => Value::None,
    };
    interp.expanded(source, axis, &Rc::new(layout))
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
    let extent = interp.together(extent_of(&a), extent_of(&b))?;
    let both = [&a, &b].map(|of| Value::Tensor(interp.shaped(of, &extent)));
    Ok(Value::Tuple(Rc::from(both)))
}

fn broadcast_to<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let source = tensor(interp, bound, 0)?;
    let shape = shape_of(interp, &bound.rest, "shape")?;
    let fits = |(own, wanted): (&i64, &i64)| own == wanted || *own == 1;
    if !source.shape.is_empty() && (source.shape.len() != shape.len() || !source.shape.iter().zip(&shape).all(fits)) {
        return interp.raise(format!("{:?} cannot be broadcast to {shape:?}", source.shape));
    }
    interp.check_block(&shape)?;
    let extent = (shape.into(), source.layout.clone());
    Ok(Value::Tensor(interp.shaped(&source, &extent)))
}

/// The elements along one dimension from the last to the first, or along all.
fn flip<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    exchange(interp)?;
    let mut source = tensor(interp, bound, 0)?;
    let rank = source.shape.len();
    let axes = match operand::given(bound, "dim").cloned() {
        Some(dim) => vec![axis_of(interp, &dim, rank)?],
        None => (0..rank).collect(),
    };
    for axis in axes {
        let size = source.shape.get(axis).copied().unwrap_or(1);
        let range = Op::new(Tt::MakeRange).attr("end", size).attr("start", 0);
        let range = interp.register_op(range, "result", DType::Int32, &plain(&[size]));
        let mut index = interp.binary(Operator::Sub, &Value::Int(i128::from(size) - 1), &Value::Tensor(range))?;
        let Value::Tensor(tensor) = &mut index else { return interp.unknown("a flipped index is no tensor") };
        let mut tensor = tensor.clone();
        for at in (0..rank).filter(|at| *at != axis) {
            tensor = interp.expanded(&tensor, at, &Rc::new(Value::None));
        }
        let tensor = interp.shaped(&tensor, &extent_of(&source));
        source = gathered(interp, &source, &tensor, axis);
    }
    Ok(Value::Tensor(source))
}

/// The same elements in an order that is not followed.
fn sorted<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let source = tensor(interp, bound, 0)?;
    if let Some(dim @ Value::Int(_)) = operand::given(bound, "dim") {
        axis_of(interp, &dim.clone(), source.shape.len())?;
    }
    Ok(opaque(interp, source.dtype, &source.shape, Value::None))
}

/// The greatest elements along the last dimension.
fn topk<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let source = tensor(interp, bound, 0)?;
    let mut shape = source.shape.to_vec();
    let count = operand::int(interp, &arg(bound, 1), "k")?;
    if let Some(size) = shape.last_mut() {
        *size = count;
    }
    Ok(opaque(interp, source.dtype, &shape, Value::None))
}

/// `join`, with the new dimension laid into the last one.
fn interleave<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (a, b) = (tensor(interp, bound, 0)?, tensor(interp, bound, 1)?);
    let joined = joined(interp, &a, &b)?;
    let mut shape = joined.shape.to_vec();
    if shape.len() > 1 {
        shape.pop();
        if let Some(size) = shape.last_mut() {
            *size *= 2;
        }
    }
    Ok(Value::Tensor(reshaped(interp, &joined, &shape)))
}

fn squeeze<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let source = tensor(interp, bound, 0)?;
    let axis = axis_of(interp, &arg(bound, 1), source.shape.len())?;
    let mut shape = source.shape.to_vec();
    if shape.get(axis) != Some(&1) {
        return interp.raise(format!("dimension {axis} of {shape:?} is not of size 1"));
    }
    shape.remove(axis);
    Ok(Value::Tensor(reshaped(interp, &source, &shape)))
}

fn join<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (a, b) = (tensor(interp, bound, 0)?, tensor(interp, bound, 1)?);
    joined(interp, &a, &b).map(Value::Tensor)
}

/// Two tensors side by side in a new last dimension; two scalars as a tensor of two.
fn joined<'a>(interp: &mut Interp<'a>, a: &Tensor<'a>, b: &Tensor<'a>) -> Result<Tensor<'a>, Stop> {
    let mut extent = interp.together(extent_of(a), extent_of(b))?;
    let scalars = extent.0.is_empty();
    if scalars {
        extent = plain(&[1]);
    }
    let (a, b) = (interp.shaped(a, &extent), interp.shaped(b, &extent));
    let shape: Vec<i64> = extent.0.iter().copied().chain([2]).collect();
    let (left, right) = (interp.ssa(&a), interp.ssa(&b));
    let op = Op::new(Tt::Join).operand("lhs", left).operand("rhs", right);
    let joined = interp.register_op(op, "result", a.dtype, &plain(&shape));
    Ok(if scalars { reshaped(interp, &joined, &[2]) } else { joined })
}

fn cat<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (a, b) = (tensor(interp, bound, 0)?, tensor(interp, bound, 1)?);
    let ([left], [right]) = (&*a.shape, &*b.shape) else {
        return Ok(opaque(interp, a.dtype, &a.shape, Value::None));
    };
    let extent = plain(&[left + right]);
    let b = interp.cast(&b, a.dtype)?;
    let (left, right) = (interp.ssa(&a), interp.ssa(&b));
    let op = Op::new(Tt::Cat).operand("lhs", left).operand("rhs", right);
    Ok(Value::Tensor(interp.register_op(op, "result", a.dtype, &extent)))
}

fn split<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let mut source = tensor(interp, bound, 0)?;
    let pair = *source.shape == [2];
    if pair {
        source = reshaped(interp, &source, &[1, 2]);
    }
    let Some((2, shape)) = source.shape.split_last() else {
        return interp.raise(format!("only a tensor whose last dimension is 2 is split, not {:?}", source.shape));
    };
    let half = Tensor { ssa: None, shape: shape.into(), layout: Rc::new(Value::None), ..source.clone() };
    let src = interp.ssa(&source);
    let op = Op::new(Tt::Split).operand("src", src).result("outLHS", half.ir()).result("outRHS", half.ir());
    let results = interp.emit(op)?;
    let mut halves = Vec::new();
    for ssa in results {
        let half = Tensor { ssa: Some(ssa), ..half.clone() };
        halves.push(Value::Tensor(if pair { unsplat(interp, &half) } else { half }));
    }
    Ok(Value::Tuple(halves.into()))
}

fn ravel<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let source = tensor(interp, bound, 0)?;
    let elements: i64 = source.shape.iter().product();
    Ok(Value::Tensor(reshaped(interp, &source, &[elements])))
}

fn gather<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    exchange(interp)?;
    let (source, index) = (tensor(interp, bound, 0)?, tensor(interp, bound, 1)?);
    let axis = axis_of(interp, &arg(bound, 2), source.shape.len().max(1))?;
    Ok(Value::Tensor(gathered(interp, &source, &index, axis)))
}

fn gathered<'a>(interp: &mut Interp<'a>, source: &Tensor<'a>, index: &Tensor<'a>, axis: usize) -> Tensor<'a> {
    let (src, indices) = (interp.ssa(source), interp.ssa(index));
    let op = Op::new(Tt::Gather).operand("src", src).operand("indices", indices).attr("axis", axis as i64);
    interp.register_op(op, "result", source.dtype, &extent_of(index))
}

fn item<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let source = tensor(interp, bound, 0)?;
    Ok(Value::Tensor(unsplat(interp, &source)))
}
