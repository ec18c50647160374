//! The abstract machine: ConSan's shadow state, executed for one kernel and one valuation.
//!
//! Source: the concurrency sanitizer of PyPI triton 3.9 (thread classes, effects, visibility,
//! barrier word, deadlock). Where this machine deviates:
//!
//! - visibility masks are vector clocks over channels ([`Channel`]), exact where masks are lossy;
//! - a wait sees a flip number, not only a parity, so that a run can be judged confluent
//!   ([`Barrier`]);
//! - a read of memory that no write reached is [`Rule::Uninitialised`], and one of a member of a shared
//!   buffer that another member's write reached last is [`Rule::OverwrittenMember`];
//! - atoms are made as windows are touched ([`Atoms`]);
//! - a multicast copy into a CTA is published by the barrier which counts that CTA's bytes, where
//!   masks let any of its barriers publish all of it;
//! - of CTAs that never reach each other one stands for the rest ([`Cluster`]).
//!
//! What it misses: scratch memory of ops, the reach of `fence_async_shared` beyond its CTA (every
//! such fence is taken to reach the cluster). What it never does: guess. An op it cannot follow sets [`State::unmodelled`].

mod atoms;
mod barrier;
mod cleanup;
mod clock;
mod cluster;
mod drive;
mod effects;
mod execute;
mod frontier;
mod inspect;
mod machine;
mod members;
mod normal_form;
mod open_flips;
mod record;
mod shadow;
mod shared;
mod siblings;
mod state;
mod storage;
mod system;
mod thread;
mod valuation;
mod violation;
mod word_steps;
mod words;

pub use atoms::{AtomChange, Atoms, Window};
pub use barrier::{Barrier, TX_DIGIT, TxCount};
pub use clock::{Channel, Channels, Clock};
pub use cluster::Cluster;
pub use drive::ProgramPoint;
pub use frontier::Frontier;
pub use inspect::{PendingWait, Unwritten};
pub use machine::Machine;
pub use record::{BarrierAction, BarrierRecord, CompletionEvent, Record};
pub use shadow::{Event, History, Shadow};
pub use shared::CopyOnWrite;
pub use siblings::siblings;
pub use state::{MachineError, State, pack, remote, remote_cta, unpack};
pub use thread::{Thread, ThreadStatus};
pub use valuation::{MemoryWord, Valuation, same_pointer};
pub use violation::{BarrierKind, BarrierPlace, Blocked, BlockedOn, CountOverrun, Rule, ScheduleHazard, Violation};
