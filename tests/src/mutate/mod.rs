//! Mutants: each clean kernel of the corpus with one slip in its synchronisation.
//!
//! [`make`] writes the mutants of a text, one change each, by the roles that [`dialects`] declares. [`judge`] says
//! what the analysis makes of one, [`device`] plays it on a second machine, and [`meaning`] says from
//! both whether it is found, equivalent or a gap; [`survivors`] reads what was found out by hand.
//! [`campaign`] does all this for the corpus, [`report`] prints it and [`write`](mod@write) leaves
//! the mutants on disk. [`unsynchronised`] takes all waits out of a text at once,
//! [`rows`] those that a row of the coverage table names.

pub mod campaign;
mod case;
pub mod device;
pub mod edit;
pub mod glob;
pub mod judge;
pub mod make;
pub mod meaning;
pub mod report;
pub mod rows;
pub mod survivors;
pub mod unsynchronised;
pub mod write;

pub use campaign::{Campaign, Case, Choice};
pub use judge::Verdict;
pub use make::{Class, Mutant};
pub use meaning::Meaning;
