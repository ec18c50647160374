//! The SSA values that a place sees: by regions, up to one that is isolated, and by dominance between blocks.

use crate::limits::completion::BLOCKS;
use dialects::table;
use ttgir::{BlockId, OpId, RegionId, Tree, ValueId};

/// The values that an op at `at` may use, the nearest definition first. `at` is where the op starts.
pub(super) fn visible(tree: &Tree, at: u32) -> Vec<ValueId> {
    let mut found: Vec<ValueId> = Vec::new();
    let mut ops: Vec<OpId> = tree.top().to_vec();
    loop {
        // What is defined above in this list, then the region that holds the place.
        let mut inside = None;
        for &op in &ops {
            let range = tree.op_range(op);
            if range.end <= at {
                found.extend(tree.results(op));
                continue;
            }
            if range.start >= at {
                break;
            }
            let holds = |region: &&RegionId| {
                let range = tree.region_range(**region);
                range.start < at && at <= range.end
            };
            inside = tree.regions(op).iter().find(holds).map(|region| (op, *region));
            break;
        }
        let Some((op, region)) = inside else { break };
        if tree.is_isolated(region) || is_isolated(tree, op) {
            found.clear();
        }
        let blocks = tree.blocks(region);
        let starts = |block: &BlockId| {
            let first = tree.block_ops(*block).first().map(|op| tree.op_range(*op).start);
            let args = tree.block_args(*block).first().map(|arg| tree.value_range(*arg).start);
            args.into_iter().chain(first).min().is_none_or(|start| start <= at)
        };
        let here = blocks.iter().rposition(starts).unwrap_or(0);
        let Some(&block) = blocks.get(here) else { break };
        for (number, &other) in blocks.iter().enumerate().filter(|(_, other)| **other != block) {
            if number == 0 || (blocks.len() <= BLOCKS && dominates(tree, blocks, other, block)) {
                found.extend(tree.block_args(other));
                found.extend(tree.block_ops(other).iter().flat_map(|op| tree.results(*op)));
            }
        }
        found.extend(tree.block_args(block));
        ops = tree.block_ops(block).to_vec();
    }
    found.retain(|value| !tree.value_name(*value).is_empty());
    found.reverse();
    found
}

fn is_isolated(tree: &Tree, op: OpId) -> bool {
    tree.code(op).and_then(|code| table().find(code.decl().name)).is_some_and(|row| table().row(row).isolated)
}

/// Whether every way from the entry to `below` leads through `above`.
fn dominates(tree: &Tree, blocks: &[BlockId], above: BlockId, below: BlockId) -> bool {
    let Some(&entry) = blocks.first() else { return false };
    let (mut seen, mut todo) = (vec![above], vec![entry]);
    while let Some(block) = todo.pop() {
        if seen.contains(&block) {
            continue;
        }
        if block == below {
            return false;
        }
        seen.push(block);
        let last = tree.block_ops(block).last();
        todo.extend(last.into_iter().flat_map(|op| tree.successors(*op)).filter_map(|successor| successor.block));
    }
    true
}
