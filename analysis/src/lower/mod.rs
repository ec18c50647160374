//! From a syntax tree to kernels: the only place that sees both.
//!
//! [`ttgir`] reads the ops; [`build`] collects the kernel without knowing any syntax;
//! [`simplify`] makes it canonical, so that texts which synchronise alike give equal kernels.

mod build;
pub mod gluon;
pub mod simplify;
mod ttgir;

pub use ttgir::{Executable, HostOp, Tasks, executables, kernel_names, lower, lower_with};

/// What lowering is asked to assume.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Options {
    /// Of kernels whose channels are not in the text yet.
    pub channels: Channels,
}

/// Which buffers the channels that a plan implies order as one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Channels {
    /// Each buffer of tensor memory by itself, whatever it shares columns with.
    #[default]
    Own,
    /// Those with one `buffer.id` that overlap, too.
    Groups,
}
