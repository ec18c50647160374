//! Vector clocks over channels.
//!
//! A channel is a sequence of events that complete in order: what a partition of a CTA does itself,
//! what its tensor core does, its commit groups of one family, the flips of one barrier. An event is
//! `(channel, number)`, and a clock that holds `n` for a channel has seen its events up to `n`.
//! This stands for ConSan's visibility masks: `t ∈ write_visibility[atom]` is "the clock of `t`
//! has seen the last write of `atom`". It is exact where ConSan's masks are lossy (a second read
//! of one thread does not inherit the visibility of its first).

use crate::sync::CommitKind;

/// A sequence of events that complete in order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Channel(pub u32);

/// Channels of a thread: its own, its tensor core's, and one a commit family.
const PER_THREAD: u32 = 2 + FAMILIES.len() as u32;

/// All commit families, in the order of their channels.
pub const FAMILIES: [CommitKind; 4] = [CommitKind::AsyncCopy, CommitKind::Wgmma, CommitKind::TmaStore, CommitKind::Tdm];

/// Numbers the channels of a machine with a given number of threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Channels {
    threads: u32,
}

impl Channels {
    /// Channels for `threads` threads: the partitions of all CTAs, the default ones counted.
    pub fn new(threads: usize) -> Channels {
        Channels { threads: threads as u32 }
    }

    /// What the thread does in program order.
    pub fn base(self, thread: usize) -> Channel {
        Channel(thread as u32)
    }

    /// What its tensor core does.
    pub fn tensor_core(self, thread: usize) -> Channel {
        Channel(self.threads + thread as u32)
    }

    /// Its commit groups of one family.
    pub fn group(self, thread: usize, kind: CommitKind) -> Channel {
        Channel(self.threads * (2 + kind as u32) + thread as u32)
    }

    /// The flips of a barrier.
    pub fn barrier(self, barrier: usize) -> Channel {
        Channel(self.threads * PER_THREAD + barrier as u32)
    }

    /// Which commit family a channel belongs to, if any.
    pub fn family(self, channel: Channel) -> Option<CommitKind> {
        match channel.0 / self.threads.max(1) {
            2 => Some(CommitKind::AsyncCopy),
            3 => Some(CommitKind::Wgmma),
            4 => Some(CommitKind::TmaStore),
            5 => Some(CommitKind::Tdm),
            _ => None,
        }
    }

    /// Which barrier's flips a channel counts, if any.
    pub fn barrier_of(self, channel: Channel) -> Option<usize> {
        channel.0.checked_sub(self.threads * PER_THREAD).map(|barrier| barrier as usize)
    }
}

/// For each channel the last event seen; channels past the end have been seen up to 0.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct Clock(Vec<u32>);

impl Clock {
    /// The last event of `channel` that was seen.
    #[inline]
    pub fn get(&self, channel: Channel) -> u32 {
        self.0.get(channel.0 as usize).copied().unwrap_or(0)
    }

    /// Sees the events of `channel` up to `number`.
    #[inline]
    pub fn see(&mut self, channel: Channel, number: u32) {
        let index = channel.0 as usize;
        if index >= self.0.len() {
            if number == 0 {
                return;
            }
            self.0.resize(index + 1, 0);
        }
        self.0[index] = self.0[index].max(number);
    }

    /// Sees all that `other` has seen.
    #[inline]
    pub fn join(&mut self, other: &Clock) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_do_not_collide() {
        let channels = Channels::new(3);
        let mut all: Vec<Channel> = Vec::new();
        for thread in 0..3 {
            all.push(channels.base(thread));
            all.push(channels.tensor_core(thread));
            for kind in FAMILIES {
                let channel = channels.group(thread, kind);
                assert_eq!(channels.family(channel), Some(kind));
                all.push(channel);
            }
        }
        all.extend((0..4).map(|barrier| channels.barrier(barrier)));
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count);
        assert_eq!(channels.barrier_of(channels.barrier(2)), Some(2));
        assert_eq!(channels.barrier_of(channels.base(2)), None);
    }

    #[test]
    fn join_takes_the_later_of_each() {
        let mut a = Clock::default();
        a.see(Channel(1), 4);
        let mut b = Clock::default();
        b.see(Channel(1), 2);
        b.see(Channel(5), 7);
        a.join(&b);
        assert_eq!((a.get(Channel(1)), a.get(Channel(5)), a.get(Channel(9))), (4, 7, 0));
    }
}
