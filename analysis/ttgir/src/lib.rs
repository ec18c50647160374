//! The syntax of Triton's GPU-level MLIR, as the compiler prints it and people edit it.
//!
//! [`Document`] is a file of one or many modules, [`Tree`] is one of them. A tree keeps its text
//! and refers to it by place; it is made for any text, and what is wrong with the text is in
//! [`Tree::errors`].
//!
//! Why it is written by hand: of the crates that read MLIR losslessly, `zirium` 0.7 is the nearest.
//! It reads about 104 MB/s, knows no op of Triton's dialects (each is an "unknown custom operation",
//! without operands or types, so no name and no type in it can be checked), and reads the whole
//! text again on an edit, 2 ms for 200 kB. With the op table here a cold read is at more than
//! twice that speed, and an edit well below a millisecond; `tests/benches/parse.rs` measures both.
//!
//! Deviations from MLIR: both versions of a changed syntax are taken, and the forms that MLIR
//! prints but cannot read; ops of `llvm`, `nvvm`, `rocdl`, `gpu` and `vector` are skimmed for
//! operands, labels and regions; attributes are checked for their shape, not for their meaning.
//! Not checked: what an op's verifier checks beyond its form, its operands' types and its place.

mod attrs;
pub mod build;
pub mod cga;
mod document;
mod edit;
mod error;
mod ids;
pub mod layout;
mod lexer;
mod limits;
mod locs;
mod names;
mod parse;
pub mod queries;
mod resolve;
mod shape;
mod store;
mod suggest;
mod tree;
mod ty;
mod types;

pub use document::{Document, Header, IrLevel, Section, When};
pub use error::SyntaxError;
pub use ids::{AttrId, BlockId, OpId, RegionId, TypeId, ValueId};
pub use lexer::{Token, TokenKind, Tokens};
pub use limits::LIMITS;
pub use locs::SourceLoc;
pub use suggest::nearest;
pub use tree::{Def, Successor, Tree};
pub use ty::{Elem, MemSpace, Ty};
