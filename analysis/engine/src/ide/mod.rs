//! What editors show, as plain data: hovers, symbols, definitions, references, folds.
//!
//! Everything here is read off the syntax tree of the section under the cursor, so it also works
//! in a text that does not parse or whose kernel the machine cannot follow. A buffer is followed
//! through views, captures, carried values and jumps; where a value may be one of several buffers,
//! all of them count. What the machine knows beyond that (which flip a wait observes) is in the
//! findings. Sections of a big dump that nobody looked at are not read for an outline or folds.

pub mod completion;
mod directive;
mod folding;
mod hover;
mod kernels;
mod names;
pub mod python;
mod roles;
mod selection;
mod symbols;
#[cfg(test)]
mod tests;
pub mod tokens;

pub use folding::{Fold, FoldKind, folds};
pub(crate) use hover::hover_of;
pub use hover::{Hover, Row, hover};
pub use kernels::{KernelPlace, kernels};
pub use names::{Occurrence, definition, occurrences};
pub use selection::selection;
pub use symbols::{Symbol, SymbolKind, symbols};

/// A dump with more sections than this is read section by section, as they are asked for.
const EAGER_SECTIONS: usize = 32;
