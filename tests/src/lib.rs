//! Test support: literate fixture pages and the corpus.
//!
//! A Markdown page is a suite, a heading a case, a fenced block a source or an output. Sources
//! carry their expectations as marks in comments, so each stays valid input for Triton's own
//! tools. [`page`] reads pages, [`marks`] reads, compares and draws marks, [`observe`] asks the
//! analysis, [`promises`] checks what it promises of every kernel, [`corpus`] reads the manifest
//! of the compiled kernels, [`gluon`] sets kernels in Python beside them, [`known`] lists the cases
//! that are known to fail, [`runs`] executes kernels on the CPU and knows what they compute, [`ring`] makes kernels of any
//! size, [`lsp`] talks to the real server, [`parallel`] shares work among threads,
//! [`plot`] draws what benchmarks measure, [`bench`] sets it beside peers.

pub mod bench;
pub mod chaos;
pub mod corpus;
pub mod fuzz;
pub mod generate;
pub mod gluon;
pub mod known;
pub mod lsp;
pub mod marks;
pub mod mutate;
pub mod observe;
pub mod page;
pub mod parallel;
pub mod plot;
pub mod promises;
pub mod ring;
pub mod runs;
pub mod sources;
