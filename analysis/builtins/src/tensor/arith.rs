//! Scalars: casts, the common type of two operands, selection, minimum and maximum.

use std::rc::Rc;

use ruff_python_ast::Operator;

use super::shapes::{broadcast, opaque, tensor};
use dialects::{Arith, Math, Tt};
use python::emit::{Op, Ssa, compare};
use python::interp::{Eval, Interp, Stop};
use python::library::operand;
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

fn of<'a>(tensor: &Tensor<'a>, ssa: Option<Ssa>, dtype: DType, constant: Option<i128>) -> Tensor<'a> {
    Tensor { ssa, dtype, shape: tensor.shape.clone(), layout: tensor.layout.clone(), constant }
}

/// What an integer is in a type of this width.
fn wrapped(value: i128, dtype: DType) -> i128 {
    let bits = dtype.bits().clamp(1, 64);
    let low = value & ((1i128 << bits) - 1);
    if !dtype.is_unsigned() && low >> (bits - 1) & 1 == 1 { low - (1i128 << bits) } else { low }
}

/// A value as another element type.
pub fn cast<'a>(interp: &mut Interp<'a>, value: &Tensor<'a>, dtype: DType) -> Tensor<'a> {
    let from = value.dtype;
    if from == dtype {
        return value.clone();
    }
    if !value.shape.is_empty() {
        return of(value, None, dtype, None);
    }
    if let Some(constant) = value.constant
        && from.is_int()
        && dtype.is_int()
    {
        let to = if dtype == DType::Int1 { i128::from(constant != 0) } else { wrapped(constant, dtype) };
        return interp.constant(to, dtype);
    }
    let ssa = interp.ssa(value);
    let ty = dtype.ir();
    if from.is_int() && dtype == DType::Int1 {
        let zero = interp.constant(0, from);
        let zero = interp.ssa(&zero);
        let made = interp.computed(compare("ne", ssa, zero), "result", &ty);
        return of(value, Some(made), dtype, None);
    }
    if from.is_int() && dtype.is_int() {
        let op = match from.bits().cmp(&dtype.bits()) {
            std::cmp::Ordering::Equal => return of(value, Some(ssa), dtype, None),
            std::cmp::Ordering::Greater => Arith::Trunci,
            std::cmp::Ordering::Less if from.is_unsigned() => Arith::Extui,
            std::cmp::Ordering::Less => Arith::Extsi,
        };
        let made = interp.computed(Op::new(op).operand("in", ssa), "out", &ty);
        return of(value, Some(made), dtype, None);
    }
    match (from, dtype) {
        (DType::Ptr(_), DType::Ptr(_)) => {
            let made = interp.computed(Op::new(Tt::Bitcast).operand("src", ssa), "result", &ty);
            of(value, Some(made), dtype, None)
        }
        (DType::Ptr(_), _) if dtype.is_int() && dtype.bits() == 64 => {
            let made = interp.computed(Op::new(Tt::PtrToInt).operand("src", ssa), "result", &ty);
            of(value, Some(made), dtype, None)
        }
        (_, DType::Ptr(_)) if from.is_int() => {
            let wide = cast(interp, value, DType::Int64);
            let wide = interp.ssa(&wide);
            let made = interp.computed(Op::new(Tt::IntToPtr).operand("src", wide), "result", &ty);
            of(value, Some(made), dtype, None)
        }
        // Between integers and floating point: a value of its own.
        _ if dtype.is_float() => of(value, None, dtype, None),
        _ => interp.free(dtype),
    }
}

/// The type of a number of the host beside another operand.
fn kind(dtype: DType) -> u8 {
    match dtype {
        DType::Int1 => 0,
        _ if dtype.is_int() => 1,
        _ => 2,
    }
}

/// Two operands in their common type, by the rules of Triton's `semantic.py`.
pub(super) fn pair<'a>(
    interp: &mut Interp<'a>,
    a: &Value<'a>,
    b: &Value<'a>,
) -> Result<(Tensor<'a>, Tensor<'a>), Stop> {
    let host = |value: &Value<'_>| !matches!(value, Value::Tensor(_));
    let (x, y) = (operand::tensor(interp, a, "x")?, operand::tensor(interp, b, "y")?);
    let dtype = match (host(a), host(b)) {
        (true, false) if kind(x.dtype) <= kind(y.dtype) => y.dtype,
        (false, true) if kind(y.dtype) <= kind(x.dtype) => x.dtype,
        _ => common(x.dtype, y.dtype),
    };
    Ok((cast(interp, &x, dtype), cast(interp, &y, dtype)))
}

fn common(a: DType, b: DType) -> DType {
    if a == b {
        return a;
    }
    for float in [DType::Fp64, DType::Fp32] {
        if a == float || b == float {
            return float;
        }
    }
    let any_half = a == DType::Fp16 || b == DType::Fp16;
    if a == DType::Bf16 || b == DType::Bf16 {
        return if any_half { DType::Fp32 } else { DType::Bf16 };
    }
    if any_half {
        return DType::Fp16;
    }
    match (a.is_float(), b.is_float()) {
        (true, true) => return DType::Fp16,
        (true, false) => return a,
        (false, true) => return b,
        _ => {}
    }
    if !a.is_int() || !b.is_int() {
        return if a.is_int() { b } else { a };
    }
    python::eval::promote(a, b)
}

fn where_<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (x, y) = (crate::values::arg(bound, 1), crate::values::arg(bound, 2));
    let condition = tensor(interp, bound, 0)?;
    choose(interp, &condition, &x, &y)
}

/// `x` where the condition holds, `y` elsewhere.
pub(super) fn choose<'a>(interp: &mut Interp<'a>, condition: &Tensor<'a>, x: &Value<'a>, y: &Value<'a>) -> Eval<'a> {
    let (x, y) = pair(interp, x, y)?;
    let (shape, layout) = broadcast(interp, &[condition, &x, &y])?;
    if !shape.is_empty() || x.dtype.is_float() {
        return Ok(opaque(interp, x.dtype, &shape, layout));
    }
    let condition = cast(interp, condition, DType::Int1);
    match condition.constant {
        Some(0) => return Ok(Value::Tensor(y)),
        Some(_) => return Ok(Value::Tensor(x)),
        None => {}
    }
    let (test, yes, no) = (interp.ssa(&condition), interp.ssa(&x), interp.ssa(&y));
    if yes == no {
        return Ok(Value::Tensor(x));
    }
    let op = Op::new(Arith::Select).operand("condition", test).operand("true_value", yes).operand("false_value", no);
    let made = interp.computed(op, "result", &x.dtype.ir());
    Ok(Value::Tensor(of(&x, Some(made), x.dtype, None)))
}

fn args<'a>(bound: &Bound<'a>) -> (Value<'a>, Value<'a>) {
    (crate::values::arg(bound, 0), crate::values::arg(bound, 1))
}

fn maximum<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (x, y) = args(bound);
    extreme(interp, &x, &y, true)
}

fn minimum<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (x, y) = args(bound);
    extreme(interp, &x, &y, false)
}

/// The greater or the smaller of two values.
pub fn extreme<'a>(interp: &mut Interp<'a>, x: &Value<'a>, y: &Value<'a>, greater: bool) -> Eval<'a> {
    let (x, y) = pair(interp, x, y)?;
    let (shape, layout) = broadcast(interp, &[&x, &y])?;
    if !shape.is_empty() || !x.dtype.is_int() {
        return Ok(opaque(interp, x.dtype, &shape, layout));
    }
    if let (Some(a), Some(b)) = (x.constant, y.constant) {
        let value = if greater { a.max(b) } else { a.min(b) };
        return Ok(Value::Tensor(interp.constant(value, x.dtype)));
    }
    let (a, b) = (interp.ssa(&x), interp.ssa(&y));
    let op = match (greater, x.dtype.is_unsigned()) {
        (true, false) => Arith::Maxsi,
        (true, true) => Arith::Maxui,
        (false, false) => Arith::Minsi,
        (false, true) => Arith::Minui,
    };
    let made = interp.computed(Op::new(op).operand("lhs", a).operand("rhs", b), "result", &x.dtype.ir());
    Ok(Value::Tensor(of(&x, Some(made), x.dtype, None)))
}

fn clamp<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (x, low) = args(bound);
    let high = crate::values::arg(bound, 2);
    let low = extreme(interp, &x, &low, true)?;
    extreme(interp, &low, &high, false)
}

fn abs<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    absolute(interp, &args(bound).0)
}

/// The magnitude of a value.
pub fn absolute<'a>(interp: &mut Interp<'a>, value: &Value<'a>) -> Eval<'a> {
    let value = operand::tensor(interp, value, "x")?;
    if !value.shape.is_empty() || !value.dtype.is_int() || value.dtype.is_unsigned() {
        return Ok(Value::Tensor(of(
            &value,
            if value.dtype.is_unsigned() { value.ssa } else { None },
            value.dtype,
            value.constant,
        )));
    }
    if let Some(constant) = value.constant {
        return Ok(Value::Tensor(interp.constant(wrapped(constant.abs(), value.dtype), value.dtype)));
    }
    let ssa = interp.ssa(&value);
    let made = interp.computed(Op::new(Math::Absi).operand("operand", ssa), "result", &value.dtype.ir());
    Ok(Value::Tensor(of(&value, Some(made), value.dtype, None)))
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
    let (shape, layout) = broadcast(interp, &[&x, &y])?;
    Ok(opaque(interp, x.dtype, &shape, layout))
}

fn cast_to<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let value = tensor(interp, bound, 0)?;
    let dtype = operand::dtype(interp, operand::need(interp, bound, "dtype")?, "dtype")?;
    let bits = operand::flag(interp, bound.get("bitcast"), false, "bitcast")?;
    if bits && value.shape.is_empty() && value.dtype != dtype {
        let same_class =
            value.dtype.is_int() && dtype.is_int() || matches!((value.dtype, dtype), (DType::Ptr(_), DType::Ptr(_)));
        if !same_class {
            return Ok(opaque(interp, dtype, &Rc::from([]), Value::None));
        }
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
