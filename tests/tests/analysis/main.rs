//! What the analysis promises of whole texts: the pages' sources, the corpus, and slips in both.

mod bad_input;
mod chaos;
mod execution;
mod exports;
mod fixes;
mod fuzz;
mod generated;
mod long_runs;
mod memory;
mod mutants;
mod mutation;
mod packed;
mod plans;
mod proofs;
mod registers;
mod report;
mod rows;
mod tlx;
mod unsynchronised;
mod workers;
