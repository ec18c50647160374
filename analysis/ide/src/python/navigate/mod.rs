//! Where the names of a Python file lead: definitions, types, uses, calls, new names, ops.
//!
//! Names are resolved by the text alone, across files by the caller's [`Sources`]; what is known of barriers and
//! buffers comes from elaborated instances.

mod calls;
mod definition;
mod infer;
mod linked;
mod members;
mod outline;
mod rename;
mod resolve;
#[cfg(test)]
mod tests;
mod type_definition;
mod uses;

pub use calls::{PythonParty, PythonTie, party_at, ties};
pub use definition::definition;
pub use linked::{LinkedOps, linked_ops};
pub(crate) use members::{About, about, expression, function_at, offered};
pub use outline::{NameKind, TextName, outline, rank};
pub use rename::{renamable, rename};
pub use resolve::FilePlace;
pub use type_definition::type_definition;
pub use uses::{elsewhere, occurrences};
