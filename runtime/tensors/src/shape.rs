//! Operations that move elements and compute none.
//!
//! On a tile of a cluster's tensor they are done where the elements of the result's tile are all in the operand's.

use super::evaluator::{Evaluator, OpSite, RuntimeValue, arg};
use super::tensor::{Sizes, TensorValue, Word, count, each, strides};
use super::tile::{Tile, places};
use super::trap::Trap;
use crate::array::offsets;

/// Reads an operation that moves elements.
pub fn compile(site: &OpSite<'_>) -> Result<Option<Evaluator>, Trap> {
    Ok(Some(match site.name() {
        "tt.splat" | "tt.unsplat" => {
            let shape = site.result(0)?.shape().clone();
            Evaluator::one(move |a| Ok(a.pick(shape.clone(), std::iter::once(0))))
        }
        "tt.make_range" => Evaluator::constant(RuntimeValue::Tensor(range(site)?)),
        "tt.expand_dims" => {
            let shape = site.result(0)?.shape().clone();
            Evaluator::one(move |a| Ok(a.with_shape(shape.clone())))
        }
        "tt.reshape" => reshape(site)?,
        "tt.broadcast" => {
            let shape = site.result(0)?.shape().clone();
            Evaluator::one(move |a| broadcast(a, &shape))
        }
        "tt.trans" => {
            let shape = site.result(0)?.shape().clone();
            let order = site.ints("order").ok_or_else(|| site.trap("has no order"))?;
            let order: Vec<usize> = order.into_iter().map(|dim| dim as usize).collect();
            Evaluator::one(move |a| trans(a, &shape, &order))
        }
        "tt.join" => {
            let shape = site.result(0)?.shape().clone();
            Evaluator::two(move |a, b| Ok(interleave(a, b, &shape)))
        }
        "tt.split" => {
            let shape = site.result(0)?.shape().clone();
            Evaluator::new(move |operands, _| {
                let a = arg(operands, 0)?;
                let half =
                    |from| RuntimeValue::Tensor(a.pick(shape.clone(), (0..count(&shape)).map(move |at| at * 2 + from)));
                Ok(vec![half(0), half(1)])
            })
        }
        "tt.cat" => {
            let ty = site.result(0)?;
            if !ty.tile.is_whole() {
                return Ok(Some(Evaluator::exchange()));
            }
            let shape = ty.shape().clone();
            Evaluator::two(move |a, b| Ok(concatenate(a, b, &shape)))
        }
        "ttg.convert_layout" | "gluon.set_auto_layout" => convert(site)?,
        "amdg.extract_slice" => {
            let (from, to) = (site.operand(0)?, site.result(0)?);
            if !from.tile.is_whole() {
                return Err(site.trap("in a cluster is not followed"));
            }
            let offsets = site.ints("static_offsets").ok_or_else(|| site.trap("has no offsets"))?;
            let offsets: Vec<u64> = offsets.into_iter().map(|at| at.max(0) as u64).collect();
            Evaluator::one(move |a| Ok(a.pick(to.shape().clone(), places(to.shape(), &offsets, from.shape()))))
        }
        "amdg.concat" => concat(site)?,
        "amdg.assume_uniform" | "amdg.in_thread_transpose" | "amdg.register_resident" | "amdg.register_handoff" => {
            Evaluator::one(|a| Ok(a.clone()))
        }
        "amdg.mfma_commit" => Evaluator::new(|operands, _| Ok(operands.to_vec())),
        _ => return Ok(None),
    }))
}

/// `start`, `start + 1`, …
fn range(site: &OpSite<'_>) -> Result<TensorValue, Trap> {
    let ty = site.result(0)?;
    let start = site.int("start").ok_or_else(|| site.trap("has no start"))?;
    let first = start + ty.tile.offset.first().map_or(0, |at| *at as i64);
    let len = count(ty.shape()) as i64;
    Ok(TensorValue::from_bits(ty.dtype, ty.shape().clone(), (first..first + len).map(|at| at as u64)))
}

/// Row-major elements under other sizes. A tile is reshaped alone where its elements are those of the result's tile.
fn reshape(site: &OpSite<'_>) -> Result<Evaluator, Trap> {
    let (from, to) = (site.operand(0)?.tile, site.result(0)?.tile);
    let shape = to.shape.clone();
    if from.is_whole() && to.is_whole() {
        return Ok(Evaluator::one(move |a| Ok(a.with_shape(shape.clone()))));
    }
    let from = places(&from.shape, &from.offset, &from.whole);
    let to = places(&to.shape, &to.offset, &to.whole);
    if from.eq(to) {
        return Ok(Evaluator::one(move |a| Ok(a.with_shape(shape.clone()))));
    }
    Ok(Evaluator::exchange())
}

/// A tile under another layout.
fn convert(site: &OpSite<'_>) -> Result<Evaluator, Trap> {
    let (from, to) = (site.operand(0)?.tile, site.result(0)?.tile);
    if from.shape == to.shape && from.offset == to.offset {
        return Ok(Evaluator::one(|a| Ok(a.clone())));
    }
    match within(&from, &to) {
        Some(offset) => {
            Ok(Evaluator::one(move |a| Ok(a.pick(to.shape.clone(), places(&to.shape, &offset, &from.shape)))))
        }
        None => Ok(Evaluator::exchange()),
    }
}

/// Where a tile starts in another that has all of it.
fn within(outer: &Tile, inner: &Tile) -> Option<Vec<u64>> {
    let dims = outer.offset.iter().zip(outer.shape.iter()).zip(inner.offset.iter().zip(inner.shape.iter()));
    dims.map(|((from, size), (at, part))| at.checked_sub(*from).filter(|at| at + part <= *size)).collect()
}

/// Elements at these strides, in the row-major order of a shape.
pub fn strided(a: &TensorValue, shape: &Sizes, steps: &[u64]) -> TensorValue {
    if a.is_splat() {
        return a.with_shape(shape.clone());
    }
    each!(a.data(), words => TensorValue::of(a.dtype(), shape.clone(), gather(words, shape, steps)))
}

fn gather<W: Word>(words: &[W], shape: &[u64], steps: &[u64]) -> Vec<W> {
    let (Some((&width, outer)), Some((&step, outer_steps))) = (shape.split_last(), steps.split_last()) else {
        return words.to_vec();
    };
    let mut out = Vec::with_capacity(count(shape));
    for at in offsets(outer, outer_steps) {
        let row = words.get(at as usize..).unwrap_or(&[]);
        let len = width as usize;
        match step {
            0 => out.extend(std::iter::repeat_n(row.first().copied().unwrap_or_default(), len)),
            1 => out.extend_from_slice(row.get(..len).unwrap_or(row)),
            step => out.extend(row.iter().step_by(step as usize).take(len)),
        }
    }
    out
}

/// Dimensions of one element become as large as the shape says.
pub fn broadcast(a: &TensorValue, shape: &Sizes) -> Result<TensorValue, Trap> {
    if a.is_splat() {
        return Ok(a.with_shape(shape.clone()));
    }
    let own = strides(a.shape());
    if own.len() != shape.len() {
        return Err(Trap::not_followed("a broadcast between ranks is not followed"));
    }
    let steps: Vec<u64> =
        own.iter().zip(a.shape().iter()).map(|(step, size)| if *size == 1 { 0 } else { *step }).collect();
    Ok(strided(a, shape, &steps))
}

/// Dimensions in another order.
pub fn trans(a: &TensorValue, shape: &Sizes, order: &[usize]) -> Result<TensorValue, Trap> {
    let own = strides(a.shape());
    let steps: Option<Vec<u64>> = order.iter().map(|dim| own.get(*dim).copied()).collect();
    match steps.filter(|steps| steps.len() == own.len()) {
        Some(steps) => Ok(strided(a, shape, &steps)),
        None => Err(Trap::not_followed("the order of a transposition is not one of its operand's dimensions")),
    }
}

/// Two tensors side by side in a new last dimension.
fn interleave(a: &TensorValue, b: &TensorValue, shape: &Sizes) -> TensorValue {
    let pairs = (0..a.len()).flat_map(|at| [a.bits(at), b.bits(at)]);
    TensorValue::from_bits(a.dtype(), shape.clone(), pairs)
}

/// Two tensors one after the other.
fn concatenate(a: &TensorValue, b: &TensorValue, shape: &Sizes) -> TensorValue {
    let all = (0..a.len()).map(|at| a.bits(at)).chain((0..b.len()).map(|at| b.bits(at)));
    TensorValue::from_bits(a.dtype(), shape.clone(), all)
}

/// Sources laid into the result in row-major order.
fn concat(site: &OpSite<'_>) -> Result<Evaluator, Trap> {
    let (from, to) = (site.operand(0)?, site.result(0)?);
    if !from.tile.is_whole() || !to.tile.is_whole() {
        return Err(site.trap("in a cluster is not followed"));
    }
    let parts: Vec<u64> = to.shape().iter().zip(from.shape().iter()).map(|(all, part)| all / (*part).max(1)).collect();
    Ok(Evaluator::new(move |operands, _| {
        let mut bits = vec![0; count(to.shape())];
        for (number, offset) in places(&parts, &vec![0; parts.len()], &parts).enumerate() {
            let part = arg(operands, number)?;
            let mut rest = offset as u64;
            let mut start = vec![0; parts.len()];
            for dim in (0..parts.len()).rev() {
                start[dim] = rest % parts[dim] * from.shape()[dim];
                rest /= parts[dim];
            }
            for (at, place) in places(from.shape(), &start, to.shape()).enumerate() {
                if let Some(slot) = bits.get_mut(place) {
                    *slot = part.bits(at);
                }
            }
        }
        Ok(vec![RuntimeValue::Tensor(TensorValue::from_bits(to.dtype, to.shape().clone(), bits.into_iter()))])
    }))
}

/// For each element of `indices`, of `i32` or `i64`, the element of `src` that it names along an axis.
pub fn places_along(src: &TensorValue, indices: &TensorValue, axis: usize) -> Result<Vec<usize>, Trap> {
    let (steps, own, sizes) = (strides(src.shape()), strides(indices.shape()), indices.shape());
    if steps.len() != own.len() || axis >= own.len() {
        return Err(Trap::not_followed("a gather between ranks is not followed"));
    }
    let place = |at: usize| {
        (0..own.len()).try_fold(0, |place, dim| {
            let index = if dim == axis { indices.int_at(at) } else { (at as u64 / own[dim] % sizes[dim]) as i64 };
            let size = src.shape()[dim];
            match u64::try_from(index).ok().filter(|here| *here < size) {
                Some(here) => Ok(place + (here * steps[dim]) as usize),
                None => Err(Trap::Index { index, size, element: at as u64 }),
            }
        })
    };
    (0..indices.len()).map(place).collect()
}
