//! Tests of the decision, against the naive explorer.

mod random;
mod rings;
