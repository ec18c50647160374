//! Python source files that may hold kernels of Gluon and of Triton.
//!
//! The parser is ruff's, which always gives a tree and a list of errors. What it cannot do is keep the
//! functions after an unclosed bracket; [`Module`] therefore takes a broken top-level statement out of
//! the text and parses the rest, so that one half-typed line costs one function.

mod alike;
mod asked;
mod bindings;
pub mod bodies;
mod body;
mod current;
pub mod doubt;
mod embedded;
mod limits;
mod module;
pub mod names;
pub mod operators;
pub mod origin;
pub mod package;
mod path;
mod pending;
pub mod refused;
pub mod scan;
mod sources;
mod statements;
pub mod texts;
pub mod torch_names;

pub use alike::Shifts;
pub use asked::{Asked, is_place};
pub use bindings::Bindings;
pub use body::Body;
pub use current::CurrentTree;
pub use embedded::Embedded;
pub use limits::LIMITS;
pub use module::{Broken, Module};
pub use path::{each_node, path_at, path_in};
pub use pending::{Demanded, Pending};
pub use scan::is_blank_or_comment;
pub use sources::{NoSources, Sources};

use base::TextRange;
use ruff_text_size::Ranged;

/// The range of a node, in the text that it was parsed from.
pub fn range(node: &impl Ranged) -> TextRange {
    let range = node.range();
    TextRange::new(range.start().to_u32(), range.end().to_u32())
}

/// Whether a text can hold kernels at all: files that cannot cost nothing more.
///
/// A kernel has a decorator of Triton's: `gluon.jit`, `triton.jit`, or `jit` by another name of the package, whose
/// module for kernels is called `tl` where the package is not named; one of another package's hands on `tl.constexpr`.
pub fn mentions_kernels(text: &str) -> bool {
    let has = |word: &[u8]| memchr::memmem::find(text.as_bytes(), word).is_some();
    has(b"gluon") || has(b"tl.constexpr") || (has(b"jit") && (has(b"triton") || has(b"tl.")))
}
