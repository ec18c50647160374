//! A child process that cannot get away: in a process group of its own, with a time limit, a limit on what it may
//! write, an environment of chosen variables, and a folder that is removed with it.
//!
//! It never sees a shell. Its standard input is a lifeline that carries nothing: it stays open as long as the one who
//! started it lives, so that the child can end itself when that one is gone (`runtime/src/triton/driver.py` does).
//! What it misses: on systems without process groups only the child itself is ended.

mod child;
mod environment;
mod folder;
mod group;
mod pause;

pub(crate) use child::{ChildCommand, ChildOutcome, ExitCause, run};
pub(crate) use environment::allowed;
pub(crate) use folder::RunFolder;
pub(crate) use group::{end_group, lead_group};

#[cfg(test)]
mod tests;
