//! Flips that hang on asynchronous engines: counted when their operations are issued, they come on the card when those are
//! done. Who waits without knowing that may pass by parity at an earlier flip, while the later ones are still to come.
//!
//! Of each such flip is kept what had to happen for it and what those before it had published. Only a wait that the
//! machine judges a hazard ([`EarlyWait`](super::violation::ScheduleHazard::EarlyWait)) asks for it, so a proof, which
//! such a wait ends, need not tell states apart by it. Whoever does not know an operation to be issued may wait before that,
//! and other schedules show what comes of it; here only operations count that are known to be issued. What is missed: flips further back than the last [`KEPT`] of a barrier.

use super::barrier::{Frontier, Need};
use super::clock::Clock;
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

#[cfg(test)]
mod tests {
    use super::super::barrier::{Arriving, Barrier, Need, Publication, TxCount, Waiter};
    use super::super::clock::{Channel, Channels, Clock};

    /// A barrier of one arrival that flipped once for each of these events, the issuer knowing of none.
    fn flipped(channels: Channels, events: impl IntoIterator<Item = Need>) -> Barrier {
        let mut barrier = Barrier::default();
        barrier.init(1, (channels.base(0), 0));
        let order = Clock::default();
        for event in events {
            let published = Publication { seen: None, order: &order, over: [None; 2], also: Some(event) };
            let (channel, engine) = (channels.barrier(0), event.0 != channels.base(0));
            let issued = engine.then_some((channels.base(0), event.1));
            let arriving = Arriving { count: 1, bytes: 0, published, event: Some(event), issued, step: 0, channel };
            assert_eq!(barrier.arrive(&arriving, TxCount::Bytes, |_| ()), Ok(true));
        }
        barrier
    }

    /// How many flips a wait may come before, whose thread knows so many operations to be issued and an event to be over, and the last event of a channel
    /// that it then knows of.
    fn ahead(channels: Channels, barrier: &Barrier, known: Need, issued: u32, of: Channel) -> (u32, u32) {
        let mut order = Clock::default();
        order.see(known.0, known.1);
        order.see(channels.base(0), issued);
        let waiter = Waiter { thread: 1, channel: channels.base(1), tick: 1, step: 0 };
        let (total, mut barrier) = (barrier.total, barrier.clone());
        let passed = barrier.wait_passed(waiter, &order, channels.barrier(0), true);
        assert_eq!(total - passed.total, passed.ahead);
        assert!(passed.ahead == 0 || passed.hazard.is_some(), "a proof goes on past an early wait");
        (passed.ahead, passed.published.order.get(of))
    }

    #[test]
    fn a_wait_passes_at_the_earliest_flip_that_is_not_known_to_be_past() {
        let channels = Channels::new(2);
        let core = channels.tensor_core(0);
        let barrier = flipped(channels, (1..=5).map(|number| (core, number)));
        let ahead = |known, issued| ahead(channels, &barrier, known, issued, core);
        // Flip 1 is the first of the parity: nothing but that one is sure.
        assert_eq!(ahead((core, 0), 5), (4, 1));
        assert_eq!(ahead((core, 1), 5), (4, 1));
        assert_eq!(ahead((core, 2), 5), (2, 3));
        assert_eq!(ahead((core, 3), 5), (2, 3));
        assert_eq!(ahead((core, 4), 5), (0, 5));
        // Who does not know that they are issued may wait before that, in another schedule.
        assert_eq!(ahead((core, 0), 0), (0, 5));
        assert_eq!(ahead((core, 0), 2), (4, 1));
        // The same by the barrier's own flips.
        assert_eq!(ahead((channels.barrier(0), 2), 5), (2, 3));
        assert_eq!(ahead((channels.barrier(0), 4), 5), (0, 5));
    }

    #[test]
    fn flips_of_threads_are_left_to_schedules() {
        let channels = Channels::new(2);
        let thread = channels.base(0);
        let barrier = flipped(channels, (1..=4).map(|number| (thread, number)));
        assert_eq!(ahead(channels, &barrier, (thread, 0), 0, thread), (0, 4));
    }

    #[test]
    fn an_init_forgets_the_flips_before_it() {
        let channels = Channels::new(2);
        let core = channels.tensor_core(0);
        let mut barrier = flipped(channels, (1..=3).map(|number| (core, number)));
        barrier.live = false;
        barrier.init(1, (channels.base(0), 1));
        assert!(barrier.open_flips().is_empty());
    }
}
