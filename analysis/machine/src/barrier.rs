//! One mbarrier: ConSan's `barrier_state`, and what makes a run stand for all schedules.
//!
//! State: phase, initial count, pending count, signed transaction count. An mbarrier is a phase,
//! not a semaphore: a wait consumes nothing and passes while the parity of the flips differs from
//! the one it names (PTX ISA, `mbarrier.try_wait.parity`).
//!
//! Beside ConSan's word a barrier keeps, per flip, what had to happen for it (`needs`), and the
//! waits that saw it. From these the run is judged *confluent*: every schedule lets each wait see
//! the flip that it saw here. Three things are required, each checked where it happens:
//!
//! 1. a wait that sees flip n comes after flip n-1, else it might have passed two flips earlier;
//! 2. flip n+1 comes after every wait that saw flip n, else that wait might be lapped;
//! 3. an arrival for flip n+1 comes after flip n, else it might have counted for flip n.
//!
//! A flip that hangs on an asynchronous engine is counted when its operation is issued, and every schedule of the
//! threads counts it then. So where the first fails for such a flip, whose operation is known to be issued, the wait is taken to pass at the earliest
//! flip that it may see, and to learn no more than what that one and those before it published.

use super::clock::{Channel, Clock};
use super::frontier::{Frontier, Need, Publication};
use super::open_flips::{EngineArrival, OpenFlips};
use super::shared::CopyOnWrite;
use super::violation::{CountOverrun, ScheduleHazard};
use kernel::SiteId;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

/// The base of a transaction count in units: each kind of unit has a digit.
pub const TX_DIGIT: i64 = 4096;

/// What a transaction count is a number of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum TxCount {
    /// Bytes.
    #[default]
    Bytes,
    /// Units of several kinds, each with a digit of the number ([`TX_DIGIT`]), by which kernels with copies of any size are
    /// run at once. Some of one kind less some of another might be 0 bytes; who has counted so far is refused.
    Units {
        /// The most of one kind that may be missing, or be too many.
        most: i64,
    },
}

impl TxCount {
    /// Bits of the counts in the hardware word (PTX ISA: 20 each; ConSan checks the same).
    pub const LIMIT: i64 = (1 << 20) - 1;

    /// Whether a barrier may have this count.
    fn allows(self, count: i64) -> bool {
        let TxCount::Units { most } = self else { return count.abs() <= TxCount::LIMIT };
        let (mut rest, mut missing, mut extra) = (count, 0, 0);
        while rest != 0 {
            let digit = (rest + TX_DIGIT / 2).rem_euclid(TX_DIGIT) - TX_DIGIT / 2;
            rest = (rest - digit) / TX_DIGIT;
            missing = missing.max(digit);
            extra = extra.max(-digit);
        }
        missing.max(extra) <= most && missing.min(extra) == 0
    }
}

/// A wait that saw a flip.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Waiter {
    /// The thread of the machine.
    pub thread: u16,
    /// The channel of its own program order.
    pub channel: Channel,
    /// When, in its own program order.
    pub tick: u32,
    /// Step of the run.
    pub step: u32,
}

/// A completion that was counted when its operation was issued, and that arrives when that is done.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct InFlight {
    /// The event that ends the operation.
    pub(super) event: Need,
    /// The thread that issued it.
    pub(super) thread: u16,
    /// The op.
    pub(super) site: SiteId,
    /// Step of the run.
    pub(super) step: u32,
}

/// A barrier that was initialised at least once.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct Barrier {
    /// Between `init_barrier` and `inval_barrier`.
    pub live: bool,
    /// Arrivals a phase.
    pub initial: i64,
    /// Arrivals still missing in this phase.
    pub pending: i64,
    /// Bytes expected less bytes arrived.
    pub bytes: i64,
    /// Flips since the last init; its parity is the hardware's phase bit.
    pub flips: u32,
    /// Flips since the kernel started: the number on the barrier's channel.
    pub total: u32,
    /// Published by all flips so far.
    pub released: Frontier,
    current: Frontier,
    current_needs: SmallVec<[Need; 4]>,
    last_needs: SmallVec<[Need; 4]>,
    previous_needs: SmallVec<[Need; 4]>,
    waiters: SmallVec<[Waiter; 4]>,
    last_use: SmallVec<[(u16, Channel, u32); 4]>,
    in_flight: SmallVec<[InFlight; 1]>,
    current_engines: SmallVec<[EngineArrival; 1]>,
    open: CopyOnWrite<OpenFlips>,
}

/// What a wait that passes is certain to see.
#[derive(Debug)]
pub struct WaitResult<'a> {
    /// The flips that have come, by their number since the kernel started.
    pub total: u32,
    /// What they have published.
    pub published: &'a Frontier,
    /// Flips that are counted and that the card may still be without.
    pub ahead: u32,
    /// Whether another schedule may go another way.
    pub hazard: Option<ScheduleHazard>,
}

/// One arrival at a barrier, as it is counted.
pub struct Arriving<'a> {
    /// Arrivals that it takes off.
    pub count: i64,
    /// Added to the transaction count (negative: bytes that came).
    pub bytes: i64,
    /// What it publishes.
    pub published: Publication<'a>,
    /// The arrival as an event; `None`: known only by the barrier's own flip.
    pub event: Option<Need>,
    /// Step of the run.
    pub step: u32,
    /// Where it comes when an operation is over: when that was issued.
    pub issued: Option<Need>,
    /// The barrier's channel.
    pub channel: Channel,
}

impl Barrier {
    /// The phase bit of the hardware's word.
    pub fn parity(&self) -> u32 {
        self.flips & 1
    }

    /// Whether a wait for `phase` passes now.
    pub fn passes(&self, phase: i64) -> bool {
        i64::from(self.parity()) != phase & 1
    }

    /// `init_barrier`. Earlier phases stay published; the init is "flip 0" of the new life.
    pub fn init(&mut self, count: i64, event: Need) {
        self.live = true;
        self.initial = count;
        self.pending = count;
        self.bytes = 0;
        self.flips = 0;
        self.current.clear();
        self.current_needs.clear();
        self.previous_needs.clear();
        self.last_needs.clear();
        self.last_needs.push(event);
        self.waiters.clear();
        self.in_flight.clear();
        self.current_engines.clear();
        if !self.open.is_empty() {
            self.open = CopyOnWrite::default();
        }
    }

    /// The first arrival at a rendezvous that has no storage and no init.
    pub fn start_rendezvous(&mut self, expected: i64) {
        self.live = true;
        self.initial = expected;
        self.pending = expected;
    }

    /// `inval_barrier`: every use so far must be over, else another schedule uses it afterwards.
    pub fn invalidate(&mut self, order: &Clock) -> Option<ScheduleHazard> {
        self.live = false;
        let open = self.last_use.iter().any(|&(_, channel, tick)| order.get(channel) < tick);
        open.then_some(ScheduleHazard::UnorderedInvalidation)
    }

    /// Notes an arrival that comes later than it is counted; of each sequence the last one is enough.
    pub(super) fn will_complete(&mut self, completion: InFlight) {
        match self.in_flight.iter_mut().find(|known| known.event.0 == completion.event.0) {
            Some(known) => *known = completion,
            None => self.in_flight.push(completion),
        }
    }

    /// A completion that somebody who has seen so much does not know to be over.
    pub(super) fn still_in_flight(&self, seen: &Clock) -> Option<&InFlight> {
        self.in_flight.iter().find(|completion| seen.get(completion.event.0) < completion.event.1)
    }

    /// Notes a use by a thread, so that a later invalidation can be ordered against it.
    pub fn used(&mut self, thread: u16, channel: Channel, tick: u32) {
        match self.last_use.iter_mut().find(|(user, _, _)| *user == thread) {
            Some(entry) => entry.2 = tick,
            None => self.last_use.push((thread, channel, tick)),
        }
    }

    /// Whether the last flip, or the init before the first, is over for someone with this order
    /// clock.
    pub fn last_flip_is_over(&self, order: &Clock, channel: Channel) -> bool {
        self.last_flip_is_over_for(|of| order.get(of), channel)
    }

    /// The same for someone who knows so much of each channel to be over.
    fn last_flip_is_over_for(&self, order: impl Fn(Channel) -> u32, channel: Channel) -> bool {
        (self.flips > 0 && order(channel) >= self.total)
            || self.last_needs.iter().all(|&(of, number)| order(of) >= number)
    }

    /// Counts an arrival, flips if the phase is complete; says what was published and what might
    /// have gone otherwise.
    pub fn arrive(
        &mut self,
        arriving: &Arriving<'_>,
        tx: TxCount,
        mut escape: impl FnMut(ScheduleHazard),
    ) -> Result<bool, CountOverrun> {
        if !self.last_flip_is_over_for(|of| arriving.published.order(of), arriving.channel) {
            escape(ScheduleHazard::EarlyArrival { step: arriving.step });
        }
        let (pending, bytes) = (self.pending - arriving.count, self.bytes + arriving.bytes);
        if pending < 0 {
            return Err(CountOverrun::Arrivals);
        }
        if !tx.allows(bytes) {
            return Err(CountOverrun::Bytes);
        }
        self.pending = pending;
        self.bytes = bytes;
        self.current.take_in(&arriving.published);
        let need = arriving.event.unwrap_or((arriving.channel, self.total + 1));
        self.current_needs.push(need);
        let engine = arriving.issued.map(|issue| EngineArrival { completion: need, issue });
        self.current_engines.extend(engine);
        if pending != 0 || bytes != 0 {
            return Ok(false);
        }
        for waiter in &self.waiters {
            if self.current.order.get(waiter.channel) < waiter.tick {
                escape(ScheduleHazard::Lapped { wait: waiter.step, flip: arriving.step });
            }
        }
        self.pending = self.initial;
        if !self.current_engines.is_empty() {
            self.open.flipped(self.flips, std::mem::take(&mut self.current_engines), &self.released);
        }
        self.flips += 1;
        self.total += 1;
        let current = std::mem::take(&mut self.current);
        self.released.join(&current);
        self.previous_needs = std::mem::replace(&mut self.last_needs, std::mem::take(&mut self.current_needs));
        self.waiters.clear();
        Ok(true)
    }

    /// Feeds what decides its behaviour into a hash; step numbers are left out.
    pub fn feed(&self, hasher: &mut impl Hasher) {
        (self.live, self.initial, self.pending, self.bytes, self.flips).hash(hasher);
        (&self.released, &self.current, &self.current_needs, &self.last_needs).hash(hasher);
        for waiter in &self.waiters {
            (waiter.thread, waiter.tick).hash(hasher);
        }
        for completion in &self.in_flight {
            completion.event.hash(hasher);
        }
        (&self.current_engines, &self.open).hash(hasher);
    }

    /// What its flips have published, and what the arrivals of this phase will.
    pub(super) fn frontiers(&self) -> (&Frontier, &Frontier) {
        (&self.released, &self.current)
    }

    /// Events that later judgements compare with.
    pub(super) fn events(&self) -> impl Iterator<Item = Need> + '_ {
        let needs = self.current_needs.iter().chain(&self.last_needs).chain(&self.previous_needs).copied();
        let waiters = self.waiters.iter().map(|waiter| (waiter.channel, waiter.tick));
        let uses = self.last_use.iter().map(|&(_, channel, tick)| (channel, tick));
        needs.chain(waiters).chain(uses).chain(self.in_flight.iter().map(|completion| completion.event))
    }

    /// Raises the pending count (`async_copy_mbarrier_arrive` without `noIncrement`).
    pub fn expect_more(&mut self, count: i64) {
        self.pending += count;
    }

    /// Someone reads the phase: the next flip must not come before that in any schedule.
    pub fn phase_read(&mut self, waiter: Waiter) {
        self.waiters.push(waiter);
    }

    /// A wait passes now, and where engines are under way, at the `earliest` flip if that is asked for. `order` is the
    /// waiter's before the wait.
    pub fn wait_passed(&mut self, waiter: Waiter, order: &Clock, channel: Channel, earliest: bool) -> WaitResult<'_> {
        self.waiters.push(waiter);
        // With one flip or none there is no earlier flip of the same parity to mistake this for,
        // save that the wait for the initial phase must see the init.
        let early = self.flips >= 2
            && order.get(channel) + 1 < self.total
            && !over(&self.previous_needs, order)
            && !over(&self.last_needs, order);
        let hazard = early.then_some(ScheduleHazard::EarlyWait { wait: waiter.step });
        let known = (order.get(channel) + self.flips).saturating_sub(self.total);
        let earliest = if early && earliest { self.open.earliest(self.flips, known, order) } else { None };
        let (flips, published) = earliest.unwrap_or((self.flips, &self.released));
        let ahead = self.flips - flips;
        WaitResult { total: self.total - ahead, published, ahead, hazard }
    }
}

fn over(needs: &[Need], order: &Clock) -> bool {
    needs.iter().all(|&(channel, number)| order.get(channel) >= number)
}

#[cfg(test)]
mod tests {
    use super::super::clock::{Channel, Channels, Clock};
    use super::super::frontier::{Need, Publication};
    use super::{Arriving, Barrier, TX_DIGIT, TxCount, Waiter};

    #[test]
    fn some_of_one_unit_less_some_of_another_is_refused() {
        let units = TxCount::Units { most: 8 };
        for count in [0, 8, -8, 1 + TX_DIGIT, -3 * TX_DIGIT - 2, 8 * TX_DIGIT * TX_DIGIT] {
            assert!(units.allows(count), "{count}");
        }
        for count in [9, -9, TX_DIGIT - 1, 1 - TX_DIGIT, 9 * TX_DIGIT, TX_DIGIT * TX_DIGIT - TX_DIGIT] {
            assert!(!units.allows(count), "{count}");
        }
        assert!(TxCount::Bytes.allows(TX_DIGIT - 1) && !TxCount::Bytes.allows(TxCount::LIMIT + 1));
    }

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
        assert!(barrier.open.is_empty());
    }
}
