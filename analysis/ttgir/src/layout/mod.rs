//! Layouts in plain words, with a small picture of who holds what, or what lies where.
//!
//! Everything is computed from the attribute's numbers; a layout whose numbers make no sense, or that is not known here,
//! is named and no more.

mod draw;
mod owners;
mod read;
mod shared;
mod words;

pub use read::{Field, LayoutSpec, read};
pub use words::{Described, describe};
