//! Questions that several crates ask of a tree: what an expression says and comes to, which memory a value is, what stands
//! around an op.

pub mod evaluate;
pub mod expr;
pub mod memory;
pub mod pointer;
pub mod spot;
pub mod words;
