//! What Fencepost says, as strings: findings, barrier reports and traces as text, Markdown, HTML, SVG, JSON,
//! SARIF and annotations for GitHub.
//!
//! Everything here is a pure function of the analysis' plain data. Arguments, files, terminals and exit codes are
//! the command line's; requests and positions in a client's encoding are the language server's. Both call this.

pub mod check;
mod document;
pub mod lanes;
pub mod printable;
pub mod report;
#[cfg(test)]
mod schema;
mod source_text;
pub mod style;
pub mod trace;
mod wrap;

pub use source_text::SourceText;
