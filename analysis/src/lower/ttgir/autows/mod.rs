//! What automatic warp specialisation puts between its passes: arefs, semaphores, warp groups, tokens.

mod aref;
mod group;
mod hidden;
mod origin;
mod tokens;

pub(super) use hidden::{Counter, Counters, Hidden};
pub(super) use origin::{Place, Source, origins, source};
pub(super) use tokens::Token;
