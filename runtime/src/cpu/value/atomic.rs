//! Atomics: one element after the other, each sees what those before it left.
//!
//! Where several CTAs hold the same part of a tensor, one of them does it for all, so the cluster is needed.
//! Deviation: what an element that a mask keeps out gives back is zero; in Triton it is undefined.

use super::arith::{maximum, minimum};
use super::elementwise::float2;
use super::evaluator::{Evaluator, OpSite, arg};
use super::float_format::{decode, encode};
use super::integer::{BinaryIntOp, int2};
use super::tensor::{Sizes, Tensor, count};
use super::{Environment, Rounding, Trap, Value};
use crate::array::ElemType;

/// Reads an atomic.
pub fn compile(site: &OpSite<'_>) -> Result<Option<Evaluator>, Trap> {
    let group = |name| site.group(name).ok_or_else(|| site.miss("has fewer operands than it should"));
    let (pointer, offsets, value, compare) = match site.name() {
        "tt.atomic_rmw" => (0, None, group("val")?, None),
        "tt.atomic_cas" => (0, None, group("val")?, Some(group("cmp")?)),
        "amdg.buffer_atomic_rmw" => (group("ptr")?, Some(group("offsets")?), group("value")?, None),
        "amdg.buffer_atomic_cas" => (group("ptr")?, Some(group("offsets")?), group("val")?, Some(group("cmp")?)),
        _ => return Ok(None),
    };
    let ty = site.result(0)?;
    if ty.tile.shared {
        return Ok(Some(Evaluator::new(|_, _| Err(Trap::Exchange))));
    }
    let size = super::pointer_ops::pointee(site, pointer)?.bytes() as i64;
    let mask = site.group("mask");
    let update = match compare {
        Some(_) => None,
        None => {
            let kind = site.word("atomic_rmw_op").or_else(|| site.text("atomic_rmw_op"));
            Some(update(kind.ok_or_else(|| site.miss("has no kind"))?, ty.dtype)?)
        }
    };
    let (dtype, shape) = (ty.dtype, ty.shape().clone());
    Ok(Some(Evaluator::new(move |operands, world| {
        let pointers = match offsets {
            Some(offsets) => super::pointer_ops::advance(arg(operands, pointer)?, arg(operands, offsets)?, size),
            None => arg(operands, pointer)?.clone(),
        };
        let mask = mask.map(|at| arg(operands, at)).transpose()?;
        let value = arg(operands, value)?;
        let compare = compare.map(|at| arg(operands, at)).transpose()?;
        let step = |at: usize, old: u64| match (compare, &update) {
            (Some(compare), _) => {
                if old == compare.bits(at) {
                    value.bits(at)
                } else {
                    old
                }
            }
            (None, Some(update)) => update(old, value.bits(at)),
            (None, None) => old,
        };
        Ok(vec![Value::Tensor(each_element(world, &pointers, mask, dtype, &shape, step)?)])
    })))
}

/// Replaces what is at each address by what `step` makes of it; what was there before.
fn each_element(
    world: &mut Environment,
    pointers: &Tensor,
    mask: Option<&Tensor>,
    dtype: ElemType,
    shape: &Sizes,
    step: impl Fn(usize, u64) -> u64,
) -> Result<Tensor, Trap> {
    let mut olds = Vec::with_capacity(count(shape));
    let mut bytes = [0; 8];
    for at in 0..count(shape) {
        if mask.is_some_and(|mask| mask.bits(at) == 0) {
            olds.push(0);
            continue;
        }
        let (address, len) = (pointers.bits(at), dtype.bytes());
        let outside = |write| move |fault| Trap::OutOfBounds { fault, write, element: at as u64 };
        world.global.read(address, &mut bytes[..len]).map_err(outside(false))?;
        let old = bytes[..len].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let new = step(at, old).to_le_bytes();
        world.global.write(address, &new[..len]).map_err(outside(true))?;
        olds.push(old);
    }
    Ok(Tensor::from_bits(dtype, shape.clone(), olds.into_iter()))
}

/// What memory holds after a read-modify-write, by what it held and the operand.
type Update = Box<dyn Fn(u64, u64) -> u64>;

fn update(kind: &str, dtype: ElemType) -> Result<Update, Trap> {
    let kind = kind.split(':').next().unwrap_or(kind).trim();
    let scalar = Sizes::from([]);
    let bits = move |bits| Tensor::splat(dtype, scalar.clone(), bits);
    let float = |f: fn(f64, f64) -> f64| -> Update {
        Box::new(move |old, value| encode(dtype, f(decode(dtype, old), decode(dtype, value)), Rounding::Nearest))
    };
    let op = match (kind, dtype.is_int()) {
        ("exch" | "10", _) => return Ok(Box::new(|_, value| value)),
        ("fadd" | "5", false) => match dtype {
            // In `f64` a sum of `f64`s is rounded once, and one of narrower floats is rounded as if once.
            ElemType::F64 | ElemType::F32 | ElemType::F16 | ElemType::BF16 => {
                return Ok(float(|old, value| old + value));
            }
            _ => return Err(strange(kind, dtype)),
        },
        (kind, _) => kind.to_owned(),
    };
    combine(&op, &bits(0), &bits(0))?;
    Ok(Box::new(move |old, value| combine(&op, &bits(old), &bits(value)).map_or(old, |new| new.bits(0))))
}

fn strange(kind: &str, dtype: ElemType) -> Trap {
    Trap::not_followed(format!("the atomic `{kind}` of `{}` is not followed", dtype.name()))
}

/// Element by element, what a read-modify-write of this kind (`add`, `fadd`, `max`, …) leaves in memory.
pub fn combine(kind: &str, old: &Tensor, value: &Tensor) -> Result<Tensor, Trap> {
    let dtype = old.dtype();
    if !dtype.is_int() {
        return match kind {
            "add" | "fadd" => Ok(float2(old, value, |a, b| a + b, |a, b| a + b)),
            "max" | "fmax" => Ok(maximum(old, value, false)),
            "min" | "fmin" => Ok(minimum(old, value, false)),
            "and" | "or" | "xor" => {
                let int = super::arith::int_of(dtype);
                Ok(combine(kind, &old.with_dtype(int), &value.with_dtype(int))?.with_dtype(dtype))
            }
            _ => Err(strange(kind, dtype)),
        };
    }
    let op = match kind {
        "add" | "4" => BinaryIntOp::Add,
        "and" | "1" => BinaryIntOp::And,
        "or" | "2" => BinaryIntOp::Or,
        "xor" | "3" => BinaryIntOp::Xor,
        "max" | "smax" | "6" => BinaryIntOp::MaxS,
        "min" | "smin" | "7" => BinaryIntOp::MinS,
        "umax" | "8" => BinaryIntOp::MaxU,
        "umin" | "9" => BinaryIntOp::MinU,
        _ => return Err(strange(kind, dtype)),
    };
    Ok(int2(op, old, value))
}
