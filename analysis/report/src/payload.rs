//! What each barrier hands over: the logical buffers that whoever arrives on it has just used and
//! whoever waits for it uses next. Such a barrier is a buffer's own. One that orders a use of the
//! buffer too, because it is arrived at later, does so by the way.
//!
//! Of a barrier's arrivals counts what their thread has done since it last arrived anywhere, of its
//! waits what their thread does until it next waits; arrivals, or waits, with nothing in between
//! share it. An MMA or copy that arrives itself speaks for its own operands.

use super::buffers::BufferAccesses;
use super::pairs::BarrierArray;
use kernel::EffectId;
use rustc_hash::{FxHashMap, FxHashSet};

/// An access of an effect.
type Access = (EffectId, u16);

/// A logical buffer: indices of buffer and member.
type Place = (usize, usize);

/// What one thread has done since it last arrived, and for which waits.
#[derive(Debug, Default)]
pub(super) struct Turn {
    all: Since,
    core: Since,
    waits: Vec<BarrierArray>,
    used: bool,
}

#[derive(Debug, Default)]
struct Since {
    accesses: Vec<Access>,
    told: bool,
}

impl Since {
    fn touched(&mut self, effect: EffectId, accesses: usize) {
        if std::mem::take(&mut self.told) {
            self.accesses.clear();
        }
        if self.accesses.iter().all(|(known, _)| *known != effect) {
            self.accesses.extend((0..accesses).map(|access| (effect, access as u16)));
        }
    }
}

impl Turn {
    /// An op touches memory; gives the barriers that were waited for before it.
    pub(super) fn touched(&mut self, effect: EffectId, tensor_core: bool, accesses: usize) -> &[BarrierArray] {
        self.all.touched(effect, accesses);
        if tensor_core {
            self.core.touched(effect, accesses);
        }
        self.used = true;
        &self.waits
    }

    /// The thread waits.
    pub(super) fn waited(&mut self, array: BarrierArray) {
        if std::mem::take(&mut self.used) {
            self.waits.clear();
        }
        if !self.waits.contains(&array) {
            self.waits.push(array);
        }
    }

    /// The thread arrives, or its tensor core does; gives what that speaks for.
    pub(super) fn released(&mut self, tensor_core: bool) -> &[Access] {
        let since = if tensor_core { &mut self.core } else { &mut self.all };
        since.told = true;
        &since.accesses
    }
}

/// Accesses on both sides of each barrier.
#[derive(Debug, Default)]
pub(super) struct Payload {
    released: FxHashMap<BarrierArray, FxHashSet<Access>>,
    acquired: FxHashMap<BarrierArray, FxHashSet<Access>>,
}

impl Payload {
    /// An arrival speaks for these.
    pub(super) fn released(&mut self, array: BarrierArray, accesses: impl Iterator<Item = Access>) {
        self.released.entry(array).or_default().extend(accesses);
    }

    /// A wait lets these go on.
    pub(super) fn acquired(&mut self, array: BarrierArray, accesses: impl Iterator<Item = Access>) {
        self.acquired.entry(array).or_default().extend(accesses);
    }

    /// Which logical buffers each barrier hands over.
    pub(super) fn members(&self, memory: &BufferAccesses) -> FxHashMap<BarrierArray, Vec<Place>> {
        let places = |accesses: Option<&FxHashSet<Access>>| {
            let place = |(effect, access): &Access| memory.of.get(&(*effect, usize::from(*access))).copied();
            let mut places: Vec<Place> = accesses.into_iter().flatten().filter_map(place).collect();
            places.sort_unstable();
            places.dedup();
            places
        };
        let extent = |place: &Place| Some(memory.buffers.get(place.0)?.members.get(place.1)?.extent);
        let meet = |a: &Place, b: &Place| match (extent(a), extent(b)) {
            (Some(one), Some(other)) => a.0 == b.0 && one.0 < other.1 && other.0 < one.1,
            _ => false,
        };
        let mut arrays: Vec<BarrierArray> = self.released.keys().copied().collect();
        arrays.sort_unstable();
        let handed = |array: BarrierArray| {
            let (before, after) = (places(self.released.get(&array)), places(self.acquired.get(&array)));
            let same: Vec<Place> = before.iter().copied().filter(|place| after.contains(place)).collect();
            let met = before.iter().copied().filter(|place| after.iter().any(|other| meet(place, other)));
            match (same.is_empty(), met.collect::<Vec<_>>()) {
                (false, _) => same,
                (true, met) if met.is_empty() => before,
                (true, met) => met,
            }
        };
        arrays.into_iter().map(|array| (array, handed(array))).collect()
    }
}
