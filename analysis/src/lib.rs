//! Text in, findings out.
//!
//! The crate reads the text of a TTGIR buffer, or of a Python file with Gluon kernels ([`gluon`]),
//! finds the kernels in it, executes their synchronisation on an abstract machine and says which
//! barrier is wrong, where, and by which run. Data flows one way: [`syntax`] → [`lower`] → [`sync`] → [`model`] under [`explore`] →
//! [`findings`] → [`ide`] and [`timeline`].
//!
//! It does no I/O, knows no clock, no thread, no LSP and no JSON.

pub mod asserts;
pub mod base;
pub mod decide;
pub mod engine;
pub mod explore;
pub mod findings;
pub mod fix;
pub mod gluon;
pub mod ide;
pub mod lower;
pub mod model;
pub mod report;
mod source;
pub mod sync;
pub mod syntax;
pub mod timeline;

pub use engine::{Analysis, Engine};
pub use source::{Source, is_python};
