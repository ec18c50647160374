//! Vector clocks over channels.
//!
//! A channel is a sequence of events that complete in order: what a partition of a CTA does itself,
//! what its tensor core does, its commit groups of one family, the flips of one barrier. An event is
//! `(channel, number)`, and a clock that holds `n` for a channel has seen its events up to `n`.
//! This stands for ConSan's visibility masks: `t ∈ write_visibility[atom]` is "the clock of `t`
//! has seen the last write of `atom`". It is exact where ConSan's masks are lossy (a second read
//! of one thread does not inherit the visibility of its first).

use super::shared::CopyOnWrite;
use kernel::CommitKind;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

/// A sequence of events that complete in order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Channel(pub u32);

/// Channels of a thread: its own, its tensor core's, and one a commit family.
const PER_THREAD: u32 = 2 + FAMILIES.len() as u32;

/// All commit families, in the order of their channels.
pub(crate) const FAMILIES: [CommitKind; 6] = [
    CommitKind::AsyncCopy,
    CommitKind::Wgmma,
    CommitKind::TmaStore,
    CommitKind::Tdm,
    CommitKind::RelaxedRead,
    CommitKind::Stage,
];

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
        Channel(thread as u32 * PER_THREAD)
    }

    /// What its tensor core does.
    pub fn tensor_core(self, thread: usize) -> Channel {
        Channel(thread as u32 * PER_THREAD + 1)
    }

    /// Its commit groups of one family.
    pub fn group(self, thread: usize, kind: CommitKind) -> Channel {
        Channel(thread as u32 * PER_THREAD + 2 + kind as u32)
    }

    /// The flips of a barrier.
    pub fn barrier(self, barrier: usize) -> Channel {
        Channel(self.threads * PER_THREAD + barrier as u32)
    }

    /// Which commit family a channel belongs to, if any.
    pub fn family(self, channel: Channel) -> Option<CommitKind> {
        let kind = (channel.0 % PER_THREAD).checked_sub(2)?;
        FAMILIES.get(kind as usize).copied().filter(|_| channel.0 < self.threads * PER_THREAD)
    }

    /// Which barrier's flips a channel counts, if any.
    pub fn barrier_of(self, channel: Channel) -> Option<usize> {
        channel.0.checked_sub(self.threads * PER_THREAD).map(|barrier| barrier as usize)
    }
}

/// Channels of one piece of a clock.
pub(super) const PIECE: usize = 16;

type Piece = CopyOnWrite<[u32; PIECE]>;

/// For each channel the last event seen; channels past the end have been seen up to 0.
///
/// In pieces that clocks share: what threads tell each other is mostly what others told them, so
/// in a large cluster few pieces differ, and few are compared.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Clock(SmallVec<[Option<Piece>; 6]>);

impl Clock {
    /// The last event of `channel` that was seen.
    #[inline]
    pub fn get(&self, channel: Channel) -> u32 {
        let index = channel.0 as usize;
        match self.0.get(index / PIECE) {
            Some(Some(piece)) => piece[index % PIECE],
            _ => 0,
        }
    }

    /// Sees the events of `channel` up to `number`.
    #[inline]
    pub fn see(&mut self, channel: Channel, number: u32) {
        if number <= self.get(channel) {
            return;
        }
        let index = channel.0 as usize;
        if index / PIECE >= self.0.len() {
            self.0.resize(index / PIECE + 1, None);
        }
        let piece = self.0[index / PIECE].get_or_insert_with(Default::default);
        piece[index % PIECE] = number;
    }

    /// Sees all that `other` has seen.
    #[inline]
    pub fn join(&mut self, other: &Clock) {
        if self.0.is_empty() {
            self.0.clone_from(&other.0);
            return;
        }
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), None);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            let Some(theirs) = theirs else { continue };
            match mine {
                None => *mine = Some(theirs.clone()),
                Some(mine) if mine.is_same(theirs) => {}
                Some(mine) => join_pieces(mine, theirs),
            }
        }
    }

    /// The events seen, by channel, in the pieces that clocks share; none for a piece of which nothing was seen.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Option<&[u32; PIECE]>> {
        self.0.iter().map(Option::as_deref)
    }

    /// Calls `each` with every channel of which more was seen than `known` says, by channel, and
    /// brings `known` up to date.
    pub fn ahead(&self, known: &mut Vec<u32>, mut each: impl FnMut(Channel, u32)) {
        if known.len() < self.0.len() * PIECE {
            known.resize(self.0.len() * PIECE, 0);
        }
        for (number, (piece, known)) in self.0.iter().zip(known.chunks_mut(PIECE)).enumerate() {
            let Some(piece) = piece else { continue };
            if piece.iter().zip(&*known).all(|(seen, known)| seen <= known) {
                continue;
            }
            for (at, (&seen, known)) in piece.iter().zip(known).enumerate() {
                if seen > *known {
                    *known = seen;
                    each(Channel((number * PIECE + at) as u32), seen);
                }
            }
        }
    }

    /// Whether it has seen all that `other` has seen.
    pub fn covers(&self, other: &Clock) -> bool {
        other.0.iter().enumerate().all(|(at, theirs)| match (self.0.get(at), theirs) {
            (_, None) => true,
            (Some(Some(mine)), Some(theirs)) => {
                mine.is_same(theirs) || mine.iter().zip(theirs.iter()).all(|(mine, theirs)| mine >= theirs)
            }
            (_, Some(theirs)) => theirs.iter().all(|seen| *seen == 0),
        })
    }

    /// Makes it the clock of who has seen nothing.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// By the digests of its pieces, each of which is made once.
impl Hash for Clock {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_usize(self.0.len());
        for piece in &self.0 {
            hasher.write_u128(piece.as_ref().map_or(0, |piece| piece.digest(|seen, digest| seen.hash(digest))));
        }
    }
}

fn join_pieces(mine: &mut Piece, theirs: &Piece) {
    let (mut more, mut less) = (false, false);
    for (a, b) in mine.iter().zip(theirs.iter()) {
        more |= b > a;
        less |= b < a;
    }
    match (more, less) {
        (false, _) => {}
        (true, false) => *mine = theirs.clone(),
        (true, true) => {
            for (a, b) in mine.iter_mut().zip(theirs.iter()) {
                *a = (*a).max(*b);
            }
        }
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
