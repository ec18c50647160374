//! Transaction counts in units of the copies that complete them.

use super::{Groups, gcd};
use kernel::{Access, EffectKind, Kernel, Mode};
use machine::{TX_DIGIT, TxCount};

/// How many units of a kind a barrier may be short of, or have too many: the fewer, the larger may the copies be.
const MOST: i64 = 8;
/// Kinds of copies to one barrier: each has a digit of the count.
const KINDS: usize = 5;

/// A kind of copy: the group of the buffers that it fills, and its bytes.
type Kind = (usize, u64);

/// What comes to the barriers of one group.
#[derive(Clone, Default)]
struct Traffic {
    /// The kinds of copies, in the order of the effects.
    copies: Vec<Kind>,
    /// The bytes of each expectation, likewise.
    expected: Vec<u64>,
    /// The units of the copies, in bytes.
    units: Vec<u64>,
}

/// Counts in units where that can be done: how counts are to be read then, and whether no count in bytes is several in
/// units.
pub(super) fn into_units(kernel: &mut Kernel, views: &Groups) -> (TxCount, bool) {
    let mut traffic = vec![Traffic::default(); views.len()];
    for effect in &kernel.effects {
        match &effect.kind {
            EffectKind::Expect { barrier, bytes, .. } => {
                let expected = &mut traffic[views.of(barrier.index())].expected;
                if *bytes > 0 && !expected.contains(bytes) {
                    expected.push(*bytes);
                }
            }
            EffectKind::Operation { accesses, completion, .. } => {
                for arrival in completion.arrivals() {
                    let copies = &mut traffic[views.of(arrival.barrier.index())].copies;
                    let kind = (filled(accesses, views), arrival.bytes);
                    if arrival.bytes > 0 && !copies.contains(&kind) {
                        copies.push(kind);
                    }
                }
            }
            _ => {}
        }
    }
    if traffic.iter().all(|traffic| traffic.copies.is_empty() && traffic.expected.is_empty()) {
        return (TxCount::Bytes, true);
    }
    let mut largest = 0;
    let mut is_exact = true;
    for traffic in &mut traffic {
        traffic.choose_units();
        is_exact &= traffic.units.len() < 2;
        largest = largest.max(traffic.units.iter().sum());
    }
    let fits = |traffic: &Traffic| {
        let copies = traffic.copies.iter().map(|kind| traffic.copied(*kind));
        copies.chain(traffic.expected.iter().map(|bytes| traffic.expected(*bytes))).all(|count| count.is_some())
            && traffic.most() <= MOST as u64
    };
    if largest > (TxCount::LIMIT / MOST) as u64 || !traffic.iter().all(fits) {
        return (TxCount::Bytes, true);
    }
    for effect in &mut kernel.effects {
        match &mut effect.kind {
            EffectKind::Expect { barrier, bytes, .. } => {
                *bytes = traffic[views.of(barrier.index())].expected(*bytes).unwrap_or(0);
            }
            EffectKind::Operation { accesses, completion, .. } => {
                let filled = filled(accesses, views);
                for arrival in completion.arrivals_mut() {
                    let kind = (filled, arrival.bytes);
                    arrival.bytes = traffic[views.of(arrival.barrier.index())].copied(kind).unwrap_or(0);
                }
            }
            _ => {}
        }
    }
    (TxCount::Units { most: MOST }, is_exact)
}

/// The group of the buffers that an operation writes.
fn filled(accesses: &[Access], views: &Groups) -> usize {
    let mut writes = accesses.iter().filter(|access| access.mode == Mode::Write);
    writes.next().map_or(usize::MAX, |access| views.of(access.view.index()))
}

impl Traffic {
    /// Gives each kind of copy a unit, if everything that is expected is a sum of them; else all have one unit.
    fn choose_units(&mut self) {
        let parts = |number: usize| (0..self.copies.len()).map(move |at| 1 << (number / 3usize.pow(at as u32) % 3));
        if (1..=KINDS).contains(&self.copies.len()) {
            // A copy to several CTAs is one copy for that of which each of them expects a part.
            for number in 0..3usize.pow(self.copies.len() as u32) {
                let units: Option<Vec<u64>> = self
                    .copies
                    .iter()
                    .zip(parts(number))
                    .map(|((_, bytes), parts)| bytes.is_multiple_of(parts).then_some(bytes / parts))
                    .collect();
                let Some(units) = units else { continue };
                let sum: u64 = units.iter().sum();
                if self.expected.iter().all(|expected| *expected == sum) {
                    self.units = units;
                    return;
                }
            }
        }
        let unit = self.bytes().fold(0, gcd);
        if unit > 0 {
            self.units = vec![unit];
        }
    }

    /// All numbers of bytes.
    fn bytes(&self) -> impl Iterator<Item = u64> {
        self.copies.iter().map(|(_, bytes)| *bytes).chain(self.expected.iter().copied())
    }

    /// A copy in its unit, which has a digit of its own.
    fn copied(&self, kind: Kind) -> Option<u64> {
        let (_, bytes) = kind;
        if bytes == 0 {
            return Some(0);
        }
        let at = if self.units.len() == 1 { 0 } else { self.copies.iter().position(|copy| *copy == kind)? };
        let unit = *self.units.get(at)?;
        bytes.is_multiple_of(unit).then(|| bytes / unit * digit(at))
    }

    /// The bytes of an expectation as a sum of units.
    fn expected(&self, bytes: u64) -> Option<u64> {
        match *self.units.as_slice() {
            _ if bytes == 0 => Some(0),
            [unit] => bytes.is_multiple_of(unit).then_some(bytes / unit),
            ref units => (bytes == units.iter().sum::<u64>()).then(|| (0..units.len()).map(digit).sum()),
        }
    }

    /// The most of one unit that comes, or is expected, at once.
    fn most(&self) -> u64 {
        match *self.units.as_slice() {
            [unit] => self.bytes().map(|bytes| bytes / unit).max().unwrap_or(0),
            ref units => self.copies.iter().zip(units).map(|((_, bytes), unit)| bytes / unit).max().unwrap_or(0),
        }
    }
}

/// What one unit of a kind counts.
fn digit(at: usize) -> u64 {
    (TX_DIGIT as u64).pow(at as u32)
}
