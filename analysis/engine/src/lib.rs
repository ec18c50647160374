//! Documents to reports, with the memory between edits, and what editors ask.

mod analysis;
pub mod ide;
pub mod instances;
mod source;

pub use analysis::{Analysis, Engine, lowered};
pub use source::{Source, is_python};
