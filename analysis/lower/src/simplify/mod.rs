//! From the kernel as a frontend writes it down to the canonical kernel.
//!
//! Keeps what an effect needs and numbers it in one way only, so that two texts which
//! synchronise alike give equal kernels:
//!
//! - dead code: variables that reach no effect, no live branch and no live loop bound go, and so
//!   do branches and loops that hold no effect and whose results nothing needs (aggressive
//!   dead-code elimination over control dependences; loops are taken to end);
//! - jumps are led past empty blocks, and blocks with one way in are joined to the block before;
//! - an integer that goes through memory, stored once, is the one that its loads give;
//! - a remainder that is spelled out as a difference is a remainder;
//! - warps are counted only where an effect counts them;
//! - a loop that is handed its condition asks it at its head, where it is the same question each time;
//! - loops are found anew from the retreating edges; a loop in CFG form that counts like an
//!   `scf.for` becomes a counted one;
//! - blocks are numbered in reverse postorder, everything else by first use in that order.
//!
//! It knows no syntax: the source map is renumbered along, and that is all.

mod conditions;
mod counters;
mod flow;
mod live;
mod loops;
mod merge;
mod remainders;
mod renumber;
mod stored;

pub(crate) use live::effect_vars;

use kernel::{Kernel, SourceMap};

/// Simplifies and renumbers.
pub fn simplify(mut kernel: Kernel, mut map: SourceMap) -> (Kernel, SourceMap) {
    stored::copy_stored_once(&mut kernel);
    remainders::gather(&mut kernel);
    conditions::ask_at_heads(&mut kernel, &mut map);
    live::eliminate(&mut kernel);
    merge::bypass(&mut kernel);
    merge::merge(&mut kernel);
    loops::find(&mut kernel);
    // Where they are known; a simplified kernel may have forgotten them.
    if map.warps.is_empty() {
        map.warps = kernel.partitions.iter().map(|partition| partition.warps.unwrap_or(1)).collect();
    }
    if !kernel.effects.iter().any(|effect| effect.kind.counts_threads()) {
        kernel.partitions.iter_mut().for_each(|partition| partition.warps = None);
    }
    renumber::renumber(kernel, map)
}
