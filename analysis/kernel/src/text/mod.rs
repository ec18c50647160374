//! A text form of a kernel, so that the machine can be tested with no frontend.
//!
//! Line-oriented; `//` starts a comment. Declarations first, then blocks, then loops:
//!
//! ```text
//! kernel ctas=1 entry=b0
//! partition warps=4
//! buffer $0 shared bits=64 slot=64 barriers
//! shape s0 element=64 dims=1:64
//! input i0 argument 2 width=32 divisor=16
//! block b0()
//!   %0:s0 = base $0
//!   %1 = const 0
//!   @0 alloc $0
//!   @1 init %0 count=1
//!   @2 wait %0 phase=%1
//!   @3 return
//! ```
//!
//! Names after `%`, `$`, `b`, `s`, `i` and `l` are free in a text written by hand: buffers,
//! shapes, inputs, blocks and loops are numbered by their declarations, variables by their
//! definitions (unless every one is a number, which then counts), effects by their lines. A
//! missing `@site` takes the next free one. [`parse`]`(&`[`print()`]`(k))` gives `k` again for every
//! kernel whose effects each stand once, in the order of the blocks, which lowering guarantees.

mod body;
mod cursor;
mod lex;
mod ops;
mod parse;
mod print;

pub use cursor::TextError;
pub use parse::parse;
pub use print::print;

#[cfg(test)]
mod tests;
