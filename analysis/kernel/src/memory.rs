//! Buffers and the views into them.
//!
//! A view is a strided window: a start and, per dimension, a size and a stride, all counted in
//! *bits* of its buffer's linear space. Index, subslice, trans and reshape keep the element
//! they name, so a row-major linear space is exact whatever the swizzle; only a reinterpretation
//! mixes two linear spaces, and a window of it that is not contiguous is marked inexact.
//! Tensor memory counts its 32-bit columns as 32 bits each and its rows not at all: every view
//! of it that Triton can form spans all rows of its blocks (source: `ttng.tmem_subslice` takes a
//! column offset only).

/// An allocation, by position in [`Kernel::buffers`](super::Kernel::buffers).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct BufferId(pub u32);

/// The shape of a window, by position in [`Kernel::shapes`](super::Kernel::shapes).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ShapeId(pub u32);

/// Which memory a buffer lives in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Space {
    /// Shared memory (`#ttg.shared_memory`).
    Shared,
    /// Tensor memory (`#ttng.tensor_memory`).
    Tensor,
}

/// One `local_alloc` or `tmem_alloc`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Buffer {
    /// Shared or tensor memory.
    pub space: Space,
    /// Size in bits of the linear space (tensor memory: columns × 32).
    pub bits: u64,
    /// Start, in bits, in the CTA's memory, where the IR is after allocation
    /// (`allocation.offset`, `tensor_memory_col_offset`). Buffers with a known start overlap
    /// where their bits do; a buffer without one overlaps no other.
    pub start: Option<u64>,
    /// Whether it holds mbarriers (`memdesc<…xi64>` that an `init_barrier` reaches).
    pub barriers: bool,
    /// Bits from one leading slot to the next, the whole size where there is one slot only.
    pub slot_bits: u64,
}

/// One dimension of a window.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Dim {
    /// Number of elements in this dimension.
    pub size: u64,
    /// Bits from one element to the next.
    pub stride: u64,
}

/// The form of a window; where it starts is a run-time value.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Shape {
    /// Its dimensions, outermost first.
    pub dims: Vec<Dim>,
    /// Bits of one element (tensor memory: of one column's share).
    pub element: u64,
    /// False where the bits are an upper bound: a reshape or reinterpretation that no strided
    /// window describes.
    pub exact: bool,
}

impl Shape {
    /// A dense row-major window.
    pub fn dense(sizes: &[u64], element: u64) -> Shape {
        let mut stride = element;
        let mut dims: Vec<Dim> = sizes
            .iter()
            .rev()
            .map(|&size| {
                let dim = Dim { size, stride };
                stride *= size;
                dim
            })
            .collect();
        dims.reverse();
        Shape { dims, element, exact: true }
    }

    /// Bits from the first to one past the last element.
    pub fn extent(&self) -> u64 {
        if self.dims.iter().any(|dim| dim.size == 0) {
            return 0;
        }
        self.dims.iter().map(|dim| (dim.size - 1) * dim.stride).sum::<u64>() + self.element
    }

    /// The window's bits as ascending, disjoint, merged intervals from its start.
    pub fn intervals(&self) -> Vec<(u64, u64)> {
        if self.dims.iter().any(|dim| dim.size == 0) {
            return Vec::new();
        }
        let mut dims: Vec<Dim> = self.dims.iter().copied().filter(|dim| dim.size > 1).collect();
        dims.sort_by_key(|dim| std::cmp::Reverse(dim.stride));
        let mut run = self.element;
        while let Some(dim) = dims.last() {
            if dim.stride != run {
                break;
            }
            run *= dim.size;
            dims.pop();
        }
        let mut starts = vec![0u64];
        for dim in &dims {
            starts = starts.iter().flat_map(|&start| (0..dim.size).map(move |i| start + i * dim.stride)).collect();
        }
        starts.sort_unstable();
        let mut intervals: Vec<(u64, u64)> = Vec::with_capacity(starts.len());
        for start in starts {
            match intervals.last_mut() {
                Some(last) if last.1 >= start => last.1 = last.1.max(start + run),
                _ => intervals.push((start, start + run)),
            }
        }
        intervals
    }
}

/// How a view starts within its source; its shape is the result variable's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ViewOp<V> {
    /// The start moves by `index × stride` bits; `count` slots exist, another index is out of
    /// bounds (`memdesc_index`).
    Index {
        /// The slot's number, from 0.
        index: V,
        /// Bits from slot to slot.
        stride: u64,
        /// Number of slots.
        count: u64,
    },
    /// The start moves by a constant (`memdesc_subslice`, `tmem_subslice`); 0 for views that
    /// keep the start (`memdesc_trans`, `memdesc_reshape`, `memdesc_reinterpret`).
    Shift(u64),
    /// The same place in the memory of another CTA of the cluster (`map_to_remote_buffer`).
    Remote(V),
}

impl<V: Copy> ViewOp<V> {
    /// The scalar operand, if there is one.
    pub fn operand(&self) -> Option<V> {
        match *self {
            ViewOp::Index { index, .. } => Some(index),
            ViewOp::Remote(cta) => Some(cta),
            ViewOp::Shift(_) => None,
        }
    }

    /// The same, to rename it.
    pub fn operand_mut(&mut self) -> Option<&mut V> {
        match self {
            ViewOp::Index { index, .. } => Some(index),
            ViewOp::Remote(cta) => Some(cta),
            ViewOp::Shift(_) => None,
        }
    }
}
