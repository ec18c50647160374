//! What a library brings along: a table of functions, classes and constants by full name and release.
//!
//! A row says how a function is called and from which release on until which. Names that several modules
//! export have one row; a [`Modules`] list knows who exports what.

mod call;
mod removed;
mod row;
mod table;
pub mod types;

pub use ::syntax::package;
pub(crate) use removed::earlier;
pub use removed::{as_before, gone, missing, replaced};
pub use row::{Args, Bound, Earlier, LibClass, Row, split as parts};
pub use table::{Fixed, Form, Gone, Library, Member, Modules, NOTHING, Part, PythonModule};
