//! Memdesc types as windows of a linear bit space.
//!
//! Shared memory is row-major over the logical shape, whatever the swizzle. Tensor memory is
//! counted in bits of one lane: column `c` is bits `32·c..32·c+32`, rows are not counted. A tile
//! of `blockM × blockN` elements takes `blockN` elements side by side; tiles along M lie side by
//! side next, tiles along N last. An element takes `colStride` times its width. A view's own type
//! says which columns it covers, whatever it is a view of: its tiles lie as those of the allocation
//! that its type names lie, or as its own where that names none.
//!
//! Deviation: with `blockM = 64` two tiles share columns in different rows; they are laid side by
//! side here, so the window is right for every view and only its size is an upper bound.
//! A shape is printed for the whole cluster; what is counted here is one CTA's part.
//! Missed: padding of `padded_shared`, partitions of `partitioned_shared`.

use super::lowerer::Lowerer;
use dialects::{OpCode, Tt, Ttg};
use kernel::{Dim, Shape, Space};
use ttgir::{Def, MemSpace, Ty, ValueId};

/// A memdesc type, as far as windows need it.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pub(super) space: Space,
    /// The whole window, dense.
    pub(super) shape: Shape,
    /// Elements of each logical dimension in one CTA.
    pub(super) sizes: Vec<u64>,
    /// Bits of the linear space that it spans.
    pub(super) bits: u64,
    /// Bytes of its elements, which is what a TMA copy moves.
    pub(super) bytes: u64,
    /// Bits from one slot to the next where this is one of several (tensor memory).
    pub(super) slot: u64,
}

impl Lowerer<'_> {
    /// The memdesc type of a value, dense; `None` for other types and other memories.
    pub(super) fn memory(&self, value: ValueId) -> Option<Memory> {
        let Ty::MemDesc { shape, elem, encoding, space, alloc_shape, .. } =
            self.tree.ty(self.tree.value_type(value)?)
        else {
            return None;
        };
        let (split, rank) = (self.split(value), shape.len());
        let own =
            |(dim, size): (usize, &i64)| u64::try_from(*size).ok().map(|size| size.div_ceil(split.cut(dim, rank)));
        let sizes: Vec<u64> = shape.iter().enumerate().map(own).collect::<Option<_>>()?;
        let element = u64::from(elem.bits.max(1));
        // Past this no product below overflows.
        let most = sizes.iter().try_fold(element, |product, size| product.checked_mul((*size).max(1)));
        most.filter(|bits| *bits <= 1 << 40)?;
        let bytes = (sizes.iter().product::<u64>() * element).div_ceil(8);
        let space = match space {
            MemSpace::Shared | MemSpace::SharedCluster => Space::Shared,
            MemSpace::Tensor => Space::Tensor,
            _ => return None,
        };
        let (shape, slot) = match space {
            Space::Shared => (Shape::dense(&sizes, element), 0),
            Space::Tensor => {
                let encoding = encoding.map_or("", |attr| self.tree.attr_text(attr));
                let of = alloc_shape.as_deref().and_then(|all| all.get(all.len().checked_sub(rank)?..));
                let of: Option<Vec<u64>> = of.and_then(|all| all.iter().enumerate().map(own).collect());
                let shape = tensor(&sizes, element, encoding);
                let slot = shape.dims.iter().map(|dim| dim.size * dim.stride).max().unwrap_or(element);
                let part = of.filter(|of| *of != sizes && of.iter().zip(&sizes).all(|(all, size)| all >= size));
                (part.and_then(|of| within(&shape, &sizes, &of, element, encoding)).unwrap_or(shape), slot)
            }
        };
        let bits = shape.dims.iter().map(|dim| dim.size * dim.stride).max().unwrap_or(element);
        Some(Memory { space, bits, bytes, sizes, shape, slot: slot.next_multiple_of(32) })
    }
}

impl Lowerer<'_> {
    /// The buffer that a tensor in registers gets where another task uses it: shared memory, or one column of
    /// tensor memory where it has one dimension and there is tensor memory. Source: buffer allocation in the
    /// facebookexperimental fork, which keeps what comes from a descriptor in shared memory.
    pub(super) fn buffer_for(&self, value: ValueId) -> Option<Memory> {
        let Ty::Tensor { shape, elem } = self.tree.ty(self.tree.value_type(value)?) else { return None };
        let sizes: Vec<u64> = shape.iter().map(|size| u64::try_from(*size).ok()).collect::<Option<_>>()?;
        let element = u64::from(elem.bits.max(1));
        let bits = sizes.iter().try_fold(element, |product, size| product.checked_mul((*size).max(1)));
        let bits = bits.filter(|bits| *bits <= 1 << 40)?;
        let bytes = bits.div_ceil(8);
        let described = match self.tree.value_def(value) {
            Def::Result(op, _) => matches!(
                self.tree.code(op),
                Some(OpCode::Tt(Tt::DescriptorLoad | Tt::DescriptorGather) | OpCode::Ttg(Ttg::LocalLoad))
            ),
            _ => true,
        };
        if sizes.len() == 1 && self.ctas.tensor_memory && !described {
            let sizes = vec![sizes[0], 1];
            let shape = tensor(&sizes, element, "");
            return Some(Memory { space: Space::Tensor, shape, sizes, bits: 32, bytes, slot: 32 });
        }
        Some(Memory { space: Space::Shared, shape: Shape::dense(&sizes, element), sizes, bits, bytes, slot: 0 })
    }
}

/// A window of `sizes` whose tiles lie as those of the allocation `of` do.
fn within(shape: &Shape, sizes: &[u64], of: &[u64], element: u64, encoding: &str) -> Option<Shape> {
    let all = tensor(of, element, encoding);
    let slots = sizes.len().saturating_sub(2);
    // Scales have one run of columns, and tiles of another width are not those of the allocation.
    let width = |shape: &Shape| shape.dims.get(slots + 2).map(|dim| dim.size);
    let (own, tiles) = (shape.dims.get(slots..)?, all.dims.get(slots..)?);
    if own.len() < 3 || width(shape) > width(&all) {
        return None;
    }
    let tiles = own.iter().zip(tiles).map(|(dim, tile)| Dim { size: dim.size, stride: tile.stride });
    let dims = shape.dims.iter().take(slots).copied().chain(tiles).collect();
    Some(Shape { dims, ..shape.clone() })
}

/// Slots if there are more than two dimensions, then tiles along M, tiles along N, columns.
pub(super) fn tensor(sizes: &[u64], element: u64, encoding: &str) -> Shape {
    let (slots, tile) = sizes.split_at(sizes.len().saturating_sub(2));
    let (rows, columns) = match *tile {
        [rows, columns] => (rows, columns),
        [columns] => (1, columns),
        _ => (1, 1),
    };
    let (tiles, element) = if encoding.contains("scales_encoding") {
        // 32 rows a column, at least two of them, in groups of four scales.
        let dense = columns.max(4) * rows.div_ceil(32).max(2);
        (vec![Dim { size: dense, stride: element }], element)
    } else {
        let number = |name| field(encoding, name);
        let unpacked = encoding.contains("unpacked = true");
        let spread = number("colStride").unwrap_or(if unpacked { 32 / element.clamp(1, 32) } else { 1 }).clamp(1, 32);
        let padded = if encoding.contains("fp4Padded = true") { 2 } else { 1 };
        let element = element * spread * padded;
        let block_m = number("blockM").unwrap_or(128).max(1);
        let block_n = number("blockN").unwrap_or(columns).clamp(1, columns.max(1));
        let (down, across) = (rows.div_ceil(block_m).max(1), columns.div_ceil(block_n).max(1));
        let tile = block_n * element;
        let dims = vec![
            Dim { size: down, stride: tile },
            Dim { size: across, stride: tile * down },
            Dim { size: block_n, stride: element },
        ];
        (dims, element)
    };
    let mut stride = tiles.iter().map(|dim| dim.size * dim.stride).max().unwrap_or(element).next_multiple_of(32);
    let mut dims = tiles;
    for &size in slots.iter().rev() {
        dims.insert(0, Dim { size, stride });
        stride *= size;
    }
    Shape { dims, element, exact: true }
}

/// `name = 12` in an attribute's text.
pub(super) fn field(text: &str, name: &str) -> Option<u64> {
    let (_, rest) = text.split_once(name)?;
    let rest = rest.trim_start().strip_prefix('=')?.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest.get(..end)?.parse().ok()
}

/// Whether a window covers an unbroken range.
pub(super) fn contiguous(shape: &Shape) -> bool {
    let mut dims: Vec<Dim> = shape.dims.iter().copied().filter(|dim| dim.size != 1).collect();
    dims.sort_unstable_by_key(|dim| dim.stride);
    let mut run = shape.element;
    for dim in dims {
        if dim.stride != run {
            return false;
        }
        run *= dim.size;
    }
    true
}

/// Row-major strides of `to` over the elements of `from`, where a strided window can say it.
pub(super) fn reshape(from: &Shape, to: &[u64]) -> Option<Vec<Dim>> {
    let old: Vec<Dim> = from.dims.iter().copied().filter(|dim| dim.size != 1).collect();
    let mut dims = Vec::with_capacity(to.len());
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < to.len() {
        let (start_i, start_j) = (i, j);
        let (mut a, mut b) = (old[i].size, to[j]);
        while a != b {
            if a < b {
                i += 1;
                a *= old.get(i)?.size;
            } else {
                j += 1;
                b *= *to.get(j)?;
            }
        }
        // One group of old dimensions must run on without gaps to be cut anew.
        let group = &old[start_i..=i];
        if group.windows(2).any(|pair| pair[0].stride != pair[1].size * pair[1].stride) {
            return None;
        }
        let mut stride = group.last()?.stride;
        let mut cut: Vec<Dim> = Vec::new();
        for &size in to[start_j..=j].iter().rev() {
            cut.push(Dim { size, stride });
            stride *= size;
        }
        dims.extend(cut.into_iter().rev());
        i += 1;
        j += 1;
    }
    if i < old.len() || to.get(j..)?.iter().any(|size| *size != 1) {
        return None;
    }
    dims.extend(to.get(j..)?.iter().map(|size| Dim { size: *size, stride: from.element }));
    Some(dims)
}
