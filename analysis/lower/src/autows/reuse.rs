//! Allocations that the memory planner of automatic warp specialisation puts in one place: those with
//! one `buffer.id`.
//!
//! In tensor memory they lie side by side from `buffer.offset` on, counted in columns of 32 bits; the
//! one without an offset owns the columns. In shared memory they take turns in one place. Source:
//! the planner's account of its reuse groups (facebookexperimental fork). Code partitioning makes
//! views of it, and so the numbers count only where tasks still share a region.

use super::tasks::below;
use crate::layout::Memory;
use crate::lowerer::Lowerer;
use dialects::{OpCode, Ttg, Ttng};
use kernel::{Buffer, BufferId, EffectKind, Shape, Space, Var, ViewOp};
use ttgir::OpId;

impl Lowerer<'_> {
    /// The window of an allocation that shares its storage; `None` for one that has its own.
    pub(crate) fn shared_storage(&mut self, op: OpId, memory: &Memory) -> Option<Var> {
        let tree = self.tree;
        if !self.tasks.share() {
            return None;
        }
        let id = self.int_attr(op, "buffer.id")?;
        let members = self.members(id, memory.space);
        if members.len() < 2 {
            return None;
        }
        let end = |member: &OpId| -> Option<u64> {
            let bits = self.memory(*tree.results(*member).first()?)?.bits;
            Some(self.first_bit(*member, memory.space) + bits)
        };
        let bits = members.iter().filter_map(end).max()?;
        let owner = members.iter().copied().find(|member| self.int_attr(*member, "buffer.offset").is_none());
        let buffer = self.owner(id, memory.space, bits, owner.unwrap_or(op))?;
        let name = tree.value_name(*tree.results(op).first()?);
        let all = self.build.base(buffer, Shape::dense(&[bits.div_ceil(32)], 32), name);
        let shift = ViewOp::Shift(self.first_bit(op, memory.space));
        Some(self.build.view(all, shift, memory.shape.clone(), memory.space == Space::Shared, name))
    }

    /// The buffer of all, made with the first.
    fn owner(&mut self, id: i64, space: Space, bits: u64, owner: OpId) -> Option<BufferId> {
        let tree = self.tree;
        let key = (id, space == Space::Tensor);
        if let Some(&buffer) = self.packed.get(&key) {
            return Some(buffer);
        }
        let value = *tree.results(owner).first()?;
        let buffer = Buffer { space, bits, start: None, barriers: false, slot_bits: bits };
        let made = self.build.buffer(buffer, tree.value_name(value), tree.value_range(value));
        let site = self.site(owner);
        self.build.effect(site, None, EffectKind::Allocate(made));
        self.packed.insert(key, made);
        Some(made)
    }

    /// Where an allocation starts.
    fn first_bit(&self, op: OpId, space: Space) -> u64 {
        let offset = self.int_attr(op, "buffer.offset").and_then(|at| u32::try_from(at).ok());
        if space == Space::Tensor { u64::from(offset.unwrap_or(0)) * 32 } else { 0 }
    }

    /// The allocations of a function that have this number.
    fn members(&self, id: i64, space: Space) -> Vec<OpId> {
        let tree = self.tree;
        let mut ops = Vec::new();
        if let Some(&function) = self.calls.first() {
            below(tree, function, &mut ops);
        }
        let alloc: OpCode = if space == Space::Tensor { Ttng::TmemAlloc.into() } else { Ttg::LocalAlloc.into() };
        ops.retain(|op| tree.is(*op, alloc) && self.int_attr(*op, "buffer.id") == Some(id));
        ops
    }
}
