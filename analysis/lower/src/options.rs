//! What lowering is asked to assume, and its limits.

pub(crate) use crate::limits::calls::{CALLS, DEPTH};

/// What lowering is asked to assume.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct LoweringOptions {
    /// Of kernels whose channels are not in the text yet.
    pub channels: ChannelGrouping,
}

/// Which buffers the channels that a plan implies order as one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ChannelGrouping {
    /// Each buffer of tensor memory by itself, whatever it shares columns with.
    #[default]
    Own,
    /// Those with one `buffer.id` that overlap, too.
    Groups,
}
