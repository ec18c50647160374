//! Where control may come from one op to another.

use super::trace::Trace;
use base::TextRange;
use kernel::{EffectId, Instr};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// Blocks of effects, and which blocks are behind which.
#[derive(Debug)]
pub(super) struct Reaching {
    /// By effect: its block, and where it stands there.
    at: FxHashMap<EffectId, (usize, usize)>,
    /// Effects by the range of their op's name and their partition.
    of: FxHashMap<(TextRange, usize), Vec<EffectId>>,
    next: Vec<Vec<usize>>,
    /// By block, as far as it was asked for: the blocks behind its end.
    behind: RefCell<FxHashMap<usize, Vec<bool>>>,
}

impl Reaching {
    /// Of a kernel.
    pub(super) fn new(trace: &Trace<'_>) -> Reaching {
        let kernel = &trace.lowered.kernel;
        let (mut at, mut of) = (FxHashMap::default(), FxHashMap::<_, Vec<EffectId>>::default());
        let mut next = Vec::with_capacity(kernel.blocks.len());
        for (number, block) in kernel.blocks.iter().enumerate() {
            for (place, instr) in block.instrs.iter().enumerate() {
                if let Instr::Effect(id) = instr {
                    at.insert(*id, (number, place));
                    of.entry((trace.site(kernel.effect(*id).site).name, trace.partition(*id))).or_default().push(*id);
                }
            }
            next.push(block.terminator.targets().iter().map(|target| target.block.index()).collect());
        }
        Reaching { at, of, next, behind: RefCell::default() }
    }

    /// The effects of a partition's op.
    pub(super) fn from(&self, range: TextRange, partition: usize) -> impl Iterator<Item = EffectId> + '_ {
        self.of.get(&(range, partition)).into_iter().flatten().copied()
    }

    /// Whether control may come from behind one effect to another one.
    pub(super) fn reaches(&self, from: EffectId, to: EffectId) -> bool {
        let (Some(&(from, first)), Some(&(to, last))) = (self.at.get(&from), self.at.get(&to)) else { return true };
        (from == to && first < last) || self.is_behind(from, to)
    }

    fn is_behind(&self, from: usize, to: usize) -> bool {
        let mut known = self.behind.borrow_mut();
        let behind = known.entry(from).or_insert_with(|| {
            let mut behind = vec![false; self.next.len()];
            let mut open = vec![from];
            while let Some(block) = open.pop() {
                for &next in self.next.get(block).into_iter().flatten() {
                    if behind.get(next) == Some(&false) {
                        behind[next] = true;
                        open.push(next);
                    }
                }
            }
            behind
        });
        behind.get(to) == Some(&true)
    }
}
