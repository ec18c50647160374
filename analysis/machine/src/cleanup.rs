//! The invalidations with which a kernel ends: what it does to memory is over, and its storage goes.

use kernel::{Block, EffectId, EffectKind, Instr, Kernel, Terminator};

/// By effect: whether it invalidates a barrier at a place after which no partition runs and nothing touches memory or
/// a barrier but other invalidations.
pub(super) fn last_invalidations(kernel: &Kernel) -> Vec<bool> {
    let mut last = vec![false; kernel.effects.len()];
    let ending = ending_blocks(kernel);
    for (number, block) in kernel.blocks.iter().enumerate() {
        if !only_leads_to(block, &ending) {
            continue;
        }
        let from = if ending[number] { 0 } else { tail(kernel, block) };
        for instr in block.instrs.get(from..).unwrap_or_default() {
            if let Instr::Effect(id) = instr
                && invalidates(kernel, *id)
            {
                last[id.index()] = true;
            }
        }
    }
    last
}

/// By block: whether it and all that comes after it do nothing else than invalidate.
fn ending_blocks(kernel: &Kernel) -> Vec<bool> {
    // What cannot be is taken away until nothing changes: a loop of invalidations stays.
    let mut ending: Vec<bool> = kernel.blocks.iter().map(|block| tail(kernel, block) == 0).collect();
    loop {
        let drop: Vec<usize> = (0..ending.len())
            .filter(|&number| ending[number] && !only_leads_to(&kernel.blocks[number], &ending))
            .collect();
        if drop.is_empty() {
            return ending;
        }
        drop.into_iter().for_each(|number| ending[number] = false);
    }
}

/// Whether a block ends the kernel or goes on to blocks of these alone, in the one thread that is left.
fn only_leads_to(block: &Block, ending: &[bool]) -> bool {
    match &block.terminator {
        Terminator::Return(_) => true,
        // Until the join other partitions run.
        Terminator::Fork(_) | Terminator::Exit(_) | Terminator::Join(..) => false,
        jump => jump.targets().iter().all(|target| ending[target.block.index()]),
    }
}

/// The first instruction of a block after which it does nothing else than invalidate.
fn tail(kernel: &Kernel, block: &Block) -> usize {
    let other = |instr: &Instr| match instr {
        Instr::Effect(id) => !invalidates(kernel, *id),
        Instr::Host(_) | Instr::Word(_) => true,
        Instr::Let(..) | Instr::View { .. } | Instr::Base(..) => false,
    };
    block.instrs.iter().rposition(other).map_or(0, |at| at + 1)
}

fn invalidates(kernel: &Kernel, id: EffectId) -> bool {
    matches!(kernel.effect(id).kind, EffectKind::Invalidate { .. })
}
