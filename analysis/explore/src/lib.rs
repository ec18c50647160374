//! Drives a machine through its schedules, and knows nothing of what it drives.
//!
//! - [`canonical`] runs each thread until it blocks. Where the machine judges that run confluent
//!   it stands for every schedule, and nothing else is needed.
//! - [`run_delaying`] and [`run_preferring`] run one schedule that is slow or fast for one thread: the quickest
//!   way to an alternative that a run warned of.
//! - [`search`] visits all schedules, save that a step which no other thread can notice is taken at once.
//! - [`naive`] visits all schedules. It is kept for ever and compared with the others.
//! - [`replay`] repeats a schedule.

mod canonical;
mod naive;
mod search;
mod system;

pub use canonical::{Schedule, ScheduledRun, canonical, canonical_by, replay, run_delaying, run_preferring};
pub use naive::naive;
pub use search::search;
pub use system::{Readiness, System};

/// How an exploration ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Explored {
    /// How many distinct states were visited.
    pub states: usize,
    /// How many steps were taken.
    pub steps: u64,
    /// Whether every state was visited, rather than a limit met.
    pub complete: bool,
}
