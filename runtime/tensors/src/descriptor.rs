//! Tensor descriptors: boxes of a tensor in global memory, filled where they reach past it.
//!
//! Coordinates count elements. What a box has outside of the tensor is read as zero, or as NaN where the descriptor says
//! so, and is not written. Deviation: a descriptor's own limits (alignment of strides, sizes of boxes) are not checked.
//! Missed: im2col.

use super::combine::combine;
use super::tensor::{Sizes, TensorValue, Word, count, each, with_word};
use super::trap::Trap;
use crate::array::ElemType;
use crate::memory::{AccessFault, AccessMode, GlobalMemory};

/// A tensor in global memory, and the block in which it is copied.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Descriptor {
    /// Address of its first element.
    pub base: u64,
    /// The type of its elements.
    pub dtype: ElemType,
    /// Its sizes, outermost first.
    pub shape: Vec<i64>,
    /// The distance of neighbours along each dimension, in elements.
    pub strides: Vec<i64>,
    /// Sizes of a block, for the whole cluster.
    pub block: Vec<u64>,
    /// Whether what is outside reads as NaN.
    pub nan: bool,
    /// Whether copies through it do nothing (AMD's predicate).
    pub off: bool,
}

/// A run of a box: where it is in global memory, if it is in the tensor, and how many elements.
struct BoxRow {
    /// Elements of the tensor in front of the box's row that are outside, then inside, then outside.
    skip: usize,
    inside: usize,
    address: u64,
}

impl Descriptor {
    /// Moves it by so many elements. With `clamp` what is past the end of the tensor stays outside; without, the
    /// tensor's sizes count from the new start, as the hardware's do.
    pub fn shift(&mut self, by: &[i64], clamp: bool) {
        for (dim, by) in by.iter().enumerate() {
            self.base = self.base.wrapping_add(by.wrapping_mul(self.stride(dim) * self.dtype.bytes() as i64) as u64);
            if clamp && let Some(size) = self.shape.get_mut(dim) {
                *size = size.saturating_sub(*by).max(0);
            }
        }
    }

    /// The rows of a box, each along the last dimension.
    fn rows(&self, at: &[i64], sizes: &[u64]) -> Vec<BoxRow> {
        let rank = self.shape.len();
        let (at, sizes) = (pad(at, rank, 0), pad(sizes, rank, 1));
        let Some(last) = rank.checked_sub(1) else {
            return vec![BoxRow { skip: 0, inside: usize::from(!self.off), address: self.base }];
        };
        let width = sizes[last] as i64;
        let size = self.shape[last].max(0);
        let (from, to) = (at[last].clamp(0, size), at[last].saturating_add(width).clamp(0, size));
        let total: u64 = sizes[..last].iter().product();
        let mut index = vec![0u64; last];
        let mut rows = Vec::with_capacity(total as usize);
        for _ in 0..total {
            let mut place = from * self.stride(last);
            let mut outside = self.off || to <= from;
            for dim in 0..last {
                let coordinate = at[dim] + index[dim] as i64;
                outside |= coordinate < 0 || coordinate >= self.shape[dim];
                place += coordinate.wrapping_mul(self.stride(dim));
            }
            let address = self.base.wrapping_add(place.wrapping_mul(self.dtype.bytes() as i64) as u64);
            let inside = if outside { 0 } else { (to - from) as usize };
            rows.push(BoxRow { skip: if outside { 0 } else { (from - at[last]) as usize }, inside, address });
            for (index, &size) in index.iter_mut().zip(&sizes).rev() {
                *index += 1;
                if *index < size {
                    break;
                }
                *index = 0;
            }
        }
        rows
    }

    fn stride(&self, dim: usize) -> i64 {
        self.strides.get(dim).copied().unwrap_or(1)
    }

    /// What stands for elements outside.
    fn fill(&self) -> u64 {
        if self.nan && !self.dtype.is_int() { crate::float_format::nan(self.dtype) } else { 0 }
    }

    /// Reads the box of these sizes at these coordinates. Fails where the descriptor's tensor is not all in one
    /// allocation.
    pub fn load(&self, global: &GlobalMemory, at: &[i64], sizes: &[u64]) -> Result<TensorValue, Trap> {
        self.fetch(global, at, sizes, true)
    }

    /// Reads a box; the accesses are `noted`, unless they are half of an update.
    fn fetch(&self, global: &GlobalMemory, at: &[i64], sizes: &[u64], noted: bool) -> Result<TensorValue, Trap> {
        let width = sizes.last().copied().unwrap_or(1) as usize;
        with_word!(self.dtype, W => {
            let mut words = vec![W::from_u64(self.fill()); count(sizes)];
            let mut bytes = vec![0; width * W::BYTES];
            let rows = self.rows(at, sizes).into_iter().zip(words.chunks_mut(width.max(1)));
            for (number, (row, into)) in rows.enumerate() {
                if row.inside == 0 {
                    continue;
                }
                let Some(bytes) = bytes.get_mut(..row.inside * W::BYTES) else { continue };
                global.read(row.address, bytes).map_err(|fault| outside(fault, false))?;
                if noted {
                    global.note(row.address, bytes.len(), AccessMode::Read, number * width + row.skip, W::BYTES);
                }
                for (word, bytes) in into.iter_mut().skip(row.skip).zip(bytes.chunks_exact(W::BYTES)) {
                    *word = W::read(bytes);
                }
            }
            Ok(TensorValue::of(self.dtype, Sizes::from(sizes), words))
        })
    }

    /// Writes a tensor into the box at these coordinates. Fails where the descriptor's tensor is not all in one
    /// allocation.
    pub fn store(&self, global: &mut GlobalMemory, at: &[i64], tensor: &TensorValue) -> Result<(), Trap> {
        self.put(global, at, tensor, AccessMode::Write)
    }

    fn put(&self, global: &mut GlobalMemory, at: &[i64], tensor: &TensorValue, mode: AccessMode) -> Result<(), Trap> {
        let width = tensor.shape().last().copied().unwrap_or(1) as usize;
        let dense = tensor.dense();
        each!(dense.data(), words => put(self.rows(at, tensor.shape()), words, width, global, mode))
    }

    /// Combines a tensor with what the box at these coordinates holds (`add`, `min`, `max`, `and`, `or`, `xor`). Fails
    /// where the descriptor's tensor is not all in one allocation, or the combination is not known for the type.
    pub fn reduce(&self, global: &mut GlobalMemory, at: &[i64], tensor: &TensorValue, kind: &str) -> Result<(), Trap> {
        let old = self.fetch(global, at, tensor.shape(), false)?;
        let new = combine(kind, &old, tensor)?;
        self.put(global, at, &new, AccessMode::AtomicUpdate)
    }

    /// Reads rows of a tensor of two dimensions, from this column on, as a tensor of these sizes.
    pub fn gather(&self, global: &GlobalMemory, rows: &[i64], column: i64, sizes: &[u64]) -> Result<TensorValue, Trap> {
        let width = sizes.last().copied().unwrap_or(1);
        let mut parts = Vec::with_capacity(rows.len());
        for &row in rows {
            parts.push(self.load(global, &[row, column], &[1, width])?);
        }
        let bits = parts.iter().flat_map(|part| (0..part.len()).map(|at| part.bits(at)));
        Ok(TensorValue::from_bits(self.dtype, Sizes::from(sizes), bits))
    }

    /// Writes the rows of a tensor to these rows, from this column on.
    pub fn scatter(
        &self,
        global: &mut GlobalMemory,
        rows: &[i64],
        column: i64,
        tensor: &TensorValue,
    ) -> Result<(), Trap> {
        let width = tensor.shape().last().copied().unwrap_or(1);
        for (at, &row) in rows.iter().enumerate() {
            let from = at * width as usize;
            let part = tensor.pick(Sizes::from([1, width]), from..from + width as usize);
            self.store(global, &[row, column], &part)?;
        }
        Ok(())
    }
}

/// Writes the rows of a box to global memory.
fn put<W: Word>(
    rows: Vec<BoxRow>,
    words: &[W],
    width: usize,
    global: &mut GlobalMemory,
    mode: AccessMode,
) -> Result<(), Trap> {
    let mut bytes = vec![0; width * W::BYTES];
    for (number, (row, from)) in rows.into_iter().zip(words.chunks(width.max(1))).enumerate() {
        if row.inside == 0 {
            continue;
        }
        let Some(bytes) = bytes.get_mut(..row.inside * W::BYTES) else { continue };
        for (word, bytes) in from.iter().skip(row.skip).zip(bytes.chunks_exact_mut(W::BYTES)) {
            word.write(bytes);
        }
        global.write(row.address, bytes).map_err(|fault| outside(fault, true))?;
        global.note(row.address, bytes.len(), mode, number * width + row.skip, W::BYTES);
    }
    Ok(())
}

fn outside(fault: AccessFault, write: bool) -> Trap {
    Trap::OutOfBounds { fault, write, element: 0 }
}

/// As many entries as dimensions: leading ones are added, or dropped.
fn pad<T: Copy>(list: &[T], rank: usize, with: T) -> Vec<T> {
    let list = &list[list.len().saturating_sub(rank)..];
    let mut out = vec![with; rank - list.len()];
    out.extend(list);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tensor_of_no_columns_has_none_inside() {
        for columns in [-1, 0] {
            let empty = Descriptor { shape: vec![2, columns], strides: vec![4, 1], ..Descriptor::default() };
            let rows = empty.rows(&[0, 0], &[2, 4]);
            assert!(rows.len() == 2 && rows.iter().all(|row| row.inside == 0), "{columns}");
        }
    }
}
