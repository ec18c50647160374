//! Mutants: each clean kernel of the corpus with one slip in its synchronisation.
//!
//! [`make`] writes the mutants of a text, one change each, from the table of [`roles`]; [`judge`]
//! says what the analysis makes of one; [`campaign`] does both for the corpus; [`report`] prints
//! the counts and [`write`](mod@write) leaves the mutants on disk.

pub mod campaign;
pub mod edit;
pub mod glob;
pub mod judge;
pub mod make;
pub mod report;
pub mod roles;
pub mod write;

pub use campaign::{Campaign, Case, Choice};
pub use judge::Verdict;
pub use make::{Class, Mutant};
