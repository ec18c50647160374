//! Runs of own kernels and of the corpus.

mod corpus;
mod gsan;
mod own;
