//! TLX: buffers that share storage, and layouts that are asked for.
//!
//! A `storage_alias_spec` is one allocation, and each `storage_alias_local_alloc` a window of it for
//! every slot. Where `set_buffer_overlap` gives a tree of reuse groups, slots lie one group apart; in a
//! `shared` group all elements start together, in a `distinct` one they follow each other. Without
//! it all start at the front with slots of their own size. Source: the passes that size storage and
//! compute offsets in TLX (facebookexperimental fork); shared memory counts bytes in steps of 128,
//! tensor memory columns in steps of each element's own width.
//!
//! Missed, and said at the op: groups of several slots (`group_size`).

use dialects::{Tlx, tlx};
use rustc_hash::FxHashMap;

use super::lowerer::Lowerer;
use super::storage::Share;
use super::value::{Class, Val};
use crate::limits::tlx::DEPTH;
use kernel::{Buffer, Dim, EffectKind, Shape, Space, ViewOp};
use ttgir::{Def, OpId, ValueId};

/// An allocation of a storage, in units: bytes of shared memory, columns of tensor memory.
#[derive(Clone, Copy)]
struct Member {
    /// Units of one slot.
    unit: u64,
    /// What it has to start at a multiple of, within a distinct group.
    align: u64,
}

/// Places of the members, by their values: start and distance of slots in units.
type Places = FxHashMap<ValueId, (u64, u64)>;

impl Lowerer<'_> {
    pub(super) fn storage_alias_spec(&mut self, op: OpId) {
        let tree = self.tree;
        let Some(&spec) = tree.results(op).first() else { return };
        self.find_users();
        let users = self.users.get(&spec).cloned().unwrap_or_default();
        let coded = |code: Tlx| users.iter().copied().filter(|user| tree.is(*user, code)).collect::<Vec<_>>();
        let allocs: Vec<(OpId, ValueId)> = coded(Tlx::StorageAliasLocalAlloc)
            .into_iter()
            .filter_map(|alloc| Some((alloc, *tree.results(alloc).first()?)))
            .collect();
        if allocs.is_empty() {
            return;
        }
        let space = allocs.first().and_then(|(_, value)| self.memory(*value)).map(|memory| memory.space);
        let mut members: FxHashMap<ValueId, Member> = FxHashMap::default();
        for &(_, value) in &allocs {
            let Some(unit) = self.slot_units(value).filter(|_| self.memory(value).map(|memory| memory.space) == space)
            else {
                return self.unmodelled(op, "the size of one of its allocations is not known");
            };
            let align = if space == Some(Space::Tensor) { unit } else { 128 };
            members.insert(value, Member { unit, align: align.max(1) });
        }
        let mut places: Places = members.iter().map(|(value, member)| (*value, (0, member.unit))).collect();
        let overlaps = coded(Tlx::SetBufferOverlap);
        if overlaps.len() > 1 {
            return self.unmodelled(op, "it has more than one overlap");
        }
        if let Some(&overlap) = overlaps.first() {
            let group = tlx::SetBufferOverlap::cast(tree, overlap).and_then(|overlap| overlap.overlap_def());
            let laid = group.and_then(|group| self.overlap(group, &members, &mut places));
            if let Some(reason) = laid.unwrap_or(Some("how its buffers overlap cannot be read")) {
                return self.unmodelled(op, reason);
            }
        }
        let Some(space) = space else { return };
        let bits_of_unit = if space == Space::Tensor { 32 } else { 8 };
        let slots =
            |lowerer: &Self, value| lowerer.memory(value).and_then(|memory| slots(&memory.sizes, space)).unwrap_or(1);
        let mut bits =
            self.int_attr(op, "buffer_size_bytes").and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0) * 8;
        if space == Space::Tensor {
            bits = 0;
        }
        for &(_, value) in &allocs {
            let Some((&(start, stride), member)) = places.get(&value).zip(members.get(&value)) else { continue };
            bits = bits.max((start + stride * (slots(self, value) - 1) + member.unit) * bits_of_unit);
        }
        let buffer = Buffer { space, bits, start: None, barriers: false, slot_bits: bits };
        let id = self.build.buffer(buffer, tree.value_name(spec), tree.value_range(spec));
        let site = self.site(op);
        self.build.effect(site, None, EffectKind::Allocate(id));
        for (alloc, value) in allocs {
            if let Some(&(start, stride)) = places.get(&value) {
                let share = Share { buffer: id, start: start * bits_of_unit, stride: stride * bits_of_unit };
                self.shares.insert(alloc, share);
            }
        }
    }

    /// A window of the storage.
    pub(super) fn storage_alias_local_alloc(&mut self, op: OpId) {
        let tree = self.tree;
        let Some(&result) = tree.results(op).first() else { return };
        let (Some(share), Some(memory)) = (self.shares.get(&op).copied(), self.memory(result)) else {
            self.forget(op);
            return self.unmodelled(op, "where its storage lies is not followed");
        };
        let mut shape = memory.shape;
        if slots(&memory.sizes, memory.space).is_some()
            && let Some(first) = shape.dims.first_mut()
        {
            first.stride = share.stride;
        }
        let name = tree.value_name(result);
        let bits = self.build.kernel.buffers.get(share.buffer.0 as usize).map_or(0, |buffer| buffer.bits);
        let whole = Shape { dims: vec![Dim { size: bits / 8, stride: 8 }], element: 8, exact: true };
        let base = self.build.base(share.buffer, whole, name);
        let punned = memory.space == Space::Shared;
        let view = self.build.view(base, ViewOp::Shift(share.start), shape, punned, name);
        self.bind(result, Val::View(view));
    }

    /// `require_layout`: the same place; a tensor is nobody's.
    pub(super) fn layout_asked(&mut self, op: OpId) {
        let tree = self.tree;
        if let (Some(&result), Some(&src)) = (tree.results(op).first(), tree.operands(op).first())
            && self.class(result) == Class::View
        {
            self.rebind(result, src);
        }
    }

    /// Bytes or columns of one slot.
    fn slot_units(&self, value: ValueId) -> Option<u64> {
        let memory = self.memory(value)?;
        match memory.space {
            Space::Shared => Some(memory.bytes / slots(&memory.sizes, memory.space)?.max(1)),
            Space::Tensor => match slots(&memory.sizes, memory.space) {
                Some(_) => memory.shape.dims.first().map(|dim| dim.stride / 32),
                None => Some(memory.bits.div_ceil(32)),
            },
        }
    }

    /// Lays out the tree of groups; a reason where that fails.
    fn overlap(
        &self,
        group: ValueId,
        members: &FxHashMap<ValueId, Member>,
        places: &mut Places,
    ) -> Option<Option<&'static str>> {
        let align = self.alignment(group, members, 0)?;
        let between = self.units(group, members, align, 0)?.next_multiple_of(align);
        self.lay(group, 0, between, align, members, places, 0)?;
        let divides = |(value, (start, stride)): (&ValueId, &(u64, u64))| {
            members.get(value).is_some_and(|member| start % member.unit.max(1) == 0 && stride % member.unit.max(1) == 0)
        };
        let fits = members.keys().all(|value| places.get_key_value(value).is_some_and(divides));
        Some((!fits).then_some("its buffers do not divide the distance of its slots"))
    }

    /// The elements of a group, and whether they share their place.
    fn elements(&self, group: ValueId) -> Option<(Vec<ValueId>, bool)> {
        let tree = self.tree;
        let Def::Result(op, _) = tree.value_def(group) else { return None };
        if !tree.is(op, Tlx::ReuseGroup) || self.int_attr(op, "group_size").unwrap_or(1) != 1 {
            return None;
        }
        let kind = tree.attr_text(tree.attr(op, "group_kind")?).trim();
        match kind {
            "shared" => Some((tree.operands(op).to_vec(), true)),
            "distinct" => Some((tree.operands(op).to_vec(), false)),
            _ => None,
        }
    }

    fn alignment(&self, of: ValueId, members: &FxHashMap<ValueId, Member>, depth: u32) -> Option<u64> {
        if let Some(member) = members.get(&of) {
            return Some(member.align);
        }
        let (elements, _) = self.elements(of).filter(|_| depth < DEPTH)?;
        elements.iter().try_fold(1, |most, element| Some(most.max(self.alignment(*element, members, depth + 1)?)))
    }

    /// What an element of a distinct group has to start at a multiple of.
    fn multiple(&self, of: ValueId, members: &FxHashMap<ValueId, Member>, align: u64, depth: u32) -> Option<u64> {
        let columns = members.values().all(|member| member.align == member.unit);
        if columns { self.alignment(of, members, depth) } else { Some(align) }
    }

    fn units(&self, of: ValueId, members: &FxHashMap<ValueId, Member>, align: u64, depth: u32) -> Option<u64> {
        if let Some(member) = members.get(&of) {
            return Some(member.unit);
        }
        let (elements, shared) = self.elements(of).filter(|_| depth < DEPTH)?;
        elements.iter().try_fold(0u64, |sum, element| {
            let size = self.units(*element, members, align, depth + 1)?;
            let step = self.multiple(*element, members, align, depth + 1)?;
            Some(if shared { sum.max(size) } else { sum.next_multiple_of(step) + size })
        })
    }

    #[allow(clippy::too_many_arguments)]
    fn lay(
        &self,
        of: ValueId,
        start: u64,
        between: u64,
        align: u64,
        members: &FxHashMap<ValueId, Member>,
        places: &mut Places,
        depth: u32,
    ) -> Option<()> {
        if members.contains_key(&of) {
            places.insert(of, (start, between));
            return Some(());
        }
        let (elements, shared) = self.elements(of).filter(|_| depth < DEPTH)?;
        let mut at = start;
        for element in elements {
            if !shared {
                at = at.next_multiple_of(self.multiple(element, members, align, depth + 1)?);
            }
            self.lay(element, at, between, align, members, places, depth + 1)?;
            if !shared {
                at += self.units(element, members, align, depth + 1)?;
            }
        }
        Some(())
    }
}

/// The size of the leading dimension, if it counts slots.
fn slots(sizes: &[u64], space: Space) -> Option<u64> {
    let least = if space == Space::Tensor { 3 } else { 1 };
    sizes.first().copied().filter(|size| sizes.len() >= least && *size > 0)
}
