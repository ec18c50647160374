//! A place in a document: its section, and the offset there.

use crate::{BlockId, Document, OpId, Section, Tree, ValueId};
use base::TextRange;
use dialects::{OpCode, Ttg};

/// A place in the section that holds it.
#[derive(Clone, Copy)]
pub struct Spot<'a> {
    section: &'a Section,
    /// Offset in the section's text.
    pub offset: u32,
}

impl<'a> Spot<'a> {
    /// The place of a document's offset; none between sections.
    pub fn at(document: &'a Document, offset: u32) -> Option<Spot<'a>> {
        let section = document.sections().iter().rev().find(|section| section.range().touches(offset))?;
        Some(Spot { section, offset: offset - section.offset() })
    }

    /// The section's tree.
    pub fn tree(self) -> &'a Tree {
        self.section.tree()
    }

    /// A range of the section as one of the document.
    pub fn lift(self, range: TextRange) -> TextRange {
        lift(self.section, range)
    }
}

/// A range of a section as one of the document.
pub fn lift(section: &Section, range: TextRange) -> TextRange {
    TextRange::new(range.start + section.offset(), range.end + section.offset())
}

/// Every operation below `ops`, outer before inner, in the order of the text.
pub fn walk(tree: &Tree, ops: &[OpId], visit: &mut dyn FnMut(OpId)) {
    // A stack of its own: nesting is the user's, the call stack is ours.
    let mut todo: Vec<OpId> = ops.iter().rev().copied().collect();
    while let Some(op) = todo.pop() {
        visit(op);
        let inner = tree.regions(op).iter().flat_map(|region| tree.blocks(*region));
        let mut inner: Vec<OpId> = inner.flat_map(|block| tree.block_ops(*block)).copied().collect();
        inner.reverse();
        todo.append(&mut inner);
    }
}

/// The operations around `op`, the innermost first, each with the number of its region that
/// holds `op`.
pub fn around(tree: &Tree, op: OpId) -> impl Iterator<Item = (OpId, usize)> {
    std::iter::successors(Some((op, 0)), |(inner, _)| {
        let region = tree.parent_region(tree.parent_block(*inner)?);
        let outer = tree.parent_op(region)?;
        let number = tree.regions(outer).iter().position(|candidate| *candidate == region)?;
        Some((outer, number))
    })
    .skip(1)
}

/// The value outside that an argument of a partition stands for.
pub fn captured(tree: &Tree, block: BlockId, number: usize) -> Option<ValueId> {
    let region = tree.parent_region(block);
    let op = tree.parent_op(region)?;
    let partition = matches!(tree.code(op), Some(OpCode::Ttg(Ttg::WarpSpecialize | Ttg::WarpSpecializePartitions)));
    let entry = tree.blocks(region).first() == Some(&block);
    captures(tree, op).get(number).copied().filter(|_| partition && entry)
}

/// The captures of a partition; in the generic form the holder inside may have none of its own.
pub(super) fn captures(tree: &Tree, op: OpId) -> &[ValueId] {
    let own = tree.operands(op);
    if !own.is_empty() || tree.is(op, Ttg::WarpSpecialize) {
        return own;
    }
    around(tree, op).next().map_or(own, |(outer, _)| tree.operands(outer))
}

/// The warp-specialised partition that executes `op`; `default` also outside of any.
pub fn partition(tree: &Tree, op: OpId) -> String {
    for (outer, region) in around(tree, op) {
        match tree.code(outer) {
            Some(OpCode::Ttg(Ttg::WarpSpecialize)) if region > 0 => return format!("partition{}", region - 1),
            Some(OpCode::Ttg(Ttg::WarpSpecializePartitions)) => return format!("partition{region}"),
            _ => {}
        }
    }
    "default".to_owned()
}

/// The function around `op`.
pub fn function(tree: &Tree, op: OpId) -> Option<OpId> {
    let is_function = |op: &OpId| tree.op_name(*op).ends_with(".func");
    std::iter::once(op).chain(around(tree, op).map(|(outer, _)| outer)).find(is_function)
}
