//! Numbers: `int`, `float`, `bool`, `abs`, `round`, `divmod`, `pow`, and their methods.

use std::rc::Rc;

use ruff_python_ast::Operator;

use super::kinds::type_name;
use super::values::{arg, known, number};
use python::interp::{Eval, ExecMode, Interp, Stop};
use python::library::{Bound, NOTHING, Part, Row};
use python::value::Value;

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("int", "value=0, base=10", 0, int),
        Row::new("float", "value=0.0", 0, float),
        Row::new("bool", "value=False", 0, bool),
        Row::new("abs", "value", 0, abs),
        Row::new("round", "value, digits=None", 0, round),
        Row::new("divmod", "a, b", 0, divmod),
        Row::new("pow", "base, exp, mod=None", 0, pow),
        Row::new("int.bit_length", "self", 0, bit_length),
        Row::new("bool.bit_length", "self", 0, bit_length),
        Row::new("int.bit_count", "self", 0, bit_count),
        Row::new("int.is_integer", "self", 0, yes),
        Row::new("int.conjugate", "self", 0, itself),
        Row::new("float.is_integer", "self", 0, is_integer),
        Row::new("int.@real", "self", 0, itself),
        // A constexpr is its value.
        Row::new("int.@value", "self", 0, itself),
        Row::new("bool.@value", "self", 0, itself),
        Row::new("float.@value", "self", 0, itself),
        Row::new("str.@value", "self", 0, itself),
        Row::new("tuple.@value", "self", 0, itself),
        Row::new("tuple.@values", "self", 0, itself),
        Row::new("list.@value", "self", 0, itself),
        Row::new("dtype.@value", "self", 0, itself),
        Row::new("NoneType.@value", "self", 0, itself),
    ],
    ..NOTHING
};

fn yes<'a>(_: &mut Interp<'a>, _: &Bound<'a>) -> Eval<'a> {
    Ok(Value::Bool(true))
}

fn itself<'a>(_: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(arg(bound, 0))
}

fn int<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    match bound.at(0) {
        None => Ok(Value::Int(0)),
        Some(Value::Bool(value)) => Ok(Value::Int(i128::from(*value))),
        Some(Value::Float(value)) if value.is_finite() => Ok(Value::Int(value.trunc() as i128)),
        Some(Value::Str(text)) => {
            let base = match bound.at(1) {
                Some(base) => u32::try_from(interp.int(base)?).unwrap_or(0),
                None => 10,
            };
            match parse(text, base) {
                Some(value) => Ok(Value::Int(value)),
                None => interp.raise(format!("`{text}` is no number")),
            }
        }
        Some(unknown @ Value::Unknown(_)) => Ok(unknown.clone()),
        Some(value) => Ok(Value::Int(interp.int(value)?)),
    }
}

fn parse(text: &str, base: u32) -> Option<i128> {
    let text = text.trim().replace('_', "").to_lowercase();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(&text)),
    };
    let prefix = [("0x", 16), ("0b", 2), ("0o", 8)].into_iter().find(|(prefix, _)| digits.starts_with(prefix));
    let (digits, base) = match prefix {
        Some((prefix, of)) if base == of || base == 0 => (digits.strip_prefix(prefix)?, of),
        _ => (digits, if base == 0 { 10 } else { base }),
    };
    if !(2..=36).contains(&base) {
        return None;
    }
    i128::from_str_radix(digits, base).ok().map(|value| sign * value)
}

fn float<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    match bound.at(0) {
        None => Ok(Value::Float(0.0)),
        Some(Value::Str(text)) => {
            let text = text.trim().to_lowercase();
            let bare = text.trim_start_matches(['+', '-']);
            let value = match bare {
                "inf" | "infinity" => Some(f64::INFINITY),
                "nan" => Some(f64::NAN),
                _ => bare.parse().ok(),
            };
            match value {
                Some(value) => Ok(Value::Float(if text.starts_with('-') { -value } else { value })),
                None => interp.raise(format!("`{text}` is no number")),
            }
        }
        Some(value) => Ok(Value::Float(number(interp, value)?)),
    }
}

fn bool<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    match bound.at(0) {
        None => Ok(Value::Bool(false)),
        Some(value) => Ok(Value::Bool(known(interp, &value.clone())?)),
    }
}

fn abs<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    match arg(bound, 0) {
        Value::Float(value) => Ok(Value::Float(value.abs())),
        value @ Value::Tensor(_) if interp.mode == ExecMode::Device => crate::tensor::absolute(interp, &value),
        value => Ok(Value::Int(interp.int(&value)?.saturating_abs())),
    }
}

fn round<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let value = arg(bound, 0);
    let digits = match bound.at(1) {
        None | Some(Value::None) => None,
        Some(digits) => Some(interp.int(digits)?.clamp(-30, 30) as i32),
    };
    match (value, digits) {
        (value @ (Value::Int(_) | Value::Bool(_)), _) => Ok(Value::Int(interp.int(&value)?)),
        (value, None) => whole(interp, number(interp, &value)?.round_ties_even()),
        (value, Some(digits)) => {
            let scale = 10f64.powi(digits);
            Ok(Value::Float((number(interp, &value)? * scale).round_ties_even() / scale))
        }
    }
}

/// An `int` of a float that is whole.
pub(super) fn whole<'a>(interp: &Interp<'a>, value: f64) -> Eval<'a> {
    if value.is_finite() && value.abs() < 1e37 {
        Ok(Value::Int(value as i128))
    } else {
        interp.raise("this number is no int")
    }
}

fn divmod<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (a, b) = (arg(bound, 0), arg(bound, 1));
    let quotient = interp.binary(Operator::FloorDiv, &a, &b)?;
    let rest = interp.binary(Operator::Mod, &a, &b)?;
    Ok(Value::Tuple(Rc::from([quotient, rest])))
}

fn pow<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let power = interp.binary(Operator::Pow, &arg(bound, 0), &arg(bound, 1))?;
    match bound.at(2) {
        None | Some(Value::None) => Ok(power),
        Some(by) => {
            let by = by.clone();
            interp.binary(Operator::Mod, &power, &by)
        }
    }
}

fn bit_length<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let value = interp.int(&arg(bound, 0))?.unsigned_abs();
    Ok(Value::Int(i128::from(u128::BITS - value.leading_zeros())))
}

fn bit_count<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(Value::Int(i128::from(interp.int(&arg(bound, 0))?.unsigned_abs().count_ones())))
}

fn is_integer<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let value = arg(bound, 0);
    Ok(Value::Bool(number(interp, &value)?.fract() == 0.0))
}

/// An index into something of this length, negative ones from its end.
pub(super) fn index<'a>(interp: &mut Interp<'a>, value: &Value<'a>, length: usize) -> Result<Option<usize>, Stop> {
    if matches!(value, Value::Tensor(_)) {
        return interp.unknown(format!("a {} as an index is not known", type_name(value)));
    }
    let at = interp.int(value)?;
    let at = if at < 0 { at + length as i128 } else { at };
    Ok(usize::try_from(at).ok().filter(|at| *at < length))
}
