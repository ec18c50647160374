//! Members: windows of one buffer that take turns in its bits under elements of different sizes.
//!
//! A read of a member that has writers of its own has to find what one of those left. Where an
//! access through elements of another size was there last, the value that the read is for is gone,
//! however well all three are ordered. A window that nobody writes as itself is only another look
//! at what is there, a bit cast, and is left alone. What this misses: members whose elements have
//! one size, and buffers that run-time values choose between.

use kernel::{BufferId, EffectId, EffectKind, Instr, Kernel, Mode, Pure, ShapeId, Var, VarKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// The accesses of buffers that hold several members.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Members {
    /// Buffer and element size; of reads only those whose window is written as itself.
    of: FxHashMap<(EffectId, u16), (BufferId, u64)>,
}

impl Members {
    /// Looks at the accesses of a kernel.
    pub(crate) fn new(kernel: &Kernel) -> Members {
        let all = uses(kernel);
        let writes = || all.iter().filter(|used| used.mode == Mode::Write);
        let mut sizes: FxHashMap<BufferId, u64> = FxHashMap::default();
        let mut mixed: FxHashSet<BufferId> = FxHashSet::default();
        for used in writes() {
            if *sizes.entry(used.buffer).or_insert(used.element) != used.element {
                mixed.insert(used.buffer);
            }
        }
        let own: FxHashSet<(BufferId, ShapeId)> = writes().map(|used| (used.buffer, used.shape)).collect();
        let kept = all.iter().filter(|used| {
            mixed.contains(&used.buffer) && (used.mode == Mode::Write || own.contains(&(used.buffer, used.shape)))
        });
        Members { of: kept.map(|used| (used.access, (used.buffer, used.element))).collect() }
    }

    /// Whether a read is of another member than the write that was there last.
    pub(crate) fn foreign(&self, read: (EffectId, u16), write: (EffectId, u16)) -> bool {
        match (self.of.get(&read), self.of.get(&write)) {
            (Some((here, size)), Some((there, other))) => here == there && size != other,
            _ => false,
        }
    }

    /// Whether there are no buffers with several members.
    pub(crate) fn is_empty(&self) -> bool {
        self.of.is_empty()
    }
}

/// An access of a window whose buffer is known.
struct Used {
    access: (EffectId, u16),
    mode: Mode,
    buffer: BufferId,
    shape: ShapeId,
    element: u64,
}

fn uses(kernel: &Kernel) -> Vec<Used> {
    let bases = bases(kernel);
    let mut all = Vec::new();
    for (number, effect) in kernel.effects.iter().enumerate() {
        let EffectKind::Operation { accesses, .. } = &effect.kind else { continue };
        for (at, access) in accesses.iter().enumerate() {
            let kind = kernel.vars.get(access.view.index()).map(|info| info.kind);
            let (Some(&buffer), Some(VarKind::View(shape))) = (bases.get(&access.view), kind) else { continue };
            let Some(form) = kernel.shapes.get(shape.0 as usize).filter(|form| form.exact) else { continue };
            let access_id = (EffectId(number as u32), at as u16);
            all.push(Used { access: access_id, mode: access.mode, buffer, shape, element: form.element });
        }
    }
    all
}

/// The buffer of each memdesc for which there is only one.
fn bases(kernel: &Kernel) -> FxHashMap<Var, BufferId> {
    let mut bases: FxHashMap<Var, Option<BufferId>> = FxHashMap::default();
    let mut passed: Vec<(Var, Var)> = Vec::new();
    for block in &kernel.blocks {
        for instr in &block.instrs {
            match instr {
                Instr::Base(var, buffer) => drop(bases.insert(*var, Some(*buffer))),
                Instr::View { dst, src, .. } | Instr::Let(dst, Pure::Copy(src)) => passed.push((*dst, *src)),
                Instr::Let(dst, Pure::Select(_, yes, no)) => passed.extend([(*dst, *yes), (*dst, *no)]),
                Instr::Let(..) | Instr::Word(_) | Instr::Effect(_) | Instr::Host(_) => {}
            }
        }
        for target in block.terminator.targets() {
            let params =
                kernel.blocks.get(target.block.index()).map(|block| block.params.as_slice()).unwrap_or_default();
            passed.extend(params.iter().copied().zip(target.args.iter().copied()));
        }
    }
    // What several buffers reach has none; each turn settles something until nothing changes.
    let mut changed = true;
    while changed {
        changed = false;
        for (dst, src) in &passed {
            let Some(&from) = bases.get(src) else { continue };
            let joined = match bases.get(dst) {
                None => from,
                Some(&known) if known == from => continue,
                Some(None) => continue,
                Some(Some(_)) => None,
            };
            bases.insert(*dst, joined);
            changed = true;
        }
    }
    bases.into_iter().filter_map(|(var, buffer)| Some((var, buffer?))).collect()
}
