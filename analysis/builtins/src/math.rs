//! The module `math`.

use super::numbers::whole;
use super::values::{arg, items, number};
use python::interp::{Eval, Interp};
use python::library::{Bound, Fixed, NOTHING, Part, Row};
use python::value::Value;

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("math.log2", "x", 0, log2),
        Row::new("math.log", "x, base=None", 0, log),
        Row::new("math.log10", "x", 0, log10),
        Row::new("math.exp", "x", 0, exp),
        Row::new("math.exp2", "x", 0, exp2),
        Row::new("math.sqrt", "x", 0, sqrt),
        Row::new("math.isqrt", "x", 0, isqrt),
        Row::new("math.sin", "x", 0, sin),
        Row::new("math.cos", "x", 0, cos),
        Row::new("math.pow", "x, y", 0, pow),
        Row::new("math.fabs", "x", 0, fabs),
        Row::new("math.ceil", "x", 0, ceil),
        Row::new("math.floor", "x", 0, floor),
        Row::new("math.trunc", "x", 0, trunc),
        Row::new("math.isnan", "x", 0, is_nan),
        Row::new("math.isinf", "x", 0, is_inf),
        Row::new("math.isfinite", "x", 0, is_finite),
        Row::new("math.prod", "iterable, *, start=1", 0, prod),
        Row::new("math.gcd", "*numbers", 0, gcd),
        Row::new("math.lcm", "*numbers", 0, lcm),
    ],
    constants: &[
        ("math.inf", Fixed::Float(f64::INFINITY)),
        ("math.nan", Fixed::Float(f64::NAN)),
        ("math.pi", Fixed::Float(std::f64::consts::PI)),
        ("math.e", Fixed::Float(std::f64::consts::E)),
        ("math.tau", Fixed::Float(std::f64::consts::TAU)),
    ],
    ..NOTHING
};

fn apply<'a>(interp: &Interp<'a>, bound: &Bound<'a>, of: fn(f64) -> f64) -> Eval<'a> {
    let result = of(number(interp, &arg(bound, 0))?);
    if result.is_nan() { interp.raise("the function has no value there") } else { Ok(Value::Float(result)) }
}

fn log2<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    if let Value::Int(value) = arg(bound, 0)
        && value > 0
        && value & (value - 1) == 0
    {
        return Ok(Value::Float(f64::from(value.trailing_zeros())));
    }
    logarithm(interp, bound, f64::log2)
}

fn logarithm<'a>(interp: &Interp<'a>, bound: &Bound<'a>, of: fn(f64) -> f64) -> Eval<'a> {
    if number(interp, &arg(bound, 0))? <= 0.0 {
        return interp.raise("there is no logarithm of this number");
    }
    apply(interp, bound, of)
}

fn log<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let base = match bound.at(1) {
        None | Some(Value::None) => return logarithm(interp, bound, f64::ln),
        Some(base) => number(interp, base)?,
    };
    let value = number(interp, &arg(bound, 0))?;
    if value <= 0.0 || base <= 0.0 {
        interp.raise("there is no logarithm of this number")
    } else {
        Ok(Value::Float(value.log(base)))
    }
}

fn log10<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    logarithm(interp, bound, f64::log10)
}

fn exp<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    apply(interp, bound, f64::exp)
}

fn exp2<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    apply(interp, bound, f64::exp2)
}

fn sqrt<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    apply(interp, bound, f64::sqrt)
}

fn isqrt<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    match u128::try_from(interp.int(&arg(bound, 0))?) {
        Ok(value) => Ok(Value::Int(value.isqrt() as i128)),
        Err(_) => interp.raise("there is no root of a negative number"),
    }
}

fn sin<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    apply(interp, bound, f64::sin)
}

fn cos<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    apply(interp, bound, f64::cos)
}

fn fabs<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    apply(interp, bound, f64::abs)
}

fn pow<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (x, y) = (number(interp, &arg(bound, 0))?, number(interp, &arg(bound, 1))?);
    Ok(Value::Float(x.powf(y)))
}

fn to_int<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, of: fn(f64) -> f64) -> Eval<'a> {
    match arg(bound, 0) {
        value @ (Value::Int(_) | Value::Bool(_)) => Ok(Value::Int(interp.int(&value)?)),
        value => whole(interp, of(number(interp, &value)?)),
    }
}

fn ceil<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    to_int(interp, bound, f64::ceil)
}

fn floor<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    to_int(interp, bound, f64::floor)
}

fn trunc<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    to_int(interp, bound, f64::trunc)
}

fn is_nan<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(Value::Bool(number(interp, &arg(bound, 0))?.is_nan()))
}

fn is_inf<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(Value::Bool(number(interp, &arg(bound, 0))?.is_infinite()))
}

fn is_finite<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(Value::Bool(number(interp, &arg(bound, 0))?.is_finite()))
}

fn prod<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let mut product = bound.get("start").cloned().unwrap_or(Value::Int(1));
    for value in items(interp, &arg(bound, 0))? {
        product = interp.binary(ruff_python_ast::Operator::Mult, &product, &value)?;
    }
    Ok(product)
}

fn fold<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, start: u128, with: fn(u128, u128) -> u128) -> Eval<'a> {
    let mut result = start;
    for value in &bound.rest {
        result = with(result, interp.int(value)?.unsigned_abs());
    }
    Ok(Value::Int(result as i128))
}

fn divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn gcd<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    fold(interp, bound, 0, divisor)
}

fn lcm<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    fold(interp, bound, 1, |a, b| if b == 0 { 0 } else { (a / divisor(a, b).max(1)).saturating_mul(b) })
}
