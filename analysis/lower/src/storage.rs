//! Storage that several allocations share.

use kernel::BufferId;

/// Where one allocation lies in the storage it shares, in bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    pub(crate) buffer: BufferId,
    pub(crate) start: u64,
    pub(crate) stride: u64,
}
