//! What automatic warp specialisation puts between its passes: arefs, semaphores, warp groups, tokens,
//! tasks in one region, buffers that share storage.

mod aref;
mod channel;
mod group;
mod hidden;
mod origin;
mod plan;
mod reuse;
mod semaphore;
mod split;
mod tasks;
mod tokens;

pub(super) use channel::{Counter, Counters, Hidden, Token};
pub(super) use origin::{Place, Source, origin, origins, source};
pub(super) use plan::Plan;
pub use tasks::Tasks;
