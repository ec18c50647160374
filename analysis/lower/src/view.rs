//! Allocations and views of memdescs.

use super::layout::{Memory, contiguous, reshape};
use super::lowerer::Lowerer;
use super::value::Val;
use base::{Message, message};
use dialects::{OpCode, Ttg, ViewKind};
use kernel::{
    Access, Buffer, BufferId, Completion, CtaSet, Dim, EffectKind, Issuer, Mode, Proxy, Shape, Space, Var, ViewOp,
};
use ttgir::{OpId, Ty, ValueId};

impl Lowerer<'_> {
    /// `local_alloc` and `tmem_alloc`: storage, and a write where there is a source.
    pub(super) fn allocate(&mut self, op: OpId) {
        let tree = self.tree;
        let Some(&result) = tree.results(op).first() else { return };
        if self.task.is_none() || !self.stored.contains(&op) {
            self.storage(op);
        }
        let (Some(view), Some(memory)) = (self.view(result), self.memory(result)) else { return };
        let site = self.site(op);
        if !tree.group(op, "src").is_empty() {
            let proxy = if memory.space == Space::Tensor { Proxy::Tensor } else { Proxy::Generic };
            let ctas = CtaSet::group(if self.ctas.cluster > 1 { self.crossed(op) } else { 0 });
            let access = Access { view, mode: Mode::Write, proxy, operand: "", clears: false, ctas };
            self.role(op, site, "result", tree.value_range(result));
            let kind =
                EffectKind::Operation { issuer: Issuer::Base, accesses: vec![access], completion: Completion::InOrder };
            self.build.effect(site, None, kind);
        }
    }

    /// The storage of an allocation.
    pub(super) fn storage(&mut self, op: OpId) {
        let tree = self.tree;
        let Some(&result) = tree.results(op).first() else { return };
        self.stored.insert(op);
        if self.planned_buffer(result) {
            return;
        }
        let Some(memory) = self.memory(result) else {
            self.forget(op);
            return self.unmodelled(op, "the type of the allocation is not followed");
        };
        if let Some(view) = self.shared_storage(op, &memory) {
            return self.bind(result, Val::View(view));
        }
        let name = tree.value_name(result);
        let start = match memory.space {
            Space::Shared => {
                self.int_attr(op, "allocation.offset").and_then(|at| u32::try_from(at).ok()).map(|at| u64::from(at) * 8)
            }
            Space::Tensor => self.columns(op),
        };
        let buffer = Buffer { space: memory.space, bits: memory.bits, start, barriers: false, slot_bits: memory.bits };
        let id = self.build.buffer(buffer, name, tree.value_range(result));
        let site = self.site(op);
        self.build.effect(site, None, EffectKind::Allocate(id));
        let view = self.build.base(id, memory.shape, name);
        self.bind(result, Val::View(view));
    }

    /// Start of a tensor memory allocation. Rows are not counted: allocations in the lower half
    /// of the rows are put past all columns, so that they meet each other only.
    fn columns(&self, op: OpId) -> Option<u64> {
        let number = |name| self.int_attr(op, name).and_then(|at| u32::try_from(at).ok()).map(u64::from);
        let row = number("tensor_memory_row_offset").unwrap_or(0);
        Some(number("tensor_memory_col_offset")? * 32 + if row > 0 { 1 << 20 } else { 0 })
    }

    /// Lowers a view; what cannot be followed is opaque, and so said where it is used.
    pub(super) fn window(&mut self, op: OpId, kind: ViewKind) {
        let tree = self.tree;
        let (Some(&src), Some(&result)) = (tree.operands(op).first(), tree.results(op).first()) else { return };
        let made = self.view(src).and_then(|src| {
            let shape = self.build.shape(src)?.clone();
            let memory = self.memory(result)?;
            self.make(op, kind, src, &shape, memory, result)
        });
        match made {
            Some(view) => self.bind(result, Val::View(view)),
            None => {
                self.bind(result, Val::Opaque);
                if self.values.get(&src) != Some(&Val::Opaque) {
                    self.unmodelled(op, message!("`{view}` is not followed", Message::value(tree.value_name(result))));
                }
            }
        }
    }

    /// Whether a buffer holds allocations that its own text lays out.
    fn is_share(&self, buffer: Option<BufferId>) -> bool {
        self.shares.values().any(|share| Some(share.buffer) == buffer)
    }

    fn make(
        &mut self,
        op: OpId,
        kind: ViewKind,
        src: Var,
        from: &Shape,
        memory: Memory,
        result: ValueId,
    ) -> Option<Var> {
        let name = self.tree.value_name(result);
        let punned = self.build.facts(src).punned;
        let with = |dims: Vec<Dim>| {
            let shape = Shape { dims, element: from.element, exact: from.exact };
            // Windows of a reinterpretation name other bits than their strides say.
            let exact = shape.exact && (!punned || contiguous(&shape));
            Shape { exact, ..shape }
        };
        let (place, shape, punned) = match kind {
            ViewKind::Index => {
                if !from.exact && self.memory(*self.tree.operands(op).first()?)?.sizes.len() > from.dims.len() {
                    // Somewhere in it.
                    return Some(self.build.view(src, ViewOp::Shift(0), from.clone(), true, name));
                }
                let (first, rest) = from.dims.split_first()?;
                let index = *self.tree.operands(op).get(1)?;
                let index = self.scalar(index);
                // Tensor memory counts slots by what one of them takes, and each view by its own type.
                let facts = self.build.facts(src);
                let origin = facts.origin;
                let typed = memory.space == Space::Tensor && !self.is_share(origin);
                let stride = if typed { memory.slot } else { first.stride };
                if first.size > 1 {
                    self.build.counts_slots(facts, stride);
                }
                let rest = if rest.is_empty() { vec![Dim { size: 1, stride: from.element }] } else { rest.to_vec() };
                let shape = if memory.space == Space::Tensor { memory.shape } else { with(rest) };
                (ViewOp::Index { index, stride, count: first.size }, shape, punned)
            }
            ViewKind::Subview => {
                let inside = self.tree.operands(op).get(2..).unwrap_or_default();
                let whole = memory.sizes.len() == inside.len() && inside.iter().all(|at| self.fixed(*at) == Some(0));
                let kind = if whole { ViewKind::Index } else { ViewKind::Subslice };
                return self.make(op, kind, src, from, memory, result);
            }
            ViewKind::Subslice => {
                let offsets = self.offsets(op)?;
                if !from.exact && offsets.len() != from.dims.len() {
                    // Somewhere in it.
                    return Some(self.build.view(src, ViewOp::Shift(0), from.clone(), true, name));
                }
                if offsets.len() != from.dims.len() || memory.sizes.len() != from.dims.len() {
                    return None;
                }
                let (split, rank) = (self.split(result), offsets.len());
                let mut shift = 0;
                for (number, ((at, size), dim)) in offsets.iter().zip(&memory.sizes).zip(&from.dims).enumerate() {
                    at.checked_add(*size).filter(|end| *end <= dim.size)?;
                    // A part of a dimension that is cut among CTAs lies in some of them only.
                    if split.cut(number, rank) > 1 && *size != dim.size {
                        return None;
                    }
                    shift += at * dim.stride;
                }
                let cut = from.dims.iter().zip(&memory.sizes);
                let dims = cut.map(|(dim, size)| Dim { size: *size, stride: dim.stride }).collect();
                (ViewOp::Shift(shift), with(dims), punned)
            }
            ViewKind::Columns => {
                // The fork has `N`; Triton 3.9 has `offset`, along `dim`, which is 1 unless said.
                let offset = self.int_attr(op, "N").or_else(|| self.int_attr(op, "offset"));
                let offset = offset.and_then(|at| u64::try_from(at).ok())?;
                let (split, rank) = (self.split(result), memory.sizes.len());
                let along = rank.checked_sub(if self.int_attr(op, "dim") == Some(0) { 2 } else { 1 })?;
                if split.cut(along, rank) > 1 && offset != 0 {
                    return None;
                }
                let source = self.memory(*self.tree.operands(op).first()?)?;
                if self.int_attr(op, "dim") == Some(0) {
                    let at = memory.sizes.len().checked_sub(2)?;
                    let (shift, dims, exact) = rows(from, offset, *memory.sizes.get(at)?, *source.sizes.get(at)?)?;
                    let shape = with(dims);
                    (ViewOp::Shift(shift), Shape { exact: shape.exact && exact, ..shape }, punned)
                } else {
                    let shift = columns(&source, offset, *memory.sizes.last()?)?;
                    let mut shape = memory.shape;
                    // Slots of storage that several share lie where those of the whole do.
                    if self.is_share(self.build.facts(src).origin) && memory.sizes.len() > 2 {
                        let slots = from.dims.iter().zip(&mut shape.dims).take(memory.sizes.len() - 2);
                        slots.for_each(|(of, slot)| slot.stride = of.stride);
                    }
                    (ViewOp::Shift(shift), shape, punned)
                }
            }
            ViewKind::Trans => {
                let order = self.tree.attr(op, "order").map(|attr| self.tree.attr_array(attr))?;
                if !from.exact && order.len() != from.dims.len() {
                    // The same bits in another order.
                    return Some(self.build.view(src, ViewOp::Shift(0), from.clone(), true, name));
                }
                let dim =
                    |attr| self.tree.attr_int(attr).and_then(|at| from.dims.get(usize::try_from(at).ok()?).copied());
                let dims: Vec<Dim> = order.into_iter().map(dim).collect::<Option<_>>()?;
                if dims.len() != from.dims.len() {
                    return None;
                }
                (ViewOp::Shift(0), with(dims), punned)
            }
            ViewKind::Reshape => match reshape(from, &memory.sizes) {
                Some(dims) => (ViewOp::Shift(0), with(dims), punned),
                None => {
                    // The range it lies in, as one run.
                    let element = from.element;
                    let size = from.extent().div_ceil(element.max(1));
                    let dims = vec![Dim { size, stride: element }];
                    (ViewOp::Shift(0), Shape { dims, element, exact: false }, true)
                }
            },
            ViewKind::Reinterpret => {
                let exact = memory.space == Space::Tensor || from.exact && contiguous(from);
                let punned = memory.space == Space::Shared && (punned || memory.shape != *from);
                let place = self.reinterpreted(op, src, from, &memory)?;
                let view = self.build.view(src, place, Shape { exact, ..memory.shape }, punned, name);
                self.build.retype(view);
                return Some(view);
            }
        };
        Some(self.build.view(src, place, shape, punned, name))
    }
}

impl Lowerer<'_> {
    /// Where a reinterpretation starts: one that ends behind its allocation has no place, and where that cannot be told
    /// it is not followed. Paddings are not counted, nor is memory that the text lays out.
    fn reinterpreted(&mut self, op: OpId, src: Var, from: &Shape, memory: &Memory) -> Option<ViewOp<Var>> {
        let facts = self.build.facts(src);
        let taken = memory.shape.extent();
        let dense = |value: &ValueId| match self.tree.value_type(*value).map(|ty| self.tree.ty(ty)) {
            Some(Ty::MemDesc { encoding: Some(encoding), .. }) => {
                !self.tree.attr_text(encoding).contains("padded_shared")
            }
            _ => true,
        };
        if self.tree.code(op) != Some(OpCode::Ttg(Ttg::MemdescReinterpret))
            || memory.space != Space::Shared
            || taken <= from.extent()
            || self.is_share(facts.origin)
            || !self.tree.operands(op).iter().chain(self.tree.results(op)).all(dense)
        {
            return Some(ViewOp::Shift(0));
        }
        let buffer = self.build.kernel.buffers.get(facts.origin?.0 as usize)?;
        let behind = facts.start?.checked_add(taken)?.saturating_sub(buffer.bits).div_ceil(8);
        if behind == 0 {
            return Some(ViewOp::Shift(0));
        }
        let index = self.build.number(i64::try_from(behind).ok()?);
        Some(ViewOp::Index { index, stride: memory.shape.element, count: 0 })
    }

    /// The constant offsets of a part: an attribute, or operands.
    fn offsets(&mut self, op: OpId) -> Option<Vec<u64>> {
        let tree = self.tree;
        let place = |at: i64| u64::try_from(at).ok();
        match tree.attr(op, "offsets").map(|attr| tree.attr_array(attr)) {
            Some(offsets) => offsets.iter().map(|attr| tree.attr_int(*attr).and_then(place)).collect(),
            None => tree.operands(op).get(1..)?.iter().map(|value| self.fixed(*value).and_then(place)).collect(),
        }
    }

    /// What an operand is in every run.
    fn fixed(&mut self, value: ValueId) -> Option<i64> {
        let var = self.scalar(value);
        self.build.constant(var)
    }
}

/// Where `size` columns from `offset` on of a tensor memory window start. Its last dimensions are tiles
/// along N and the columns of a tile; scales have one run of columns, four of theirs for all rows
/// at a time.
fn columns(from: &Memory, offset: u64, size: u64) -> Option<u64> {
    let dims = &from.shape.dims;
    offset.checked_add(size).filter(|end| from.sizes.last().is_some_and(|all| end <= all))?;
    let columns = *dims.last()?;
    if dims.len() < from.sizes.len() + 1 {
        let rows = *from.sizes.get(from.sizes.len().checked_sub(2)?)?;
        let apart = offset.is_multiple_of(4) && (size.is_multiple_of(4) || offset == 0);
        return apart.then(|| offset * rows.div_ceil(32).max(2) * columns.stride);
    }
    let width = columns.size.max(1);
    let tiles = dims.len().checked_sub(2).and_then(|at| dims.get(at))?;
    let whole = offset.is_multiple_of(width) && size.is_multiple_of(width);
    // Tiles that follow each other are one run of columns.
    let run = tiles.stride == width * columns.stride;
    let within = whole || offset % width + size <= width || run;
    within.then(|| offset % width * columns.stride + offset / width * tiles.stride)
}

/// `size` of `all` rows from `offset` on: whole tiles along M, or rows of one, which are not
/// counted, so that the window is all of its tile's.
fn rows(from: &Shape, offset: u64, size: u64, all: u64) -> Option<(u64, Vec<Dim>, bool)> {
    let mut dims = from.dims.clone();
    let at = dims.len().checked_sub(3)?;
    let tile = all.checked_div(dims[at].size)?.max(1);
    offset.checked_add(size).filter(|end| *end <= all)?;
    let shift = offset / tile * dims[at].stride;
    if offset.is_multiple_of(tile) && size.is_multiple_of(tile) {
        dims[at].size = size / tile;
        return Some((shift, dims, true));
    }
    dims[at].size = 1;
    (offset % tile + size <= tile).then_some((shift, dims, false))
}
