//! Variables that go together: those of one buffer, those counted in one unit.

use kernel::{Effect, Instr, Kernel, Pure, Terminator, Var, VarKind};

use crate::demand::effect_operands;

/// Disjoint sets of numbers.
#[derive(Debug)]
pub(super) struct Groups {
    above: Vec<u32>,
}

impl Groups {
    /// Every number below `count` in a set of its own.
    pub(super) fn new(count: usize) -> Groups {
        Groups { above: (0..count as u32).collect() }
    }

    /// The number that stands for the set of another one.
    pub(super) fn of(&self, number: usize) -> usize {
        let mut at = number;
        while let Some(&above) = self.above.get(at).filter(|above| **above as usize != at) {
            at = above as usize;
        }
        at
    }

    /// Makes two sets one.
    pub(super) fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.of(a), self.of(b));
        if let Some(above) = self.above.get_mut(a.max(b)) {
            *above = a.min(b) as u32;
        }
    }

    /// How many numbers there are.
    pub(super) fn len(&self) -> usize {
        self.above.len()
    }
}

/// Windows by the buffers that they may lie in. Buffer `b` has the number of variables plus `b`.
pub(super) fn views(kernel: &Kernel) -> Groups {
    let is_view = |var: Var| kernel.vars.get(var.index()).is_some_and(|info| matches!(info.kind, VarKind::View(_)));
    let mut groups = Groups::new(kernel.vars.len() + kernel.buffers.len());
    for block in &kernel.blocks {
        for instr in &block.instrs {
            match *instr {
                Instr::Base(var, buffer) => groups.join(var.index(), kernel.vars.len() + buffer.0 as usize),
                Instr::View { dst, src, .. } => groups.join(dst.index(), src.index()),
                Instr::Let(dst, Pure::Copy(src)) if is_view(dst) => groups.join(dst.index(), src.index()),
                Instr::Let(dst, Pure::Select(_, yes, no)) if is_view(dst) => {
                    groups.join(dst.index(), yes.index());
                    groups.join(dst.index(), no.index());
                }
                _ => {}
            }
        }
        jumps(kernel, &block.terminator, |param, arg| {
            if is_view(param) {
                groups.join(param.index(), arg.index());
            }
        });
    }
    groups
}

/// Calls `each` with every parameter that a jump sets, and with what it sets it to.
pub(super) fn jumps(kernel: &Kernel, terminator: &Terminator, mut each: impl FnMut(Var, Var)) {
    for target in terminator.targets() {
        let Some(block) = kernel.blocks.get(target.block.index()) else { continue };
        block.params.iter().zip(&target.args).for_each(|(param, arg)| each(*param, *arg));
    }
}

/// Calls `note` with every variable that is read.
pub(super) fn reads(kernel: &Kernel, note: &mut dyn FnMut(Var)) {
    for block in &kernel.blocks {
        for instr in &block.instrs {
            match instr {
                Instr::Let(_, pure) => pure.operands().into_iter().for_each(&mut *note),
                Instr::View { src, op, .. } => {
                    note(*src);
                    op.operand().into_iter().for_each(&mut *note);
                }
                Instr::Word(word) => word.operands().into_iter().for_each(&mut *note),
                Instr::Base(..) | Instr::Effect(_) | Instr::Host(_) => {}
            }
        }
        if let Terminator::Branch(condition, ..) = block.terminator {
            note(condition);
        }
        jumps(kernel, &block.terminator, |_, arg| note(arg));
    }
    kernel.effects.iter().for_each(|effect| operands(effect, note));
    for (counter, lower, upper, step) in kernel.loops.iter().filter_map(|info| info.counted) {
        [counter, lower, upper, step].into_iter().for_each(&mut *note);
    }
}

/// Calls `note` with every variable that an effect reads.
pub(super) fn operands(effect: &Effect, note: &mut dyn FnMut(Var)) {
    effect_operands(effect, |var, _| note(var));
}
