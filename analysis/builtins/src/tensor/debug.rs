//! What a kernel says while it runs: values that it prints, conditions that it asserts.
//!
//! Triton emits an assert only where a kernel is compiled for debugging; here it is always emitted, and whoever runs the
//! kernel leaves it out. What has no value that is known is not printed.

use super::elementwise::escaped;
use super::shapes::exchange;
use crate::operand;
use dialects::{Arith, Tt};
use python::emit::{Attr, Op};
use python::interp::{Eval, Interp};
use python::library::{Bound, NOTHING, Part, Row};
use python::value::{DType, Tensor, Value};

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("gl.device_print", "prefix, *args, hex=False", 4, print),
        Row::new("gl.device_assert", "cond, msg='', mask=None", 4, assertion),
    ],
    ..NOTHING
};

/// A number or a tensor whose value the kernel has; `None` for what stands for no value.
fn shown<'a>(interp: &mut Interp<'a>, value: &Value<'a>) -> Option<Tensor<'a>> {
    match value {
        Value::Tensor(tensor) if tensor.ssa.is_some() => Some(tensor.clone()),
        Value::Tensor(tensor) => tensor.constant.map(|value| interp.constant(value, tensor.dtype)),
        Value::Bool(truth) => Some(interp.constant(i128::from(*truth), DType::Int1)),
        Value::Int(number) if i32::try_from(*number).is_ok() => Some(interp.constant(*number, DType::Int32)),
        Value::Int(number) => i64::try_from(*number).ok().map(|number| interp.constant(number.into(), DType::Int64)),
        _ => None,
    }
}

/// A prefix as Triton prints it: a blank before it, a colon between it and what follows.
fn framed(prefix: &str, has_values: bool) -> String {
    let mut text = prefix.to_owned();
    if has_values {
        text.truncate(prefix.trim_end_matches(' ').len());
        text.push_str(if text.ends_with(':') { " " } else { ": " });
    }
    if text.len() > 2 && !text.starts_with(' ') { format!(" {text}") } else { text }
}

fn print<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let Some(Value::Str(prefix)) = bound.at(0).cloned() else { return Ok(Value::None) };
    let hex = operand::flag(interp, bound.get("hex"), false, "hex")?;
    let Some(values) = bound.rest.iter().map(|value| shown(interp, value)).collect::<Option<Vec<_>>>() else {
        return Ok(Value::None);
    };
    let signed = |tensor: &Tensor<'a>| i64::from(tensor.dtype.is_int() && !tensor.dtype.is_unsigned());
    let signs: Vec<i64> = values.iter().map(signed).collect();
    let ssas: Vec<_> = values.iter().filter_map(|tensor| tensor.ssa).collect();
    let op = Op::new(Tt::Print)
        .operands("args", &ssas)
        .attr("prefix", Attr::Text(escaped(&framed(&prefix, !ssas.is_empty()))))
        .attr("hex", hex)
        .attr("isSigned", Attr::Ints(signs));
    interp.emit_effect(op)
}

fn assertion<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    exchange(interp)?;
    let Some(mut condition) = bound.at(0).cloned().and_then(|value| shown(interp, &value)) else {
        return Ok(Value::None);
    };
    if let Some(mask) = operand::given(bound, "mask").cloned() {
        let Some(mask) = shown(interp, &mask).filter(|mask| mask.shape == condition.shape) else {
            return Ok(Value::None);
        };
        // Where the mask is off nothing is asserted: `condition | !mask`.
        condition = interp.cast(&condition, DType::Int1)?;
        let mask = interp.cast(&mask, DType::Int1)?;
        let on = interp.filled(&Value::Int(1), DType::Int1, &(mask.shape.clone(), mask.layout.clone()))?;
        let (one, sum, ty) = (interp.ssa(&mask), interp.ssa(&on), mask.ir());
        let off = interp.computed(Op::new(Arith::Xori).operand("lhs", one).operand("rhs", sum), "result", &ty);
        let own = interp.ssa(&condition);
        let holds = interp.computed(Op::new(Arith::Ori).operand("lhs", own).operand("rhs", off), "result", &ty);
        condition = Tensor { ssa: Some(holds), constant: None, ..condition };
    }
    let message = match bound.at(1) {
        Some(Value::Str(text)) => text.to_string(),
        _ => String::new(),
    };
    let condition = interp.ssa(&condition);
    interp
        .emit_effect(Op::new(Tt::Assert).operand("condition", condition).attr("message", Attr::Text(escaped(&message))))
}
