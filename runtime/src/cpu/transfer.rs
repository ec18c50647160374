//! What moves data between memories, and what that does.

use std::rc::Rc;

use kernel::{BufferId, Kernel, Shape, ShapeId};

use super::memory::{CtaMemory, Window, WindowError};
use super::mma::{TensorCoreMma, WarpGroupDot};
use super::transfer_queue::Future;
use super::value::tensor::{count, strides};
use super::value::{Descriptor, Environment, Tensor, Trap, tile};

/// A window of one CTA's memory, as an operand names it.
#[derive(Clone, Debug)]
pub(super) struct MemoryPlace {
    /// The position of the CTA.
    pub(super) cta: usize,
    /// The buffer.
    pub(super) buffer: BufferId,
    /// Where it starts there, in bits.
    pub(super) start: u64,
    /// Its strides.
    pub(super) shape: ShapeId,
    /// What it holds there.
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

/// Data on its way.
#[derive(Debug)]
pub(super) enum Transfer {
    /// A block of a tensor comes in.
    BlockIn { desc: Rc<Descriptor>, at: Vec<i64>, into: MemoryPlace },
    /// A block goes out; `combine`: with what is there.
    BlockOut { desc: Rc<Descriptor>, at: Vec<i64>, from: MemoryPlace, combine: Option<Rc<str>> },
    /// Rows of a tensor come in.
    RowsIn { desc: Rc<Descriptor>, rows: Vec<i64>, column: i64, into: MemoryPlace },
    /// Rows go out.
    RowsOut { desc: Rc<Descriptor>, rows: Vec<i64>, column: i64, from: MemoryPlace },
    /// What pointers point to comes in; `other` where the mask says no. What `strays` reads 0 outside.
    PointersIn { pointers: Tensor, mask: Option<Tensor>, other: Option<Tensor>, strays: bool, into: MemoryPlace },
    /// Shared memory goes to where pointers point.
    PointersOut { pointers: Tensor, mask: Option<Tensor>, from: MemoryPlace },
    /// Registers go to memory.
    Put { tensor: Tensor, into: MemoryPlace },
    /// Memory goes to memory.
    Move { from: MemoryPlace, into: MemoryPlace },
    /// A tensor core multiplies.
    Multiply(Box<TensorCoreMma>),
    /// A warp group multiplies.
    Dot(Box<WarpGroupDot>, Rc<Future>),
}

/// All memory of the CTAs of a program.
#[derive(Debug)]
pub(super) struct ProgramMemory<'k> {
    pub(super) kernel: &'k Kernel,
    pub(super) ctas: Vec<CtaMemory>,
}

impl Transfer {
    /// Whether it makes this future.
    pub(super) fn makes(&self, future: &Rc<Future>) -> bool {
        matches!(self, Transfer::Dot(_, made) if Rc::ptr_eq(made, future))
    }

    /// Does it.
    pub(super) fn execute(self, memories: &mut ProgramMemory<'_>, world: &mut Environment) -> Result<(), Trap> {
        match self {
            Transfer::BlockIn { desc, at, into } => {
                let tensor = desc.load(&world.global, &within(at, &into), &into.ty.tile.shape)?;
                memories.write(&into, &tensor)
            }
            Transfer::BlockOut { desc, at, from, combine } => {
                let (tensor, at) = (memories.read(&from)?, within(at, &from));
                match combine {
                    Some(kind) => desc.reduce(&mut world.global, &at, &tensor, &kind),
                    None => desc.store(&mut world.global, &at, &tensor),
                }
            }
            Transfer::RowsIn { desc, rows, column, into } => {
                let (rows, column) = own_rows(&rows, column, &into);
                let tensor = desc.gather(&world.global, rows, column, &into.ty.tile.shape)?;
                memories.write(&into, &tensor)
            }
            Transfer::RowsOut { desc, rows, column, from } => {
                let tensor = memories.read(&from)?;
                let (rows, column) = own_rows(&rows, column, &from);
                desc.scatter(&mut world.global, rows, column, &tensor)
            }
            Transfer::PointersIn { pointers, mask, other, strays, into } => {
                let tensor = fetch(&pointers, (mask.as_ref(), other.as_ref()), strays, &into, world)?;
                memories.write(&into, &tensor)
            }
            Transfer::PointersOut { pointers, mask, from } => {
                let tensor = memories.read(&from)?;
                deliver(&pointers, mask.as_ref(), &tensor, world)
            }
            Transfer::Put { tensor, into } => memories.write(&into, &tensor),
            Transfer::Move { from, into } => {
                let tensor = memories.read(&from)?;
                memories.put_bytes(&tensor, &into)
            }
            Transfer::Multiply(product) => product.execute(memories),
            Transfer::Dot(dot, future) => {
                future.set(dot.value(memories)?);
                Ok(())
            }
        }
    }
}

/// The coordinates of a CTA's part of a block.
fn within(mut at: Vec<i64>, place: &MemoryPlace) -> Vec<i64> {
    for (at, offset) in at.iter_mut().rev().zip(place.ty.tile.offset.iter().rev()) {
        *at += *offset as i64;
    }
    at
}

/// The rows of a CTA's part, and where it starts along them.
fn own_rows<'r>(rows: &'r [i64], column: i64, place: &MemoryPlace) -> (&'r [i64], i64) {
    let tile = &place.ty.tile;
    let at = |dim: usize| tile.offset.get(dim).copied().unwrap_or(0);
    let (from, count) = (at(0) as usize, tile.shape.first().copied().unwrap_or(0) as usize);
    (rows.get(from..from + count).unwrap_or(rows), column + at(1) as i64)
}

fn lets(mask: Option<&Tensor>, at: usize) -> bool {
    mask.is_none_or(|mask| mask.bits(at) & 1 == 1)
}

fn fetch(
    pointers: &Tensor,
    (mask, other): (Option<&Tensor>, Option<&Tensor>),
    strays: bool,
    into: &MemoryPlace,
    world: &Environment,
) -> Result<Tensor, Trap> {
    let dtype = into.ty.dtype;
    let mut bits = Vec::with_capacity(pointers.len());
    let mut bytes = [0u8; 8];
    for at in 0..pointers.len() {
        if !lets(mask, at) {
            bits.push(other.map_or(0, |other| other.bits(at)));
            continue;
        }
        let Some(word) = bytes.get_mut(..dtype.bytes()) else { continue };
        match world.global.read(pointers.bits(at), word) {
            Ok(()) => {}
            Err(_) if strays => word.fill(0),
            Err(fault) => return Err(Trap::OutOfBounds { fault, write: false, element: at as u64 }),
        }
        bits.push(word.iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte)));
    }
    Ok(Tensor::from_bits(dtype, into.ty.tile.shape.clone(), bits.into_iter()))
}

fn deliver(pointers: &Tensor, mask: Option<&Tensor>, tensor: &Tensor, world: &mut Environment) -> Result<(), Trap> {
    for at in 0..pointers.len() {
        if lets(mask, at) {
            let bytes = tensor.bits(at).to_le_bytes();
            let Some(bytes) = bytes.get(..tensor.dtype().bytes()) else { continue };
            let written = world.global.write(pointers.bits(at), bytes);
            written.map_err(|fault| Trap::OutOfBounds { fault, write: true, element: at as u64 })?;
        }
    }
    Ok(())
}

impl ProgramMemory<'_> {
    /// Bytes that are held.
    pub(super) fn held(&self) -> u64 {
        self.ctas.iter().map(CtaMemory::held).sum()
    }

    fn window<'a>(&'a self, place: &'a MemoryPlace) -> Result<Window<'a>, Trap> {
        let shape = self.kernel.shapes.get(place.shape.0 as usize).ok_or_else(|| missed(WindowError::Layout))?;
        let (buffer, start) = (place.buffer, place.start);
        Ok(Window { buffer, start, shape, sizes: &place.ty.tile.shape, dtype: place.ty.dtype })
    }

    /// What a place holds.
    pub(super) fn read(&self, place: &MemoryPlace) -> Result<Tensor, Trap> {
        let memory = self.ctas.get(place.cta).ok_or_else(|| missed(WindowError::Outside))?;
        let window = self.window(place)?;
        let Some(element_order) = &place.element_order else { return memory.read(window).map_err(missed) };
        let sizes = [element_order.len() as u64];
        let shape = Shape::dense(&sizes, u64::from(place.ty.dtype.bits()));
        let run = memory.read(Window { shape: &shape, sizes: &sizes, ..window }).map_err(missed)?;
        Ok(run.dense().pick(place.ty.tile.shape.clone(), element_order.iter().copied()))
    }

    /// Puts a tensor there.
    pub(super) fn write(&mut self, place: &MemoryPlace, tensor: &Tensor) -> Result<(), Trap> {
        let kernel = self.kernel;
        let shape = kernel.shapes.get(place.shape.0 as usize).ok_or_else(|| missed(WindowError::Layout))?;
        let (buffer, start) = (place.buffer, place.start);
        let window = Window { buffer, start, shape, sizes: &place.ty.tile.shape, dtype: place.ty.dtype };
        let memory = self.ctas.get_mut(place.cta).ok_or_else(|| missed(WindowError::Outside))?;
        memory.write(window, tensor).map_err(missed)
    }

    /// Puts bytes there in the order in which they lie: for copies that do not know what they copy.
    fn put_bytes(&mut self, tensor: &Tensor, into: &MemoryPlace) -> Result<(), Trap> {
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
        let tensor = Tensor::from_bits(into.ty.dtype, sizes.clone(), bits);
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
