//! Buffers and windows in units of what divides all of their sizes.

use super::{Groups, gcd};
use kernel::{Dim, Instr, Kernel, Shape, ShapeId, VarKind, ViewOp};
use rustc_hash::FxHashMap;

/// What is known of the windows of one group.
#[derive(Clone, Copy, Default)]
struct Unit {
    /// Divides every number of bits.
    bits: u64,
    /// Bits of the elements, where a window has any.
    element: Option<u64>,
    /// Whether the group is left as it is.
    keeps: bool,
}

/// Divides the bits of each group of windows. Those of barriers stay, whose bits others may write, and those that have
/// a place in memory, and those of several types of elements, since what is read there is of one of them.
pub(super) fn divide(kernel: &mut Kernel, views: &Groups) {
    let vars = kernel.vars.len();
    let mut units = vec![Unit::default(); views.len()];
    for (at, buffer) in kernel.buffers.iter().enumerate() {
        let unit = &mut units[views.of(vars + at)];
        unit.bits = gcd(gcd(unit.bits, buffer.bits), buffer.slot_bits);
        unit.keeps |= buffer.barriers || buffer.start.is_some();
    }
    for (at, info) in kernel.vars.iter().enumerate() {
        let VarKind::View(shape) = info.kind else { continue };
        let unit = &mut units[views.of(at)];
        let Some(shape) = kernel.shapes.get(shape.0 as usize) else {
            unit.keeps = true;
            continue;
        };
        let (dims, run) = merged(shape);
        unit.bits = dims.iter().fold(gcd(unit.bits, run), |unit, dim| gcd(unit, dim.stride));
        unit.keeps |=
            shape.dims.iter().any(|dim| dim.size == 0) || *unit.element.get_or_insert(shape.element) != shape.element;
    }
    for instr in kernel.blocks.iter().flat_map(|block| &block.instrs) {
        let Instr::View { dst, op, .. } = instr else { continue };
        let unit = &mut units[views.of(dst.index())];
        match op {
            ViewOp::Index { stride, .. } => unit.bits = gcd(unit.bits, *stride),
            ViewOp::Shift(by) => unit.bits = gcd(unit.bits, *by),
            ViewOp::Remote(_) => {}
        }
    }
    let unit = |number: usize| {
        let unit = units[views.of(number)];
        (!unit.keeps && unit.bits > 0).then_some(unit.bits)
    };
    for (at, buffer) in kernel.buffers.iter_mut().enumerate() {
        if let Some(unit) = unit(vars + at) {
            buffer.bits /= unit;
            buffer.slot_bits /= unit;
        }
    }
    for instr in kernel.blocks.iter_mut().flat_map(|block| &mut block.instrs) {
        let Instr::View { dst, op, .. } = instr else { continue };
        let Some(unit) = unit(dst.index()) else { continue };
        match op {
            ViewOp::Index { stride, .. } => *stride /= unit,
            ViewOp::Shift(by) => *by /= unit,
            ViewOp::Remote(_) => {}
        }
    }
    let mut shapes: Vec<Shape> = Vec::new();
    let mut numbers: FxHashMap<Shape, u32> = FxHashMap::default();
    for (at, info) in kernel.vars.iter_mut().enumerate() {
        let VarKind::View(id) = &mut info.kind else { continue };
        let Some(shape) = kernel.shapes.get(id.0 as usize) else { continue };
        let shape = unit(at).map_or_else(|| shape.clone(), |unit| in_units(shape, unit));
        let number = *numbers.entry(shape.clone()).or_insert(shapes.len() as u32);
        if number as usize == shapes.len() {
            shapes.push(shape);
        }
        *id = ShapeId(number);
    }
    kernel.shapes = shapes;
}

/// The dimensions that lie apart, outermost first, and the bits of what lies together.
fn merged(shape: &Shape) -> (Vec<Dim>, u64) {
    let mut dims: Vec<Dim> = shape.dims.iter().copied().filter(|dim| dim.size > 1).collect();
    dims.sort_by_key(|dim| std::cmp::Reverse(dim.stride));
    let mut run = shape.element;
    while let Some(dim) = dims.pop_if(|dim| dim.stride == run) {
        run *= dim.size;
    }
    (dims, run)
}

/// A window whose intervals are those of another one, in units of so many bits.
fn in_units(shape: &Shape, unit: u64) -> Shape {
    let (mut dims, run) = merged(shape);
    dims.iter_mut().for_each(|dim| dim.stride /= unit);
    if run > unit {
        dims.push(Dim { size: run / unit, stride: 1 });
    }
    Shape { dims, element: 1, exact: shape.exact }
}
