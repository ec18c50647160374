//! Copies that were issued and have not happened yet.
//!
//! The machine counts a completion when the operation is issued. The data moves later: at any moment that the
//! seed picks, and at the latest when some thread has waited for it, which is when the thread's clock has seen
//! the event that ends it. A source is read when the copy happens, not when it was issued. Tensor cores, AMD's
//! data mover and the dots of a warp group finish the operations of one thread in order.

use std::cell::RefCell;
use std::rc::Rc;

use base::rng::SplitMix64;
use machine::{Channel, Clock, Done};
use ttgir::OpId;

use super::transfer::Transfer;
use super::value::Value;

/// What an asynchronous dot will leave in registers.
#[derive(Debug, Default)]
pub(super) struct Future {
    value: RefCell<Option<Value>>,
}

impl Future {
    pub(super) fn value(&self) -> Option<Value> {
        self.value.borrow().clone()
    }

    pub(super) fn set(&self, value: Value) {
        *self.value.borrow_mut() = Some(value);
    }
}

/// A copy on its way.
#[derive(Debug)]
pub(super) struct PendingTransfer {
    /// The event that ends it.
    pub(super) channel: Channel,
    /// Its number there.
    pub(super) number: u32,
    /// Whether it happens after the earlier ones of its channel.
    pub(super) ordered: bool,
    /// The op.
    pub(super) op: OpId,
    /// What it does.
    pub(super) act: Transfer,
}

/// All copies on their way, oldest first.
#[derive(Debug, Default)]
pub(super) struct TransferQueue {
    open: Vec<PendingTransfer>,
}

impl TransferQueue {
    pub(super) fn issue(&mut self, done: &Done, ordered: bool, op: OpId, act: Transfer) {
        self.open.push(PendingTransfer { channel: done.channel, number: done.number, ordered, op, act });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// The next copy that a thread which has seen so much finds done.
    pub(super) fn due(&mut self, seen: &Clock) -> Option<PendingTransfer> {
        let at = self.open.iter().position(|one| seen.get(one.channel) >= one.number)?;
        Some(self.first_of(at))
    }

    /// The next copy on the way to the one that makes a future.
    pub(super) fn towards(&mut self, future: &Rc<Future>) -> Option<PendingTransfer> {
        let at = self.open.iter().position(|one| one.act.makes(future))?;
        Some(self.first_of(at))
    }

    /// Any.
    pub(super) fn any(&mut self, random: &mut SplitMix64) -> Option<PendingTransfer> {
        if self.open.is_empty() {
            return None;
        }
        let at = random.below(self.open.len());
        Some(self.first_of(at))
    }

    /// The newest that is no work of a tensor core or a data mover: it may overtake what these still read.
    pub(super) fn overtaking(&mut self) -> Option<PendingTransfer> {
        let last = self.open.iter().rposition(|one| !one.ordered)?;
        Some(self.first_of(last))
    }

    /// The copy at a place, or one that has to happen before it.
    fn first_of(&mut self, at: usize) -> PendingTransfer {
        let (channel, ordered) = (self.open[at].channel, self.open[at].ordered);
        let before = self.open[..at].iter().position(|one| ordered && one.ordered && one.channel == channel);
        self.open.remove(before.unwrap_or(at))
    }
}
