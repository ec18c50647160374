//! How a seed varies the order of a program's steps, so that races show.

use base::rng::SplitMix64;

use super::transfer_queue::{PendingTransfer, TransferQueue};

/// Which thread of a program is held back for a while, and when its transfers are carried out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SchedulePolicy {
    /// The thread that goes on only where no other can; none where there is no such.
    pub(super) slow: usize,
    transfers: TransferTiming,
}

/// When transfers that were issued are carried out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TransferTiming {
    /// When a thread has waited for them.
    Late,
    /// At once, save those of tensor cores and data movers, which are late.
    OthersFirst,
    /// At every other step.
    Soon,
    /// At one step in eight.
    Occasional,
}

impl SchedulePolicy {
    /// A policy at random.
    pub(super) fn random(random: &mut SplitMix64, threads: usize) -> SchedulePolicy {
        let timings =
            [TransferTiming::Late, TransferTiming::OthersFirst, TransferTiming::Soon, TransferTiming::Occasional];
        // Half of the time nobody is slow.
        let slow = random.below(2 * threads.max(1));
        SchedulePolicy { slow, transfers: timings[random.below(timings.len())] }
    }

    /// The transfer that is carried out before the next step.
    pub(super) fn next_transfer(self, pending: &mut TransferQueue, random: &mut SplitMix64) -> Option<PendingTransfer> {
        match self.transfers {
            TransferTiming::Late => None,
            TransferTiming::OthersFirst => pending.take_newest_unordered(),
            TransferTiming::Soon if random.one_in(2) => pending.take_any(random),
            TransferTiming::Occasional if random.one_in(8) => pending.take_any(random),
            TransferTiming::Soon | TransferTiming::Occasional => None,
        }
    }
}
