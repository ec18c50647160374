//! Order, predecessors and postdominators of the blocks.

use smallvec::SmallVec;

use crate::limits::simplify::DECIDERS;
use kernel::{Block, BlockId, Kernel, Terminator};

/// Where thread-local control goes next: a fork goes on in the default region.
pub(super) fn successors(block: &Block) -> SmallVec<[BlockId; 2]> {
    match &block.terminator {
        Terminator::Fork(fork) => smallvec::smallvec![fork.default.block],
        other => other.targets().iter().map(|target| target.block).collect(),
    }
}

/// Reverse postorder from the entry over all targets, partitions last.
pub(super) fn reverse_postorder(kernel: &Kernel) -> Vec<BlockId> {
    let mut seen = vec![false; kernel.blocks.len()];
    let mut order = Vec::with_capacity(kernel.blocks.len());
    let mut stack: Vec<(BlockId, SmallVec<[BlockId; 2]>)> = Vec::new();
    let visit = |block: BlockId, seen: &mut Vec<bool>| {
        let first = !std::mem::replace(&mut seen[block.index()], true);
        // Popped from the back, so the last target is finished first and stands last.
        first.then(|| kernel.block(block).terminator.targets().iter().map(|target| target.block).collect())
    };
    if let Some(targets) = visit(kernel.entry, &mut seen) {
        stack.push((kernel.entry, targets));
    }
    while let Some((block, targets)) = stack.last_mut() {
        match targets.pop() {
            Some(target) => {
                if let Some(targets) = visit(target, &mut seen) {
                    stack.push((target, targets));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

/// Immediate postdominators and control dependences of the reachable blocks.
pub(super) struct Post {
    /// `None`: the end of the thread, or a block that never gets there.
    pub(super) immediate: Vec<Option<BlockId>>,
    /// Blocks from which the thread can end.
    pub(super) ends: Vec<bool>,
    /// For each block, the branches that decide whether it runs.
    pub(super) deciders: Vec<SmallVec<[BlockId; 2]>>,
    /// There were too many deciders to note: every branch must be taken for one that counts.
    pub(super) gave_up: bool,
}

const EXIT: u32 = u32::MAX;

impl Post {
    pub(super) fn new(kernel: &Kernel, order: &[BlockId]) -> Post {
        let count = kernel.blocks.len();
        let mut preds: Vec<SmallVec<[BlockId; 2]>> = vec![SmallVec::new(); count];
        for &block in order {
            for next in successors(kernel.block(block)) {
                preds[next.index()].push(block);
            }
        }
        // Postorder number on the reversed graph: children before parents.
        let mut number = vec![0u32; count];
        let mut ends = vec![false; count];
        let mut backward: Vec<BlockId> = Vec::with_capacity(count);
        let exits = order.iter().filter(|block| successors(kernel.block(**block)).is_empty());
        for &exit in exits {
            let mut stack = vec![(exit, 0usize)];
            ends[exit.index()] = true;
            while let Some((block, at)) = stack.last_mut() {
                match preds[block.index()].get(*at) {
                    Some(&pred) => {
                        *at += 1;
                        if !std::mem::replace(&mut ends[pred.index()], true) {
                            stack.push((pred, 0));
                        }
                    }
                    None => {
                        number[block.index()] = backward.len() as u32;
                        backward.push(*block);
                        stack.pop();
                    }
                }
            }
        }
        let immediate = immediate(kernel, &backward, &number, &ends);
        let mut deciders: Vec<SmallVec<[BlockId; 2]>> = vec![SmallVec::new(); count];
        let mut noted = 0;
        for &block in order.iter().filter(|block| ends[block.index()]) {
            let targets = successors(kernel.block(block));
            if targets.len() < 2 {
                continue;
            }
            let stop = immediate[block.index()];
            for target in targets.into_iter().filter(|target| ends[target.index()]) {
                let mut runner = Some(target);
                while let Some(at) = runner.filter(|at| Some(*at) != stop) {
                    if deciders[at.index()].last() != Some(&block) {
                        deciders[at.index()].push(block);
                    }
                    noted += 1;
                    runner = immediate[at.index()].filter(|_| noted < DECIDERS);
                }
            }
        }
        Post { immediate, ends, deciders, gave_up: noted >= DECIDERS }
    }
}

/// Cooper, Harvey and Kennedy's iteration, on the reversed graph with one virtual exit.
fn immediate(kernel: &Kernel, backward: &[BlockId], number: &[u32], ends: &[bool]) -> Vec<Option<BlockId>> {
    let mut up: Vec<Option<u32>> = vec![None; ends.len()];
    let order = |at: u32| if at == EXIT { u32::MAX } else { number[at as usize] };
    loop {
        let mut changed = false;
        for &block in backward.iter().rev() {
            let next = successors(kernel.block(block));
            let mut best = next.is_empty().then_some(EXIT);
            for target in next.into_iter().filter(|target| ends[target.index()] && up[target.index()].is_some()) {
                best = Some(match best {
                    None => target.0,
                    Some(mut a) => {
                        let mut b = target.0;
                        while a != b {
                            let low = if order(a) < order(b) { &mut a } else { &mut b };
                            *low = up[*low as usize].unwrap_or(EXIT);
                        }
                        a
                    }
                });
            }
            if best.is_some() && up[block.index()] != best {
                up[block.index()] = best;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    up.into_iter().map(|at| at.filter(|at| *at != EXIT).map(BlockId)).collect()
}
