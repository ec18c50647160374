//! The generic kernel: one in which sizes that no rule tells apart are as small as they go, so that instances which
//! differ in the sizes of their tiles share a proof.
//!
//! Three things are replaced, each so that every run of the kernel is a run of the generic one:
//!
//! - *Windows* ([`windows`]): the bits of a buffer, and of all windows of it, are divided by what divides all of them.
//!   Windows overlap where they did before.
//! - *Transaction counts* ([`transactions`]): the bytes of each kind of copy to a barrier become a unit of their own,
//!   and what is expected there a sum of these units. The machine refuses counts in which a sum could be zero in bytes
//!   and not in units ([`TxCount::Units`]).
//! - *Counters* ([`counters`]): a loop from 0 to `K` in steps of `BLOCK_K` counts iterations, and stands for the number
//!   of them; a trip count `(K + BLOCK_K - 1) / BLOCK_K` of which alone `K` is used is a number of its own.
//!
//! What is proved of the generic kernel so holds of the kernel. The reverse holds but where bytes became units, since one
//! expectation may be several sums ([`Generic::is_exact`]).

mod counters;
mod groups;
mod transactions;
mod windows;

use crate::demand::gcd;
use groups::Groups;
use kernel::{Instr, Kernel, Pure, Var};
use machine::TxCount;

/// A kernel in generic sizes.
#[derive(Debug)]
pub(crate) struct Generic {
    /// The kernel to be proved.
    pub kernel: Kernel,
    /// How its transaction counts are to be read.
    pub tx: TxCount,
    /// Whether what is not proved of it is not proved of the kernel either.
    pub is_exact: bool,
}

impl Generic {
    /// The generic kernel of a kernel.
    pub(crate) fn new(kernel: &Kernel) -> Generic {
        let mut generic = Kernel { launches: Vec::new(), grids: Vec::new(), ..kernel.clone() };
        let views = groups::views(kernel);
        windows::divide(&mut generic, &views);
        let (tx, is_exact) = transactions::into_units(&mut generic, &views);
        counters::quotients(&mut generic);
        counters::divide(&mut generic);
        drop_unused(&mut generic);
        Generic { kernel: generic, tx, is_exact }
    }
}

/// Drops constants that nothing reads any more.
fn drop_unused(kernel: &mut Kernel) {
    let mut read = vec![false; kernel.vars.len()];
    let mut note = |var: Var| {
        if let Some(read) = read.get_mut(var.index()) {
            *read = true;
        }
    };
    groups::reads(kernel, &mut note);
    for block in &mut kernel.blocks {
        block.instrs.retain(|instr| match instr {
            Instr::Let(dst, Pure::Const(_)) => read.get(dst.index()) != Some(&false),
            _ => true,
        });
    }
}

#[cfg(test)]
mod tests;
