//! The normal form of a state: equal for states that behave alike.
//!
//! Numbers on a channel only matter by order, and only against numbers that something still
//! holds: events in the shadow, needs and waiters of barriers, a thread's own counters. So each
//! number is replaced by its rank among those. Counts of flips matter by parity, and by whether
//! there were none, one or more.

use super::barrier::Barrier;
use super::clock::{Channel, Clock, FAMILIES, PIECE};
use super::frontier::Frontier;
use super::machine::Machine;
use super::shadow::Event;
use super::state::State;
use super::thread::ThreadStatus;
use kernel::CommitKind;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Numbers still held, by channel, ascending.
#[derive(Default)]
struct Held {
    /// Those of all channels, the numbers of one behind those of the one before.
    numbers: Vec<u32>,
    /// By channel, where its numbers begin and end.
    places: Vec<(u32, u32)>,
    /// The greatest of each channel.
    tops: Vec<u32>,
}

/// Numbers as they are met.
#[derive(Default)]
struct Holding {
    met: Vec<(Channel, u32)>,
    channels: usize,
}

impl Holding {
    fn hold(&mut self, channel: Channel, number: u32) {
        self.met.push((channel, number));
        self.channels = self.channels.max(channel.0 as usize + 1);
    }

    fn close(self) -> Held {
        let mut places = vec![(0, 0); self.channels];
        for (channel, _) in &self.met {
            places[channel.0 as usize].1 += 1;
        }
        let mut end = 0;
        for (start, count) in &mut places {
            (*start, end) = (end, end + *count);
            *count = *start;
        }
        let mut numbers = vec![0; self.met.len()];
        for (channel, number) in self.met {
            let end = &mut places[channel.0 as usize].1;
            numbers[*end as usize] = number;
            *end += 1;
        }
        let mut tops = vec![0; self.channels];
        for ((start, end), top) in places.iter_mut().zip(&mut tops) {
            let own = &mut numbers[*start as usize..*end as usize];
            own.sort_unstable();
            let mut kept = 0;
            for at in 0..own.len() {
                if at == 0 || own[at] != own[kept - 1] {
                    own[kept] = own[at];
                    kept += 1;
                }
            }
            *end = *start + kept as u32;
            *top = own[..kept].last().copied().unwrap_or(0);
        }
        Held { numbers, places, tops }
    }
}

impl Held {
    fn rank(&self, channel: Channel, number: u32) -> i64 {
        let Some(&(start, end)) = self.places.get(channel.0 as usize) else { return 0 };
        let held = self.numbers.get(start as usize..end as usize).unwrap_or(&[]);
        held.partition_point(|&other| other <= number) as i64
    }

    /// A piece of a clock by what it has not seen yet: it has seen most of what is still held.
    fn behind(&self, number: usize, seen: &[u32; PIECE]) -> [u32; PIECE] {
        let tops = self.tops.chunks(PIECE).nth(number).unwrap_or_default();
        let mut behind = [SEEN; PIECE];
        for (at, ((&seen, &top), behind)) in seen.iter().zip(tops).zip(&mut behind).enumerate() {
            if seen < top {
                *behind = self.rank(Channel((number * PIECE + at) as u32), seen) as u32;
            }
        }
        behind
    }
}

/// The rank of who has seen all that is held.
const SEEN: u32 = u32::MAX;

/// By place the address and number of a clock's pieces, and its own number.
#[derive(Default)]
struct LastClock {
    pieces: Vec<(usize, i64)>,
    number: i64,
}

/// Whose clocks are written.
#[derive(Clone, Copy)]
enum Whose {
    Thread,
    /// Of a barrier, what its last flip released.
    Released,
    /// Of a barrier, what arrived since.
    Arrived,
}

/// What the clocks of a thread or a barrier are for, in the order of [`Frontier`].
#[derive(Clone, Copy)]
enum ClockOf {
    Seen,
    Fenced,
    Order,
    Over,
}

/// Writes clocks. Most are equal to others or share pieces with them, so pieces and clocks are numbered in the
/// order in which they come, and what stands for each is written where it comes first.
struct Clocks<'a> {
    held: &'a Held,
    /// By whose it is and what for: the clock that came last. The next is often the same, or shares pieces with it.
    last: [[LastClock; 4]; 3],
    /// By address and place of a piece.
    known: FxHashMap<(usize, usize), i64>,
    pieces: FxHashMap<[u32; PIECE], i64>,
    clocks: FxHashMap<Box<[i64]>, i64>,
    /// The numbers of the pieces of the clock at hand.
    numbers: Vec<i64>,
    /// Pieces that the clock at hand has brought.
    new: Vec<[u32; PIECE]>,
    /// Pieces that were looked at.
    looked_at: u64,
}

impl Clocks<'_> {
    fn write(&mut self, (whose, of): (Whose, ClockOf), clock: &Clock, out: &mut Vec<i64>) {
        let last = &mut self.last[whose as usize][of as usize];
        let count = self.held.tops.len().div_ceil(PIECE);
        self.looked_at += count as u64;
        let address = |piece: Option<&[u32; PIECE]>| piece.map_or(0, |piece| piece.as_ptr() as usize);
        let addresses = clock.pieces().map(address).chain(std::iter::repeat(0));
        if count > 0 && last.pieces.len() == count && last.pieces.iter().zip(addresses).all(|(last, now)| last.0 == now)
        {
            return out.push(last.number);
        }
        let mut pieces = clock.pieces();
        self.numbers.clear();
        self.new.clear();
        last.pieces.resize(count, (usize::MAX, 0));
        for place in 0..count {
            let piece = pieces.next().flatten();
            let key = (address(piece), place);
            if last.pieces[place].0 == key.0 {
                self.numbers.push(last.pieces[place].1);
                continue;
            }
            if let Some(&number) = self.known.get(&key) {
                self.numbers.push(number);
                last.pieces[place] = (key.0, number);
                continue;
            }
            let behind = self.held.behind(place, piece.unwrap_or(&[0; PIECE]));
            let next = self.pieces.len() as i64;
            let number = *self.pieces.entry(behind).or_insert(next);
            if number == next {
                self.new.push(behind);
            }
            self.known.insert(key, number);
            last.pieces[place] = (key.0, number);
            self.numbers.push(number);
        }
        let next = self.clocks.len() as i64;
        if let Some(&number) = self.clocks.get(self.numbers.as_slice()) {
            last.number = number;
            return out.push(number);
        }
        out.push(next);
        last.number = next;
        out.extend_from_slice(&self.numbers);
        for piece in &self.new {
            let behind = || piece.iter().enumerate().filter(|(_, rank)| **rank != SEEN);
            out.push(2 * behind().count() as i64);
            out.extend(behind().flat_map(|(at, rank)| [at as i64, i64::from(*rank)]));
        }
        self.clocks.insert(self.numbers.as_slice().into(), next);
    }

    fn frontier(&mut self, whose: Whose, frontier: &Frontier, out: &mut Vec<i64>) {
        self.write((whose, ClockOf::Seen), &frontier.seen, out);
        self.write((whose, ClockOf::Fenced), &frontier.fenced, out);
        self.write((whose, ClockOf::Order), &frontier.order, out);
        self.write((whose, ClockOf::Over), &frontier.over, out);
    }
}

impl Machine<'_> {
    /// The normal form of everything but the variables and places of threads in the program. Gives how many pieces of
    /// clocks were looked at for it: with many barriers that is most of the work, however short the form.
    pub fn normal_form(&self, state: &State, out: &mut Vec<i64>) -> u64 {
        let mut held = Holding::default();
        held.met.reserve(2 * state.shadow.size() + 16 * state.threads.len());
        for (number, thread) in state.threads.iter().enumerate() {
            held.hold(self.channels.base(number), thread.ticks);
            held.hold(self.channels.tensor_core(number), thread.tensor_core);
            for kind in FAMILIES {
                let channel = self.channels.group(number, kind);
                let groups = &thread.groups[kind as usize];
                held.hold(channel, groups.issued);
                groups.open.iter().for_each(|&last| held.hold(channel, last));
            }
            thread.lagging.iter().for_each(|&(channel, last)| held.hold(channel, last));
            let dots = self.channels.group(number, CommitKind::Wgmma);
            thread.results.iter().for_each(|&(_, dot)| held.hold(dots, dot));
        }
        for history in state.shadow.histories() {
            history.write.iter().chain(&history.reads).for_each(|event| held.hold(event.channel, event.number));
        }
        for (number, (_, barrier)) in state.barriers.iter().enumerate() {
            barrier.held(self.channels.barrier(number), |channel, number| held.hold(channel, number));
        }
        let held = held.close();
        let mut clocks = Clocks {
            held: &held,
            last: Default::default(),
            known: FxHashMap::default(),
            pieces: FxHashMap::default(),
            clocks: FxHashMap::default(),
            numbers: Vec::new(),
            new: Vec::new(),
            looked_at: 0,
        };

        for (number, thread) in state.threads.iter().enumerate() {
            out.push(thread.life as i64);
            if thread.life != ThreadStatus::Running {
                continue;
            }
            for kind in FAMILIES {
                let channel = self.channels.group(number, kind);
                let groups = &thread.groups[kind as usize];
                out.push(groups.open.len() as i64);
                out.push(held.rank(channel, groups.issued));
                out.extend(groups.open.iter().map(|&last| held.rank(channel, last)));
            }
            out.push(thread.lagging.len() as i64);
            let lagging = thread.lagging.iter();
            out.extend(lagging.flat_map(|&(channel, last)| [i64::from(channel.0), held.rank(channel, last)]));
            let dots = self.channels.group(number, CommitKind::Wgmma);
            out.push(thread.results.len() as i64);
            out.extend(thread.results.iter().flat_map(|&(result, dot)| [i64::from(result), held.rank(dots, dot)]));
            clocks.write((Whose::Thread, ClockOf::Seen), &thread.seen, out);
            clocks.write((Whose::Thread, ClockOf::Fenced), &thread.fenced, out);
            clocks.write((Whose::Thread, ClockOf::Order), &thread.order, out);
            clocks.write((Whose::Thread, ClockOf::Over), &thread.over, out);
            // Of a rendezvous only matters whether it is over.
            out.push(thread.rendezvous.len() as i64);
            let mut met: SmallVec<[[i64; 2]; 4]> = SmallVec::new();
            for &(number, before) in &thread.rendezvous {
                let total = state.barriers.get(number as usize).map_or(0, |(_, barrier)| barrier.total);
                met.push([i64::from(number), i64::from(total > before)]);
            }
            met.sort_unstable();
            out.extend(met.into_iter().flatten());
        }
        let event = |event: &Event, out: &mut Vec<i64>| {
            out.extend([
                i64::from(event.channel.0),
                held.rank(event.channel, event.number),
                i64::from(event.thread),
                i64::from(event.effect.0),
                i64::from(event.access) * 2 + i64::from(event.grants),
            ]);
        };
        for history in state.shadow.histories() {
            out.extend([
                i64::from(history.initialised),
                history.reads.len() as i64,
                i64::from(history.write.is_some()),
            ]);
            history.write.iter().for_each(|write| event(write, out));
            let mut reads: SmallVec<[&Event; 8]> = history.reads.iter().collect();
            reads.sort_unstable_by_key(|read| (read.channel, read.generic));
            reads.into_iter().for_each(|read| event(read, out));
        }
        for (number, (_, barrier)) in state.barriers.iter().enumerate() {
            barrier.normal(self.channels.barrier(number), out, &|channel, number| held.rank(channel, number));
            let (released, current) = barrier.frontiers();
            clocks.frontier(Whose::Released, released, out);
            clocks.frontier(Whose::Arrived, current, out);
        }
        clocks.looked_at
    }
}

impl Barrier {
    fn held(&self, channel: Channel, mut hold: impl FnMut(Channel, u32)) {
        hold(channel, self.total);
        hold(channel, self.total.saturating_sub(1));
        self.events().for_each(|(channel, number)| hold(channel, number));
    }

    fn normal(&self, channel: Channel, out: &mut Vec<i64>, rank: &dyn Fn(Channel, u32) -> i64) {
        out.extend([
            i64::from(self.live),
            self.initial,
            self.pending,
            self.bytes,
            i64::from(self.flips & 1),
            i64::from(self.flips.min(2)),
            rank(channel, self.total),
        ]);
        let mut events: SmallVec<[(i64, i64); 16]> =
            self.events().map(|(channel, number)| (i64::from(channel.0), rank(channel, number))).collect();
        events.sort_unstable();
        out.push(events.len() as i64);
        out.extend(events.into_iter().flat_map(|(channel, rank)| [channel, rank]));
    }
}
