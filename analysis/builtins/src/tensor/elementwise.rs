//! Functions of each element: `exp`, `sqrt`, …, `libdevice`, inline assembly, dot products of registers.

use std::rc::Rc;

use super::shapes::{broadcast, opaque, tensor};
use crate::values::{arg, items};
use base::TextRange;
use dialects::Ttg;
use python::emit::Op;
use python::interp::{Eval, Interp};
use python::library::Args;
use python::library::operand;
use python::library::{Bound, NOTHING, Part, Row};
use python::value::{DType, Tensor, Value};

macro_rules! rows {
    ($prefix:literal $run:ident: $($name:literal)*) => {
        &[$(Row::new(concat!($prefix, $name), "*args, **kwargs", 4, $run),)*]
    };
}

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("gl.exp", "x", 4, unary),
        Row::new("gl.exp2", "x", 4, unary),
        Row::new("gl.log", "x", 4, unary),
        Row::new("gl.log2", "x", 4, unary),
        Row::new("gl.cos", "x", 4, unary),
        Row::new("gl.sin", "x", 4, unary),
        Row::new("gl.sqrt", "x", 4, unary),
        Row::new("gl.sqrt_rn", "x", 4, unary),
        Row::new("gl.rsqrt", "x", 4, unary),
        Row::new("gl.erf", "x", 4, unary),
        Row::new("gl.floor", "x", 4, unary),
        Row::new("gl.ceil", "x", 4, unary),
        Row::new("gl.fdiv", "x, y, ieee_rounding=False, approx=False", 4, binary),
        Row::new("gl.div_rn", "x, y", 4, binary),
        Row::new("gl.fma", "x, y, z", 4, ternary),
        Row::new("tl.sigmoid", "x", 4, unary),
        Row::new("tl.softmax", "x, dim=None, keep_dims=None, ieee_rounding=False", 4, unary),
        Row::new("tensor.exp", "self", 4, unary),
        Row::new("tensor.exp2", "self", 4, unary),
        Row::new("tensor.log", "self", 4, unary),
        Row::new("tensor.log2", "self", 4, unary),
        Row::new("tensor.cos", "self", 4, unary),
        Row::new("tensor.sin", "self", 4, unary),
        Row::new("tensor.sqrt", "self", 4, unary),
        Row::new("tensor.sqrt_rn", "self", 4, unary),
        Row::new("tensor.rsqrt", "self", 4, unary),
        Row::new("tensor.erf", "self", 4, unary),
        Row::new("tensor.floor", "self", 4, unary),
        Row::new("tensor.ceil", "self", 4, unary),
        Row::new("tensor.sigmoid", "self", 4, unary),
        Row::new("gl.dot_fma", "a, b, acc", 4, third),
        Row::new("gl.fp4_to_fp", "src, elem_type, axis", 7, fp4_to_fp),
        Row::new("gl.map_elementwise", "scalar_fn, *args, pack=1", 6, map_elementwise),
        Row::new(
            "gl.inline_asm_elementwise",
            "asm, constraints, args, dtype, is_pure, pack",
            4,
            inline_asm_elementwise,
        ),
        Row::effect("gl.inline_asm", "asm, constraints='', args=(), result_types=(), is_pure=False", 9, inline_asm),
        Row::new("gl.nvidia.blackwell.add2", "lhs, rhs, dtype=None", 8, binary),
        Row::new("gl.nvidia.blackwell.sub2", "lhs, rhs, dtype=None", 8, binary),
        Row::new("gl.nvidia.blackwell.mul2", "lhs, rhs, dtype=None", 8, binary),
        Row::new("gl.nvidia.blackwell.min2", "lhs, rhs, dtype=None", 8, binary),
        Row::new("gl.nvidia.blackwell.max2", "lhs, rhs, dtype=None", 8, binary),
        Row::new("gl.nvidia.blackwell.fma2", "lhs, rhs, acc, dtype=None", 8, ternary),
        Row::new("gl.nvidia.rubin.add4", "lhs, rhs, dtype=None", 8, binary),
        Row::new("gl.nvidia.rubin.sub4", "lhs, rhs, dtype=None", 8, binary),
        Row::new("gl.nvidia.rubin.mul4", "lhs, rhs, dtype=None", 8, binary),
        Row::new("gl.nvidia.rubin.fma4", "lhs, rhs, acc, dtype=None", 8, ternary),
    ],
    ..NOTHING
};

/// `libdevice`, which gives values of the type of its first argument.
pub(super) const LIBDEVICE: Part = Part {
    rows: rows!("gl.extra.libdevice." device:
        "abs" "acos" "acosh" "add_rn" "asin" "asinh" "atan" "atan2" "atanh" "brev" "byte_perm" "cbrt" "ceil"
        "clz" "copysign" "cos" "cosh" "cospi" "div_rn" "erf" "erfc" "erfinv" "exp" "exp10" "exp2" "expm1"
        "fast_cosf" "fast_dividef" "fast_exp10f" "fast_expf" "fast_log10f" "fast_log2f" "fast_logf" "fast_powf"
        "fast_sinf" "fast_tanf" "fast_tanhf" "fdim" "floor" "fma" "fma_rn" "fmod" "hypot" "ldexp" "lgamma"
        "log" "log10" "log1p" "log2" "logb" "mul_rn" "mulhi" "nearbyint" "nextafter" "norm3d" "norm4d"
        "normcdf" "popc" "pow" "rcbrt" "rcp_rn" "remainder" "rhypot" "rint" "round" "rsqrt" "rsqrt_rn"
        "saturatef" "scalbn" "sin" "sinh" "sinpi" "sqrt" "sqrt_rn" "sub_rn" "tan" "tanh" "tgamma" "trunc"),
    ..NOTHING
};

/// Those of `libdevice` that ask, and answer with an `int32`.
pub(super) const PREDICATES: Part = Part {
    rows: rows!("gl.extra.libdevice." question:
        "ffs" "finitef" "ilogb" "isfinited" "isinf" "isnan" "llrint" "llround" "signbit"
        "float_as_int" "float2int_rn" "float2int_rz"),
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

fn unary<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    elementwise(interp, &[arg(bound, 0)], None)
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

fn device<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    elementwise(interp, &bound.rest, None)
}

fn question<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    elementwise(interp, &bound.rest, Some(DType::Int32))
}

/// Like the accumulator.
fn third<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let acc = tensor(interp, bound, 2)?;
    Ok(interp.registers(acc.dtype, &acc.shape, (*acc.layout).clone()))
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
pub(super) fn on_scalars<'a>(interp: &mut Interp<'a>, function: &Value<'a>, of: &[DType]) -> Eval<'a> {
    interp.builder.open();
    let pos = of.iter().map(|dtype| Value::Tensor(interp.free(*dtype))).collect();
    let at: TextRange = interp.at;
    let result = interp.call(function, Args { pos, named: Vec::new() }, at);
    let _ = interp.builder.close();
    result
}

/// Tensors of this shape, of the types that scalars have.
pub(super) fn spread<'a>(interp: &mut Interp<'a>, of: &Value<'a>, shape: &[i64], layout: &Value<'a>) -> Value<'a> {
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
    let args = operand::list(interp, &arg(bound, 2), "args")?;
    let mut operands: Vec<Tensor<'a>> = Vec::new();
    for value in &args {
        operands.push(operand::tensor(interp, value, "args")?);
    }
    let all: Vec<&Tensor<'a>> = operands.iter().collect();
    let (shape, layout) = broadcast(interp, &all)?;
    if synchronises(&text) {
        interp.unmodelled("the assembly synchronises or touches shared memory, and is not followed");
    }
    let dtypes = match arg(bound, 3) {
        Value::DType(dtype) => return Ok(opaque(interp, dtype, &shape, layout)),
        several => items(interp, &several)?,
    };
    let mut results = Vec::new();
    for dtype in &dtypes {
        let dtype = operand::dtype(interp, dtype, "dtype")?;
        results.push(opaque(interp, dtype, &shape, layout.clone()));
    }
    Ok(Value::Tuple(results.into()))
}

/// Whether assembly has instructions that synchronise or that touch shared memory.
fn synchronises(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "mbarrier",
        "bar.",
        "barrier.",
        ".shared",
        "cp.async",
        "wgmma",
        "tcgen05",
        "fence",
        "membar",
        "s_barrier",
        "s_wait",
        "ds_read",
        "ds_write",
        "ds_load",
        "ds_store",
    ];
    WORDS.iter().any(|word| text.contains(word))
}

/// The op of the same name, which says what it does no more than the assembly does.
fn inline_asm<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let types = arg(bound, 3);
    let several = !matches!(types, Value::DType(_) | Value::Tensor(_));
    let types = match &types {
        Value::None => Vec::new(),
        one if !several => vec![one.clone()],
        list => operand::list(interp, list, "result_types")?,
    };
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
