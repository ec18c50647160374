//! The normal form of a state: equal for states that behave alike.
//!
//! Numbers on a channel only matter by order, and only against numbers that something still
//! holds: events in the shadow, needs and waiters of barriers, a thread's own counters. So each
//! number is replaced by its rank among those. Counts of flips matter by parity, and by whether
//! there were none, one or more.

use super::barrier::{Barrier, Frontier};
use super::clock::{Channel, Clock, FAMILIES, PIECE};
use super::machine::Machine;
use super::shadow::Event;
use super::state::State;
use super::thread::ThreadStatus;
use kernel::CommitKind;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Numbers still held, by channel, ascending, and the greatest of each.
struct Held(Vec<Vec<u32>>, Vec<u32>);

impl Held {
    fn hold(&mut self, channel: Channel, number: u32) {
        let index = channel.0 as usize;
        if index >= self.0.len() {
            self.0.resize(index + 1, Vec::new());
        }
        self.0[index].push(number);
    }

    fn rank(&self, channel: Channel, number: u32) -> i64 {
        self.0.get(channel.0 as usize).map_or(0, |held| held.partition_point(|&other| other <= number)) as i64
    }

    /// Sorts what is held.
    fn close(&mut self) {
        for numbers in &mut self.0 {
            numbers.sort_unstable();
            numbers.dedup();
        }
        self.1 = self.0.iter().map(|held| held.last().copied().unwrap_or(0)).collect();
    }

    /// A piece of a clock by what it has not seen yet: it has seen most of what is still held.
    fn behind(&self, number: usize, seen: &[u32; PIECE]) -> SmallVec<[i64; 8]> {
        let tops = self.1.chunks(PIECE).nth(number).unwrap_or_default();
        let mut behind = SmallVec::new();
        for (at, (&seen, &top)) in seen.iter().zip(tops).enumerate() {
            if seen < top {
                behind.extend([at as i64, self.rank(Channel((number * PIECE + at) as u32), seen)]);
            }
        }
        behind
    }
}

/// Writes clocks. Most are equal to others or share pieces with them, so pieces and clocks are numbered in the
/// order in which they come, and what stands for each is written where it comes first.
struct Clocks<'a> {
    held: &'a Held,
    /// By place the address and number of the piece that came last, and the number of the clock: the next is often the
    /// same.
    last: (SmallVec<[(usize, i64); 8]>, i64),
    /// By address and place of a piece.
    known: FxHashMap<(usize, usize), i64>,
    pieces: FxHashMap<SmallVec<[i64; 8]>, i64>,
    clocks: FxHashMap<SmallVec<[i64; 8]>, i64>,
}

impl Clocks<'_> {
    fn write(&mut self, clock: &Clock, out: &mut Vec<i64>) {
        let count = self.held.1.len().div_ceil(PIECE);
        let mut pieces = clock.pieces();
        let mut numbers: SmallVec<[i64; 8]> = SmallVec::new();
        let mut new: SmallVec<[i64; 8]> = SmallVec::new();
        let mut same = !self.last.0.is_empty();
        self.last.0.resize(count, (usize::MAX, 0));
        for place in 0..count {
            let piece = pieces.next().flatten();
            let key = (piece.map_or(0, |piece| piece.as_ptr() as usize), place);
            if self.last.0[place].0 == key.0 {
                numbers.push(self.last.0[place].1);
                continue;
            }
            same = false;
            if let Some(&number) = self.known.get(&key) {
                numbers.push(number);
                self.last.0[place] = (key.0, number);
                continue;
            }
            let behind = self.held.behind(place, piece.unwrap_or(&[0; PIECE]));
            let next = self.pieces.len() as i64;
            let number = *self.pieces.entry(behind.clone()).or_insert(next);
            if number == next {
                new.push(behind.len() as i64);
                new.extend(behind);
            }
            self.known.insert(key, number);
            self.last.0[place] = (key.0, number);
            numbers.push(number);
        }
        if same {
            return out.push(self.last.1);
        }
        let next = self.clocks.len() as i64;
        let number = *self.clocks.entry(numbers.clone()).or_insert(next);
        out.push(number);
        self.last.1 = number;
        if number == next {
            out.extend(numbers);
            out.extend(new);
        }
    }

    fn frontier(&mut self, frontier: &Frontier, out: &mut Vec<i64>) {
        self.write(&frontier.seen, out);
        self.write(&frontier.fenced, out);
        self.write(&frontier.order, out);
        self.write(&frontier.over, out);
    }
}

impl Machine<'_> {
    /// The normal form of everything but the variables and places of threads in the program.
    pub fn normal_form(&self, state: &State, out: &mut Vec<i64>) {
        let mut held = Held(Vec::new(), Vec::new());
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
        held.close();
        let mut clocks = Clocks {
            held: &held,
            last: (SmallVec::new(), 0),
            known: FxHashMap::default(),
            pieces: FxHashMap::default(),
            clocks: FxHashMap::default(),
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
            clocks.write(&thread.seen, out);
            clocks.write(&thread.fenced, out);
            clocks.write(&thread.order, out);
            clocks.write(&thread.over, out);
            // Of a rendezvous only matters whether it is over.
            out.push(thread.rendezvous.len() as i64);
            let mut met: Vec<[i64; 2]> = Vec::with_capacity(thread.rendezvous.len());
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
            let mut reads: Vec<&Event> = history.reads.iter().collect();
            reads.sort_unstable_by_key(|read| (read.channel, read.generic));
            reads.into_iter().for_each(|read| event(read, out));
        }
        for (number, (_, barrier)) in state.barriers.iter().enumerate() {
            barrier.normal(self.channels.barrier(number), out, &|channel, number| held.rank(channel, number));
            let (released, current) = barrier.frontiers();
            clocks.frontier(released, out);
            clocks.frontier(current, out);
        }
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
        let mut events: Vec<(i64, i64)> =
            self.events().map(|(channel, number)| (i64::from(channel.0), rank(channel, number))).collect();
        events.sort_unstable();
        out.push(events.len() as i64);
        out.extend(events.into_iter().flat_map(|(channel, rank)| [channel, rank]));
    }
}
