//! Loads and stores through pointers.
//!
//! Deviation: an element that a mask keeps out reads as zero where nothing else is given; in Triton it is undefined. Of
//! CTAs that hold the same part of a tensor, the first alone stores.

use super::elementwise::{common, words, zip};
use super::evaluator::{Evaluator, OpSite, RuntimeValue, arg, optional};
use super::tensor::{self, Sizes, TensorValue, Word, count, each, extend, with_word};
use super::trap::Trap;
use crate::array::ElemType;
use crate::memory::{AccessFault, AccessMode, GlobalMemory};

/// Reads an operation that goes through pointers.
pub fn compile(site: &OpSite<'_>) -> Result<Option<Evaluator>, Trap> {
    Ok(Some(match site.name() {
        "tt.load" => load(site)?,
        "tt.store" => store(site)?,
        "tt.addptr" => {
            let size = pointee(site, 0)?.bytes() as i64;
            Evaluator::two(move |pointers, offsets| Ok(advance(pointers, offsets, size)))
        }
        "amdg.buffer_load" => buffer_load(site)?,
        "amdg.buffer_store" => buffer_store(site)?,
        "amdg.masked_load" => {
            let ty = site.result(0)?;
            Evaluator::new(move |operands, world| {
                let (pointers, mask, other) = (arg(operands, 0)?, arg(operands, 1)?, arg(operands, 2)?);
                Ok(vec![RuntimeValue::Tensor(read(
                    &world.global,
                    pointers,
                    Some(mask),
                    Some(other),
                    ty.dtype,
                    ty.shape(),
                    OutOfBounds::Trap,
                )?)])
            })
        }
        "amdg.masked_store" => Evaluator::new(move |operands, world| {
            write(&mut world.global, arg(operands, 0)?, Some(arg(operands, 2)?), arg(operands, 1)?)?;
            Ok(Vec::new())
        }),
        _ => return Ok(None),
    }))
}

/// What an operand points to.
pub fn pointee(site: &OpSite<'_>, operand: usize) -> Result<ElemType, Trap> {
    site.operand(operand)?.pointee.ok_or_else(|| site.trap("has no pointer"))
}

/// Addresses moved by so many elements of `size` bytes.
pub fn advance(pointers: &TensorValue, offsets: &TensorValue, size: i64) -> TensorValue {
    let shape = common(&[pointers, offsets]);
    let base = words::<u64>(pointers);
    let step = |base: u64, offset: i64| base.wrapping_add(offset.wrapping_mul(size) as u64);
    let sum = match offsets.dtype() {
        ElemType::I32 => zip(base, words::<u32>(offsets), |base, offset| step(base, i64::from(offset as i32))),
        ElemType::I64 => zip(base, words::<u64>(offsets), |base, offset| step(base, offset as i64)),
        dtype => {
            let all: Vec<u64> = (0..offsets.len()).map(|at| offsets.bits(at)).collect();
            zip(base, &all, |base, offset| step(base, extend(dtype, offset)))
        }
    };
    TensorValue::of(ElemType::I64, shape, sum)
}

fn load(site: &OpSite<'_>) -> Result<Evaluator, Trap> {
    let ty = site.result(0)?;
    let (mask, other) = (site.group("mask"), site.group("other"));
    Ok(Evaluator::new(move |operands, world| {
        let mask = optional(operands, mask)?;
        let other = optional(operands, other)?;
        Ok(vec![RuntimeValue::Tensor(read(
            &world.global,
            arg(operands, 0)?,
            mask,
            other,
            ty.dtype,
            ty.shape(),
            OutOfBounds::Trap,
        )?)])
    }))
}

fn store(site: &OpSite<'_>) -> Result<Evaluator, Trap> {
    let leader = site.operand(0)?.tile.leader;
    let mask = site.group("mask");
    Ok(Evaluator::new(move |operands, world| {
        if leader {
            let mask = optional(operands, mask)?;
            write(&mut world.global, arg(operands, 0)?, mask, arg(operands, 1)?)?;
        }
        Ok(Vec::new())
    }))
}

/// AMD: a scalar pointer and offsets.
fn buffer_load(site: &OpSite<'_>) -> Result<Evaluator, Trap> {
    let ty = site.result(0)?;
    let size = pointee(site, 0)?.bytes() as i64;
    let (mask, other) = (site.group("mask"), site.group("other"));
    Ok(Evaluator::new(move |operands, world| {
        let pointers = advance(arg(operands, 0)?, arg(operands, 1)?, size);
        let mask = optional(operands, mask)?;
        let other = optional(operands, other)?;
        Ok(vec![RuntimeValue::Tensor(read(
            &world.global,
            &pointers,
            mask,
            other,
            ty.dtype,
            ty.shape(),
            OutOfBounds::Trap,
        )?)])
    }))
}

fn buffer_store(site: &OpSite<'_>) -> Result<Evaluator, Trap> {
    let group = |name| site.group(name).ok_or_else(|| site.trap("has fewer operands than it should"));
    let (value, ptr, offsets) = (group("value")?, group("ptr")?, group("offsets")?);
    let size = pointee(site, ptr)?.bytes() as i64;
    let (leader, mask) = (site.operand(value)?.tile.leader, site.group("mask"));
    Ok(Evaluator::new(move |operands, world| {
        if leader {
            let pointers = advance(arg(operands, ptr)?, arg(operands, offsets)?, size);
            let mask = optional(operands, mask)?;
            write(&mut world.global, &pointers, mask, arg(operands, value)?)?;
        }
        Ok(Vec::new())
    }))
}

/// What a read of an address that is in no allocation gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutOfBounds {
    /// A trap.
    Trap,
    /// Zero, as AMD's buffer loads do.
    Zero,
}

/// Which elements a mask lets through.
struct Mask<'a>(Option<&'a [u8]>);

impl<'a> Mask<'a> {
    fn of(mask: Option<&'a TensorValue>) -> Mask<'a> {
        Mask(mask.and_then(|mask| mask.words::<u8>()))
    }

    fn allows(&self, at: usize) -> bool {
        match self.0 {
            None => true,
            Some([all]) => *all != 0,
            Some(each) => each.get(at).is_some_and(|bit| *bit != 0),
        }
    }
}

/// The elements from `at` on whose addresses follow each other and that the mask lets through.
fn run(addresses: &[u64], mask: &Mask<'_>, at: usize, size: u64) -> usize {
    let mut len = 1;
    while let (Some(before), Some(next)) = (addresses.get(at + len - 1), addresses.get(at + len))
        && *next == before.wrapping_add(size)
        && mask.allows(at + len)
    {
        len += 1;
    }
    len
}

/// Reads through pointers; what the mask keeps out is `other`, or zero. Fails where an address that is read is in no
/// allocation.
pub fn read(
    global: &GlobalMemory,
    pointers: &TensorValue,
    mask: Option<&TensorValue>,
    other: Option<&TensorValue>,
    dtype: ElemType,
    shape: &Sizes,
    outside: OutOfBounds,
) -> Result<TensorValue, Trap> {
    let dense = pointers.dense();
    let addresses = dense.words::<u64>().unwrap_or(&[]);
    let mask = Mask::of(mask);
    let one = if dtype == ElemType::I1 { 1 } else { u64::MAX };
    with_word!(dtype, W => {
        let mut out: Vec<W> = match other {
            Some(other) => other.dense().with_shape(shape.clone()).dense().words().map_or(Vec::new(), <[W]>::to_vec),
            None => Vec::new(),
        };
        out.resize(count(shape), W::default());
        let mut bytes = Vec::new();
        let mut at = 0;
        while at < addresses.len() {
            if !mask.allows(at) {
                at += 1;
                continue;
            }
            let len = run(addresses, &mask, at, W::BYTES as u64);
            bytes.resize(len * W::BYTES, 0);
            let address = addresses.get(at).copied().unwrap_or(0);
            match (global.read(address, &mut bytes), outside) {
                (Ok(()), _) => global.note(address, bytes.len(), AccessMode::Read, at, W::BYTES),
                (Err(fault), OutOfBounds::Trap) => {
                    return Err(locate(global, fault, address, at, len, W::BYTES, false));
                }
                (Err(_), OutOfBounds::Zero) => {
                    let each = addresses.iter().enumerate().skip(at).zip(bytes.chunks_exact_mut(W::BYTES));
                    for ((element, address), bytes) in each {
                        match global.read(*address, bytes) {
                            Ok(()) => global.note(*address, W::BYTES, AccessMode::Read, element, W::BYTES),
                            Err(_) => bytes.fill(0),
                        }
                    }
                }
            }
            for (slot, bytes) in out.iter_mut().skip(at).zip(bytes.chunks_exact(W::BYTES)) {
                *slot = if one == 1 { W::from_u64(W::read(bytes).to_u64() & 1) } else { W::read(bytes) };
            }
            at += len;
        }
        Ok(TensorValue::of(dtype, shape.clone(), out))
    })
}

/// Writes through pointers what the mask lets through. Fails where an address that is written is in no allocation.
pub fn write(
    global: &mut GlobalMemory,
    pointers: &TensorValue,
    mask: Option<&TensorValue>,
    value: &TensorValue,
) -> Result<(), Trap> {
    let (dense, value) = (pointers.dense(), value.with_shape(pointers.shape().clone()).dense());
    let addresses = dense.words::<u64>().unwrap_or(&[]);
    let mask = Mask::of(mask);
    each!(value.data(), words => put(global, addresses, &mask, words))
}

fn put<W: Word>(global: &mut GlobalMemory, addresses: &[u64], mask: &Mask<'_>, words: &[W]) -> Result<(), Trap> {
    let mut bytes = Vec::new();
    let mut at = 0;
    while at < addresses.len() {
        if !mask.allows(at) {
            at += 1;
            continue;
        }
        let len = run(addresses, mask, at, W::BYTES as u64);
        bytes.resize(len * W::BYTES, 0);
        tensor::put(words.get(at..).unwrap_or(&[]), &mut bytes);
        let address = addresses.get(at).copied().unwrap_or(0);
        if let Err(fault) = global.write(address, &bytes) {
            return Err(locate(global, fault, address, at, len, W::BYTES, true));
        }
        global.note(address, bytes.len(), AccessMode::Write, at, W::BYTES);
        at += len;
    }
    Ok(())
}

/// The first element of a run that is outside.
fn locate(
    global: &GlobalMemory,
    fault: AccessFault,
    address: u64,
    at: usize,
    len: usize,
    size: usize,
    write: bool,
) -> Trap {
    let mut one = vec![0; size];
    for step in 0..len {
        if let Err(fault) = global.read(address.wrapping_add((step * size) as u64), &mut one) {
            return Trap::OutOfBounds { fault, write, element: (at + step) as u64 };
        }
    }
    Trap::OutOfBounds { fault, write, element: at as u64 }
}
