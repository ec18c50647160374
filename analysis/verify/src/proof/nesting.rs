//! Which loops are around and ahead of each block.

use super::super::slice::targets;
use kernel::Kernel;
use smallvec::SmallVec;

/// Loops around each block, outermost first, and the blocks of each loop.
///
/// An edge to a head retreats where its source is not before the head in reverse postorder, which
/// is exact for the reducible control flow that lowering gives.
pub(super) fn loop_nesting(kernel: &Kernel) -> (Vec<SmallVec<[usize; 4]>>, Vec<Vec<bool>>) {
    let place = places(kernel);
    let mut sources = vec![Vec::new(); kernel.blocks.len()];
    for (number, block) in kernel.blocks.iter().enumerate() {
        targets(&block.terminator, |target| {
            if let Some(sources) = sources.get_mut(target.block.index()) {
                sources.push(number);
            }
        });
    }
    let mut bodies = Vec::with_capacity(kernel.loops.len());
    for info in &kernel.loops {
        let mut inside = vec![false; kernel.blocks.len()];
        let head = info.head.index();
        if head < inside.len() {
            inside[head] = true;
            let mut open: Vec<usize> =
                sources[head].iter().copied().filter(|&source| place[source] >= place[head]).collect();
            while let Some(number) = open.pop() {
                if !std::mem::replace(&mut inside[number], true) {
                    open.extend(sources[number].iter().copied());
                }
            }
        }
        bodies.push(inside);
    }
    let mut around: Vec<SmallVec<[usize; 4]>> = vec![SmallVec::new(); kernel.blocks.len()];
    for (number, loops) in around.iter_mut().enumerate() {
        loops.extend((0..bodies.len()).filter(|&at| bodies[at][number]));
        loops.sort_by_key(|&at| std::cmp::Reverse(bodies[at].iter().filter(|inside| **inside).count()));
    }
    (around, bodies)
}

/// Places in reverse postorder; what cannot be reached comes last.
pub(super) fn places(kernel: &Kernel) -> Vec<usize> {
    let mut place = vec![usize::MAX; kernel.blocks.len()];
    let mut seen = vec![false; kernel.blocks.len()];
    let mut order = Vec::new();
    let mut stack = vec![(kernel.entry.index(), 0)];
    if let Some(entry) = seen.get_mut(kernel.entry.index()) {
        *entry = true;
    }
    while let Some((number, next)) = stack.pop() {
        let Some(block) = kernel.blocks.get(number) else { continue };
        let all = block.terminator.targets();
        // The last target first, so that a loop's body stands before what follows the loop.
        match all.len().checked_sub(next + 1).and_then(|at| all.get(at)) {
            Some(target) => {
                stack.push((number, next + 1));
                let to = target.block.index();
                if seen.get(to) == Some(&false) {
                    seen[to] = true;
                    stack.push((to, 0));
                }
            }
            None => order.push(number),
        }
    }
    for (at, number) in order.into_iter().rev().enumerate() {
        place[number] = at;
    }
    place
}

/// Which loops' heads can be reached from each block, itself included.
pub(super) fn ahead(kernel: &Kernel) -> Vec<Vec<bool>> {
    let mut ahead: Vec<Vec<bool>> = (0..kernel.blocks.len())
        .map(|number| kernel.loops.iter().map(|info| info.head.index() == number).collect())
        .collect();
    loop {
        let mut changed = false;
        for number in (0..kernel.blocks.len()).rev() {
            for target in kernel.blocks[number].terminator.targets() {
                let Some(theirs) = ahead.get(target.block.index()).cloned() else { continue };
                for (mine, theirs) in ahead[number].iter_mut().zip(theirs) {
                    changed |= theirs && !*mine;
                    *mine |= theirs;
                }
            }
        }
        if !changed {
            return ahead;
        }
    }
}

/// By head of a loop: which blocks can be reached from it. Empty for other blocks.
pub(super) fn behind(kernel: &Kernel) -> Vec<Vec<bool>> {
    let mut all = vec![Vec::new(); kernel.blocks.len()];
    for info in &kernel.loops {
        let mut seen = vec![false; kernel.blocks.len()];
        let mut open = vec![info.head.index()];
        while let Some(number) = open.pop() {
            let Some(block) = kernel.blocks.get(number) else { continue };
            if !std::mem::replace(&mut seen[number], true) {
                open.extend(block.terminator.targets().iter().map(|target| target.block.index()));
            }
        }
        if let Some(slot) = all.get_mut(info.head.index()) {
            *slot = seen;
        }
    }
    all
}
