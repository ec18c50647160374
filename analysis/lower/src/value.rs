//! What an SSA value is to the kernel.

use kernel::Var;

/// A value that the kernel keeps; tensors, floats and most tokens have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Val {
    /// An integer or a pointer.
    Scalar(Var),
    /// A memdesc, as a view of the kernel.
    View(Var),
    /// A memdesc whose place is unknown.
    Opaque,
    /// A token that stands for a stage of an aref or of a semaphore.
    Stage(Var),
    /// An aref or a semaphore, by its place in [`Hidden::channels`](super::autows::Hidden).
    Channel(usize),
}

/// What a type asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Scalar(u8),
    View,
    Dropped,
}
