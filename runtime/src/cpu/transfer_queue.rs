//! Copies that were issued and have not happened yet.
//!
//! The machine counts a completion when the operation is issued. The data moves later: at any moment that the
//! seed picks, and at the latest when some thread has waited for it, which is when the thread's clock has seen
//! the event that ends it. A source is read when the copy happens, not when it was issued. Tensor cores, AMD's
//! data mover and the dots of a warp group finish the operations of one thread in order.

use std::rc::Rc;

use base::rng::SplitMix64;
use machine::{Channel, Clock};
use ttgir::OpId;

use super::future::Future;
use super::gsan::Actor;
use super::transfer::Transfer;

/// A transfer that was issued.
#[derive(Debug)]
pub(super) struct PendingTransfer {
    /// The event that ends it.
    pub(super) channel: Channel,
    /// The number of the event in its channel.
    pub(super) number: u32,
    /// Whether it happens after the earlier ones of its channel.
    pub(super) ordered: bool,
    /// The op that issued it.
    pub(super) op: OpId,
    /// Who it is for global memory, where that is watched.
    pub(super) actor: Option<Rc<Actor>>,
    /// What moves where.
    pub(super) transfer: Transfer,
}

/// The transfers that were issued and not carried out, oldest first.
#[derive(Debug, Default)]
pub(super) struct TransferQueue {
    queue: Vec<PendingTransfer>,
}

impl TransferQueue {
    pub(super) fn issue(&mut self, transfer: PendingTransfer) {
        self.queue.push(transfer);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The next copy that a thread which has seen so much finds done.
    pub(super) fn take_due(&mut self, seen: &Clock) -> Option<PendingTransfer> {
        let at = self.queue.iter().position(|one| seen.get(one.channel) >= one.number)?;
        Some(self.take_in_order(at))
    }

    /// The next copy on the way to the one that makes a future.
    pub(super) fn take_towards(&mut self, future: &Rc<Future>) -> Option<PendingTransfer> {
        let at = self.queue.iter().position(|one| one.transfer.makes(future))?;
        Some(self.take_in_order(at))
    }

    /// One at random, after those that have to come before it.
    pub(super) fn take_any(&mut self, random: &mut SplitMix64) -> Option<PendingTransfer> {
        if self.queue.is_empty() {
            return None;
        }
        let at = random.below(self.queue.len());
        Some(self.take_in_order(at))
    }

    /// The newest that is no work of a tensor core or a data mover: it may overtake what these still read.
    pub(super) fn take_newest_unordered(&mut self) -> Option<PendingTransfer> {
        let last = self.queue.iter().rposition(|one| !one.ordered)?;
        Some(self.take_in_order(last))
    }

    /// The copy at a place, or one that has to happen before it.
    fn take_in_order(&mut self, at: usize) -> PendingTransfer {
        let (channel, ordered) = (self.queue[at].channel, self.queue[at].ordered);
        let before = self.queue[..at].iter().position(|one| ordered && one.ordered && one.channel == channel);
        self.queue.remove(before.unwrap_or(at))
    }
}
