//! What editors show, as plain data: hovers, symbols, definitions, references, folds.
//!
//! Everything here is read off the syntax tree of the section under the cursor, so it also works
//! in a text that does not parse or whose kernel the machine cannot follow. A buffer is followed
//! through views, captures, carried values and jumps; where a value may be one of several buffers,
//! all of them count. What the machine knows beyond that (which flip a wait observes) is in the
//! findings. Sections of a big dump that nobody looked at are not read for an outline or folds.

use crate::limits::dumps::EAGER_SECTIONS;

mod cadence;
pub mod completion;
mod directive;
pub(crate) mod effects;
mod folding;
mod hover;
mod inlay;
mod kernels;
mod limits;
mod links;
mod locations;
mod names;
mod occurrence;
pub mod python;
mod rename;
mod roles;
mod selection;
mod signals;
mod sizes;
mod symbols;
#[cfg(test)]
mod tests;
pub mod tokens;
mod type_definition;
mod uses;

pub use folding::{Fold, FoldKind, folds};
pub use hover::{CadenceRow, Hover, OperationRow, add_edges, hover};
pub(crate) use hover::{hover_of, layout_of_spec, value_type};
pub use inlay::{Inlay, inlays};
pub(crate) use inlay::{friendly, inlay_of};
pub use kernels::{KernelPlace, kernels};
pub use limits::LIMITS;
pub use links::{TextLink, links};
pub use locations::{leads_to_source, op_name_at, ops_of_line, source_places};
pub use names::{definition, occurrences};
pub use occurrence::{Occurrence, OccurrenceAccess};
pub use rename::{NewTexts, Refused, Renamable, renamable, rename};
pub use selection::selection;
pub(crate) use signals::{Event, Executor, events, ties_of};
pub use signals::{Party, PartyKind, Tie, party_at, ties};
pub use symbols::{Symbol, SymbolKind, symbols};

pub use type_definition::type_definition;
pub(crate) use uses::access;
