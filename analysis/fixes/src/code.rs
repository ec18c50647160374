//! Questions about a tree that the makers of fixes ask: who is the op of a site, what is visible
//! where, and which allocation a memdesc leads to.

use crate::limits::code::HOPS;
use base::TextRange;
use kernel::Site;
use ttgir::{BlockId, Def, OpId, RegionId, Tree, Ty, ValueId};

/// Ops that give another view of their first operand.
const VIEWS: &[&str] = &[
    "ttg.memdesc_index",
    "ttg.memdesc_subslice",
    "ttg.memdesc_trans",
    "ttg.memdesc_reshape",
    "ttg.memdesc_reinterpret",
    "ttng.tmem_subslice",
];

/// A tree, to be asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Code<'t> {
    /// The tree.
    pub tree: &'t Tree,
}

impl<'t> Code<'t> {
    /// Whether the program is for a GPU of AMD, whose barrier ops have a dialect of their own.
    pub(crate) fn amd(self) -> bool {
        let target = self.tree.top().iter().find_map(|op| self.tree.attr(*op, "ttg.target"));
        target.and_then(|target| self.tree.attr_str(target)).is_some_and(|target| target.starts_with("hip:"))
    }

    /// The full name of a barrier op, as `wait_barrier`, for this target.
    pub(crate) fn barrier_op(self, op: &str) -> String {
        format!("{}.{op}", if self.amd() { "amdg" } else { "ttng" })
    }

    /// Whether an op is this barrier op of either dialect.
    pub(crate) fn is_barrier_op(self, op: OpId, name: &str) -> bool {
        matches!(self.tree.op_name(op).split_once('.'), Some(("ttng" | "amdg", op)) if op == name)
    }

    /// The op of a site.
    pub(crate) fn op_of(self, site: &Site) -> Option<OpId> {
        let op = self.tree.op_at(site.range.start)?;
        (self.tree.op_header_range(op) == site.range).then_some(op)
    }

    /// The op that defines a value.
    pub(crate) fn def(self, value: ValueId) -> Option<OpId> {
        match self.tree.value_def(value) {
            Def::Result(op, _) => Some(op),
            _ => None,
        }
    }

    /// The value written at a range, if one is.
    pub(crate) fn value_in(self, range: TextRange) -> Option<ValueId> {
        if !range.of(self.tree.text()).starts_with('%') {
            return None;
        }
        self.tree.value_at(range.start).map(|(value, _)| value)
    }

    /// Whether code in a region sees nothing of the code around it but its arguments.
    pub(crate) fn is_wall(self, region: RegionId) -> bool {
        let Some(op) = self.tree.parent_op(region) else { return true };
        match self.tree.op_name(op) {
            "ttg.warp_specialize" => self.tree.regions(op).first() != Some(&region),
            "tt.func" | "ttg.warp_specialize.partitions" | "builtin.module" => true,
            _ => false,
        }
    }

    /// The region whose code runs as one thread with this op: a partition or the function.
    pub(crate) fn thread(self, op: OpId) -> Option<RegionId> {
        let mut op = op;
        loop {
            let region = self.tree.parent_region(self.tree.parent_block(op)?);
            if self.is_wall(region) {
                return Some(region);
            }
            op = self.tree.parent_op(region)?;
        }
    }

    /// The counted loops around an op in its thread, the innermost first.
    pub(crate) fn loops(self, op: OpId) -> Vec<OpId> {
        let (mut out, mut at) = (Vec::new(), op);
        while let Some(block) = self.tree.parent_block(at) {
            let region = self.tree.parent_region(block);
            let Some(parent) = self.tree.parent_op(region).filter(|_| !self.is_wall(region)) else { break };
            at = parent;
            if self.tree.op_name(at) == "scf.for" {
                out.push(at);
            }
        }
        out
    }

    /// Whether a loop of its thread is around an op, counted or not.
    pub(crate) fn is_repeated(self, op: OpId) -> bool {
        let mut at = op;
        while let Some(block) = self.tree.parent_block(at) {
            let region = self.tree.parent_region(block);
            let Some(parent) = self.tree.parent_op(region).filter(|_| !self.is_wall(region)) else { break };
            at = parent;
            if matches!(self.tree.op_name(at), "scf.for" | "scf.while") {
                return true;
            }
        }
        // What jumps between blocks may come back.
        self.tree.parent_block(at).is_some_and(|block| self.tree.blocks(self.tree.parent_region(block)).len() > 1)
    }

    /// The op around `op`, or itself, that is in `block`.
    pub(crate) fn ancestor_in(self, op: OpId, block: BlockId) -> Option<OpId> {
        let mut op = op;
        loop {
            let own = self.tree.parent_block(op)?;
            if own == block {
                return Some(op);
            }
            op = self.tree.parent_op(self.tree.parent_region(own))?;
        }
    }

    /// Whether `a` stands before `b`.
    pub(crate) fn before(self, a: OpId, b: OpId) -> bool {
        self.tree.op_range(a).start < self.tree.op_range(b).start
    }

    /// All ops of a region and the regions below, in the order of the text, other threads' left out.
    pub(crate) fn ops(self, region: RegionId) -> Vec<OpId> {
        let mut out = Vec::new();
        let mut left = vec![region];
        while let Some(region) = left.pop() {
            for &block in self.tree.blocks(region) {
                for &op in self.tree.block_ops(block) {
                    out.push(op);
                    left.extend(self.tree.regions(op).iter().filter(|region| !self.is_wall(**region)));
                }
            }
        }
        out.sort_by_key(|op| self.tree.op_range(*op).start);
        out
    }

    /// The values that may be used just before an op, nearest first.
    pub(crate) fn scope(self, at: OpId) -> Vec<ValueId> {
        let tree = self.tree;
        let mut out = Vec::new();
        let mut at = at;
        while let Some(block) = tree.parent_block(at) {
            let earlier = tree.block_ops(block).iter().filter(|op| self.before(**op, at));
            earlier.rev().for_each(|op| out.extend_from_slice(tree.results(*op)));
            out.extend_from_slice(tree.block_args(block));
            let region = tree.parent_region(block);
            for &other in tree.blocks(region).iter().rev() {
                if other != block && self.dominates(region, other, block) {
                    tree.block_ops(other).iter().rev().for_each(|op| out.extend_from_slice(tree.results(*op)));
                    out.extend_from_slice(tree.block_args(other));
                }
            }
            if self.is_wall(region) {
                break;
            }
            let Some(parent) = tree.parent_op(region) else { break };
            at = parent;
        }
        out.retain(|value| !tree.value_name(*value).is_empty());
        out
    }

    /// Whether every way from a region's first block to `to` leads through `by`.
    fn dominates(self, region: RegionId, by: BlockId, to: BlockId) -> bool {
        let Some(&entry) = self.tree.blocks(region).first() else { return false };
        if entry == by {
            return true;
        }
        let mut seen = vec![entry, by];
        let mut left = vec![entry];
        while let Some(block) = left.pop() {
            let Some(&last) = self.tree.block_ops(block).last() else { continue };
            for next in self.tree.successors(last).into_iter().filter_map(|successor| successor.block) {
                if next == to {
                    return false;
                }
                if !seen.contains(&next) {
                    seen.push(next);
                    left.push(next);
                }
            }
        }
        true
    }

    /// The value outside that a partition's argument stands for; a loop's argument gives its
    /// first value when it is a memdesc.
    pub(crate) fn outside(self, value: ValueId) -> Option<ValueId> {
        let tree = self.tree;
        let Def::BlockArg(block, at) = tree.value_def(value) else { return None };
        let region = tree.parent_region(block);
        let op = tree.parent_op(region)?;
        let at = at as usize;
        match tree.op_name(op) {
            "ttg.warp_specialize" => tree.operands(op).get(at).copied(),
            "ttg.warp_specialize.partitions" => {
                let outer = tree.parent_op(tree.parent_region(tree.parent_block(op)?))?;
                tree.operands(op).get(at).or_else(|| tree.operands(outer).get(at)).copied()
            }
            _ => None,
        }
    }

    /// A value without the captures between it and its definition.
    pub(crate) fn base(self, value: ValueId) -> ValueId {
        let mut value = value;
        for _ in 0..HOPS {
            match self.outside(value) {
                Some(outer) => value = outer,
                None => break,
            }
        }
        value
    }

    /// The allocation that a memdesc leads to, as far as views and captures go.
    pub(crate) fn root(self, value: ValueId) -> ValueId {
        let mut value = value;
        for _ in 0..HOPS {
            value = self.base(value);
            match self.def(value).filter(|op| VIEWS.contains(&self.tree.op_name(*op))) {
                Some(op) => match self.tree.operands(op).first() {
                    Some(&source) => value = source,
                    None => break,
                },
                None => break,
            }
        }
        value
    }

    /// The index of the slot that a memdesc names.
    pub(crate) fn slot(self, value: ValueId) -> Option<ValueId> {
        let mut value = value;
        for _ in 0..HOPS {
            let op = self.def(value).filter(|op| VIEWS.contains(&self.tree.op_name(*op)))?;
            if self.tree.op_name(op) == "ttg.memdesc_index" {
                return self.tree.operands(op).get(1).copied();
            }
            value = self.tree.operands(op).first().copied()?;
        }
        None
    }

    /// The value of an `arith.constant`, also through captures.
    pub(crate) fn constant(self, value: ValueId) -> Option<i64> {
        let op = self.def(self.base(value)).filter(|op| self.tree.op_name(*op) == "arith.constant")?;
        self.tree.attr(op, "value").and_then(|attr| self.tree.attr_int(attr))
    }

    /// Width of an integer value.
    pub(crate) fn width(self, value: ValueId) -> Option<u32> {
        match self.tree.ty(self.tree.value_type(value)?) {
            Ty::Int(width) => Some(width),
            _ => None,
        }
    }

    /// Extents of a memdesc.
    pub(crate) fn extents(self, value: ValueId) -> Option<Vec<i64>> {
        match self.tree.ty(self.tree.value_type(value)?) {
            Ty::MemDesc { shape, .. } => Some(shape),
            _ => None,
        }
    }

    /// A value's name as a use writes it.
    pub(crate) fn name(self, value: ValueId) -> String {
        let name = self.tree.value_name(value);
        match self.tree.value_number(value) {
            Some(number) => format!("{name}#{number}"),
            None => name.to_owned(),
        }
    }

    /// A value's type as it is written.
    pub(crate) fn type_of(self, value: ValueId) -> Option<&'t str> {
        self.tree.value_type(value).map(|ty| self.tree.type_text(ty))
    }
}
