//! Flips that hang on asynchronous engines: counted when their operations are issued, they come on the card when those are
//! done. Who waits without knowing that may pass by parity at an earlier flip, while the later ones are still to come.
//!
//! Of each such flip is kept what had to happen for it and what those before it had published. Only a wait that the
//! machine judges a hazard ([`EarlyWait`](super::violation::ScheduleHazard::EarlyWait)) asks for it, so a proof, which
//! such a wait ends, need not tell states apart by it. Whoever does not know an operation to be issued may wait before that,
//! and other schedules show what comes of it; here only operations count that are known to be issued. What is missed: flips further back than the last [`KEPT`] of a barrier.

use super::clock::Clock;
use super::frontier::{Frontier, Need};
use smallvec::SmallVec;

/// How many flips of a barrier are kept.
const KEPT: usize = 8;

/// A completion of an engine, and when its operation was issued.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct EngineArrival {
    /// The event that ends the operation.
    pub(super) completion: Need,
    /// The step of the thread that issued it.
    pub(super) issue: Need,
}

/// A flip that an engine's completion is part of.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct OpenFlip {
    /// Flips of this life of the barrier before it.
    after: u32,
    /// The completions of engines that it needed.
    arrivals: SmallVec<[EngineArrival; 1]>,
    /// What the flips before it had published.
    before: Frontier,
}

/// Those of a barrier since its init, oldest first.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub(super) struct OpenFlips(Vec<OpenFlip>);

impl OpenFlips {
    /// Notes a flip that came after so many, with the completions that it needed and what those before it had published.
    pub(super) fn flipped(&mut self, after: u32, arrivals: SmallVec<[EngineArrival; 1]>, before: &Frontier) {
        if self.0.len() == KEPT {
            self.0.remove(0);
        }
        self.0.push(OpenFlip { after, arrivals, before: before.clone() });
    }

    /// Whether there is nothing to forget.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many flips may have come on the card, at least, where `flips` are counted and a wait passes at a number of their
    /// parity, and what those had published. `known` of them are over for the one who waits, who has this order clock.
    pub(super) fn earliest(&self, flips: u32, known: u32, order: &Clock) -> Option<(u32, &Frontier)> {
        let has = |(channel, number): Need| order.get(channel) >= number;
        let under_way = |arrival: &EngineArrival| has(arrival.issue) && !has(arrival.completion);
        let fits = |open: &&OpenFlip| open.after >= known && (flips - open.after).is_multiple_of(2);
        let open = self.0.iter().filter(fits).find(|open| open.arrivals.iter().any(under_way))?;
        Some((open.after, &open.before))
    }
}
