//! Integers that are stored once and read: what a load gives is then what was stored, whatever the inputs.
//!
//! A partition that fetches how many tiles there are, stores it in shared memory for the others and says that it is
//! there has them all go by one number. Where a buffer is written by one store of one integer that no loop repeats,
//! a load of one integer from it is a copy of that integer here. A load that comes before the store, or that nothing
//! orders behind it, breaks a rule and is found for that.
//!
//! Missed: integers that are stored again, and clusters of several CTAs, whose buffers others may write.

use super::flow::reverse_postorder;
use kernel::{BlockId, BufferId, EffectKind, Instr, Kernel, Mode, Pure, Var, WordAccess};

/// The buffer that a memdesc is a window of: `None` as long as none is known, `Some(None)` where it may be several.
type Base = Option<Option<BufferId>>;

/// Rewrites the loads of integers that are stored once.
pub(super) fn copy_stored_once(kernel: &mut Kernel) {
    let reads = |instr: &Instr| matches!(instr, Instr::Word(WordAccess::Read { .. }));
    if kernel.ctas != 1 || !kernel.blocks.iter().flat_map(|block| &block.instrs).any(reads) {
        return;
    }
    let bases = bases(kernel);
    let base = |view: Var| bases.get(view.index()).copied().flatten().flatten();
    // By buffer: how often it is written, and the one integer that is stored there where nothing repeats it.
    let mut written = vec![0usize; kernel.buffers.len()];
    let mut words: Vec<Vec<Option<Var>>> = vec![Vec::new(); kernel.buffers.len()];
    for id in reverse_postorder(kernel) {
        for instr in &kernel.block(id).instrs {
            let (views, word): (Vec<Var>, Option<Var>) = match instr {
                Instr::Effect(effect) => (writes(kernel, effect.index()), None),
                Instr::Word(WordAccess::Write { view, value }) => (vec![*view], Some(*value)),
                _ => continue,
            };
            for view in views {
                let Some(buffer) = base(view) else { return };
                let at = buffer.0 as usize;
                match word {
                    Some(value) => words[at].push(Some(value).filter(|_| !repeats(kernel, id))),
                    None => written[at] += 1,
                }
            }
        }
    }
    let stored = |view: Var| {
        let at = base(view)?.0 as usize;
        match (written.get(at)?, words.get(at)?.as_slice()) {
            (1, &[value]) => value,
            _ => None,
        }
    };
    for instr in kernel.blocks.iter_mut().flat_map(|block| &mut block.instrs) {
        if let Instr::Word(WordAccess::Read { dst, view, .. }) = *instr
            && let Some(value) = stored(view)
        {
            *instr = Instr::Let(dst, Pure::Copy(value));
        }
    }
}

/// The windows that an effect writes.
fn writes(kernel: &Kernel, effect: usize) -> Vec<Var> {
    match kernel.effects.get(effect).map(|effect| &effect.kind) {
        Some(EffectKind::Operation { accesses, .. }) => {
            accesses.iter().filter(|access| access.mode == Mode::Write).map(|access| access.view).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether control may come back to a block.
fn repeats(kernel: &Kernel, block: BlockId) -> bool {
    let mut seen = vec![false; kernel.blocks.len()];
    let mut open = vec![block];
    while let Some(from) = open.pop() {
        for target in kernel.block(from).terminator.targets() {
            if target.block == block {
                return true;
            }
            if !std::mem::replace(&mut seen[target.block.index()], true) {
                open.push(target.block);
            }
        }
    }
    false
}

/// The buffers that memdescs are windows of.
fn bases(kernel: &Kernel) -> Vec<Base> {
    let mut bases: Vec<Base> = vec![None; kernel.vars.len()];
    loop {
        let mut changed = false;
        let mut join = |bases: &mut Vec<Base>, dst: Var, base: Base| {
            let Some(known) = bases.get_mut(dst.index()) else { return };
            let joined = match (*known, base) {
                (known, None) => known,
                (None, base) => base,
                (Some(a), Some(b)) => Some(a.filter(|_| a == b)),
            };
            changed |= joined != *known;
            *known = joined;
        };
        for block in &kernel.blocks {
            for instr in &block.instrs {
                match *instr {
                    Instr::Base(dst, buffer) => join(&mut bases, dst, Some(Some(buffer))),
                    Instr::View { dst, src, .. } | Instr::Let(dst, Pure::Copy(src)) => {
                        let base = bases.get(src.index()).copied().flatten();
                        join(&mut bases, dst, base);
                    }
                    Instr::Let(dst, Pure::Select(_, a, b)) => {
                        for src in [a, b] {
                            let base = bases.get(src.index()).copied().flatten();
                            join(&mut bases, dst, base);
                        }
                    }
                    _ => {}
                }
            }
            for target in block.terminator.targets() {
                let Some(to) = kernel.blocks.get(target.block.index()) else { continue };
                for (&param, &arg) in to.params.iter().zip(&target.args) {
                    let base = bases.get(arg.index()).copied().flatten();
                    join(&mut bases, param, base);
                }
            }
        }
        if !changed {
            return bases;
        }
    }
}
