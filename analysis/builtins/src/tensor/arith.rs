//! Arithmetic of scalars and register tensors: casts, operands that meet, selection, minimum and maximum.

use ruff_python_ast::Operator;

use super::shapes::{like, tensor, together};
use crate::operand;
use dialects::{Arith, Math, Tt};
use python::emit::Op;
use python::eval::registers::Extent;
use python::interp::{Eval, Interp, Stop};
use python::library::{Bound, NOTHING, Part, Row};
use python::value::{DType, Tensor, Value};

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("gl.where", "condition, x, y", 4, where_),
        Row::new("gl.maximum", "x, y, propagate_nan=None", 4, maximum),
        Row::new("gl.minimum", "x, y, propagate_nan=None", 4, minimum),
        Row::new("gl.clamp", "x, min, max, propagate_nan=None", 4, clamp),
        Row::new("gl.abs", "x", 4, abs),
        Row::new("gl.cdiv", "x, div", 4, cdiv),
        Row::new("tl.swizzle2d", "i, j, size_i, size_j, size_g", 4, swizzle2d),
        Row::new("gl.add", "x, y, sanitize_overflow=True", 4, add),
        Row::new("gl.sub", "x, y, sanitize_overflow=True", 4, sub),
        Row::new("gl.mul", "x, y, sanitize_overflow=True", 4, mul),
        Row::new("gl.umulhi", "x, y", 4, umulhi),
        Row::new("gl.cast", "input, dtype, fp_downcast_rounding=None, bitcast=False", 4, cast_to),
        Row::new("gl.to_tensor", "x", 4, to_tensor),
        Row::new("tensor.to", "self, dtype, fp_downcast_rounding=None, bitcast=False", 4, cast_to),
        Row::new("tensor.cast", "self, dtype, fp_downcast_rounding=None, bitcast=False", 4, cast_to),
        Row::new("tensor.cdiv", "self, div", 4, cdiv),
        Row::new("tensor.abs", "self", 4, abs),
        Row::new("tensor.logical_and", "self, other", 4, logical_and),
        Row::new("tensor.logical_or", "self, other", 4, logical_or),
    ],
    ..NOTHING
};

/// A value as another element type.
pub fn cast<'a>(interp: &mut Interp<'a>, value: &Tensor<'a>, dtype: DType) -> Tensor<'a> {
    let unknown = Tensor { ssa: None, dtype, constant: None, ..value.clone() };
    interp.cast(value, dtype).unwrap_or(unknown)
}

/// Two operands in their common type and shape, by the rules of Triton's `semantic.py`.
pub(super) fn pair<'a>(
    interp: &mut Interp<'a>,
    a: &Value<'a>,
    b: &Value<'a>,
) -> Result<(Tensor<'a>, Tensor<'a>), Stop> {
    let extent = together(interp, &[a, b])?;
    meet(interp, a, b, &extent)
}

/// Two operands in their common type, in a shape that they have or are broadcast to.
fn meet<'a>(
    interp: &mut Interp<'a>,
    a: &Value<'a>,
    b: &Value<'a>,
    extent: &Extent<'a>,
) -> Result<(Tensor<'a>, Tensor<'a>), Stop> {
    let dtype = interp.common(a, b, false)?;
    Ok((interp.filled(a, dtype, extent)?, interp.filled(b, dtype, extent)?))
}

fn where_<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (x, y) = (crate::values::arg(bound, 1), crate::values::arg(bound, 2));
    let condition = tensor(interp, bound, 0)?;
    choose(interp, &condition, &x, &y)
}

/// `x` where the condition holds, `y` elsewhere.
pub(super) fn choose<'a>(interp: &mut Interp<'a>, condition: &Tensor<'a>, x: &Value<'a>, y: &Value<'a>) -> Eval<'a> {
    let extent = together(interp, &[&Value::Tensor(condition.clone()), x, y])?;
    let (x, y) = meet(interp, x, y, &extent)?;
    let condition = cast(interp, condition, DType::Int1);
    match condition.constant {
        Some(0) => return Ok(Value::Tensor(y)),
        Some(_) => return Ok(Value::Tensor(x)),
        None => {}
    }
    let (condition, yes, no) = (interp.shaped(&condition, &extent), interp.ssa(&x), interp.ssa(&y));
    if yes == no {
        return Ok(Value::Tensor(x));
    }
    Ok(Value::Tensor(interp.selected(&condition, &x, &y)))
}

fn args<'a>(bound: &Bound<'a>) -> (Value<'a>, Value<'a>) {
    (crate::values::arg(bound, 0), crate::values::arg(bound, 1))
}

fn maximum<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (x, y) = args(bound);
    bounded(interp, &x, &y, true, propagates(bound))
}

fn minimum<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (x, y) = args(bound);
    bounded(interp, &x, &y, false, propagates(bound))
}

/// Whether `propagate_nan` is `PropagateNan.ALL`.
fn propagates(bound: &Bound<'_>) -> bool {
    matches!(operand::given(bound, "propagate_nan"), Some(Value::Lib(path) | Value::Type(path)) if path.ends_with("ALL"))
}

/// The greater or the smaller of two values.
pub fn extreme<'a>(interp: &mut Interp<'a>, x: &Value<'a>, y: &Value<'a>, greater: bool) -> Eval<'a> {
    bounded(interp, x, y, greater, false)
}

fn bounded<'a>(interp: &mut Interp<'a>, x: &Value<'a>, y: &Value<'a>, greater: bool, nan: bool) -> Eval<'a> {
    let (x, y) = pair(interp, x, y)?;
    if let (Some(a), Some(b)) = (x.constant, y.constant) {
        let value = if greater { a.max(b) } else { a.min(b) };
        return Ok(Value::Tensor(interp.constant(value, x.dtype)));
    }
    if !x.dtype.is_int() && !x.dtype.is_float() {
        return Ok(like(interp, &x, x.dtype));
    }
    let op = match (x.dtype.is_int(), greater, x.dtype.is_unsigned() || nan) {
        (true, true, false) => Arith::Maxsi,
        (true, true, true) => Arith::Maxui,
        (true, false, false) => Arith::Minsi,
        (true, false, true) => Arith::Minui,
        (false, true, false) => Arith::Maxnumf,
        (false, true, true) => Arith::Maximumf,
        (false, false, false) => Arith::Minnumf,
        (false, false, true) => Arith::Minimumf,
    };
    Ok(Value::Tensor(interp.binary_op(op, &x, &y)))
}

fn clamp<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (x, low) = args(bound);
    let high = crate::values::arg(bound, 2);
    let extent = together(interp, &[&x, &low, &high])?;
    let first = interp.common(&x, &low, false)?;
    let numbers = matches!(x, Value::Tensor(_)) && !matches!(high, Value::Tensor(_));
    let dtype = if numbers { first } else { interp.common(&x, &high, false)? };
    if !dtype.is_float() {
        let low = bounded(interp, &x, &low, true, false)?;
        return bounded(interp, &low, &high, false, false);
    }
    let mut operands = Vec::new();
    for value in [&x, &low, &high] {
        let value = interp.filled(value, dtype, &extent)?;
        operands.push(interp.ssa(&value));
    }
    let mut op = Op::new(Tt::Clampf).attr("propagateNan", if propagates(bound) { "all" } else { "none" });
    for (group, value) in ["x", "min", "max"].into_iter().zip(operands) {
        op = op.operand(group, value);
    }
    Ok(Value::Tensor(interp.register_op(op, "result", dtype, &extent)))
}

fn abs<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    absolute(interp, &args(bound).0)
}

/// The magnitude of a value.
pub fn absolute<'a>(interp: &mut Interp<'a>, value: &Value<'a>) -> Eval<'a> {
    let value = operand::tensor(interp, value, "x")?;
    if value.dtype.is_unsigned() || matches!(value.dtype, DType::Ptr(_) | DType::Void) {
        return Ok(Value::Tensor(value));
    }
    if let Some(constant) = value.constant {
        let constant = interp.constant(constant.abs(), DType::Int64);
        return Ok(Value::Tensor(cast(interp, &constant, value.dtype)));
    }
    let op = if value.dtype.is_int() { Math::Absi } else { Math::Absf };
    Ok(Value::Tensor(unary(interp, op, &value)))
}

/// Emits an op of one operand.
pub(super) fn unary<'a>(interp: &mut Interp<'a>, op: Math, value: &Tensor<'a>) -> Tensor<'a> {
    let ssa = interp.ssa(value);
    let extent = (value.shape.clone(), value.layout.clone());
    interp.register_op(Op::new(op).operand("operand", ssa), "result", value.dtype, &extent)
}

fn cdiv<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (x, by) = args(bound);
    ceil_div(interp, &x, &by)
}

/// `(x + (by - 1)) // by`, by Python for two numbers of the host.
pub fn ceil_div<'a>(interp: &mut Interp<'a>, x: &Value<'a>, by: &Value<'a>) -> Eval<'a> {
    super::shapes::followed(interp, &[x.clone(), by.clone()])?;
    let less = interp.binary(Operator::Sub, by, &Value::Int(1))?;
    let sum = interp.binary(Operator::Add, x, &less)?;
    interp.binary(Operator::FloorDiv, &sum, by)
}

/// The place of a row-major matrix's element where the matrix is column-major in each group of `size_g` rows.
fn swizzle2d<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    use Operator::{Add, FloorDiv, Mod, Mult, Sub};
    let [i, j, rows, columns, group] = [0, 1, 2, 3, 4].map(|at| crate::values::arg(bound, at));
    let row = interp.binary(Mult, &i, &columns)?;
    let place = interp.binary(Add, &row, &j)?;
    let size = interp.binary(Mult, &group, &columns)?;
    let number = interp.binary(FloorDiv, &place, &size)?;
    let first = interp.binary(Mult, &number, &group)?;
    let left = interp.binary(Sub, &rows, &first)?;
    let group = extreme(interp, &left, &group, false)?;
    let within = interp.binary(Mod, &place, &size)?;
    let row = interp.binary(Mod, &within, &group)?;
    let row = interp.binary(Add, &first, &row)?;
    let column = interp.binary(FloorDiv, &within, &group)?;
    Ok(Value::Tuple([row, column].into()))
}

pub(crate) fn operate<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, op: Operator) -> Eval<'a> {
    let (x, y) = args(bound);
    interp.binary(op, &x, &y)
}

pub(crate) fn add<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    operate(interp, bound, Operator::Add)
}

pub(crate) fn sub<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    operate(interp, bound, Operator::Sub)
}

pub(crate) fn mul<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    operate(interp, bound, Operator::Mult)
}

fn logical_and<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    logical(interp, bound, Operator::BitAnd)
}

fn logical_or<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    logical(interp, bound, Operator::BitOr)
}

fn logical<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, op: Operator) -> Eval<'a> {
    let (x, y) = (tensor(interp, bound, 0)?, tensor(interp, bound, 1)?);
    let (x, y) = (cast(interp, &x, DType::Int1), cast(interp, &y, DType::Int1));
    interp.binary(op, &Value::Tensor(x), &Value::Tensor(y))
}

fn umulhi<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (x, y) = args(bound);
    let (x, y) = pair(interp, &x, &y)?;
    let (a, b) = (interp.ssa(&x), interp.ssa(&y));
    let extent = (x.shape.clone(), x.layout.clone());
    let op = Op::new(Tt::Mulhiui).operand("x", a).operand("y", b);
    Ok(Value::Tensor(interp.register_op(op, "result", x.dtype, &extent)))
}

fn cast_to<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let value = tensor(interp, bound, 0)?;
    let dtype = operand::dtype(interp, operand::need(interp, bound, "dtype")?, "dtype")?;
    let bits = operand::flag(interp, bound.get("bitcast"), false, "bitcast")?;
    let pointer = |dtype| matches!(dtype, DType::Ptr(_));
    if bits && value.dtype != dtype && !pointer(value.dtype) && !pointer(dtype) {
        if value.dtype.bits() != dtype.bits() {
            return interp.raise(format!(
                "{} has {} bits, and {} has {}: no bitcast",
                value.dtype.name(),
                value.dtype.bits(),
                dtype.name(),
                dtype.bits()
            ));
        }
        if value.constant.is_none() || !dtype.is_int() {
            return Ok(Value::Tensor(interp.bits(&value, dtype)));
        }
    }
    let rounding = operand::given(bound, "fp_downcast_rounding").cloned();
    if let (Some(Value::Str(mode)), true) = (rounding, value.dtype.is_float() && dtype.bits() < value.dtype.bits())
        && &*mode == "rtz"
    {
        let src = interp.ssa(&value);
        let extent = (value.shape.clone(), value.layout.clone());
        let op = Op::new(Tt::FpToFp).operand("src", src).attr("rounding", "rtz");
        return Ok(Value::Tensor(interp.register_op(op, "result", dtype, &extent)));
    }
    Ok(Value::Tensor(cast(interp, &value, dtype)))
}

fn to_tensor<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    if let Some(done @ (Value::MemDesc(_) | Value::TensorDesc(_) | Value::Tuple(_) | Value::Instance(_))) = bound.at(0)
    {
        return Ok(done.clone());
    }
    Ok(Value::Tensor(tensor(interp, bound, 0)?))
}
