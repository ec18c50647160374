//! What automatic warp specialisation puts between its passes: arefs, semaphores, warp groups.

mod aref;
mod group;
mod hidden;

pub(super) use hidden::{Counter, Counters, Hidden};
