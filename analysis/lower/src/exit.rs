//! Where the terminators of regions lead.

use kernel::Var;
use ttgir::{OpId, ValueId};

/// Where the terminators of a region lead.
#[derive(Clone, Debug)]
pub(super) enum Exit {
    /// `tt.return` ends the kernel.
    Kernel,
    /// `ttg.warp_return` ends the partition.
    Partition,
    /// `ttg.warp_yield` waits for the partitions, then goes on.
    Join(OpId, After),
    /// `tt.return` of an inlined function, `scf.yield` of an `scf.execute_region`.
    Jump(After),
}

/// The block after a region, with a parameter for each value that the region hands on.
#[derive(Clone, Debug)]
pub(super) struct After {
    pub(crate) block: kernel::BlockId,
    pub(crate) results: Vec<(ValueId, Option<Var>)>,
}
