//! Python source files that may hold Gluon kernels.
//!
//! The parser is ruff's, which always gives a tree and a list of errors. What it cannot do is keep the
//! functions after an unclosed bracket; [`Module`] therefore takes a broken top-level statement out of
//! the text and parses the rest, so that one half-typed line costs one function.

mod chunk;
mod module;
mod sources;

pub use module::{Broken, Module};
pub use sources::{NoSources, Sources};

/// Whether a text can hold Gluon kernels at all: files that cannot cost nothing more.
pub fn mentions_gluon(text: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), b"gluon").is_some()
}
