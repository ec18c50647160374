//! Joins a block with one way in to the block before it, and leads jumps past empty blocks.

use super::flow::reverse_postorder;
use super::live::{effect_vars_mut, targets_mut};
use kernel::{Block, Instr, Kernel, Pure, SiteId, Terminator, Var};

/// Leads every jump and branch past blocks that only jump on.
pub(super) fn bypass(kernel: &mut Kernel) {
    for id in reverse_postorder(kernel) {
        let mut end = std::mem::replace(&mut kernel.blocks[id.index()].terminator, Terminator::Return(SiteId(0)));
        if matches!(end, Terminator::Jump(_) | Terminator::Branch(..)) {
            for target in targets_mut(&mut end) {
                // As many steps as there are blocks: an empty loop leads round for ever.
                for _ in 0..kernel.blocks.len() {
                    match kernel.blocks.get(target.block.index()) {
                        Some(Block { params, instrs, terminator: Terminator::Jump(next) })
                            if params.is_empty() && instrs.is_empty() && next.block != target.block =>
                        {
                            *target = next.clone();
                        }
                        _ => break,
                    }
                }
            }
        }
        kernel.blocks[id.index()].terminator = end;
    }
}

/// Joins straight lines and renames the parameters that thereby go.
pub(super) fn merge(kernel: &mut Kernel) {
    let mut ways_in = vec![0u32; kernel.blocks.len()];
    ways_in[kernel.entry.index()] = 1;
    let order = reverse_postorder(kernel);
    for &id in &order {
        for target in kernel.block(id).terminator.targets() {
            ways_in[target.block.index()] += 1;
        }
    }
    let mut names: Vec<Var> = (0..kernel.vars.len() as u32).map(Var).collect();
    let mut gone = vec![false; kernel.blocks.len()];
    for &id in &order {
        if gone[id.index()] {
            continue;
        }
        while let Terminator::Jump(target) = &kernel.block(id).terminator {
            let next = target.block;
            if ways_in[next.index()] != 1 || next == id || next == kernel.entry {
                break;
            }
            let args = target.args.clone();
            let end = Terminator::Jump(kernel::JumpTarget { block: next, args: Vec::new() });
            let tail = &mut kernel.blocks[next.index()];
            let (params, instrs) = (std::mem::take(&mut tail.params), std::mem::take(&mut tail.instrs));
            let terminator = std::mem::replace(&mut tail.terminator, end);
            gone[next.index()] = true;
            for (param, arg) in params.into_iter().zip(args) {
                names[param.index()] = arg;
            }
            let head = &mut kernel.blocks[id.index()];
            head.instrs.extend(instrs);
            head.terminator = terminator;
        }
    }
    rename(kernel, &mut names);
}

/// Replaces every variable by the last one in its chain of names.
pub(super) fn rename(kernel: &mut Kernel, names: &mut [Var]) {
    let mut last = |var: &mut Var| {
        let mut end = *var;
        while names[end.index()] != end {
            end = names[end.index()];
        }
        let mut at = *var;
        while at != end {
            at = std::mem::replace(&mut names[at.index()], end);
        }
        *var = end;
    };
    for block in &mut kernel.blocks {
        for instr in &mut block.instrs {
            match instr {
                Instr::Let(_, pure) => map_pure(pure, &mut last),
                Instr::View { src, op, .. } => {
                    last(src);
                    op.operand_mut().into_iter().for_each(&mut last);
                }
                Instr::Word(word) => word.vars_mut().into_iter().for_each(&mut last),
                Instr::Base(..) | Instr::Effect(_) | Instr::Host(_) => {}
            }
        }
        if let Terminator::Branch(condition, ..) = &mut block.terminator {
            last(condition);
        }
        for target in targets_mut(&mut block.terminator) {
            target.args.iter_mut().for_each(&mut last);
        }
    }
    for effect in &mut kernel.effects {
        effect_vars_mut(effect, &mut last);
    }
    for info in &mut kernel.loops {
        if let Some((iv, lower, upper, step)) = &mut info.counted {
            [iv, lower, upper, step].into_iter().for_each(&mut last);
        }
    }
}

/// Renames the operands of an operation.
pub(super) fn map_pure(pure: &mut Pure<Var>, name: &mut impl FnMut(&mut Var)) {
    *pure = pure.map(|mut operand| {
        name(&mut operand);
        operand
    });
}
