//! Allocations that are given the same memory.
//!
//! Before Triton has placed allocations (`allocation.offset`), an allocation lasts from its op to the last op that
//! names it or a view of it, and what is allocated later may get its bytes (Triton's `Allocation`: a liveness analysis,
//! and first fit over what is live at once). An operation may still be in flight there. So allocations of which none is
//! needed while another is made are placed here as Triton would: each, in the order of their ops, at the lowest place
//! that none which is live with it takes.
//!
//! Kept apart, though Triton may let them meet: what partitions use, and what lives before they start, while they run;
//! scratch memory of layout conversions and reductions, whose size only Triton's allocation says.

use kernel::{BlockId, Buffer, BufferId, EffectKind, Instr, Kernel, Pure, Space, Terminator, Var, WordAccess};

use super::simplify::effect_vars;
use crate::limits::lifetimes::SETS;

/// An op that keeps a memdesc's allocation until there (`ttg.local_dealloc`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    /// The block that it stands in.
    pub(super) block: BlockId,
    /// How many instructions of the block stand before it.
    pub(super) at: usize,
    /// The memdesc.
    pub(super) var: Var,
}

/// Gives the allocations of a kernel places where some can have the same; where none can, or the text says where they
/// are, nothing changes. Gives those that have been placed.
pub(super) fn place(kernel: &mut Kernel, kept: &[Kept]) -> Vec<BufferId> {
    let count = kernel.buffers.len();
    if count < 2 || count.saturating_mul(kernel.vars.len() + 2 * kernel.blocks.len()) > SETS {
        return Vec::new();
    }
    let mut placed = Vec::new();
    let mut apart: Option<Vec<BufferSet>> = None;
    for space in [Space::Shared, Space::Tensor] {
        let of_space = |buffer: &Buffer| buffer.space == space;
        let known = kernel.buffers.iter().filter(|buffer| of_space(buffer)).any(|buffer| buffer.start.is_some());
        if known || kernel.buffers.iter().filter(|buffer| of_space(buffer)).count() < 2 {
            continue;
        }
        let apart = apart.get_or_insert_with(|| Lifetimes::new(kernel, kept).apart());
        let mut starts: Vec<(usize, u64)> = Vec::new();
        for number in (0..count).filter(|&number| of_space(&kernel.buffers[number])) {
            let mut taken: Vec<(u64, u64)> = starts
                .iter()
                .filter(|(other, _)| apart[number].has(*other))
                .map(|&(other, start)| (start, start + kernel.buffers[other].bits))
                .collect();
            taken.sort_unstable();
            let bits = kernel.buffers[number].bits;
            let start =
                taken.iter().fold(0, |start, &(from, to)| if start + bits <= from { start } else { start.max(to) });
            starts.push((number, start));
        }
        let meets = |&(number, start): &(usize, u64)| {
            starts.iter().any(|&(other, from)| {
                let (end, to) = (start + kernel.buffers[number].bits, from + kernel.buffers[other].bits);
                other != number && start < to && from < end
            })
        };
        let sharing: Vec<(usize, u64)> = starts.iter().copied().filter(meets).collect();
        for (number, start) in sharing {
            kernel.buffers[number].start = Some(start);
            placed.push(BufferId(number as u32));
        }
    }
    placed.sort_unstable();
    placed
}

/// Some buffers of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
struct BufferSet(Vec<u64>);

impl BufferSet {
    fn none(count: usize) -> BufferSet {
        BufferSet(vec![0; count.div_ceil(64)])
    }

    fn has(&self, number: usize) -> bool {
        self.0.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    fn add(&mut self, number: usize) {
        if let Some(word) = self.0.get_mut(number / 64) {
            *word |= 1 << (number % 64);
        }
    }

    fn remove(&mut self, number: usize) {
        if let Some(word) = self.0.get_mut(number / 64) {
            *word &= !(1 << (number % 64));
        }
    }

    /// Adds those of another; whether any is new.
    fn join(&mut self, other: &BufferSet) -> bool {
        let mut new = false;
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            new |= *theirs & !*mine != 0;
            *mine |= theirs;
        }
        new
    }
}

/// What a block does to an allocation.
enum Use {
    /// It is made.
    Made(usize),
    /// This memdesc is used.
    Used(Var),
}

/// Which allocations are needed where.
struct Lifetimes<'k> {
    kernel: &'k Kernel,
    /// By variable: the buffers that it may be a window of.
    origins: Vec<BufferSet>,
    /// By block, in order.
    uses: Vec<Vec<Use>>,
    /// By block: the buffers that are needed behind it.
    live_out: Vec<BufferSet>,
}

impl<'k> Lifetimes<'k> {
    fn new(kernel: &'k Kernel, kept: &[Kept]) -> Lifetimes<'k> {
        let none = BufferSet::none(kernel.buffers.len());
        let mut by_block = vec![Vec::new(); kernel.blocks.len()];
        for kept in kept {
            if let Some(of_block) = by_block.get_mut(kept.block.index()) {
                of_block.push(*kept);
            }
        }
        let blocks = kernel.blocks.iter().zip(by_block);
        let uses = blocks.map(|(block, kept)| uses(kernel, &block.instrs, kept));
        let mut lifetimes = Lifetimes {
            kernel,
            origins: vec![none.clone(); kernel.vars.len()],
            uses: uses.collect(),
            live_out: vec![none; kernel.blocks.len()],
        };
        lifetimes.find_origins();
        lifetimes.find_live();
        lifetimes
    }

    fn find_origins(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            let mut flow = |origins: &mut Vec<BufferSet>, from: Var, to: Var| {
                if from != to
                    && let Some(of) = origins.get(from.index()).cloned()
                    && let Some(slot) = origins.get_mut(to.index())
                {
                    changed |= slot.join(&of);
                }
            };
            for block in &self.kernel.blocks {
                for instr in &block.instrs {
                    match instr {
                        Instr::Base(dst, buffer) => {
                            if let Some(slot) = self.origins.get_mut(dst.index()) {
                                slot.add(buffer.0 as usize);
                            }
                        }
                        Instr::View { dst, src, .. } => flow(&mut self.origins, *src, *dst),
                        Instr::Let(dst, Pure::Select(_, yes, no)) => {
                            flow(&mut self.origins, *yes, *dst);
                            flow(&mut self.origins, *no, *dst);
                        }
                        Instr::Let(dst, pure) => {
                            pure.operands().iter().for_each(|&src| flow(&mut self.origins, src, *dst));
                        }
                        Instr::Word(_) | Instr::Effect(_) | Instr::Host(_) => {}
                    }
                }
                for target in block.terminator.targets() {
                    let Some(next) = self.kernel.blocks.get(target.block.index()) else { continue };
                    for (&arg, &param) in target.args.iter().zip(&next.params) {
                        flow(&mut self.origins, arg, param);
                    }
                }
            }
        }
    }

    /// What is needed before a block, where this is needed behind it.
    fn through(&self, number: usize, mut live: BufferSet, mut made: impl FnMut(usize, &BufferSet)) -> BufferSet {
        for one in self.uses[number].iter().rev() {
            match one {
                Use::Made(buffer) => {
                    made(*buffer, &live);
                    live.remove(*buffer);
                }
                Use::Used(var) => {
                    if let Some(of) = self.origins.get(var.index()) {
                        live.join(of);
                    }
                }
            }
        }
        live
    }

    fn find_live(&mut self) {
        // While partitions run, what any of them uses and what is used after them is needed.
        let held: Vec<(Vec<usize>, BufferSet, Vec<usize>)> =
            (0..self.kernel.blocks.len()).filter_map(|number| self.partitions_of(number)).collect();
        let mut live_in = self.live_out.clone();
        let mut changed = true;
        while changed {
            changed = false;
            for number in (0..self.kernel.blocks.len()).rev() {
                for target in self.kernel.blocks[number].terminator.targets() {
                    if let Some(next) = live_in.get(target.block.index()) {
                        changed |= self.live_out[number].join(next);
                    }
                }
                let now = self.through(number, self.live_out[number].clone(), |_, _| {});
                changed |= live_in[number].join(&now);
            }
            for (blocks, used, after) in &held {
                let mut needed = used.clone();
                after.iter().filter_map(|block| live_in.get(*block)).for_each(|live| {
                    needed.join(live);
                });
                for &block in blocks {
                    changed |= self.live_out[block].join(&needed);
                }
            }
        }
        // What is made inside of partitions is needed as long as they run, and not before.
        for (blocks, ..) in &held {
            let mut made = BufferSet::none(self.kernel.buffers.len());
            for one in blocks.iter().flat_map(|&block| &self.uses[block]) {
                if let Use::Made(buffer) = one {
                    made.add(*buffer);
                }
            }
            blocks.iter().for_each(|&block| {
                self.live_out[block].join(&made);
            });
        }
    }

    /// Where a block starts partitions: their blocks, what is used in these and made elsewhere, and the blocks behind
    /// them.
    fn partitions_of(&self, number: usize) -> Option<(Vec<usize>, BufferSet, Vec<usize>)> {
        let Terminator::Fork(_) = &self.kernel.blocks[number].terminator else { return None };
        let (mut blocks, mut after): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        let targets = |number: usize| {
            let targets = self.kernel.blocks[number].terminator.targets();
            targets.iter().map(|target| target.block.index()).collect::<Vec<usize>>()
        };
        let mut open = targets(number);
        let mut seen = vec![false; self.kernel.blocks.len()];
        while let Some(block) = open.pop() {
            if seen.get_mut(block).is_none_or(|seen| std::mem::replace(seen, true)) {
                continue;
            }
            blocks.push(block);
            match self.kernel.blocks[block].terminator {
                Terminator::Join(..) => after.extend(targets(block)),
                _ => open.extend(targets(block)),
            }
        }
        let mut used = BufferSet::none(self.kernel.buffers.len());
        let all = || blocks.iter().flat_map(|&block| &self.uses[block]);
        for one in all() {
            if let Use::Used(var) = one
                && let Some(of) = self.origins.get(var.index())
            {
                used.join(of);
            }
        }
        for one in all() {
            if let Use::Made(buffer) = one {
                used.remove(*buffer);
            }
        }
        Some((blocks, used, after))
    }

    /// By buffer: those that are live with it, and so lie elsewhere.
    fn apart(&self) -> Vec<BufferSet> {
        let count = self.kernel.buffers.len();
        let mut apart = vec![BufferSet::none(count); count];
        let mut is_made = BufferSet::none(count);
        for number in 0..self.kernel.blocks.len() {
            self.through(number, self.live_out[number].clone(), |buffer, live| {
                is_made.add(buffer);
                if let Some(slot) = apart.get_mut(buffer) {
                    slot.join(live);
                }
            });
        }
        let is_used = self.used_after_init();
        for number in 0..count {
            for other in 0..count {
                // Of what is never made nobody knows how long it lasts, and no harm is done to a barrier that nobody uses.
                let alone = |buffer: usize| !is_made.has(buffer) || !is_used.has(buffer);
                if apart[other].has(number) || alone(number) || alone(other) {
                    apart[number].add(other);
                    apart[other].add(number);
                }
            }
        }
        apart
    }
}

impl Lifetimes<'_> {
    /// The buffers that something else is done to than the init of a barrier.
    fn used_after_init(&self) -> BufferSet {
        let mut used = BufferSet::none(self.kernel.buffers.len());
        for effect in self.kernel.effects.iter().filter(|effect| !matches!(effect.kind, EffectKind::Init { .. })) {
            effect_vars(effect, &mut |var| {
                if let Some(of) = self.origins.get(var.index()) {
                    used.join(of);
                }
            });
        }
        used
    }
}

/// What the instructions of a block do to allocations.
fn uses(kernel: &Kernel, instrs: &[Instr], kept: Vec<Kept>) -> Vec<Use> {
    let mut uses = Vec::new();
    let mut kept = kept.into_iter().peekable();
    for (at, instr) in instrs.iter().enumerate() {
        while let Some(kept) = kept.next_if(|kept| kept.at <= at) {
            uses.push(Use::Used(kept.var));
        }
        match instr {
            Instr::Effect(id) => {
                let effect = kernel.effect(*id);
                if let EffectKind::Allocate(buffer) = effect.kind {
                    uses.push(Use::Made(buffer.0 as usize));
                }
                effect_vars(effect, &mut |var| uses.push(Use::Used(var)));
            }
            Instr::Word(WordAccess::Write { view, .. } | WordAccess::Read { view, .. }) => uses.push(Use::Used(*view)),
            _ => {}
        }
    }
    uses.extend(kept.map(|kept| Use::Used(kept.var)));
    uses
}
