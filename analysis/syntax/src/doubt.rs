//! What shows that a kernel is not written for the values that it was elaborated with.

use base::TextRange;

use crate::origin::FileId;

/// Something that shows that the values are not those that a kernel is written for, although Triton takes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// Which file.
    pub file: FileId,
    /// Where, in the file's source.
    pub range: TextRange,
    /// What it is.
    pub kind: DoubtKind,
}

/// Kinds of [`Doubt`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoubtKind {
    /// An `assert` of the device or an assumption that does not hold.
    Assertion,
    /// A loop with constant bounds that never runs.
    IdleLoop,
    /// Shared memory that no card of the target has.
    TooLarge,
    /// Rows are chosen by numbers that are no integers.
    NoInteger,
    /// A variable that is an integer on one way is none on another.
    TwoTypes,
    /// A layout, or a barrier of the cluster, is for a cluster of so many CTAs, at least where it is no layout.
    Ctas(u32),
}
