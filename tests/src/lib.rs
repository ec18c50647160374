//! Test support: literate fixture pages and the corpus.
//!
//! A Markdown page is a suite, a heading a case, a fenced block a source or an output. Sources
//! carry their expectations as marks in comments, so each stays valid input for Triton's own
//! tools. [`page`] reads pages, [`marks`] reads, compares and draws marks.

pub mod marks;
pub mod page;
pub mod runner;
pub mod sources;
