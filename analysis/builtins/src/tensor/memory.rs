//! Global memory: loads, stores and atomics, with pointers, masks and values of one shape.

use std::rc::Rc;

use ruff_python_ast::Operator;

use super::arith::{cast, choose};
use super::blocks::{block, pointers};
use super::shapes::{exchange, extent_of, followed, pointee, tensor, together};
use crate::operand;
use crate::values::arg;
use dialects::Tt;
use python::emit::Op;
use python::eval::registers::Extent;
use python::interp::{Eval, Interp, Stop};
use python::library::{Bound, NOTHING, Part, Row};
use python::value::{DType, Tensor, Value};

const OLD_LOAD: &str = "pointer, mask=None, other=None, boundary_check=(), padding_option='', cache_modifier=None, \
     eviction_policy=None, volatile=False, cache_policy=None";
const OLD_STORE: &str =
    "pointer, value, mask=None, boundary_check=(), cache_modifier=None, eviction_policy=None, cache_policy=None";
const LOAD: &str =
    "pointer, mask=None, other=None, *, cache_modifier=None, eviction_policy=None, volatile=False, cache_policy=None";
const STORE: &str = "pointer, value, mask=None, *, cache_modifier=None, eviction_policy=None, cache_policy=None";
// Plain Triton has no cache policies.
const OLD_TL_LOAD: &str = "pointer, mask=None, other=None, boundary_check=(), padding_option='', cache_modifier='', \
     eviction_policy='', volatile=False";
const OLD_TL_STORE: &str = "pointer, value, mask=None, boundary_check=(), cache_modifier='', eviction_policy=''";
const TL_LOAD: &str = "pointer, mask=None, other=None, *, cache_modifier='', eviction_policy='', volatile=False";
const TL_STORE: &str = "pointer, value, mask=None, *, cache_modifier='', eviction_policy=''";
const RMW: &str = "pointer, val, mask=None, sem=None, scope=None";
const CAS: &str = "pointer, cmp, val, sem=None, scope=None";
const POLL: &str = "pointer, expected_value, sem=None, scope=None, timeout_ns=None";

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("gl.load", LOAD, 9, load),
        Row::new("gl.load", OLD_LOAD, 4, load).until(8),
        Row::new("gl.store", STORE, 9, store),
        Row::new("gl.store", OLD_STORE, 4, store).until(8),
        Row::new("tl.load", TL_LOAD, 9, load),
        Row::new("tl.load", OLD_TL_LOAD, 4, load).until(8),
        Row::new("tl.store", TL_STORE, 9, store),
        Row::new("tl.store", OLD_TL_STORE, 4, store).until(8),
        Row::new("gl.atomic_add", RMW, 4, |i, b| rmw(i, b, "add")),
        Row::new("gl.atomic_and", RMW, 4, |i, b| rmw(i, b, "and")),
        Row::new("gl.atomic_or", RMW, 4, |i, b| rmw(i, b, "or")),
        Row::new("gl.atomic_xor", RMW, 4, |i, b| rmw(i, b, "xor")),
        Row::new("gl.atomic_max", RMW, 4, |i, b| rmw(i, b, "max")),
        Row::new("gl.atomic_min", RMW, 4, |i, b| rmw(i, b, "min")),
        Row::new("gl.atomic_xchg", RMW, 4, |i, b| rmw(i, b, "exch")),
        Row::new("gl.atomic_cas", CAS, 4, cas),
        Row::new("gl.atomic_load", "pointer, mask=None, sem=None, scope=None", 9, atomic_load),
        Row::new("gl.atomic_store", RMW, 9, atomic_store),
        Row::new("gl.atomic_poll", POLL, 9, poll),
        Row::new("tl.block_pointer.store", OLD_TL_STORE, 4, store),
        Row::new("tensor.load", TL_LOAD, 9, load),
        Row::new("tensor.load", OLD_TL_LOAD, 4, load).until(8),
        Row::new("tensor.store", TL_STORE, 9, store),
        Row::new("tensor.store", OLD_TL_STORE, 4, store).until(8),
        Row::new("tensor.atomic_add", RMW, 4, |i, b| rmw(i, b, "add")),
        Row::new("tensor.atomic_and", RMW, 4, |i, b| rmw(i, b, "and")),
        Row::new("tensor.atomic_or", RMW, 4, |i, b| rmw(i, b, "or")),
        Row::new("tensor.atomic_xor", RMW, 4, |i, b| rmw(i, b, "xor")),
        Row::new("tensor.atomic_max", RMW, 4, |i, b| rmw(i, b, "max")),
        Row::new("tensor.atomic_min", RMW, 4, |i, b| rmw(i, b, "min")),
        Row::new("tensor.atomic_xchg", RMW, 4, |i, b| rmw(i, b, "exch")),
        Row::new("tensor.atomic_cas", CAS, 4, cas),
        Row::new("tensor.atomic_load", "pointer, mask=None, sem=None, scope=None", 9, atomic_load),
        Row::new("tensor.atomic_store", RMW, 9, atomic_store),
        Row::new("tensor.atomic_poll", POLL, 9, poll),
    ],
    ..NOTHING
};

/// Pointers of an access, and what else has their shape.
struct Access<'a> {
    pointer: Tensor<'a>,
    extent: Extent<'a>,
    mask: Option<Tensor<'a>>,
    /// What the pointers point to; a boolean lies in a byte.
    element: DType,
    word: DType,
}

/// The pointers and the mask of a call, in the shape of all of it. `widens` allows that pointers are broadcast.
fn access<'a>(
    interp: &mut Interp<'a>,
    bound: &Bound<'a>,
    values: &[&Value<'a>],
    widens: bool,
) -> Result<Access<'a>, Stop> {
    let first = arg(bound, 0);
    let (pointer, mask) = match block(&first) {
        Some(block) => {
            let checked = match operand::given(bound, "boundary_check").cloned() {
                Some(one @ Value::Int(_)) => vec![operand::int(interp, &one, "boundary_check")?],
                Some(checked) => operand::ints(interp, &checked, "boundary_check")?,
                None => Vec::new(),
            };
            pointers(interp, block, &checked)?
        }
        None => (tensor(interp, bound, 0)?, operand::given(bound, "mask").cloned()),
    };
    let element = pointee(interp, &pointer)?;
    let own = Value::Tensor(pointer.clone());
    let mut all = vec![&own];
    all.extend(mask.iter());
    all.extend(values.iter().filter(|value| !matches!(value, Value::Unknown(_))));
    let extent = together(interp, &all)?;
    if extent.0 != pointer.shape && (pointer.shape.is_empty() || !widens) {
        return interp
            .raise(format!("the pointers have shape {:?}, and what is with them has {:?}", pointer.shape, extent.0));
    }
    let mask = match mask {
        Some(mask) => Some(interp.filled(&mask, DType::Int1, &extent)?),
        None => None,
    };
    let word = if element == DType::Int1 { DType::Int8 } else { element };
    let pointer = interp.shaped(&pointer, &extent);
    let pointer = cast(interp, &pointer, word.pointer());
    Ok(Access { pointer, extent, mask, element, word })
}

impl<'a> Access<'a> {
    /// A value in the type and shape of what the pointers point to; one that is not followed may be anything.
    fn value(&self, interp: &mut Interp<'a>, value: &Value<'a>) -> Result<Tensor<'a>, Stop> {
        if let Value::Unknown(_) = value {
            let (shape, layout) = self.extent.clone();
            return Ok(Tensor { ssa: None, dtype: self.word, shape, layout, constant: None });
        }
        let value = interp.filled(value, self.element, &self.extent)?;
        interp.cast(&value, self.word)
    }

    /// An op on the pointers, with the mask.
    fn op(&self, interp: &mut Interp<'a>, op: Tt) -> Op {
        let pointer = interp.ssa(&self.pointer);
        let mask = self.mask.as_ref().map(|mask| interp.ssa(mask));
        Op::new(op).operand("ptr", pointer).maybe("mask", mask)
    }

    /// The result of an op that reads.
    fn result(&self, interp: &mut Interp<'a>, op: Op) -> Tensor<'a> {
        let read = interp.register_op(op, "result", self.word, &self.extent);
        cast(interp, &read, self.element)
    }
}

/// The hints on caching that a call gives.
fn cached<'a>(op: Op, bound: &Bound<'a>) -> Op {
    let word = |name: &str| match operand::given(bound, name) {
        Some(Value::Str(text)) => Some(text.trim_start_matches('.').to_owned()).filter(|text| !text.is_empty()),
        _ => None,
    };
    let op = op.attrs(word("cache_modifier").map(|word| ("cache", python::emit::Attr::Word(word))));
    op.attrs(word("eviction_policy").map(|word| ("evict", python::emit::Attr::Word(word))))
}

fn load<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let other = match operand::given(bound, "padding_option") {
        Some(Value::Str(text)) if &**text == "zero" => Some(Value::Int(0)),
        Some(Value::Str(text)) if &**text == "nan" => Some(Value::Float(f64::NAN)),
        _ => operand::given(bound, "other").cloned(),
    };
    let volatile = operand::flag(interp, bound.get("volatile"), false, "volatile")?;
    let others: Vec<&Value<'a>> = other.iter().collect();
    let access = access(interp, bound, &others, true)?;
    let mut op = access.op(interp, Tt::Load);
    if let (Some(other), true) = (&other, access.mask.is_some()) {
        let other = access.value(interp, other)?;
        op = op.operand("other", interp.ssa(&other));
    }
    if volatile {
        op = op.attr("isVolatile", true);
    }
    Ok(Value::Tensor(access.result(interp, cached(op, bound))))
}

fn store<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let value = arg(bound, 1);
    let access = access(interp, bound, &[&value], false)?;
    let value = access.value(interp, &value)?;
    let op = access.op(interp, Tt::Store).operand("value", interp.ssa(&value));
    interp.emit_effect(cached(op, bound))
}

/// Memory semantics and scope of an atomic.
fn ordered<'a>(interp: &Interp<'a>, op: Op, bound: &Bound<'a>, default: &str) -> Result<Op, Stop> {
    let word = |name: &str, default: &str, all: &[&str]| match operand::given(bound, name) {
        None => Ok(default.to_owned()),
        Some(Value::Str(text)) if all.contains(&&**text) => Ok(text.to_string()),
        Some(Value::Str(text)) => interp.raise(format!("`{name}` is one of {}, not `{text}`", all.join(", "))),
        Some(Value::Unknown(why)) => interp.unknown(why.clone()),
        Some(_) => interp.raise(format!("`{name}` is a text")),
    };
    let sem = word("sem", default, &["relaxed", "acquire", "release", "acq_rel"])?;
    let scope = word("scope", "gpu", &["gpu", "cta", "sys"])?;
    Ok(op.attr("sem", sem.as_str()).attr("scope", scope.as_str()))
}

fn rmw<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, kind: &str) -> Eval<'a> {
    exchange(interp)?;
    let value = arg(bound, 1);
    let access = access(interp, bound, &[&value], false)?;
    let value = access.value(interp, &value)?;
    let kind = match kind {
        "add" if value.dtype.is_float() => "fadd",
        "max" if value.dtype.is_unsigned() => "umax",
        "min" if value.dtype.is_unsigned() => "umin",
        "max" | "min" if value.dtype.is_float() => return float_extreme(interp, bound, &access, &value, kind == "max"),
        other => other,
    };
    one(interp, bound, &access, &value, kind).map(Value::Tensor)
}

/// Emits one `tt.atomic_rmw`.
fn one<'a>(
    interp: &mut Interp<'a>,
    bound: &Bound<'a>,
    access: &Access<'a>,
    value: &Tensor<'a>,
    kind: &str,
) -> Result<Tensor<'a>, Stop> {
    let op = access.op(interp, Tt::AtomicRmw).operand("val", interp.ssa(value)).attr("atomic_rmw_op", kind);
    let op = ordered(interp, op, bound, "acq_rel")?;
    Ok(interp.register_op(op, "result", value.dtype, &access.extent))
}

/// The maximum or minimum of floats: by their bits as signed integers where the value has no sign, and by the other
/// extreme of them as unsigned integers where it has.
fn float_extreme<'a>(
    interp: &mut Interp<'a>,
    bound: &Bound<'a>,
    access: &Access<'a>,
    value: &Tensor<'a>,
    greater: bool,
) -> Eval<'a> {
    let (signed, unsigned) = match value.dtype {
        DType::Fp32 => (DType::Int32, DType::UInt32),
        DType::Fp64 => (DType::Int64, DType::UInt64),
        other => return interp.raise(format!("an atomic maximum or minimum of {} does not exist", other.name())),
    };
    let bits = interp.bits(value, unsigned);
    let last = Value::Int(i128::from(unsigned.bits()) - 1);
    let sign = interp.binary(Operator::RShift, &Value::Tensor(bits.clone()), &last)?;
    let Value::Tensor(sign) = sign else { return interp.unknown("the sign of a value is not known") };
    let negative = interp.cast(&sign, DType::Int1)?;
    let positive = interp.binary(Operator::BitXor, &Value::Tensor(negative.clone()), &Value::Bool(true))?;
    let Value::Tensor(positive) = positive else { return interp.unknown("the sign of a value is not known") };
    let mut ways = Vec::new();
    let kinds = if greater { ["max", "umin"] } else { ["min", "umax"] };
    for ((dtype, kind), mut mask) in [signed, unsigned].into_iter().zip(kinds).zip([positive.clone(), negative]) {
        if let Some(own) = &access.mask {
            mask = match interp.binary(Operator::BitAnd, &Value::Tensor(own.clone()), &Value::Tensor(mask))? {
                Value::Tensor(both) => both,
                _ => return interp.unknown("the mask of an atomic is not known"),
            };
        }
        let pointer = interp.cast(&access.pointer, dtype.pointer())?;
        let way = Access { pointer, extent: access.extent.clone(), mask: Some(mask), element: dtype, word: dtype };
        let value = interp.bits(value, dtype);
        let old = one(interp, bound, &way, &value, kind)?;
        ways.push(interp.bits(&old, signed));
    }
    let [yes, no] = ways.as_slice() else { return interp.unknown("an atomic gave nothing") };
    let old = choose(interp, &positive, &Value::Tensor(yes.clone()), &Value::Tensor(no.clone()))?;
    let Value::Tensor(old) = old else { return Ok(old) };
    Ok(Value::Tensor(interp.bits(&old, value.dtype)))
}

fn cas<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    exchange(interp)?;
    let (expected, value) = (arg(bound, 1), arg(bound, 2));
    let access = access(interp, bound, &[&expected, &value], false)?;
    // Triton casts neither, and the op takes what the pointers point to.
    let uncast = |interp: &mut Interp<'a>, name, given: &Value<'a>| {
        if matches!(given, Value::Unknown(_)) {
            return access.value(interp, given);
        }
        let own = operand::tensor(interp, given, name)?;
        if own.dtype.ir() != access.word.ir() {
            let (own, element) = (own.dtype.name(), access.element.name());
            return interp.raise(format!("`{name}` is {own}, and what the pointers point to is {element}"));
        }
        access.value(interp, &Value::Tensor(own))
    };
    let (expected, value) = (uncast(interp, "cmp", &expected)?, uncast(interp, "val", &value)?);
    let op = access.op(interp, Tt::AtomicCas).operand("cmp", interp.ssa(&expected)).operand("val", interp.ssa(&value));
    let op = ordered(interp, op, bound, "acq_rel")?;
    Ok(Value::Tensor(access.result(interp, op)))
}

fn atomic_load<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    exchange(interp)?;
    let access = access(interp, bound, &[], true)?;
    let op = access.op(interp, Tt::AtomicLoad);
    let op = ordered(interp, op, bound, "acquire")?;
    Ok(Value::Tensor(access.result(interp, op)))
}

fn atomic_store<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let value = arg(bound, 1);
    let access = access(interp, bound, &[&value], false)?;
    let value = access.value(interp, &value)?;
    let op = access.op(interp, Tt::AtomicStore).operand("val", interp.ssa(&value));
    interp.emit_effect(ordered(interp, op, bound, "release")?)
}

fn poll<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let expected = arg(bound, 1);
    followed(interp, [&arg(bound, 0), &expected])?;
    exchange(interp)?;
    let access = access(interp, bound, &[&expected], false)?;
    let expected = access.value(interp, &expected)?;
    let timeout = match operand::given(bound, "timeout_ns").cloned() {
        Some(timeout) => Some(interp.scalar(&timeout, DType::UInt64)?),
        None => None,
    };
    let op = access.op(interp, Tt::AtomicPoll).operand("expected", interp.ssa(&expected)).maybe("timeout", timeout);
    let op = ordered(interp, op, bound, "acquire")?;
    let (shape, layout) = extent_of(&expected);
    Ok(Value::Tensor(interp.register_op(op, "result", DType::Int1, &(shape, Rc::clone(&layout)))))
}
