//! From the kernel as a frontend writes it down to the canonical kernel.
//!
//! Keeps what an effect needs and numbers it in one way only, so that two texts which
//! synchronise alike give equal kernels:
//!
//! - dead code: variables that reach no effect, no live branch and no live loop bound go, and so
//!   do branches and loops that hold no effect and whose results nothing needs (aggressive
//!   dead-code elimination over control dependences; loops are taken to end);
//! - jumps are led past empty blocks, and blocks with one way in are joined to the block before;
//! - loops are found anew from the retreating edges; a loop in CFG form that counts like an
//!   `scf.for` becomes a counted one;
//! - blocks are numbered in reverse postorder, everything else by first use in that order.
//!
//! It knows no syntax: the source map is renumbered along, and that is all.

mod flow;
mod live;
mod loops;
mod merge;
mod renumber;

use kernel::{Kernel, SourceMap};

/// Simplifies and renumbers.
pub fn simplify(mut kernel: Kernel, map: SourceMap) -> (Kernel, SourceMap) {
    live::eliminate(&mut kernel);
    merge::bypass(&mut kernel);
    merge::merge(&mut kernel);
    loops::find(&mut kernel);
    renumber::renumber(kernel, map)
}

#[cfg(test)]
mod tests;
