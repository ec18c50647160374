//! Runs of kernels on the CPU, and what they have to compute.

mod compare;
mod given;
mod launch;
mod reference;

pub use compare::{Distance, compare};
pub use given::{Given, Numbers, numbers};
pub use launch::{Runnable, corpus, corpus_file, given, plain, read, recipes, run, runnable};
pub use reference::{Written, written};
