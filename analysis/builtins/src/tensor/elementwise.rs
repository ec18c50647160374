//! Functions of each element: `exp`, `sqrt`, …, inline assembly.

use std::rc::Rc;

use ruff_python_ast::Operator;

use super::arith::operate;
use super::shapes::{broadcast, extent_of, opaque, tensor, together};
use crate::operand;
use crate::values::{arg, items};
use base::TextRange;
use dialects::{Arith, Math, Tt, Ttg, assembly};
use python::emit::{Attr, Op, Ssa, Type};
use python::interp::{Eval, Interp};
use python::library::Args;
use python::library::{Bound, NOTHING, Part, Row};
use python::specialization::Language;
use python::value::{DType, Tensor, Value};

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("gl.exp", "x", 4, |i, b| math(i, b, Math::Exp)),
        Row::new("gl.exp2", "x", 4, |i, b| math(i, b, Math::Exp2)),
        Row::new("gl.log", "x", 4, |i, b| math(i, b, Math::Log)),
        Row::new("gl.log2", "x", 4, |i, b| math(i, b, Math::Log2)),
        Row::new("gl.cos", "x", 4, |i, b| math(i, b, Math::Cos)),
        Row::new("gl.sin", "x", 4, |i, b| math(i, b, Math::Sin)),
        Row::new("gl.sqrt", "x", 4, |i, b| math(i, b, Math::Sqrt)),
        Row::new("gl.sqrt_rn", "x", 4, sqrt_rn),
        Row::new("gl.rsqrt", "x", 4, |i, b| math(i, b, Math::Rsqrt)),
        Row::new("gl.erf", "x", 4, |i, b| math(i, b, Math::Erf)),
        Row::new("gl.floor", "x", 4, |i, b| math(i, b, Math::Floor)),
        Row::new("gl.ceil", "x", 4, |i, b| math(i, b, Math::Ceil)),
        Row::new("gl.fdiv", "x, y, ieee_rounding=False, approx=False", 4, fdiv),
        Row::new("gl.div_rn", "x, y", 4, div_rn),
        Row::new("gl.fma", "x, y, z", 4, fma),
        Row::new("tl.sigmoid", "x", 4, sigmoid),
        Row::new("tl.softmax", "x, dim=None, *, keep_dims=None, ieee_rounding=False", 9, softmax),
        Row::new("tl.softmax", "x, dim=None, keep_dims=None, ieee_rounding=False", 4, softmax).until(8),
        Row::new("tensor.exp", "self", 4, |i, b| math(i, b, Math::Exp)),
        Row::new("tensor.exp2", "self", 4, |i, b| math(i, b, Math::Exp2)),
        Row::new("tensor.log", "self", 4, |i, b| math(i, b, Math::Log)),
        Row::new("tensor.log2", "self", 4, |i, b| math(i, b, Math::Log2)),
        Row::new("tensor.cos", "self", 4, |i, b| math(i, b, Math::Cos)),
        Row::new("tensor.sin", "self", 4, |i, b| math(i, b, Math::Sin)),
        Row::new("tensor.sqrt", "self", 4, |i, b| math(i, b, Math::Sqrt)),
        Row::new("tensor.sqrt_rn", "self", 4, sqrt_rn),
        Row::new("tensor.rsqrt", "self", 4, |i, b| math(i, b, Math::Rsqrt)),
        Row::new("tensor.erf", "self", 4, |i, b| math(i, b, Math::Erf)),
        Row::new("tensor.floor", "self", 4, |i, b| math(i, b, Math::Floor)),
        Row::new("tensor.ceil", "self", 4, |i, b| math(i, b, Math::Ceil)),
        Row::new("tensor.sigmoid", "self", 4, sigmoid),
        Row::new("tensor.softmax", "self, dim=None, keep_dims=None, ieee_rounding=False", 4, softmax),
        Row::new("gl.fp4_to_fp", "src, elem_type, axis", 7, fp4_to_fp),
        Row::new("gl.map_elementwise", "scalar_fn, *args, pack=1", 6, map_elementwise),
        Row::new(
            "gl.inline_asm_elementwise",
            "asm, constraints, args, dtype, is_pure, pack",
            4,
            inline_asm_elementwise,
        ),
        Row::effect("gl.inline_asm", "asm, constraints='', args=(), result_types=(), is_pure=False", 9, inline_asm),
        Row::new("gl.nvidia.blackwell.add2", "lhs, rhs, dtype=None", 8, |i, b| operate(i, b, Operator::Add)),
        Row::new("gl.nvidia.blackwell.sub2", "lhs, rhs, dtype=None", 8, |i, b| operate(i, b, Operator::Sub)),
        Row::new("gl.nvidia.blackwell.mul2", "lhs, rhs, dtype=None", 8, |i, b| operate(i, b, Operator::Mult)),
        Row::new("gl.nvidia.blackwell.min2", "lhs, rhs, dtype=None", 8, binary),
        Row::new("gl.nvidia.blackwell.max2", "lhs, rhs, dtype=None", 8, binary),
        Row::new("gl.nvidia.blackwell.fma2", "lhs, rhs, acc, dtype=None", 8, ternary),
        Row::new("gl.nvidia.rubin.add4", "lhs, rhs, dtype=None", 8, |i, b| operate(i, b, Operator::Add)),
        Row::new("gl.nvidia.rubin.sub4", "lhs, rhs, dtype=None", 8, |i, b| operate(i, b, Operator::Sub)),
        Row::new("gl.nvidia.rubin.mul4", "lhs, rhs, dtype=None", 8, |i, b| operate(i, b, Operator::Mult)),
        Row::new("gl.nvidia.rubin.fma4", "lhs, rhs, acc, dtype=None", 8, ternary),
    ],
    ..NOTHING
};

fn elementwise<'a>(interp: &mut Interp<'a>, of: &[Value<'a>], dtype: Option<DType>) -> Eval<'a> {
    let mut operands: Vec<Tensor<'a>> = Vec::new();
    for value in of {
        operands.push(operand::tensor(interp, value, "x")?);
    }
    let all: Vec<&Tensor<'a>> = operands.iter().collect();
    let (shape, layout) = broadcast(interp, &all)?;
    let widest = operands.iter().find(|operand| !operand.shape.is_empty()).or(operands.first());
    let dtype = dtype.or_else(|| widest.map(|operand| operand.dtype)).unwrap_or(DType::Fp32);
    Ok(opaque(interp, dtype, &shape, layout))
}

/// An op of `math` on floats.
fn math<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, op: Math) -> Eval<'a> {
    let x = tensor(interp, bound, 0)?;
    if !x.dtype.is_float() {
        return elementwise(interp, &[Value::Tensor(x)], None);
    }
    Ok(Value::Tensor(super::arith::unary(interp, op, &x)))
}

fn sqrt_rn<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let x = tensor(interp, bound, 0)?;
    let src = interp.ssa(&x);
    let op = Op::new(Tt::PreciseSqrt).operand("x", src);
    Ok(Value::Tensor(interp.register_op(op, "result", x.dtype, &extent_of(&x))))
}

/// A division of floats, by the op that rounds as it is asked for.
fn divided<'a>(interp: &mut Interp<'a>, x: &Value<'a>, y: &Value<'a>, op: Option<Tt>) -> Eval<'a> {
    let Some(op) = op else { return interp.binary(Operator::Div, x, y) };
    let (x, y) = super::arith::pair(interp, x, y)?;
    let (a, b) = (interp.ssa(&x), interp.ssa(&y));
    let op = Op::new(op).operand("x", a).operand("y", b);
    Ok(Value::Tensor(interp.register_op(op, "result", x.dtype, &extent_of(&x))))
}

fn fdiv<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let exact = operand::flag(interp, bound.get("ieee_rounding"), false, "ieee_rounding")?;
    let fast = operand::flag(interp, bound.get("approx"), false, "approx")?;
    let op = exact.then_some(Tt::PreciseDivf).or(fast.then_some(Tt::ApproxDivf));
    divided(interp, &arg(bound, 0), &arg(bound, 1), op)
}

fn div_rn<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    divided(interp, &arg(bound, 0), &arg(bound, 1), Some(Tt::PreciseDivf))
}

fn fma<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let of = [arg(bound, 0), arg(bound, 1), arg(bound, 2)];
    let extent = together(interp, &[&of[0], &of[1], &of[2]])?;
    let mut dtype = None;
    for value in of.iter().filter(|value| matches!(value, Value::Tensor(_))) {
        dtype = Some(match dtype {
            None => interp.common(value, value, false)?,
            Some(before) => {
                let before = Value::Tensor(Tensor {
                    ssa: None,
                    dtype: before,
                    shape: Rc::from([]),
                    layout: Rc::new(Value::None),
                    constant: None,
                });
                interp.common(&before, value, false)?
            }
        });
    }
    let dtype = dtype.unwrap_or(DType::Fp32);
    if !dtype.is_float() {
        return elementwise(interp, &of, Some(dtype));
    }
    let mut op = Op::new(Math::Fma);
    for (group, value) in ["a", "b", "c"].into_iter().zip(&of) {
        let value = interp.filled(value, dtype, &extent)?;
        op = op.operand(group, interp.ssa(&value));
    }
    Ok(Value::Tensor(interp.register_op(op, "result", dtype, &extent)))
}

/// `1 / (1 + exp(-x))`.
fn sigmoid<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let x = tensor(interp, bound, 0)?;
    if !x.dtype.is_float() {
        return elementwise(interp, &[Value::Tensor(x)], None);
    }
    let value = interp.ssa(&x);
    let negative = Op::new(Arith::Negf).operand("operand", value);
    let negative = interp.register_op(negative, "result", x.dtype, &extent_of(&x));
    let power = super::arith::unary(interp, Math::Exp, &negative);
    let sum = interp.binary(Operator::Add, &Value::Int(1), &Value::Tensor(power))?;
    interp.binary(Operator::Div, &Value::Int(1), &sum)
}

/// The exponentials of what is left below the greatest, by their sum.
fn softmax<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let x = tensor(interp, bound, 0)?;
    let dim = operand::given(bound, "dim").cloned().unwrap_or(Value::Int(0));
    if x.shape.is_empty() || !x.dtype.is_float() {
        return elementwise(interp, &[Value::Tensor(x)], None);
    }
    let exact = operand::flag(interp, bound.get("ieee_rounding"), false, "ieee_rounding")?;
    let wide = if x.dtype.bits() < 32 { interp.cast(&x, DType::Fp32)? } else { x.clone() };
    let greatest = super::reduce::extreme_along(interp, &wide, &dim)?;
    let below = interp.binary(Operator::Sub, &Value::Tensor(x), &greatest)?;
    let Value::Tensor(below) = below else { return interp.unknown("a difference is no tensor") };
    let powers = super::arith::unary(interp, Math::Exp, &below);
    let sum = super::reduce::sum_along(interp, &powers, &dim)?;
    divided(interp, &Value::Tensor(powers), &sum, exact.then_some(Tt::PreciseDivf))
}

/// A `dtype` that the call names.
fn named<'a>(bound: &Bound<'a>) -> Option<DType> {
    match bound.get("dtype") {
        Some(Value::DType(dtype)) => Some(*dtype),
        _ => None,
    }
}

fn binary<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    elementwise(interp, &[arg(bound, 0), arg(bound, 1)], named(bound))
}

fn ternary<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    elementwise(interp, &[arg(bound, 0), arg(bound, 1), arg(bound, 2)], named(bound))
}

fn fp4_to_fp<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let source = tensor(interp, bound, 0)?;
    let dtype = operand::dtype(interp, &arg(bound, 1), "elem_type")?;
    let axis = super::shapes::axis_of(interp, &arg(bound, 2), source.shape.len())?;
    let mut shape = source.shape.to_vec();
    if let Some(size) = shape.get_mut(axis) {
        *size *= 2;
    }
    Ok(interp.registers(dtype, &shape, Value::None))
}

/// Runs the function once on scalars that may be anything, for the types of its results.
fn map_elementwise<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let mut operands: Vec<Tensor<'a>> = Vec::new();
    for value in &bound.rest {
        operands.push(operand::tensor(interp, value, "args")?);
    }
    let all: Vec<&Tensor<'a>> = operands.iter().collect();
    let (shape, layout) = broadcast(interp, &all)?;
    let results =
        on_scalars(interp, &arg(bound, 0), &operands.iter().map(|operand| operand.dtype).collect::<Vec<_>>())?;
    Ok(spread(interp, &results, &shape, &layout))
}

/// What a function of scalars gives; its ops are thrown away.
fn on_scalars<'a>(interp: &mut Interp<'a>, function: &Value<'a>, of: &[DType]) -> Eval<'a> {
    interp.builder.open();
    let pos = of.iter().map(|dtype| Value::Tensor(interp.free(*dtype))).collect();
    let at: TextRange = interp.at;
    let result = interp.call(function, Args { pos, named: Vec::new() }, at);
    let _ = interp.builder.close();
    result
}

/// Tensors of this shape, of the types that scalars have.
fn spread<'a>(interp: &mut Interp<'a>, of: &Value<'a>, shape: &[i64], layout: &Value<'a>) -> Value<'a> {
    match of {
        Value::Tuple(items) => Value::Tuple(items.iter().map(|item| spread(interp, item, shape, layout)).collect()),
        Value::Tensor(tensor) => opaque(interp, tensor.dtype, shape, layout.clone()),
        Value::Int(_) | Value::Bool(_) => opaque(interp, DType::Int32, shape, layout.clone()),
        Value::Float(_) => opaque(interp, DType::Fp32, shape, layout.clone()),
        other => other.clone(),
    }
}

fn inline_asm_elementwise<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let text = crate::display(interp, &arg(bound, 0))?;
    let constraints = crate::display(interp, &arg(bound, 1))?;
    let args = operand::list(interp, &arg(bound, 2), "args")?;
    let mut operands: Vec<Tensor<'a>> = Vec::new();
    for value in &args {
        operands.push(operand::tensor(interp, value, "args")?);
    }
    let all: Vec<&Tensor<'a>> = operands.iter().collect();
    let (shape, layout) = broadcast(interp, &all)?;
    let extent = (shape, Rc::new(layout));
    if assembly::is_barrier(&text) && interp.language == Language::Triton {
        interp.emit(Op::new(Ttg::Barrier).attr("addrSpace", "all"))?;
    } else if assembly::synchronises(&text) {
        interp.unmodelled("the assembly synchronises or touches shared memory");
    }
    let (dtypes, several) = match arg(bound, 3) {
        one @ Value::DType(_) => (vec![one], false),
        list => (items(interp, &list)?, true),
    };
    let pure = operand::flag(interp, bound.get("is_pure"), false, "is_pure")?;
    let pack = operand::int(interp, &arg(bound, 5), "pack")?;
    let mut op = Op::new(Tt::ElementwiseInlineAsm)
        .attr("asm_string", Attr::Text(escaped(&text)))
        .attr("constraints", Attr::Text(escaped(&constraints)))
        .attr("packed_element", pack)
        .attr("pure", pure);
    let operands: Vec<Ssa> = operands
        .iter()
        .map(|operand| {
            let operand = interp.shaped(operand, &extent);
            interp.ssa(&operand)
        })
        .collect();
    op = op.operands("args", &operands);
    let mut results = Vec::new();
    for dtype in &dtypes {
        let dtype = operand::dtype(interp, dtype, "dtype")?;
        let (shape, layout) = extent.clone();
        results.push(Tensor { ssa: None, dtype, shape, layout, constant: None });
    }
    let types: Vec<Type> = results.iter().map(Tensor::ir).collect();
    let ssas = interp.emit(op.results("result", types))?;
    let results = results.into_iter().zip(ssas).map(|(result, ssa)| Tensor { ssa: Some(ssa), ..result });
    let mut results: Vec<Value<'a>> = results.map(Value::Tensor).collect();
    match results.pop() {
        Some(one) if !several => Ok(one),
        last => {
            results.extend(last);
            Ok(Value::Tuple(results.into()))
        }
    }
}

/// A text as MLIR writes it between quotes.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\22"),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\0A"),
            '\t' => out.push_str("\\09"),
            '\r' => out.push_str("\\0D"),
            c => out.push(c),
        }
    }
    out
}

/// The op of the same name: what the assembly does with memory is not followed.
fn inline_asm<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let types = arg(bound, 3);
    let several = !matches!(types, Value::DType(_) | Value::Tensor(_));
    let types = match &types {
        Value::None => Vec::new(),
        one if !several => vec![one.clone()],
        list => operand::list(interp, list, "result_types")?,
    };
    let text = crate::display(interp, &arg(bound, 0))?;
    let args = operand::list(interp, &arg(bound, 2), "args")?;
    let memory = args.iter().any(|arg| matches!(arg, Value::MemDesc(_)));
    if memory || assembly::synchronises(&text) {
        interp.unmodelled("the assembly synchronises or touches shared memory");
    }
    interp.emit(Op::new(Ttg::InlineAsm))?;
    let mut results = Vec::new();
    for ty in &types {
        results.push(match ty {
            Value::DType(dtype) => opaque(interp, *dtype, &[], Value::None),
            Value::Tensor(tensor) => interp.registers(tensor.dtype, &tensor.shape, (*tensor.layout).clone()),
            _ => return interp.unknown("a result type of the assembly is not known"),
        });
    }
    match results.first() {
        Some(first) if !several => Ok(first.clone()),
        _ => Ok(Value::Tuple(Rc::from(results))),
    }
}
