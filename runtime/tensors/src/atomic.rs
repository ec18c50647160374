//! Atomics: one element after the other, each sees what those before it left.
//!
//! Where several CTAs hold the same part of a tensor, one of them does it for all, so the cluster is needed.
//! Deviation: what an element that a mask keeps out gives back is zero; in Triton it is undefined.

use std::cell::Cell;

use super::combine::{combine, unknown_combination};
use super::evaluator::{Environment, Evaluator, OpSite, RuntimeValue, arg, optional};
use super::pointer_ops::{advance, pointee};
use super::tensor::{Sizes, TensorValue, count};
use super::trap::Trap;
use crate::array::ElemType;
use crate::float_format::Rounding;
use crate::float_format::{decode, encode};
use crate::limits::atomics::LOOKS;
use crate::memory::AccessMode;

/// Reads an atomic.
pub(crate) fn compile(site: &OpSite<'_>) -> Result<Option<Evaluator>, Trap> {
    let group = |name| site.group(name).ok_or_else(|| site.trap("has fewer operands than it should"));
    let (pointer, offsets, value, compare) = match site.name() {
        "tt.atomic_rmw" => (0, None, group("val")?, None),
        "tt.atomic_load" | "tt.atomic_store" => return plain(site).map(Some),
        "tt.atomic_poll" => return poll(site).map(Some),
        "tt.atomic_cas" => (0, None, group("val")?, Some(group("cmp")?)),
        "amdg.buffer_atomic_rmw" => (group("ptr")?, Some(group("offsets")?), group("value")?, None),
        "amdg.buffer_atomic_cas" => (group("ptr")?, Some(group("offsets")?), group("val")?, Some(group("cmp")?)),
        _ => return Ok(None),
    };
    let ty = site.result(0)?;
    if ty.tile.shared {
        return Ok(Some(Evaluator::exchange()));
    }
    let size = pointee(site, pointer)?.bytes() as i64;
    let mask = site.group("mask");
    let update = match compare {
        Some(_) => None,
        None => {
            let kind = site.word("atomic_rmw_op").or_else(|| site.text("atomic_rmw_op"));
            Some(update(kind.ok_or_else(|| site.trap("has no kind"))?, ty.dtype)?)
        }
    };
    let (dtype, shape) = (ty.dtype, ty.shape().clone());
    Ok(Some(Evaluator::new(move |operands, world| {
        let pointers = match offsets {
            Some(offsets) => advance(arg(operands, pointer)?, arg(operands, offsets)?, size),
            None => arg(operands, pointer)?.clone(),
        };
        let mask = optional(operands, mask)?;
        let value = arg(operands, value)?;
        let compare = optional(operands, compare)?;
        let step = |at: usize, old: u64| match (compare, &update) {
            (Some(compare), _) => (old == compare.bits(at)).then(|| value.bits(at)),
            (None, Some(update)) => Some(update(old, value.bits(at))),
            (None, None) => None,
        };
        Ok(vec![RuntimeValue::Tensor(each_element(world, &pointers, mask, dtype, &shape, step)?)])
    })))
}

/// An atomic load or store.
fn plain(site: &OpSite<'_>) -> Result<Evaluator, Trap> {
    let (value, mask) = (site.group("val"), site.group("mask"));
    let ty = site.operand(value.unwrap_or(0))?;
    let dtype = match value {
        Some(_) => ty.dtype,
        None => pointee(site, 0)?,
    };
    if ty.tile.shared {
        return Ok(Evaluator::exchange());
    }
    let shape = ty.shape().clone();
    Ok(Evaluator::new(move |operands, world| {
        let (pointers, mask) = (arg(operands, 0)?, optional(operands, mask)?);
        let Some(value) = optional(operands, value)? else {
            let read = each_element(world, pointers, mask, dtype, &shape, |_, _| None)?;
            return Ok(vec![RuntimeValue::Tensor(read)]);
        };
        for at in 0..count(&shape) {
            if mask.is_none_or(|mask| mask.bits(at) != 0) {
                let (address, len) = (pointers.bits(at), dtype.bytes());
                let outside = |fault| Trap::OutOfBounds { fault, write: true, element: at as u64 };
                world.global.write(address, &value.bits(at).to_le_bytes()[..len]).map_err(outside)?;
                world.global.note(address, len, AccessMode::AtomicWrite, at, len);
            }
        }
        Ok(Vec::new())
    }))
}

/// Reads until memory holds what is expected. Deviation: time is counted in looks, those of all programs together.
fn poll(site: &OpSite<'_>) -> Result<Evaluator, Trap> {
    let (ty, dtype) = (site.result(0)?, pointee(site, 0)?);
    let expected = site.group("expected").ok_or_else(|| site.trap("expects nothing"))?;
    let timeout = site.group("timeout").is_some();
    if ty.tile.shared {
        return Ok(Evaluator::exchange());
    }
    let (shape, looks) = (ty.shape().clone(), Cell::new(0));
    Ok(Evaluator::new(move |operands, world| {
        let (pointers, expected) = (arg(operands, 0)?, arg(operands, expected)?);
        let mut met = Vec::with_capacity(count(&shape));
        let (mut bytes, len) = ([0; 8], dtype.bytes());
        for at in 0..count(&shape) {
            let outside = |fault| Trap::OutOfBounds { fault, write: false, element: at as u64 };
            world.global.read(pointers.bits(at), &mut bytes[..len]).map_err(outside)?;
            let held = bytes[..len].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            met.push(u64::from(held == expected.bits(at)));
        }
        looks.set(looks.get() + 1);
        if met.contains(&0) && !(timeout && looks.get() > LOOKS) {
            return Err(Trap::Again);
        }
        looks.set(0);
        for (at, _) in met.iter().enumerate().filter(|(_, met)| **met == 1) {
            world.global.note(pointers.bits(at), len, AccessMode::AtomicRead, at, len);
        }
        Ok(vec![RuntimeValue::Tensor(TensorValue::from_bits(ElemType::I1, shape.clone(), met.into_iter()))])
    }))
}

/// A read-modify-write of elements of a tensor, one after the other: what the tensor is then, and what each found.
///
/// # Errors
///
/// Where the operation is none that is known of elements of this type.
pub fn scatter(
    kind: &str,
    into: &TensorValue,
    places: &[usize],
    values: &TensorValue,
    mask: Option<&TensorValue>,
) -> Result<(TensorValue, TensorValue), Trap> {
    let step = update(kind, into.dtype())?;
    let mut bits: Vec<u64> = (0..into.len()).map(|at| into.bits(at)).collect();
    let mut found = Vec::with_capacity(values.len());
    for (from, &place) in places.iter().enumerate() {
        let element = bits.get_mut(place).filter(|_| mask.is_none_or(|mask| mask.bits(from) & 1 != 0));
        found.push(element.as_ref().map_or(0, |element| **element));
        if let Some(element) = element {
            *element = step(*element, values.bits(from));
        }
    }
    let new = TensorValue::from_bits(into.dtype(), into.shape().clone(), bits.into_iter());
    Ok((new, TensorValue::from_bits(into.dtype(), values.shape().clone(), found.into_iter())))
}

/// Replaces what is at each address by what `step` makes of it, if anything; what was there before.
fn each_element(
    world: &mut Environment,
    pointers: &TensorValue,
    mask: Option<&TensorValue>,
    dtype: ElemType,
    shape: &Sizes,
    step: impl Fn(usize, u64) -> Option<u64>,
) -> Result<TensorValue, Trap> {
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
        let new = step(at, old);
        let mode = match new {
            Some(_) => AccessMode::AtomicUpdate,
            None => AccessMode::AtomicRead,
        };
        if let Some(new) = new {
            world.global.write(address, &new.to_le_bytes()[..len]).map_err(outside(true))?;
        }
        world.global.note(address, len, mode, at, len);
        olds.push(old);
    }
    Ok(TensorValue::from_bits(dtype, shape.clone(), olds.into_iter()))
}

/// What memory holds after a read-modify-write, by what it held and the operand.
type Update = Box<dyn Fn(u64, u64) -> u64>;

fn update(kind: &str, dtype: ElemType) -> Result<Update, Trap> {
    let kind = kind.split(':').next().unwrap_or(kind).trim();
    let scalar = Sizes::from([]);
    let bits = move |bits| TensorValue::splat(dtype, scalar.clone(), bits);
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
            _ => return Err(unknown_combination(kind, dtype)),
        },
        (kind, _) => kind.to_owned(),
    };
    combine(&op, &bits(0), &bits(0))?;
    Ok(Box::new(move |old, value| combine(&op, &bits(old), &bits(value)).map_or(old, |new| new.bits(0))))
}
