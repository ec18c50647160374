//! What the memory of a program's CTAs holds, by the places that memdescs name.

use std::rc::Rc;

use kernel::{BufferId, Kernel, Shape, ShapeId};

use tensors::memory::{CtaMemory, TypedWindow, WindowError};
use tensors::tensor::{count, strides};
use tensors::{TensorValue, Trap, tile};

/// A window of one CTA's memory, as an operand names it.
#[derive(Clone, Debug)]
pub(super) struct MemoryPlace {
    /// The position of the CTA.
    pub(super) cta: usize,
    /// The buffer that it is a window of.
    pub(super) buffer: BufferId,
    /// Where it starts there, in bits.
    pub(super) start: u64,
    /// Its sizes and strides.
    pub(super) shape: ShapeId,
    /// The type of what the CTA holds there.
    pub(super) ty: Rc<tile::TileType>,
    /// Where no strides describe it and its layout does: for each element its place from the start on.
    pub(super) element_order: Option<ElementOrder>,
}

/// For each element of a window, in row-major order, its place in memory in elements.
pub(super) type ElementOrder = Rc<[usize]>;

/// The order of a window whose layout gives a basis for each bit of a place (`shared_linear`).
pub(super) fn element_order(layout: &str, sizes: &[u64]) -> Option<ElementOrder> {
    let (_, rest) = layout.split_once("offset")?;
    let (bases, _) = rest.trim_start().strip_prefix('=')?.split_once("]]")?;
    let steps = strides(sizes);
    let mut step_of = Vec::new();
    for basis in bases.split(']') {
        let numbers = basis.trim_start_matches(|c: char| !c.is_ascii_digit());
        let at: Vec<u64> = numbers.split(',').map(|number| number.trim().parse().ok()).collect::<Option<_>>()?;
        if at.len() != sizes.len() {
            return None;
        }
        step_of.push(at.iter().zip(&steps).map(|(at, step)| at * step).sum::<u64>() as usize);
    }
    let mut element_order = vec![usize::MAX; count(sizes)];
    for place in 0..1usize.checked_shl(step_of.len() as u32)? {
        let steps = step_of.iter().enumerate().filter(|(bit, _)| place >> bit & 1 == 1);
        *element_order.get_mut(steps.fold(0, |element, (_, step)| element ^ step))? = place;
    }
    element_order.iter().all(|place| *place != usize::MAX).then(|| element_order.into())
}

/// All memory of the CTAs of a program.
#[derive(Debug)]
pub(super) struct ProgramMemory<'k> {
    pub(super) kernel: &'k Kernel,
    pub(super) ctas: Vec<CtaMemory>,
}

impl ProgramMemory<'_> {
    /// Bytes that are held.
    pub(super) fn held(&self) -> u64 {
        self.ctas.iter().map(CtaMemory::held).sum()
    }

    fn window<'a>(&'a self, place: &'a MemoryPlace) -> Result<TypedWindow<'a>, Trap> {
        let shape = self.kernel.shapes.get(place.shape.0 as usize).ok_or_else(|| missed(WindowError::Layout))?;
        let (buffer, start) = (place.buffer, place.start);
        Ok(TypedWindow { buffer, start, shape, sizes: &place.ty.tile.shape, dtype: place.ty.dtype })
    }

    /// What a place holds.
    pub(super) fn read(&self, place: &MemoryPlace) -> Result<TensorValue, Trap> {
        let memory = self.ctas.get(place.cta).ok_or_else(|| missed(WindowError::Outside))?;
        let window = self.window(place)?;
        let Some(element_order) = &place.element_order else { return memory.read(window).map_err(missed) };
        let sizes = [element_order.len() as u64];
        let shape = Shape::dense(&sizes, u64::from(place.ty.dtype.bits()));
        let run = memory.read(TypedWindow { shape: &shape, sizes: &sizes, ..window }).map_err(missed)?;
        Ok(run.dense().pick(place.ty.tile.shape.clone(), element_order.iter().copied()))
    }

    /// Puts a tensor there.
    pub(super) fn write(&mut self, place: &MemoryPlace, tensor: &TensorValue) -> Result<(), Trap> {
        let kernel = self.kernel;
        let shape = kernel.shapes.get(place.shape.0 as usize).ok_or_else(|| missed(WindowError::Layout))?;
        let (buffer, start) = (place.buffer, place.start);
        let window = TypedWindow { buffer, start, shape, sizes: &place.ty.tile.shape, dtype: place.ty.dtype };
        let memory = self.ctas.get_mut(place.cta).ok_or_else(|| missed(WindowError::Outside))?;
        memory.write(window, tensor).map_err(missed)
    }

    /// Puts bytes there in the order in which they lie: for copies that do not know what they copy.
    pub(super) fn write_bytes(&mut self, tensor: &TensorValue, into: &MemoryPlace) -> Result<(), Trap> {
        let sizes = &into.ty.tile.shape;
        if tensor.shape() == sizes {
            return self.write(into, tensor);
        }
        if tensor.len() != count(sizes) || tensor.dtype().bytes() != into.ty.dtype.bytes() {
            return Err(Trap::not_followed("a copy between memories of different sizes"));
        }
        let scales = into.ty.dtype.bytes() == 1 && sizes.len() == 2 && sizes[0].is_multiple_of(32);
        if !scales || tensor.shape().len() < 3 {
            return self.write(into, &tensor.with_shape(sizes.clone()));
        }
        // Scales come in pieces of 32 rows of 16 bytes; each goes below the 16 bytes that came before.
        let (rows, columns) = (sizes[0] as usize, sizes[1] as usize);
        let groups = rows / 32;
        let from = |at: usize| {
            let (row, column) = (at / columns, at % columns);
            let offset = (column / 4 * groups + row / 32) * 4 + column % 4;
            offset / 16 * 512 + row % 32 * 16 + offset % 16
        };
        let bits = (0..rows * columns).map(|at| tensor.bits(from(at)));
        let tensor = TensorValue::from_bits(into.ty.dtype, sizes.clone(), bits);
        self.write(into, &tensor)
    }
}

fn missed(why: WindowError) -> Trap {
    Trap::not_followed(why.to_string())
}

#[cfg(test)]
mod tests {
    use super::element_order;

    #[test]
    fn a_linear_layout_is_an_order() {
        let made = element_order("#ttg.shared_linear<{offset = [[0, 1], [2, 0], [1, 0]]}, alignment = 128>", &[4, 2]);
        assert_eq!(made.as_deref(), Some(&[0, 1, 4, 5, 2, 3, 6, 7][..]));
        assert_eq!(element_order("#ttg.swizzled_shared<{vec = 1}>", &[4, 2]), None);
        assert_eq!(element_order("offset = [[0, 1], [0, 1]]", &[2, 2]), None);
    }
}
