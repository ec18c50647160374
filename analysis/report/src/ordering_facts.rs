//! What all runs of a report say of who orders what: pairs of accesses with what orders them, waits
//! with what they are good for, barriers with their traffic. Ids only; [`super::edges`],
//! [`super::coverage`] and [`super::remarks`] make the report's lists of it.

use super::pairs::{AccessSite, BarrierArray, OrderedBy, Pair, SyncLink};
use super::payload::Payload;
use kernel::EffectId;
use machine::{BarrierAction, BarrierPlace, Record};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// A wait that passed.
#[derive(Clone, Copy, Debug)]
pub(super) struct PassedWait {
    /// The effect of the op.
    pub effect: EffectId,
    /// On what.
    pub place: BarrierPlace,
    /// Flips since the barrier's init.
    pub flips: u32,
    /// The thread of the machine.
    pub thread: u16,
    /// Whether its thread knew of the last flip already.
    pub again: bool,
    /// Whether it told its thread nothing but that flip.
    pub idle: bool,
}

/// What a waiting op did, over all runs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Waits {
    /// Times that it passed.
    pub rounds: u32,
    /// Of these, before the barrier had flipped at all.
    pub free: u32,
    /// Of these, on a flip that its thread knew of already.
    pub again: u32,
    /// Of these, with nothing new to say about anybody: those of `again`, and where earlier waits have
    /// said it all.
    pub idle: u32,
}

/// What went over one barrier in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Traffic {
    /// The barrier by its place.
    pub place: BarrierPlace,
    /// How many phases it completed.
    pub flips: u32,
    /// Waits that passed, be it before the first of them.
    pub waits: u32,
}

/// How often a pair was met.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct PairCounts {
    /// With no write of the same memory in between.
    pub near: u32,
    /// Times with a write of the same memory in between.
    pub far: u32,
}

/// Times in a row that a pair is ordered before it is taken for known.
const FAMILIAR: u32 = 8;

/// Links that each order one pair.
pub(super) type Links = SmallVec<[SyncLink; 4]>;

/// Ops that wait.
type Ops = SmallVec<[EffectId; 2]>;

/// The sum of all runs.
#[derive(Debug, Default)]
pub(super) struct OrderingFacts {
    numbers: FxHashMap<Pair, usize>,
    pairs: Vec<(Pair, PairCounts)>,
    /// For two places how often in a row they were ordered, and the pair that they were last.
    known: FxHashMap<(AccessSite, AccessSite), (u32, usize)>,
    /// For two places the links of which each orders them, every time that they were met.
    also: FxHashMap<(AccessSite, AccessSite), Links>,
    met: FxHashMap<SyncLink, usize>,
    links: Vec<SyncLink>,
    waits: Vec<Waits>,
    ran: Vec<u32>,
    initialised: Vec<BarrierPlace>,
    in_use: FxHashSet<BarrierPlace>,
    /// Waits of a thread that passed on one flip of a barrier, the one at hand.
    round: FxHashMap<(BarrierPlace, u16), (u32, Ops)>,
    shared: Vec<(BarrierArray, Ops)>,
    passed: FxHashMap<BarrierPlace, u32>,
    traffic: Vec<Vec<Traffic>>,
    /// What is handed over by each barrier.
    pub payload: Payload,
    /// Runs that ended.
    pub complete: usize,
    /// Runs that did not.
    pub cut: usize,
    /// Whether some run executed an op that the machine cannot follow.
    pub unmodelled: bool,
}

fn slot<T: Clone + Default>(list: &mut Vec<T>, effect: EffectId) -> &mut T {
    if list.len() <= effect.index() {
        list.resize(effect.index() + 1, T::default());
    }
    &mut list[effect.index()]
}

impl OrderingFacts {
    /// An effect was executed.
    pub(super) fn ran(&mut self, effect: EffectId) {
        *slot(&mut self.ran, effect) += 1;
    }

    /// A barrier was initialised.
    pub(super) fn initialised(&mut self, record: &Record) {
        for barrier in record.barriers.iter().filter(|barrier| barrier.act == BarrierAction::Init) {
            // Its flips are counted anew.
            self.round.retain(|(place, _), _| *place != barrier.place);
            if !self.initialised.contains(&barrier.place) {
                self.initialised.push(barrier.place);
            }
        }
    }

    /// Counts a pair that is ordered once more, if it is known well; how it is ordered then is how it
    /// was the last time.
    pub(super) fn again(&mut self, earlier: AccessSite, later: AccessSite, near: bool) -> bool {
        let Some((times, number)) = self.known.get_mut(&(earlier, later)) else { return false };
        if *times < FAMILIAR {
            return false;
        }
        if let Some((_, met)) = self.pairs.get_mut(*number) {
            *if near { &mut met.near } else { &mut met.far } += 1;
        }
        true
    }

    /// A pair was met.
    pub(super) fn pair(&mut self, pair: Pair, near: bool) {
        let pairs = &mut self.pairs;
        let number = *self.numbers.entry(pair).or_insert_with(|| {
            pairs.push((pair, PairCounts::default()));
            pairs.len() - 1
        });
        if let Some((_, met)) = pairs.get_mut(number) {
            *if near { &mut met.near } else { &mut met.far } += 1;
        }
        let ordered = matches!(pair.how, OrderedBy::Sync(_) | OrderedBy::Program);
        let known = self.known.entry((pair.earlier, pair.later)).or_default();
        *known = (if ordered { known.0 + 1 } else { 0 }, number);
    }

    /// Each of these links orders a pair that was met.
    pub(super) fn also(&mut self, earlier: AccessSite, later: AccessSite, links: &Links) {
        let known = self.also.entry((earlier, later)).or_insert_with(|| links.clone());
        known.retain(|link| links.iter().any(|other| (other.array, other.from) == (link.array, link.from)));
    }

    /// The links of which each orders a pair.
    pub(super) fn each(&self, pair: &Pair) -> &[SyncLink] {
        self.also.get(&(pair.earlier, pair.later)).map_or(&[], |links| links.as_slice())
    }

    /// Lets pairs that several links order be told by one that `own` accepts, where there is one.
    pub(super) fn prefer(&mut self, own: impl Fn(&Pair, &SyncLink) -> bool) {
        for (pair, _) in &mut self.pairs {
            let OrderedBy::Sync(link) = pair.how else { continue };
            if own(pair, &link) {
                continue;
            }
            let links = self.also.get(&(pair.earlier, pair.later));
            if let Some(link) = links.into_iter().flatten().find(|link| own(pair, link)) {
                pair.how = OrderedBy::Sync(*link);
            }
        }
    }

    /// A wait saw an arrival, whatever that orders.
    pub(super) fn met(&mut self, tie: SyncLink) {
        let links = &mut self.links;
        self.met.entry(tie).or_insert_with(|| {
            links.push(tie);
            links.len() - 1
        });
    }

    /// A barrier is waited for, or arrived at.
    pub(super) fn used(&mut self, place: BarrierPlace) {
        self.in_use.insert(place);
    }

    /// A wait passed.
    pub(super) fn waited(&mut self, passed: &PassedWait) {
        self.used(passed.place);
        let waits = slot(&mut self.waits, passed.effect);
        waits.rounds += 1;
        *self.passed.entry(passed.place).or_default() += 1;
        if passed.flips == 0 {
            waits.free += 1;
            return;
        }
        waits.again += u32::from(passed.again);
        waits.idle += u32::from(passed.idle);
        let round = self.round.entry((passed.place, passed.thread)).or_default();
        if round.0 != passed.flips {
            *round = (passed.flips, SmallVec::new());
        }
        round.1.push(passed.effect);
        if round.1.len() > 1 {
            let mut effects = round.1.clone();
            effects.sort_unstable();
            effects.dedup();
            let entry = (BarrierArray::of(passed.place), effects);
            if !self.shared.contains(&entry) {
                self.shared.push(entry);
            }
        }
    }

    /// A run is over; for each of its barriers the flips that it made.
    pub(super) fn finish(&mut self, flips: &[(BarrierPlace, u32)]) {
        let waits = |place: &BarrierPlace| self.passed.get(place).copied().unwrap_or(0);
        let traffic = flips.iter().map(|&(place, flips)| Traffic { place, flips, waits: waits(&place) }).collect();
        self.traffic.push(traffic);
        self.passed.clear();
        self.round.clear();
    }

    /// Every pair with how often it was met, in the order in which they were first met.
    pub(super) fn pairs(&self) -> &[(Pair, PairCounts)] {
        &self.pairs
    }

    /// Every link between an arrival and a wait.
    pub(super) fn links(&self) -> &[SyncLink] {
        &self.links
    }

    /// What a waiting op did.
    pub(super) fn waits(&self, effect: EffectId) -> Waits {
        self.waits.get(effect.index()).copied().unwrap_or_default()
    }

    /// How often an effect was executed.
    pub(super) fn times(&self, effect: EffectId) -> u32 {
        self.ran.get(effect.index()).copied().unwrap_or(0)
    }

    /// Barriers that were initialised, and then neither waited for nor arrived at.
    pub(super) fn idle_places(&self) -> impl Iterator<Item = BarrierPlace> + '_ {
        self.initialised.iter().copied().filter(|place| !self.in_use.contains(place))
    }

    /// Waiting ops of one thread that passed on one flip.
    pub(super) fn shared(&self) -> &[(BarrierArray, Ops)] {
        &self.shared
    }

    /// Every array with traffic.
    pub(super) fn arrays(&self) -> Vec<BarrierArray> {
        let mut arrays: Vec<BarrierArray> =
            self.traffic.iter().flatten().map(|one| BarrierArray::of(one.place)).collect();
        arrays.sort_unstable();
        arrays.dedup();
        arrays
    }

    /// What went over the barriers of an array in the run in which most did, slot by slot; of several CTAs that have such a
    /// slot in the one in which most did.
    pub(super) fn traffic(&self, array: BarrierArray) -> Vec<(u32, u32)> {
        let of = |run: &Vec<Traffic>| {
            let mut own: Vec<Traffic> =
                run.iter().filter(|one| BarrierArray::of(one.place) == array).copied().collect();
            own.sort_by_key(|one| (one.place.start, std::cmp::Reverse((one.flips, one.waits)), one.place.cta));
            own.dedup_by_key(|one| one.place.start);
            own
        };
        let runs = self.traffic.iter().map(of);
        let most = runs.max_by_key(|own| own.iter().map(|one| one.flips).sum::<u32>()).unwrap_or_default();
        most.iter().map(|one| (one.flips, one.waits)).collect()
    }
}
