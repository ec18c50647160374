//! An access as a run executes it.

use std::rc::Rc;

use base::spans::Spans;

/// An executed access: its active lanes with their bytes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) access: u32,
    /// First byte of each active lane and its number: ascending, but in the order of lanes where others may notice it.
    pub(crate) spans: Spans,
    /// The rounds of the loops around it, outermost first.
    pub(crate) rounds: Rc<[i64]>,
    /// Whether it is under way and its wait is still to come.
    pub(crate) pending: bool,
    /// Whether a sum or a product that its addresses come from is cut off at its width.
    pub(crate) wrapped: bool,
}
