//! Reductions, scans and histograms.

use std::rc::Rc;

use super::elementwise::on_scalars;
use super::reshape::slice_layout;
use super::shapes::{axis_of, exchange, layout, opaque, tensor};
use crate::values::arg;
use python::interp::{Eval, Interp, Mode, Stop};
use python::library::operand;
use python::library::{Bound, NOTHING, Part, Row};
use python::value::{DType, Tensor, Value};

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("gl.sum", "input, axis=None, keep_dims=False, dtype=None", 4, sum),
        Row::new(
            "gl.max",
            "input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False",
            4,
            extreme,
        ),
        Row::new(
            "gl.min",
            "input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False",
            4,
            extreme,
        ),
        Row::new("gl.xor_sum", "input, axis=None, keep_dims=False", 4, fold),
        Row::new("gl.reduce_or", "input, axis=None, keep_dims=False", 4, fold),
        Row::new("gl.reduce", "input, axis, combine_fn, keep_dims=False", 4, reduce),
        Row::new("gl.cumsum", "input, axis=0, reverse=False, dtype=None", 4, scan),
        Row::new("gl.cumprod", "input, axis=0, reverse=False, dtype=None", 4, scan),
        Row::new("gl.associative_scan", "input, axis, combine_fn, reverse=False", 4, scan),
        Row::new("gl.histogram", "input, num_bins, mask=None, layout=None", 4, histogram),
        Row::new("tl.argmax", "input, axis, tie_break_left=True, keep_dims=False", 4, arg_extreme),
        Row::new("tl.argmin", "input, axis, tie_break_left=True, keep_dims=False", 4, arg_extreme),
        Row::new("tensor.sum", "self, axis=None, keep_dims=False, dtype=None", 4, sum),
        Row::new(
            "tensor.max",
            "self, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False",
            4,
            extreme,
        ),
        Row::new(
            "tensor.min",
            "self, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False",
            4,
            extreme,
        ),
        Row::new("tensor.argmax", "self, axis, tie_break_left=True, keep_dims=False", 4, arg_extreme),
        Row::new("tensor.argmin", "self, axis, tie_break_left=True, keep_dims=False", 4, arg_extreme),
        Row::new("tensor.xor_sum", "self, axis=None, keep_dims=False", 4, fold),
        Row::new("tensor.reduce_or", "self, axis=None, keep_dims=False", 4, fold),
        Row::new("tensor.reduce", "self, axis, combine_fn, keep_dims=False", 4, reduce),
        Row::new("tensor.cumsum", "self, axis=0, reverse=False, dtype=None", 4, scan),
        Row::new("tensor.cumprod", "self, axis=0, reverse=False, dtype=None", 4, scan),
        Row::new("tensor.associative_scan", "self, axis, combine_fn, reverse=False", 4, scan),
        Row::new("tensor.histogram", "self, num_bins", 4, histogram),
    ],
    ..NOTHING
};

/// The tensor without an axis, or without any.
fn reduced<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, of: &Tensor<'a>, dtype: DType) -> Eval<'a> {
    exchange(interp)?;
    let keep = operand::flag(interp, bound.get("keep_dims"), false, "keep_dims")?;
    let Some(axis) = operand::given(bound, "axis") else {
        let shape = if keep { vec![1; of.shape.len()] } else { Vec::new() };
        return Ok(opaque(interp, dtype, &shape, Value::None));
    };
    let axis = axis_of(interp, &axis.clone(), of.shape.len())?;
    let mut shape = of.shape.to_vec();
    if keep {
        if let Some(size) = shape.get_mut(axis) {
            *size = 1;
        }
        return Ok(opaque(interp, dtype, &shape, (*of.layout).clone()));
    }
    shape.remove(axis);
    let layout = slice_layout(interp, axis, &of.layout);
    Ok(opaque(interp, dtype, &shape, layout))
}

fn sum<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let source = tensor(interp, bound, 0)?;
    let dtype = match operand::given(bound, "dtype") {
        Some(dtype) => operand::dtype(interp, dtype, "dtype")?,
        None => match source.dtype {
            DType::UInt8 | DType::UInt16 => DType::UInt32,
            DType::Int1 | DType::Int8 | DType::Int16 => DType::Int32,
            other => other,
        },
    };
    reduced(interp, bound, &source, dtype)
}

fn extreme<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let source = tensor(interp, bound, 0)?;
    let values = reduced(interp, bound, &source, source.dtype)?;
    if !operand::flag(interp, bound.get("return_indices"), false, "return_indices")? {
        return Ok(values);
    }
    let indices = reduced(interp, bound, &source, DType::Int32)?;
    Ok(Value::Tuple(Rc::from([values, indices])))
}

fn arg_extreme<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let source = tensor(interp, bound, 0)?;
    reduced(interp, bound, &source, DType::Int32)
}

fn fold<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let source = tensor(interp, bound, 0)?;
    reduced(interp, bound, &source, source.dtype)
}

/// The tensors of a tuple, or the one.
fn sources<'a>(interp: &mut Interp<'a>, value: &Value<'a>) -> Result<(Vec<Tensor<'a>>, bool), Stop> {
    let Value::Tuple(several) = value else { return Ok((vec![operand::tensor(interp, value, "input")?], false)) };
    let mut tensors = Vec::new();
    for one in several.iter() {
        tensors.push(operand::tensor(interp, one, "input")?);
    }
    Ok((tensors, true))
}

fn reduce<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (sources, several) = sources(interp, &arg(bound, 0))?;
    combined(interp, &arg(bound, 2), &sources)?;
    exchange(interp)?;
    let mut results = Vec::new();
    for source in &sources {
        results.push(reduced(interp, bound, source, source.dtype)?);
    }
    Ok(one_or_all(results, several))
}

/// Runs a function that combines scalars once: for what Triton would refuse in it.
fn combined<'a>(interp: &mut Interp<'a>, function: &Value<'a>, sources: &[Tensor<'a>]) -> Result<(), Stop> {
    if interp.mode == Mode::Host || matches!(function, Value::Lib(_) | Value::Unknown(_) | Value::None) {
        return Ok(());
    }
    let dtypes: Vec<DType> = sources.iter().chain(sources).map(|source| source.dtype).collect();
    match on_scalars(interp, function, &dtypes) {
        // What it computes stays in registers.
        Err(Stop::Unknown(..)) => Ok(()),
        other => other.map(drop),
    }
}

fn one_or_all(mut results: Vec<Value<'_>>, several: bool) -> Value<'_> {
    match results.pop() {
        Some(one) if !several => one,
        Some(last) => {
            results.push(last);
            Value::Tuple(results.into())
        }
        None => Value::None,
    }
}

fn scan<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    exchange(interp)?;
    let (sources, several) = sources(interp, &arg(bound, 0))?;
    let mut results = Vec::new();
    for source in &sources {
        let dtype = match operand::given(bound, "dtype") {
            Some(dtype) => operand::dtype(interp, dtype, "dtype")?,
            None => source.dtype,
        };
        results.push(opaque(interp, dtype, &source.shape, (*source.layout).clone()));
    }
    Ok(one_or_all(results, several))
}

fn histogram<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    exchange(interp)?;
    let bins = operand::int(interp, &arg(bound, 1), "num_bins")?;
    Ok(interp.registers(DType::Int32, &[bins], layout(bound.get("layout"))))
}
