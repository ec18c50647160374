//! Tensor descriptors of plain Triton: blocks of a tensor in global memory, loaded and stored as registers.

use std::rc::Rc;

use super::shapes::{exchange, pointee, shape_of, tensor};
use crate::operand;
use crate::values::arg;
use dialects::Tt;
use python::emit::{Attr, Op, Ssa};
use python::interp::{Eval, Interp, Stop};
use python::library::types::descriptor_type;
use python::library::{Bound, NOTHING, Part, Row};
use python::value::{DType, DescKind, Tensor, TensorDesc, Value};

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("tl.make_tensor_descriptor", "base, shape, strides, block_shape, padding_option='zero'", 4, make),
        Row::new("tl._experimental_make_tensor_descriptor", "base, shape, strides, block_shape", 4, make).until(3),
        Row::new("tl.load_tensor_descriptor", "desc, offsets", 4, load),
        Row::new("tl.store_tensor_descriptor", "desc, offsets, value", 4, store),
        Row::new("tensor_descriptor.load", "self, offsets", 4, load),
        Row::new("tensor_descriptor.store", "self, offsets, value", 4, store),
        Row::new("tensor_descriptor.atomic_add", "self, offsets, value", 4, |i, b| reduce(i, b, "add")),
        Row::new("tensor_descriptor.atomic_min", "self, offsets, value", 4, |i, b| reduce(i, b, "min")),
        Row::new("tensor_descriptor.atomic_max", "self, offsets, value", 4, |i, b| reduce(i, b, "max")),
        Row::new("tensor_descriptor.atomic_and", "self, offsets, value", 4, |i, b| reduce(i, b, "and")),
        Row::new("tensor_descriptor.atomic_or", "self, offsets, value", 4, |i, b| reduce(i, b, "or")),
        Row::new("tensor_descriptor.atomic_xor", "self, offsets, value", 4, |i, b| reduce(i, b, "xor")),
        Row::new("tensor_descriptor.gather", "self, x_offsets, y_offset", 4, gather),
        Row::new("tensor_descriptor.scatter", "self, value, x_offsets, y_offset", 4, scatter),
    ],
    ..NOTHING
};

/// A descriptor with what its blocks hold outside of the tensor, where that is not zero.
///
/// # Errors
///
/// Where Triton would refuse it.
pub fn padded<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, dtype: DType, op: Op) -> Result<Op, Stop> {
    match operand::given(bound, "padding_option") {
        Some(Value::Str(name)) if &**name == "nan" && dtype.is_float() => Ok(op.attr("padding", Attr::Int(2, "i32"))),
        Some(Value::Str(name)) if &**name == "nan" => interp.raise("blocks of integers are not padded with `nan`"),
        Some(Value::Str(name)) if &**name != "zero" => {
            interp.raise(format!("`padding_option` is \"zero\" or \"nan\", not \"{name}\""))
        }
        _ => Ok(op),
    }
}

/// A scalar of this type as a value.
fn sized<'a>(interp: &mut Interp<'a>, value: &Value<'a>, dtype: DType, name: &str) -> Result<Value<'a>, Stop> {
    let scalar = interp.scalar_tensor(value, dtype)?;
    if !scalar.shape.is_empty() {
        return interp.raise(format!("`{name}` has a tensor, and numbers are asked for"));
    }
    let ssa = interp.ssa(&scalar);
    Ok(Value::Tensor(Tensor { ssa: Some(ssa), ..scalar }))
}

fn make<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let base = tensor(interp, bound, 0)?;
    let dtype = pointee(interp, &base)?;
    let sizes = operand::list(interp, &arg(bound, 1), "shape")?;
    let steps = operand::list(interp, &arg(bound, 2), "strides")?;
    let block = shape_of(interp, &[arg(bound, 3)], "block_shape")?;
    if !(1..=5).contains(&sizes.len()) || steps.len() != sizes.len() || block.len() != sizes.len() {
        return interp.raise("`shape`, `strides` and `block_shape` have the same number of dimensions, from 1 to 5");
    }
    if steps.last().is_some_and(|step| matches!(step, Value::Int(step) if *step != 1)) {
        return interp.raise("the last stride of a tensor descriptor is 1");
    }
    let mut shape = Vec::new();
    for size in &sizes {
        shape.push(sized(interp, size, DType::Int32, "shape")?);
    }
    let mut strides = Vec::new();
    for step in &steps {
        strides.push(sized(interp, step, DType::Int64, "strides")?);
    }
    let ssas = |values: &[Value<'a>]| -> Vec<Ssa> {
        values.iter().filter_map(|value| if let Value::Tensor(tensor) = value { tensor.ssa } else { None }).collect()
    };
    let ty = descriptor_type(interp, DescKind::Tiled, dtype, &block, &Value::None)?;
    let pointer = interp.ssa(&base);
    let op = Op::new(Tt::MakeTensorDescriptor)
        .operand("base", pointer)
        .operands("shape", &ssas(&shape))
        .operands("strides", &ssas(&strides));
    let op = padded(interp, bound, dtype, op)?;
    let ssa = interp.emit_value(op.result("result", ty))?;
    let (kind, layout) = (DescKind::Tiled, Value::None);
    Ok(Value::TensorDesc(Rc::new(TensorDesc { ssa, kind, dtype, block_shape: block, layout, shape, strides })))
}

/// The descriptor of a call, and the numbers of its block's first element.
fn place<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Result<(Rc<TensorDesc<'a>>, Vec<Ssa>), Stop> {
    let desc = operand::descriptor(interp, &arg(bound, 0), "desc")?;
    let offsets = operand::list(interp, &arg(bound, 1), "offsets")?;
    if offsets.len() != desc.block_shape.len() {
        return interp.raise(format!("{} offsets for a block of {} dimensions", offsets.len(), desc.block_shape.len()));
    }
    let mut at = Vec::new();
    for offset in &offsets {
        at.push(interp.scalar(offset, DType::Int32)?);
    }
    Ok((desc, at))
}

fn load<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (desc, at) = place(interp, bound)?;
    let op = Op::new(Tt::DescriptorLoad).operand("desc", desc.ssa).operands("indices", &at);
    let extent = (Rc::from(desc.block_shape.as_slice()), Rc::new(Value::None));
    Ok(Value::Tensor(interp.register_op(op, "result", desc.dtype, &extent)))
}

/// What is stored, in the element type of the descriptor.
fn stored<'a>(interp: &mut Interp<'a>, value: &Value<'a>, desc: &TensorDesc<'a>, shape: &[i64]) -> Result<Ssa, Stop> {
    let value = operand::moved(interp, value, "value", desc.dtype, shape)?;
    if *value.shape != *shape {
        return interp.raise(format!("a block of {shape:?} is stored, and the value has {:?}", value.shape));
    }
    let value = interp.cast(&value, desc.dtype)?;
    Ok(interp.ssa(&value))
}

fn store<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (desc, at) = place(interp, bound)?;
    let value = stored(interp, &arg(bound, 2), &desc, &desc.block_shape)?;
    let op = Op::new(Tt::DescriptorStore).operand("desc", desc.ssa).operand("src", value);
    interp.emit_effect(op.operands("indices", &at))
}

fn reduce<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, kind: &str) -> Eval<'a> {
    let (desc, at) = place(interp, bound)?;
    let value = stored(interp, &arg(bound, 2), &desc, &desc.block_shape)?;
    let op = Op::new(Tt::DescriptorReduce).operand("desc", desc.ssa).operand("src", value).attr("kind", kind);
    interp.emit_effect(op.operands("indices", &at))
}

/// The rows that a gather or scatter chooses: their offsets, the first column, and the shape of all.
struct Rows {
    x: Ssa,
    y: Ssa,
    shape: Vec<i64>,
}

fn rows<'a>(interp: &mut Interp<'a>, x: &Value<'a>, y: &Value<'a>, desc: &TensorDesc<'a>) -> Result<Rows, Stop> {
    let x = operand::tensor(interp, x, "x_offsets")?;
    let ([count], [1, columns]) = (&*x.shape, desc.block_shape.as_slice()) else {
        return interp.raise("rows are chosen by one dimension of offsets, from a descriptor whose block is one row");
    };
    let shape = vec![*count, *columns];
    let y = interp.scalar(y, DType::Int32)?;
    Ok(Rows { x: interp.ssa(&x), y, shape })
}

fn gather<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    exchange(interp)?;
    let desc = operand::descriptor(interp, &arg(bound, 0), "self")?;
    let rows = rows(interp, &arg(bound, 1), &arg(bound, 2), &desc)?;
    let op = Op::new(Tt::DescriptorGather).operand("desc", desc.ssa);
    let op = op.operand("x_offsets", rows.x).operand("y_offset", rows.y);
    let extent = (rows.shape.into(), Rc::new(Value::None));
    Ok(Value::Tensor(interp.register_op(op, "result", desc.dtype, &extent)))
}

fn scatter<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let desc = operand::descriptor(interp, &arg(bound, 0), "self")?;
    let rows = rows(interp, &arg(bound, 2), &arg(bound, 3), &desc)?;
    let value = stored(interp, &arg(bound, 1), &desc, &rows.shape)?;
    let op = Op::new(Tt::DescriptorScatter).operand("desc", desc.ssa).operand("src", value);
    interp.emit_effect(op.operand("x_offsets", rows.x).operand("y_offset", rows.y))
}
