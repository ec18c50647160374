//! Loops with a constant but huge trip count.
//!
//! No run can be taken to the end of 2^31 iterations, and none need be: such a bound is replaced
//! by an input. What is then shown for small trip counts is a real prefix, and what is proved for
//! all trip counts holds for the constant one.

use super::slice::{Bounds, Slices};
use crate::limits::bounds::HUGE;
use kernel::{Input, InputId, InputKind, Instr, Kernel, Pure, Terminator, Var, VarInfo, VarKind};
use machine::Valuation;

/// The kernel with huge constant bounds as inputs; `None` where it has none.
pub fn unbound(kernel: &Kernel) -> Option<Kernel> {
    let slices = Slices::new(kernel);
    let huge: Vec<usize> = (0..kernel.loops.len())
        .filter(|&number| {
            let Some((_, lower, upper, step)) = kernel.loops[number].counted else { return false };
            let constant = |var: Var| slices.inputs(var).is_some_and(|leaves| leaves.inputs.is_empty());
            [lower, upper, step].into_iter().all(constant)
                && slices
                    .trips(Bounds { lower, upper, step })
                    .and_then(|trips| trips.eval(&Valuation::default()))
                    .is_some_and(|trips| trips > HUGE)
        })
        .collect();
    if huge.is_empty() {
        return None;
    }
    let mut kernel = kernel.clone();
    for number in huge {
        let Some((counter, lower, upper, step)) = kernel.loops[number].counted else { continue };
        let head = kernel.loops[number].head.index();
        let Terminator::Branch(condition, ..) = kernel.blocks.get(head)?.terminator else { continue };
        let input = InputId(kernel.inputs.len() as u32);
        // A position that no argument of the text has, so that it is told from all of them.
        kernel.inputs.push(Input { kind: InputKind::Argument(u32::MAX - input.0), width: 32, divisor: 1 });
        let bound = Var(kernel.vars.len() as u32);
        kernel.vars.push(VarInfo { kind: VarKind::Scalar });
        for instr in &mut kernel.blocks.get_mut(head)?.instrs {
            if let Instr::Let(dst, pure) = instr
                && *dst == condition
            {
                *pure = pure.map(|operand| if operand == upper { bound } else { operand });
            }
        }
        let entry = kernel.entry.index();
        kernel.blocks.get_mut(entry)?.instrs.insert(0, Instr::Let(bound, Pure::Input(input)));
        kernel.loops[number].counted = Some((counter, lower, bound, step));
    }
    Some(kernel)
}
