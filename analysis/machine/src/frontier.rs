//! What arrivals publish, and what flips have published.

use super::clock::{Channel, Clock};

/// An event that a flip needed: an arrival, as its channel and number there.
pub(super) type Need = (Channel, u32);

/// What arrivals publish.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct Frontier {
    /// Accesses that a waiter then sees.
    pub seen: Clock,
    /// Accesses that are fenced for the async proxy.
    pub fenced: Clock,
    /// Events that are over in time, whether published or not.
    pub order: Clock,
    /// Reads that are over, whatever is published: those that the issuer of a copy had seen, when
    /// the copy has come.
    pub over: Clock,
}

/// What one arrival publishes: what its thread knows, and the operation that it announces.
#[derive(Clone, Copy, Debug)]
pub struct Publication<'a> {
    /// Accesses that a waiter then sees, and those that are fenced for it.
    pub seen: Option<[&'a Clock; 2]>,
    /// Events that are over in time.
    pub order: &'a Clock,
    /// Reads that are over.
    pub over: [Option<&'a Clock>; 2],
    /// An event that is seen and over in time beside those.
    pub also: Option<Need>,
}

impl Publication<'_> {
    /// The last event of a channel that is over in time.
    pub(super) fn order(&self, channel: Channel) -> u32 {
        let also = self.also.filter(|(of, _)| *of == channel).map_or(0, |(_, number)| number);
        self.order.get(channel).max(also)
    }
}

impl Frontier {
    pub(super) fn join(&mut self, other: &Frontier) {
        self.seen.join(&other.seen);
        self.fenced.join(&other.fenced);
        self.order.join(&other.order);
        self.over.join(&other.over);
    }

    pub(super) fn take_in(&mut self, published: &Publication<'_>) {
        if let Some([seen, fenced]) = published.seen {
            self.seen.join(seen);
            self.fenced.join(fenced);
        }
        self.order.join(published.order);
        published.over.into_iter().flatten().for_each(|over| self.over.join(over));
        if let Some((channel, number)) = published.also {
            self.seen.see(channel, number);
            self.order.see(channel, number);
        }
    }

    pub(super) fn clear(&mut self) {
        self.seen.clear();
        self.fenced.clear();
        self.order.clear();
        self.over.clear();
    }
}
