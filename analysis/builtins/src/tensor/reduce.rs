//! Reductions and scans, with what combines two elements as their region; histograms.

use std::rc::Rc;

use ruff_python_ast::{CmpOp, Operator};

use super::arith::choose;
use super::reshape::{expand_dims, reshaped, slice_layout};
use super::shapes::{axis_of, exchange, layout, opaque, tensor};
use crate::operand;
use crate::values::arg;
use dialects::{OpCode, Tt};
use python::emit::{Op, Region, Ssa, Type};
use python::interp::{Eval, ExecMode, Interp, Stop};
use python::library::{Args, Bound, NOTHING, Part, Row};
use python::value::{DType, Tensor, Value};

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("gl.sum", "input, axis=None, keep_dims=False, dtype=None", 4, sum),
        Row::new(
            "gl.max",
            "input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False",
            4,
            |i, b| extreme(i, b, true),
        ),
        Row::new(
            "gl.min",
            "input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False",
            4,
            |i, b| extreme(i, b, false),
        ),
        Row::new("gl.xor_sum", "input, axis=None, keep_dims=False", 4, xor_sum),
        Row::new("gl.reduce_or", "input, axis, keep_dims=False", 4, reduce_or),
        Row::new("gl.reduce", "input, axis, combine_fn, keep_dims=False", 4, reduce),
        Row::new("gl.cumsum", "input, axis=0, reverse=False, dtype=None", 4, |i, b| running(i, b, Operator::Add)),
        Row::new("gl.cumprod", "input, axis=0, reverse=False, dtype=None", 4, |i, b| running(i, b, Operator::Mult)),
        Row::new("gl.associative_scan", "input, axis, combine_fn, reverse=False", 4, scan),
        Row::new("gl.histogram", "input, num_bins, mask=None, layout=None", 4, histogram),
        Row::new("tl.argmax", "input, axis, tie_break_left=True, keep_dims=False", 4, |i, b| arg_extreme(i, b, true)),
        Row::new("tl.argmin", "input, axis, tie_break_left=True, keep_dims=False", 4, |i, b| arg_extreme(i, b, false)),
        Row::new("tensor.sum", "self, axis=None, keep_dims=False, dtype=None", 4, sum),
        Row::new(
            "tensor.max",
            "self, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False",
            4,
            |i, b| extreme(i, b, true),
        ),
        Row::new(
            "tensor.min",
            "self, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False",
            4,
            |i, b| extreme(i, b, false),
        ),
        Row::new("tensor.argmax", "self, axis, tie_break_left=True, keep_dims=False", 4, |i, b| {
            arg_extreme(i, b, true)
        }),
        Row::new("tensor.argmin", "self, axis, tie_break_left=True, keep_dims=False", 4, |i, b| {
            arg_extreme(i, b, false)
        }),
        Row::new("tensor.xor_sum", "self, axis=None, keep_dims=False", 4, xor_sum),
        Row::new("tensor.reduce_or", "self, axis, keep_dims=False", 4, reduce_or),
        Row::new("tensor.reduce", "self, axis, combine_fn, keep_dims=False", 4, reduce),
        Row::new("tensor.cumsum", "self, axis=0, reverse=False, dtype=None", 4, |i, b| running(i, b, Operator::Add)),
        Row::new("tensor.cumprod", "self, axis=0, reverse=False, dtype=None", 4, |i, b| running(i, b, Operator::Mult)),
        Row::new("tensor.associative_scan", "self, axis, combine_fn, reverse=False", 4, scan),
        Row::new("tensor.histogram", "self, num_bins, mask=None", 4, histogram),
    ],
    ..NOTHING
};

/// What combines elements: those that were combined so far, then one of each tensor.
type Combine<'c, 'a> = &'c mut dyn FnMut(&mut Interp<'a>, &[Value<'a>]) -> Result<Vec<Value<'a>>, Stop>;

/// The region of a reduction or a scan of elements of these types; none where it cannot be followed.
fn region<'a>(
    interp: &mut Interp<'a>,
    dtypes: &[DType],
    ends: Tt,
    combine: Combine<'_, 'a>,
) -> Result<Option<Region>, Stop> {
    let twice = dtypes.iter().chain(dtypes);
    let args: Vec<Ssa> = twice.clone().map(|dtype| interp.builder.fresh(dtype.ir())).collect();
    let elements: Vec<Value<'a>> = twice.zip(&args).map(|(dtype, ssa)| element(*dtype, *ssa)).collect();
    let made = interp.region(|interp| {
        let results = combine(interp, &elements)?;
        let mut returned = Vec::with_capacity(dtypes.len());
        for (value, dtype) in results.iter().zip(dtypes) {
            returned.push(interp.scalar(value, *dtype)?);
        }
        if returned.len() != dtypes.len() {
            return interp.raise(format!("{} values are combined to {}", dtypes.len(), returned.len()));
        }
        interp.emit(Op::new(ends).operands("result", &returned)).map(drop)
    });
    match made {
        Ok(((), region)) => Ok(Some(region.with_args(&args))),
        Err(Stop::Unknown(..)) => Ok(None),
        Err(other) => Err(other),
    }
}

/// A scalar that a region is given.
fn element<'a>(dtype: DType, ssa: Ssa) -> Value<'a> {
    let (shape, layout) = (Rc::from([]), Rc::new(Value::None));
    Value::Tensor(Tensor { ssa: Some(ssa), dtype, shape, layout, constant: None })
}

/// Emits a reduction or a scan; what its region computes is not known where it cannot be followed.
fn emitted<'a>(
    interp: &mut Interp<'a>,
    op: Op,
    region: Option<Region>,
    sources: &[Tensor<'a>],
    results: Vec<Tensor<'a>>,
) -> Result<Vec<Tensor<'a>>, Stop> {
    let operands: Vec<Ssa> = sources.iter().map(|source| interp.ssa(source)).collect();
    let types: Vec<Type> = results.iter().map(Tensor::ir).collect();
    let ssas = match region {
        Some(region) => interp.emit(op.operands("srcs", &operands).region(region).results("result", types))?,
        None => types.iter().map(|ty| interp.opaque(ty)).collect(),
    };
    Ok(results.into_iter().zip(ssas).map(|(result, ssa)| Tensor { ssa: Some(ssa), ..result }).collect())
}

/// Tensors of one shape without an axis, or without any; with it as 1 where `keep` says so.
fn reduced<'a>(
    interp: &mut Interp<'a>,
    sources: &[Tensor<'a>],
    axis: Option<&Value<'a>>,
    keep: bool,
    combine: Combine<'_, 'a>,
) -> Result<Vec<Tensor<'a>>, Stop> {
    exchange(interp)?;
    let Some(first) = sources.first() else { return interp.raise("nothing is reduced") };
    let rank = first.shape.len();
    if rank == 0 {
        return Ok(sources.to_vec());
    }
    let (axis, flat) = match axis {
        Some(axis) => (axis_of(interp, axis, rank)?, false),
        None => (0, true),
    };
    let elements: i64 = first.shape.iter().product();
    let sources: Vec<Tensor<'a>> = match flat && rank > 1 {
        true => sources.iter().map(|source| reshaped(interp, source, &[elements])).collect(),
        false => sources.to_vec(),
    };
    let mut results = Vec::new();
    for source in &sources {
        let mut shape = source.shape.to_vec();
        shape.remove(axis);
        let layout = slice_layout(interp, axis, &source.layout);
        results.push(Tensor {
            ssa: None,
            shape: shape.into(),
            layout: Rc::new(layout),
            constant: None,
            ..source.clone()
        });
    }
    let dtypes: Vec<DType> = sources.iter().map(|source| source.dtype).collect();
    let region = region(interp, &dtypes, Tt::ReduceReturn, combine)?;
    let op = Op::new(OpCode::from(Tt::Reduce)).attr("axis", axis as i64);
    let results = emitted(interp, op, region, &sources, results)?;
    if !keep {
        return Ok(results);
    }
    let kept = |interp: &mut Interp<'a>, result: &Tensor<'a>| match flat {
        false => expand_dims(interp, result, axis),
        true => interp.shaped(result, &(vec![1; rank].into(), Rc::new(Value::None))),
    };
    Ok(results.iter().map(|result| kept(interp, result)).collect())
}

/// Reduces one tensor as its call says: `axis`, `keep_dims`.
fn folded<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, of: Tensor<'a>, combine: Combine<'_, 'a>) -> Eval<'a> {
    let keep = operand::flag(interp, bound.get("keep_dims"), false, "keep_dims")?;
    let axis = operand::given(bound, "axis").cloned();
    let mut results = reduced(interp, &[of], axis.as_ref(), keep, combine)?;
    Ok(results.pop().map_or(Value::None, Value::Tensor))
}

/// One operator on the two elements.
fn by<'a>(op: Operator) -> impl FnMut(&mut Interp<'a>, &[Value<'a>]) -> Result<Vec<Value<'a>>, Stop> {
    move |interp, elements| match elements {
        [a, b] => Ok(vec![interp.binary(op, a, b)?]),
        _ => interp.raise("two elements are combined"),
    }
}

/// The type in which elements are added up.
fn sum_type<'a>(interp: &Interp<'a>, bound: &Bound<'a>, of: DType) -> Result<DType, Stop> {
    Ok(match operand::given(bound, "dtype") {
        Some(dtype) => operand::dtype(interp, dtype, "dtype")?,
        None if !of.is_int() || of.bits() >= 32 => of,
        None if of.is_unsigned() => DType::UInt32,
        None => DType::Int32,
    })
}

fn sum<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let source = tensor(interp, bound, 0)?;
    let dtype = sum_type(interp, bound, source.dtype)?;
    let source = interp.cast(&source, dtype)?;
    folded(interp, bound, source, &mut by(Operator::Add))
}

fn xor_sum<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let source = tensor(interp, bound, 0)?;
    folded(interp, bound, source, &mut by(Operator::BitXor))
}

fn reduce_or<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let source = tensor(interp, bound, 0)?;
    folded(interp, bound, source, &mut by(Operator::BitOr))
}

fn extreme<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, greatest: bool) -> Eval<'a> {
    if operand::flag(interp, bound.get("return_indices"), false, "return_indices")? {
        let left =
            operand::flag(interp, bound.get("return_indices_tie_break_left"), true, "return_indices_tie_break_left")?;
        let both = with_index(interp, bound, greatest, left)?;
        return Ok(Value::Tuple(both.into_iter().map(Value::Tensor).collect()));
    }
    let mut source = tensor(interp, bound, 0)?;
    if source.dtype.bits() < 32 {
        let wide = if source.dtype.is_float() { DType::Fp32 } else { DType::Int32 };
        source = interp.cast(&source, wide)?;
    }
    folded(interp, bound, source, &mut extremes(greatest))
}

fn extremes<'a>(greatest: bool) -> impl FnMut(&mut Interp<'a>, &[Value<'a>]) -> Result<Vec<Value<'a>>, Stop> {
    move |interp, elements| match elements {
        [a, b] => Ok(vec![super::arith::extreme(interp, a, b, greatest)?]),
        _ => interp.raise("two elements are combined"),
    }
}

/// The greatest or least element along an axis, kept as a dimension of size 1.
pub(super) fn extreme_along<'a>(interp: &mut Interp<'a>, of: &Tensor<'a>, axis: &Value<'a>) -> Eval<'a> {
    let mut results = reduced(interp, std::slice::from_ref(of), Some(axis), true, &mut extremes(true))?;
    Ok(results.pop().map_or(Value::None, Value::Tensor))
}

/// The sum along an axis, kept as a dimension of size 1.
pub(super) fn sum_along<'a>(interp: &mut Interp<'a>, of: &Tensor<'a>, axis: &Value<'a>) -> Eval<'a> {
    let mut results = reduced(interp, std::slice::from_ref(of), Some(axis), true, &mut by(Operator::Add))?;
    Ok(results.pop().map_or(Value::None, Value::Tensor))
}

fn arg_extreme<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, greatest: bool) -> Eval<'a> {
    let left = operand::flag(interp, bound.get("tie_break_left"), true, "tie_break_left")?;
    let mut both = with_index(interp, bound, greatest, left)?;
    Ok(both.pop().map_or(Value::None, Value::Tensor))
}

/// The greatest or least element, and where it stands; of equal ones the first, where `left` says so.
fn with_index<'a>(
    interp: &mut Interp<'a>,
    bound: &Bound<'a>,
    greatest: bool,
    left: bool,
) -> Result<Vec<Tensor<'a>>, Stop> {
    let mut source = tensor(interp, bound, 0)?;
    let keep = operand::flag(interp, bound.get("keep_dims"), false, "keep_dims")?;
    let axis = operand::given(bound, "axis").cloned();
    let rank = source.shape.len();
    if axis.is_none() && rank > 1 {
        let elements = source.shape.iter().product();
        source = reshaped(interp, &source, &[elements]);
    }
    let at = match &axis {
        Some(axis) => axis_of(interp, axis, rank.max(1))?,
        None => 0,
    };
    let size = source.shape.get(at).copied().unwrap_or(1);
    let layout = Rc::new(Value::None);
    let range = Op::new(Tt::MakeRange).attr("end", size).attr("start", 0);
    let mut index = interp.register_op(range, "result", DType::Int32, &(Rc::from([size]), layout.clone()));
    for other in (0..source.shape.len()).filter(|other| *other != at) {
        index = interp.expanded(&index, other, &layout);
    }
    let index = interp.shaped(&index, &(source.shape.clone(), source.layout.clone()));
    let wins = if greatest { CmpOp::Gt } else { CmpOp::Lt };
    let mut combine = |interp: &mut Interp<'a>, elements: &[Value<'a>]| {
        let [a, i, b, j] = elements else { return interp.raise("two elements with their places are combined") };
        let mut first = interp.compare(wins, a, b)?;
        if left {
            let (equal, before) = (interp.compare(CmpOp::Eq, a, b)?, interp.compare(CmpOp::Lt, i, j)?);
            let tie = interp.binary(Operator::BitAnd, &equal, &before)?;
            first = interp.binary(Operator::BitOr, &first, &tie)?;
        }
        let Value::Tensor(first) = first else { return interp.unknown("a comparison is no tensor") };
        Ok(vec![choose(interp, &first, a, b)?, choose(interp, &first, i, j)?])
    };
    let along = Value::Int(at as i128);
    let results = reduced(interp, &[source, index], Some(&along), keep && axis.is_some(), &mut combine)?;
    if keep && axis.is_none() {
        let ones = (vec![1; rank].into(), layout);
        return Ok(results.iter().map(|result| interp.shaped(result, &ones)).collect());
    }
    Ok(results)
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

/// Calls the function that a kernel combines elements with.
fn called<'a>(interp: &mut Interp<'a>, function: &Value<'a>, elements: &[Value<'a>]) -> Result<Vec<Value<'a>>, Stop> {
    if interp.mode == ExecMode::Host || matches!(function, Value::Lib(_) | Value::Unknown(_) | Value::None) {
        return interp.unknown("the function that combines is not known");
    }
    let at = interp.at;
    let args = Args { pos: elements.to_vec(), named: Vec::new() };
    Ok(match interp.call(function, args, at)? {
        Value::Tuple(results) => results.to_vec(),
        one => vec![one],
    })
}

fn reduce<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (sources, several) = sources(interp, &arg(bound, 0))?;
    let function = arg(bound, 2);
    let keep = operand::flag(interp, bound.get("keep_dims"), false, "keep_dims")?;
    let axis = operand::given(bound, "axis").cloned();
    let mut combine = |interp: &mut Interp<'a>, elements: &[Value<'a>]| called(interp, &function, elements);
    let results = reduced(interp, &sources, axis.as_ref(), keep, &mut combine)?;
    Ok(one_or_all(results.into_iter().map(Value::Tensor).collect(), several))
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
    let (sources, several) = sources(interp, &arg(bound, 0))?;
    let function = arg(bound, 2);
    let mut combine = |interp: &mut Interp<'a>, elements: &[Value<'a>]| called(interp, &function, elements);
    let results = scanned(interp, bound, &sources, &mut combine)?;
    Ok(one_or_all(results.into_iter().map(Value::Tensor).collect(), several))
}

fn running<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, op: Operator) -> Eval<'a> {
    let source = tensor(interp, bound, 0)?;
    let dtype = sum_type(interp, bound, source.dtype)?;
    let source = interp.cast(&source, dtype)?;
    let mut results = scanned(interp, bound, &[source], &mut by(op))?;
    Ok(results.pop().map_or(Value::None, Value::Tensor))
}

fn scanned<'a>(
    interp: &mut Interp<'a>,
    bound: &Bound<'a>,
    sources: &[Tensor<'a>],
    combine: Combine<'_, 'a>,
) -> Result<Vec<Tensor<'a>>, Stop> {
    exchange(interp)?;
    let rank = sources.first().map_or(0, |source| source.shape.len());
    if rank == 0 {
        return interp.raise("a scan runs along an axis of a tensor");
    }
    let axis = match operand::given(bound, "axis").cloned() {
        Some(axis) => axis_of(interp, &axis, rank)?,
        None => 0,
    };
    let reverse = operand::flag(interp, bound.get("reverse"), false, "reverse")?;
    let dtypes: Vec<DType> = sources.iter().map(|source| source.dtype).collect();
    let region = region(interp, &dtypes, Tt::ScanReturn, combine)?;
    let op = Op::new(OpCode::from(Tt::Scan)).attr("axis", axis as i64).attr("reverse", reverse);
    let results = sources.iter().map(|source| Tensor { ssa: None, ..source.clone() }).collect();
    emitted(interp, op, region, sources, results)
}

fn histogram<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    exchange(interp)?;
    let source = tensor(interp, bound, 0)?;
    let bins = operand::int(interp, &arg(bound, 1), "num_bins")?;
    if source.shape.len() != 1 {
        return Ok(opaque(interp, DType::Int32, &[bins], layout(bound.get("layout"))));
    }
    let mut op = Op::new(Tt::Histogram).operand("src", interp.ssa(&source));
    if let Some(mask) = operand::given(bound, "mask").cloned() {
        let mask = interp.filled(&mask, DType::Int1, &(source.shape.clone(), source.layout.clone()))?;
        op = op.operand("mask", interp.ssa(&mask));
    }
    let extent = (Rc::from([bins]), Rc::new(layout(bound.get("layout"))));
    Ok(Value::Tensor(interp.register_op(op, "result", DType::Int32, &extent)))
}
