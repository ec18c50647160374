//! The command line, as a user runs it: the real binary, its output and its exit codes.

mod answers;
mod browser;
mod ci;
mod compare;
mod findings;
mod fix;
mod gluon;
mod habits;
mod hostile;
mod input;
mod limits;
mod mcp;
mod packaging;
mod pre_commit;
mod proof;
mod readme;
mod report;
mod run_pages;
mod run_without_triton;
mod sarif;
mod schema;
mod semantics;
mod settings;
#[path = "../support/skip.rs"]
mod skip;
mod slips;
mod support;
mod switched_off;
mod trace;
mod words;
