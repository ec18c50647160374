//! The order in which the blocks of a region are lowered.

use rustc_hash::FxHashSet;

use ttgir::{BlockId, Tree};

/// Blocks in reverse postorder, so that what a block uses is lowered before it.
pub(super) struct Order {
    pub(super) blocks: Vec<BlockId>,
    /// Targets of retreating edges.
    pub(super) heads: FxHashSet<BlockId>,
}

impl Order {
    pub(super) fn new(tree: &Tree, entry: BlockId) -> Order {
        let successors = |block: BlockId| -> Vec<BlockId> {
            let last = tree.block_ops(block).last();
            last.map(|op| tree.successors(*op).iter().filter_map(|next| next.block).collect()).unwrap_or_default()
        };
        let mut blocks = Vec::new();
        let mut heads = FxHashSet::default();
        let mut seen: FxHashSet<BlockId> = FxHashSet::default();
        let mut open: FxHashSet<BlockId> = FxHashSet::default();
        let mut stack = vec![(entry, successors(entry))];
        seen.insert(entry);
        open.insert(entry);
        while let Some((block, targets)) = stack.last_mut() {
            match targets.pop() {
                Some(target) if open.contains(&target) => {
                    heads.insert(target);
                }
                Some(target) if seen.insert(target) => {
                    open.insert(target);
                    stack.push((target, successors(target)));
                }
                Some(_) => {}
                None => {
                    open.remove(block);
                    blocks.push(*block);
                    stack.pop();
                }
            }
        }
        blocks.reverse();
        Order { blocks, heads }
    }
}
