//! Tests of the decision, against the naive explorer.

mod loops;
mod random;
mod rings;
