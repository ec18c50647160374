//! Reductions, scans and element-wise regions.
//!
//! Both take halves of a tensor at once, whatever the region does. Deviation: elements are combined as in a balanced
//! tree, so that sums of floats differ in their last places from those of other orders, as those of a GPU do.

use super::evaluator::{Environment, Evaluator, OpSite, RuntimeValue, arg};
use super::region::RegionProgram;
use super::tensor::{Sizes, TensorValue, Word, each};
use super::trap::Trap;

/// Reads an op with a region.
pub(crate) fn compile(site: &OpSite<'_>) -> Result<Option<Evaluator>, Trap> {
    let name = site.name();
    if !matches!(name, "tt.reduce" | "tt.scan" | "tt.map_elementwise") {
        return Ok(None);
    }
    let Some(&region) = site.tree.regions(site.op).first() else { return Err(site.trap("has no region")) };
    let program = RegionProgram::read(site, region)?;
    if name == "tt.map_elementwise" {
        if site.int("pack").is_some_and(|pack| pack != 1) {
            return Err(site.trap("of packed elements is not followed"));
        }
        return Ok(Some(Evaluator::new(move |operands, world| {
            let shape = arg(operands, 0)?.shape().clone();
            let results = program.run(operands.to_vec(), world)?;
            Ok(results.iter().map(|value| shaped(value, &shape)).collect())
        })));
    }
    let from = site.operand(0)?;
    let axis = site.axis(from.shape().len())?;
    if !from.tile.covers(axis) {
        return Ok(Some(Evaluator::exchange()));
    }
    let shapes: Vec<Sizes> = (0..site.tree.results(site.op).len())
        .map(|at| Ok(site.result(at)?.shape().clone()))
        .collect::<Result<_, Trap>>()?;
    let reverse = site.flag("reverse");
    let scan = name == "tt.scan";
    Ok(Some(Evaluator::new(move |operands, world| {
        let all: Vec<TensorValue> =
            (0..operands.len()).map(|at| arg(operands, at).cloned()).collect::<Result<_, Trap>>()?;
        let folded =
            if scan { prefixes(&program, all, axis, reverse, world)? } else { fold(&program, all, axis, world)? };
        Ok(folded
            .into_iter()
            .zip(&shapes)
            .map(|(tensor, shape)| RuntimeValue::Tensor(tensor.with_shape(shape.clone())))
            .collect())
    })))
}

fn shaped(value: &RuntimeValue, shape: &Sizes) -> RuntimeValue {
    match value {
        RuntimeValue::Tensor(tensor) => RuntimeValue::Tensor(tensor.with_shape(shape.clone())),
        other => other.clone(),
    }
}

/// Combines tensors of one shape.
fn combine(
    program: &RegionProgram,
    a: &[TensorValue],
    b: &[TensorValue],
    world: &mut Environment,
) -> Result<Vec<TensorValue>, Trap> {
    let values = a.iter().chain(b).cloned().map(RuntimeValue::Tensor).collect();
    let results = program.run(values, world)?;
    let shape = a.first().map_or_else(|| Sizes::from([]), |a| a.shape().clone());
    results
        .iter()
        .map(|value| match shaped(value, &shape) {
            RuntimeValue::Tensor(tensor) => Ok(tensor),
            _ => Err(Trap::not_followed("a region gives no tensor")),
        })
        .collect()
}

/// Reduces an axis to one element.
fn fold(
    program: &RegionProgram,
    mut all: Vec<TensorValue>,
    axis: usize,
    world: &mut Environment,
) -> Result<Vec<TensorValue>, Trap> {
    loop {
        let size = all.first().and_then(|first| first.shape().get(axis).copied()).unwrap_or(1);
        if size <= 1 {
            return Ok(all);
        }
        let half = size / 2;
        let low: Vec<TensorValue> = all.iter().map(|tensor| part(tensor, axis, 0, half)).collect();
        let high: Vec<TensorValue> = all.iter().map(|tensor| part(tensor, axis, half, half)).collect();
        let mut next = combine(program, &low, &high, world)?;
        if size % 2 == 1 {
            let rest: Vec<TensorValue> = all.iter().map(|tensor| part(tensor, axis, size - 1, 1)).collect();
            next = next.iter().zip(&rest).map(|(next, rest)| joined(next, rest, axis)).collect();
        }
        all = next;
    }
}

/// All prefixes along an axis, in ever longer steps.
fn prefixes(
    program: &RegionProgram,
    mut all: Vec<TensorValue>,
    axis: usize,
    reverse: bool,
    world: &mut Environment,
) -> Result<Vec<TensorValue>, Trap> {
    if reverse {
        all = all.iter().map(|tensor| flipped(tensor, axis)).collect();
    }
    let size = all.first().and_then(|first| first.shape().get(axis).copied()).unwrap_or(1);
    let mut step = 1;
    while step < size {
        let before: Vec<TensorValue> = all.iter().map(|tensor| part(tensor, axis, 0, size - step)).collect();
        let after: Vec<TensorValue> = all.iter().map(|tensor| part(tensor, axis, step, size - step)).collect();
        let sums = combine(program, &before, &after, world)?;
        all = all.iter().zip(&sums).map(|(old, sums)| joined(&part(old, axis, 0, step), sums, axis)).collect();
        step *= 2;
    }
    if reverse {
        all = all.iter().map(|tensor| flipped(tensor, axis)).collect();
    }
    Ok(all)
}

/// The same sizes with another one along an axis.
fn resized(shape: &[u64], axis: usize, size: u64) -> Sizes {
    shape.iter().enumerate().map(|(dim, old)| if dim == axis { size } else { *old }).collect()
}

/// Elements of a step along an axis.
fn inner(shape: &[u64], axis: usize) -> usize {
    shape.iter().skip(axis + 1).product::<u64>() as usize
}

/// `size` steps along an axis.
pub(crate) fn part(tensor: &TensorValue, axis: usize, from: u64, size: u64) -> TensorValue {
    let shape = resized(tensor.shape(), axis, size);
    if tensor.is_splat() {
        return tensor.with_shape(shape);
    }
    let step = inner(tensor.shape(), axis);
    let row = tensor.shape().get(axis).map_or(1, |size| *size as usize) * step;
    let (from, to) = (from as usize * step, (from + size) as usize * step);
    each!(tensor.data(), words => {
        let parts = words.chunks(row.max(1)).filter_map(|row| row.get(from..to));
        TensorValue::of(tensor.dtype(), shape, parts.flatten().copied().collect::<Vec<_>>())
    })
}

/// Two tensors one after the other along an axis.
pub(crate) fn joined(a: &TensorValue, b: &TensorValue, axis: usize) -> TensorValue {
    let size = |tensor: &TensorValue| tensor.shape().get(axis).copied().unwrap_or(1);
    let shape = resized(a.shape(), axis, size(a) + size(b));
    let (row_a, row_b) = (size(a) as usize * inner(a.shape(), axis), size(b) as usize * inner(b.shape(), axis));
    let (a, b) = (a.dense(), b.dense());
    fn merged<W: Word>(a: &[W], b: &[W], row_a: usize, row_b: usize) -> Vec<W> {
        let rows = a.chunks(row_a.max(1)).zip(b.chunks(row_b.max(1)));
        let mut out = Vec::with_capacity(a.len() + b.len());
        for (a, b) in rows {
            out.extend_from_slice(a);
            out.extend_from_slice(b);
        }
        out
    }
    each!(a.data(), words => TensorValue::of(a.dtype(), shape, merged(words, b.words().unwrap_or(&[]), row_a, row_b)))
}

/// The other way round along an axis.
fn flipped(tensor: &TensorValue, axis: usize) -> TensorValue {
    if tensor.is_splat() {
        return tensor.clone();
    }
    let step = inner(tensor.shape(), axis).max(1);
    let row = tensor.shape().get(axis).map_or(1, |size| *size as usize).max(1) * step;
    each!(tensor.data(), words => {
        let turned = words.chunks(row).flat_map(|row| row.chunks(step).rev().flatten().copied());
        TensorValue::of(tensor.dtype(), tensor.shape().clone(), turned.collect::<Vec<_>>())
    })
}
