//! Remainders that are spelled out: `a - (a / d) * d` is `a % d`.
//!
//! Slots of a ring are counted so where quotient and remainder are wanted together. As a remainder of a constant the
//! number is followed by its rest, while a difference of two numbers that both grow is not.

use super::loops::{Def, definitions};
use kernel::{Instr, Kernel, Pure, Var};

/// Rewrites the differences that are remainders.
pub(super) fn gather(kernel: &mut Kernel) {
    let defs = definitions(kernel);
    let known = Definitions { defs: &defs };
    for instr in kernel.blocks.iter_mut().flat_map(|block| &mut block.instrs) {
        if let Instr::Let(_, pure) = instr
            && let Some(rest) = known.remainder(pure)
        {
            *pure = rest;
        }
    }
}

struct Definitions<'d> {
    defs: &'d [Option<Def>],
}

impl Definitions<'_> {
    fn pure(&self, var: Var) -> Option<Pure<Var>> {
        self.defs.get(var.index()).copied().flatten().and_then(|(_, pure)| pure)
    }

    /// Where a chain of copies starts.
    fn source(&self, mut var: Var) -> Var {
        for _ in 0..self.defs.len() {
            let Some(Pure::Copy(of)) = self.pure(var) else { break };
            var = of;
        }
        var
    }

    fn constant(&self, var: Var) -> Option<i64> {
        match self.pure(self.source(var)) {
            Some(Pure::Const(value)) => Some(value),
            _ => None,
        }
    }

    fn is_same(&self, a: Var, b: Var) -> bool {
        self.source(a) == self.source(b) || self.constant(a).is_some_and(|value| self.constant(b) == Some(value))
    }

    /// The remainder that a difference is. Both forms wrap alike, so they are equal for all numbers.
    fn remainder(&self, pure: &Pure<Var>) -> Option<Pure<Var>> {
        let Pure::Sub(width, a, less) = *pure else { return None };
        let Pure::Mul(_, x, y) =
            self.pure(self.source(less)).filter(|less| matches!(less, Pure::Mul(of, ..) if *of == width))?
        else {
            return None;
        };
        [(x, y), (y, x)].into_iter().find_map(|(quotient, divisor)| {
            let (rest, by) = match self.pure(self.source(quotient))? {
                Pure::DivS(of, b, by) if of == width && self.is_same(a, b) => (Pure::RemS(width, a, by), by),
                Pure::DivU(of, b, by) if of == width && self.is_same(a, b) => (Pure::RemU(width, a, by), by),
                _ => return None,
            };
            self.is_same(by, divisor).then_some(rest)
        })
    }
}
