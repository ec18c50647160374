//! What editors show of a Python file and its text alone decides: nothing is elaborated for it, so it is there at
//! every key, in half-typed text too.
//!
//! A file that can hold no kernel gets no answer: other servers know plain Python better.

mod callee;
mod completion;
mod cursor;
mod elaborated_text;
mod folding;
mod functions;
mod hover;
mod inlay;
mod name_values;
pub mod names;
pub mod navigate;
mod scene;
mod selection;
mod signature;
mod symbols;
mod tensors;
#[cfg(test)]
mod tests;
mod things;
mod tokens;

pub use completion::completions;
pub use elaborated_text::{ElaboratedText, OpPlace, elaborated_text};
pub use folding::folds;
pub use hover::hover;
pub use inlay::inlays;
pub use selection::selection;
pub use signature::signature;
pub use symbols::symbols;
pub use tokens::tokens;

use base::TextRange;
use gluon::Version;
use python::syntax::Sources;
use python::syntax::scan::is_name;

/// What a file is read with besides its text.
#[derive(Clone, Copy, Debug)]
pub struct FileContext<'a> {
    /// The files around it.
    pub sources: &'a dyn Sources,
    /// The release of Triton that it is for.
    pub version: Version,
}

/// The name around an offset.
fn word(text: &str, offset: u32) -> Option<TextRange> {
    let bytes = text.as_bytes();
    let at = (offset as usize).min(bytes.len());
    let start = at - bytes.get(..at)?.iter().rev().take_while(|byte| is_name(**byte)).count();
    let end = at + bytes.get(at..)?.iter().take_while(|byte| is_name(**byte)).count();
    let range = TextRange::new(start as u32, end as u32);
    let name = range.of(text);
    (!name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())).then_some(range)
}
