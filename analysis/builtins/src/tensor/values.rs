//! Tensors from nothing: ranges, constants; conversions of their layout.

use std::rc::Rc;

use super::shapes::{exchange, layout, shape_of, tensor};
use crate::operand;
use crate::values::arg;
use dialects::Tt;
use python::emit::Op;
use python::interp::{Eval, Interp};
use python::library::{Bound, NOTHING, Part, Row};
use python::value::{DType, Tensor, Value};

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("gl.arange", "start, end, layout=None", 4, arange),
        Row::new("gl.full", "shape, value, dtype, layout=None", 4, full),
        Row::new("gl.zeros", "shape, dtype, layout=None", 4, zeros),
        Row::new("gl.full_like", "input, value, shape=None, dtype=None, layout=None", 4, full_like),
        Row::new("tl.zeros_like", "input", 4, zeros_like),
        Row::new("gl.zeros_like", "input, shape=None, dtype=None, layout=None", 4, zeros_like),
        Row::new("gl.convert_layout", "value, layout, assert_trivial=False", 4, convert),
        Row::new("gl.set_auto_layout", "value, layout", 5, convert),
        Row::new("gl.expect_zero", "x, mask", 8, same),
        Row::new("gl.distributed_type", "element_ty, shape, layout", 4, distributed_type),
    ],
    ..NOTHING
};

fn arange<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let start = operand::int(interp, &arg(bound, 0), "start")?;
    let end = operand::int(interp, &arg(bound, 1), "end")?;
    if end <= start {
        return interp.raise("the end of `arange` must be greater than its start");
    }
    let size = end - start;
    if size & (size - 1) != 0 {
        return interp.raise(format!("the size of `arange` must be a power of two, and is {size}"));
    }
    interp.check_block(&[size])?;
    let extent = (Rc::from([size]), Rc::new(layout(bound.at(2))));
    let op = Op::new(Tt::MakeRange).attr("end", end).attr("start", start);
    Ok(Value::Tensor(interp.register_op(op, "result", DType::Int32, &extent)))
}

fn filled<'a>(interp: &mut Interp<'a>, shape: &[i64], value: &Value<'a>, dtype: DType, of: Value<'a>) -> Eval<'a> {
    interp.check_block(shape)?;
    let extent = (Rc::from(shape), Rc::new(of));
    if let Value::Tensor(tensor) = value
        && !tensor.shape.is_empty()
    {
        // A tensor of one element is the value of all.
        let one = super::reshape::unsplat(interp, tensor);
        let one = interp.cast(&one, dtype)?;
        return Ok(Value::Tensor(interp.shaped(&one, &extent)));
    }
    Ok(Value::Tensor(interp.filled(value, dtype, &extent)?))
}

fn full<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let shape = shape_of(interp, &[arg(bound, 0)], "shape")?;
    let dtype = operand::dtype(interp, &arg(bound, 2), "dtype")?;
    filled(interp, &shape, &arg(bound, 1), dtype, layout(bound.at(3)))
}

fn zeros<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let shape = shape_of(interp, &[arg(bound, 0)], "shape")?;
    let dtype = operand::dtype(interp, &arg(bound, 1), "dtype")?;
    filled(interp, &shape, &Value::Int(0), dtype, layout(bound.at(2)))
}

fn full_like<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let value = arg(bound, 1);
    after(interp, bound, &value)
}

fn zeros_like<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    after(interp, bound, &Value::Int(0))
}

fn after<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, value: &Value<'a>) -> Eval<'a> {
    let input = tensor(interp, bound, 0)?;
    let shape = match operand::given(bound, "shape") {
        Some(shape) => shape_of(interp, std::slice::from_ref(shape), "shape")?,
        None => input.shape.to_vec(),
    };
    let dtype = match operand::given(bound, "dtype") {
        Some(dtype) => operand::dtype(interp, dtype, "dtype")?,
        None => input.dtype,
    };
    let of = match operand::given(bound, "layout") {
        Some(given) => layout(Some(given)),
        None => (*input.layout).clone(),
    };
    filled(interp, &shape, value, dtype, of)
}

fn convert<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    exchange(interp)?;
    let value = tensor(interp, bound, 0)?;
    Ok(Value::Tensor(Tensor { layout: Rc::new(layout(bound.at(1))), ..value }))
}

fn same<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    tensor(interp, bound, 0).map(Value::Tensor)
}

/// The type of a tensor is known by a tensor of it.
fn distributed_type<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let dtype = operand::dtype(interp, &arg(bound, 0), "element_ty")?;
    let shape = shape_of(interp, &[arg(bound, 1)], "shape")?;
    Ok(interp.registers(dtype, &shape, layout(bound.at(2))))
}
