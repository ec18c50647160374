//! A violation in words.

use base::Message;

use super::{Kind, MissingOrder, Note, Severity};

/// A classified violation, before its run is told.
#[derive(Clone, Debug)]
pub(crate) struct Description {
    /// What is wrong.
    pub kind: Kind,
    /// How bad it is: what its kind says, where nothing in the run says otherwise.
    pub severity: Severity,
    /// One sentence.
    pub message: Message,
    /// Places, in order; the last is primary unless one says so.
    pub notes: Vec<Note<Message>>,
    /// Where order is missing, where that is what is wrong.
    pub order: Option<MissingOrder>,
}

impl Description {
    /// One that is as bad as its kind, and not about order.
    pub(crate) fn of(kind: Kind, message: Message, notes: Vec<Note<Message>>) -> Description {
        Description { kind, severity: kind.severity(), message, notes, order: None }
    }
}
