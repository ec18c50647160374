//! What the warps of a partition leave unordered on AMD.

use ttgir::OpId;

/// How the warps of a kernel for AMD run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Warps {
    /// Some read of the kernel is relaxed.
    pub(super) relaxed: bool,
    /// Some operation of the data mover is started by chosen warps only.
    pub(super) hinted: bool,
    /// The loop that is being lowered is a warp pipeline, or half of the warps runs one barrier behind.
    pub(super) staged: bool,
    /// Where the halves of the warps meet again, while one runs one barrier behind.
    pub(super) meeting: Option<OpId>,
}
