//! A place where a name stands.

use base::TextRange;

/// What a place does with what it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OccurrenceAccess {
    /// Only the name stands there.
    Name,
    /// It is read; of a barrier, waited for.
    Read,
    /// It is written; of a barrier, initialised, arrived on or invalidated.
    Write,
}

/// A place where a name stands, or an operation that has to do with what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Occurrence {
    /// The name.
    pub range: TextRange,
    /// Whether it is defined here.
    pub definition: bool,
    /// What is done with it here.
    pub access: OccurrenceAccess,
}

impl Occurrence {
    pub(super) fn definition(range: TextRange) -> Occurrence {
        Occurrence { range, definition: true, access: OccurrenceAccess::Write }
    }

    pub(super) fn of(range: TextRange, access: OccurrenceAccess) -> Occurrence {
        Occurrence { range, definition: false, access }
    }
}
