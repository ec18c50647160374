//! How a thread has gone round since something last changed.

use kernel::BlockId;

use super::future::HandleValue;

/// Jumps without a change after which a thread is looked at; twice as many each further time.
pub(super) const FIRST: u64 = 64;

/// How a thread has gone round since something last changed.
#[derive(Debug)]
pub(super) struct Rounds {
    /// How much had changed by then.
    pub(super) changes: u64,
    pub(super) jumps: u64,
    /// The jump at which its values are kept to be compared with.
    pub(super) next: u64,
    pub(super) kept: Option<Kept>,
    /// Whether it came back to what was kept.
    pub(super) closed: bool,
}

/// A thread's values at the beginning of a block.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) block: BlockId,
    pub(super) ints: Vec<i64>,
    pub(super) handles: Vec<Option<HandleValue>>,
}

impl Default for Rounds {
    fn default() -> Rounds {
        Rounds { changes: 0, jumps: 0, next: FIRST, kept: None, closed: false }
    }
}
