//! What the shared and the tensor memory of one CTA hold.
//!
//! Both are kept in the linear bit space in which windows are counted (`kernel::Shape`), so that swizzling does
//! not matter and every view of the same elements meets the same bytes. Buffers whose start is known share one space
//! and overlap where their bits do; each other buffer has a space of its own. Tensor memory has that space once per
//! row: an element of a tile is in the row of its tile's row.
//!
//! Scales (`tensor_memory_scales_encoding`) lie in 32 rows, four columns of scales to a word, as their copy puts them.
//! Missed: windows that no strides describe, elements of less than a byte, half tiles along the rows.

use std::fmt;

use kernel::{Buffer, BufferId, Shape, Space};

use crate::array::{ElemType, offsets};
use crate::limits::memory::LOCAL as MOST;
use crate::tensor::{Sizes, TensorValue, Word, count, each, with_word};

/// Rows of tensor memory.
const ROWS: usize = 128;

/// Rows that scales are spread over.
const SCALE_ROWS: u64 = 32;

/// A window: which elements of which buffer, and what they are.
#[derive(Clone, Copy, Debug)]
pub struct TypedWindow<'a> {
    /// The buffer that it is a part of.
    pub buffer: BufferId,
    /// Where the window starts, in bits from the buffer's start.
    pub start: u64,
    /// Its sizes and strides in bits.
    pub shape: &'a Shape,
    /// Its logical sizes in one CTA, outermost first: those of the tensor that is read or written.
    pub sizes: &'a [u64],
    /// The type of its elements.
    pub dtype: ElemType,
}

/// Why a window cannot be read or written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowError {
    /// No strides describe it.
    Layout,
    /// It reaches past its memory.
    Outside,
}

impl fmt::Display for WindowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WindowError::Layout => "the layout of the window is not followed",
            WindowError::Outside => "the window reaches past its memory",
        })
    }
}

/// Bytes of one linear space.
struct Region {
    bytes: Vec<u8>,
    /// Bytes from a row to the next; all of them where there are no rows.
    row: usize,
}

/// Where a buffer lies.
#[derive(Clone, Copy)]
struct BufferPlace {
    region: usize,
    space: Space,
    start: u64,
    bits: u64,
}

/// The memory of one CTA.
pub struct CtaMemory {
    regions: Vec<Region>,
    places: Vec<BufferPlace>,
}

impl fmt::Debug for CtaMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Local").field("buffers", &self.places.len()).field("held", &self.held()).finish()
    }
}

impl CtaMemory {
    /// Memory for these buffers, nothing written to it; `None` where they are larger than any CTA's memory.
    pub fn new(buffers: &[Buffer]) -> Option<CtaMemory> {
        let mut flat = [0u64; 2];
        let mut own = Vec::new();
        let mut places = Vec::with_capacity(buffers.len());
        for buffer in buffers {
            let kind = usize::from(buffer.space == Space::Tensor);
            let end = buffer.start.unwrap_or(0).checked_add(buffer.bits)?;
            let region = match buffer.start {
                Some(_) => {
                    flat[kind] = flat[kind].max(end);
                    kind
                }
                None => {
                    own.push((buffer.space, end));
                    own.len() + 1
                }
            };
            places.push(BufferPlace {
                region,
                space: buffer.space,
                start: buffer.start.unwrap_or(0),
                bits: buffer.bits,
            });
        }
        let sizes = [(Space::Shared, flat[0]), (Space::Tensor, flat[1])].into_iter().chain(own);
        let mut total = 0u64;
        let mut regions = Vec::new();
        for (space, bits) in sizes {
            let rows = if space == Space::Tensor { ROWS as u64 } else { 1 };
            let row = bits.div_ceil(8);
            total = total.checked_add(row.checked_mul(rows)?).filter(|total| *total <= MOST)?;
            regions.push(Region { bytes: vec![u8::MAX; (row * rows) as usize], row: row as usize });
        }
        Some(CtaMemory { regions, places })
    }

    /// Bytes that are held.
    pub fn held(&self) -> u64 {
        self.regions.iter().map(|region| region.bytes.len() as u64).sum()
    }

    /// Makes a buffer hold what memory holds before anything is written to it.
    pub fn poison(&mut self, buffer: BufferId) {
        let Some(place) = self.places.get(buffer.0 as usize) else { return };
        let Some(region) = self.regions.get_mut(place.region) else { return };
        let (from, to) = ((place.start / 8) as usize, ((place.start + place.bits).div_ceil(8)) as usize);
        for row in region.bytes.chunks_mut(region.row.max(1)) {
            if let Some(bytes) = row.get_mut(from..to) {
                bytes.fill(u8::MAX);
            }
        }
    }

    /// Reads a window. Fails where it is not followed or reaches outside.
    pub fn read(&self, window: TypedWindow<'_>) -> Result<TensorValue, WindowError> {
        let (region, runs) = self.runs(&window)?;
        let shape = Sizes::from(window.sizes);
        with_word!(window.dtype, W => {
            let mut words: Vec<W> = Vec::with_capacity(count(window.sizes));
            for run in runs {
                run.read(&region.bytes, &mut words)?;
            }
            Ok(TensorValue::of(window.dtype, shape, words))
        })
    }

    /// Writes a window. Fails where it is not followed, reaches outside, or the tensor is of another size.
    pub fn write(&mut self, window: TypedWindow<'_>, tensor: &TensorValue) -> Result<(), WindowError> {
        if tensor.len() != count(window.sizes) || tensor.dtype().bytes() != window.dtype.bytes() {
            return Err(WindowError::Layout);
        }
        let (_, runs) = self.runs(&window)?;
        let Some(place) = self.places.get(window.buffer.0 as usize) else { return Err(WindowError::Outside) };
        let Some(region) = self.regions.get_mut(place.region) else { return Err(WindowError::Outside) };
        let dense = tensor.dense();
        each!(dense.data(), words => {
            let mut done = 0;
            for run in runs {
                let words = words.get(done..done + run.count).ok_or(WindowError::Layout)?;
                run.write(&mut region.bytes, words)?;
                done += run.count;
            }
        });
        Ok(())
    }

    /// The window as runs of elements, in the order of its elements.
    fn runs(&self, window: &TypedWindow<'_>) -> Result<(&Region, Vec<ElementRun>), WindowError> {
        let place = self.places.get(window.buffer.0 as usize).ok_or(WindowError::Outside)?;
        let region = self.regions.get(place.region).ok_or(WindowError::Outside)?;
        let fits = u64::from(window.dtype.bits()) <= window.shape.element && window.shape.element.is_multiple_of(8);
        if !window.shape.exact || !fits || window.dtype.bits() < 8 {
            return Err(WindowError::Layout);
        }
        let start = place.start.checked_add(window.start).ok_or(WindowError::Outside)?;
        let runs = match place.space {
            Space::Shared => strided(start, window.shape, window.sizes),
            Space::Tensor => tiled(start, window.shape, window.sizes, region.row as u64 * 8),
        };
        Ok((region, runs.ok_or(WindowError::Layout)?))
    }
}

/// Elements at one distance from each other, in bytes.
#[derive(Clone, Copy, Debug)]
struct ElementRun {
    start: usize,
    count: usize,
    step: usize,
}

impl ElementRun {
    fn read<W: Word>(self, bytes: &[u8], words: &mut Vec<W>) -> Result<(), WindowError> {
        let all = self.of::<W>(bytes.len()).and_then(|range| bytes.get(range)).ok_or(WindowError::Outside)?;
        if self.step == W::BYTES {
            words.extend(all.chunks_exact(W::BYTES).map(W::read));
        } else {
            words.extend(all.chunks(self.step.max(1)).take(self.count).map(W::read));
        }
        Ok(())
    }

    fn write<W: Word>(self, bytes: &mut [u8], words: &[W]) -> Result<(), WindowError> {
        let range = self.of::<W>(bytes.len()).ok_or(WindowError::Outside)?;
        let all = bytes.get_mut(range).ok_or(WindowError::Outside)?;
        for (chunk, word) in all.chunks_mut(self.step.max(1)).zip(words) {
            word.write(chunk);
        }
        Ok(())
    }

    /// The bytes from the first element to the end of the last.
    fn of<W: Word>(self, len: usize) -> Option<std::ops::Range<usize>> {
        let Some(more) = self.count.checked_sub(1) else { return Some(0..0) };
        let end = self.start.checked_add(self.step.checked_mul(more)?)?.checked_add(W::BYTES)?;
        (end <= len).then_some(self.start..end)
    }
}

/// Runs of a strided window.
fn strided(start: u64, shape: &Shape, sizes: &[u64]) -> Option<Vec<ElementRun>> {
    let dims: Vec<(u64, u64)> = shape.dims.iter().map(|dim| (dim.size, dim.stride)).collect();
    if dims.iter().map(|dim| dim.0).product::<u64>() as usize != count(sizes) {
        return None;
    }
    walk(start, &dims)
}

/// Runs over sizes and strides in bits, the last dimensions that run on as one.
fn walk(start: u64, dims: &[(u64, u64)]) -> Option<Vec<ElementRun>> {
    if !start.is_multiple_of(8) || dims.iter().any(|(size, stride)| *size > 1 && !stride.is_multiple_of(8)) {
        return None;
    }
    let mut outer: Vec<(u64, u64)> = dims.iter().copied().filter(|dim| dim.0 != 1).collect();
    let (mut run, step) = outer.pop().unwrap_or((1, 8));
    while let Some(&(size, stride)) = outer.last()
        && stride == step * run
    {
        run *= size;
        outer.pop();
    }
    let (sizes, strides): (Vec<u64>, Vec<u64>) = outer.into_iter().unzip();
    let place =
        |offset| ElementRun { start: ((start + offset) / 8) as usize, count: run as usize, step: (step / 8) as usize };
    Some(offsets(&sizes, &strides).map(place).collect())
}

/// Runs of a window of tensor memory: slots, tiles along the rows, tiles along the columns, columns of a tile.
fn tiled(start: u64, shape: &Shape, sizes: &[u64], row: u64) -> Option<Vec<ElementRun>> {
    let (slots, tile) = sizes.split_at(sizes.len().saturating_sub(2));
    let (rows, columns) = match *tile {
        [rows, columns] => (rows, columns),
        [columns] => (1, columns),
        _ => (1, 1),
    };
    let strides: Vec<(u64, u64)> = shape.dims.iter().map(|dim| (dim.size, dim.stride)).collect();
    let (outer, inner) = strides.split_at_checked(slots.len())?;
    if outer.iter().map(|dim| dim.0).ne(slots.iter().copied()) {
        return None;
    }
    let dims = match *inner {
        [(dense, stride)] => {
            // Scales: four columns of them side by side, then the groups of 32 rows, then the next four columns.
            let groups = rows.div_ceil(SCALE_ROWS);
            let quads = columns.div_ceil(4);
            let few = columns < 4 || columns.is_multiple_of(4);
            if !few || groups * quads * 4 > dense || !(rows <= SCALE_ROWS || rows.is_multiple_of(SCALE_ROWS)) {
                return None;
            }
            let lanes = (rows.min(SCALE_ROWS), row);
            vec![(groups, 4 * stride), lanes, (quads, 4 * groups * stride), (columns.min(4), stride)]
        }
        [(down, by_down), (across, by_across), (width, stride)] => {
            let lanes = rows.checked_div(down)?;
            if lanes * down != rows || lanes as usize > ROWS || across * width != columns {
                return None;
            }
            vec![(down, by_down), (lanes, row), (across, by_across), (width, stride)]
        }
        _ => return None,
    };
    let all: Vec<(u64, u64)> = outer.iter().copied().chain(dims).collect();
    walk(start, &all)
}
