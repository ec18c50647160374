//! Atoms: the equivalence classes of memory under "which accessed windows hold this bit".
//!
//! Two windows overlap where they share an atom, so overlap, packing and storage reuse are exact.
//! ConSan builds the classes from all windows of the program; here a window joins when it is
//! first touched and splits the atoms that it cuts, each half keeping the history of the whole.

use std::collections::BTreeMap;

use base::bits::{Bits, intersect, subtract};
use kernel::{BufferId, Kernel, ShapeId, Space};
use rustc_hash::FxHashMap;

/// An atom, by position in the shadow.
pub(crate) type AtomId = u32;

/// A linear piece of memory: one buffer, or all buffers of one space whose places are known.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Arena {
    /// A buffer whose place is not known; it overlaps no other.
    Buffer(BufferId),
    /// The CTA's shared or tensor memory.
    Placed(Space),
}

/// A window at a place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Window {
    /// The buffer that it was made from.
    pub buffer: BufferId,
    /// Its start in bits from the buffer's start.
    pub start: u64,
    /// The shape of the window.
    pub shape: ShapeId,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Atom {
    arena: Arena,
    bits: Bits,
    /// The windows that hold it.
    windows: Vec<u32>,
}

/// The windows touched so far and the atoms they cut memory into.
#[derive(Clone, Debug, Default)]
pub struct Atoms {
    atoms: Vec<Atom>,
    /// The ranges of all atoms by where they begin: where they end, and whose they are. No two of them overlap.
    ranges: BTreeMap<(Arena, u64), (u64, AtomId)>,
    windows: Vec<Vec<AtomId>>,
    index: FxHashMap<Window, u32>,
}

impl Atoms {
    /// The atoms of a window. `split(old, new)` is told of each atom `old` that lost a part to
    /// the fresh atom `new`, `fresh(new)` of each atom without history.
    pub fn resolve(&mut self, kernel: &Kernel, window: Window, mut on: impl FnMut(AtomChange)) -> u32 {
        if let Some(known) = self.known(window) {
            return known;
        }
        let buffer = &kernel.buffers[window.buffer.0 as usize];
        let (arena, offset) = match buffer.start {
            Some(start) => (Arena::Placed(buffer.space), start),
            None => (Arena::Buffer(window.buffer), 0),
        };
        let from = offset + window.start;
        let mut rest: Bits =
            kernel.shapes[window.shape.0 as usize].intervals().iter().map(|&(lo, hi)| (lo + from, hi + from)).collect();
        let mut members = Vec::new();
        let number = self.windows.len() as u32;
        for id in self.touched(arena, &rest) {
            let id = id as usize;
            let shared = intersect(&self.atoms[id].bits, &rest);
            if shared.is_empty() {
                continue;
            }
            rest = subtract(&rest, &shared);
            let outside = subtract(&self.atoms[id].bits, &shared);
            members.push(id as AtomId);
            if !outside.is_empty() {
                let new = self.atoms.len() as AtomId;
                for (start, _) in std::mem::replace(&mut self.atoms[id].bits, shared) {
                    self.ranges.remove(&(arena, start));
                }
                let windows = self.atoms[id].windows.clone();
                windows.iter().for_each(|window| self.windows[*window as usize].push(new));
                self.atoms.push(Atom { arena, bits: outside, windows });
                self.place(id as AtomId);
                self.place(new);
                on(AtomChange::Split { old: id as AtomId, new });
            }
            self.atoms[id].windows.push(number);
        }
        if !rest.is_empty() {
            let new = self.atoms.len() as AtomId;
            self.atoms.push(Atom { arena, bits: rest, windows: vec![number] });
            self.place(new);
            members.push(new);
            on(AtomChange::Fresh);
        }
        self.windows.push(members);
        self.index.insert(window, number);
        number
    }

    /// The atoms that share bits with a set, in their order: of a ring with a thousand slots a window touches one.
    fn touched(&self, arena: Arena, bits: &[(u64, u64)]) -> Vec<AtomId> {
        let mut touched = Vec::new();
        for &(start, end) in bits.iter().filter(|(start, end)| start < end) {
            let before = self.ranges.range(..(arena, start)).next_back();
            let reaches = before.filter(|((own, _), (end, _))| *own == arena && *end > start);
            let inside = self.ranges.range((arena, start)..(arena, end));
            touched.extend(reaches.into_iter().chain(inside).map(|(_, (_, atom))| *atom));
        }
        touched.sort_unstable();
        touched.dedup();
        touched
    }

    /// Enters the ranges of an atom.
    fn place(&mut self, atom: AtomId) {
        let Atom { arena, bits, .. } = &self.atoms[atom as usize];
        self.ranges.extend(bits.iter().map(|&(start, end)| ((*arena, start), (end, atom))));
    }

    /// The number of a window that was resolved before.
    pub fn known(&self, window: Window) -> Option<u32> {
        self.index.get(&window).copied()
    }

    /// The atoms of a resolved window.
    pub fn of(&self, window: u32) -> &[AtomId] {
        &self.windows[window as usize]
    }

    /// The bits of an atom, counted from its arena's start.
    pub fn bits(&self, atom: AtomId) -> &[(u64, u64)] {
        &self.atoms[atom as usize].bits
    }

    /// How many atoms there are.
    pub fn len(&self) -> usize {
        self.atoms.len()
    }

    /// Whether nothing was touched yet.
    pub fn is_empty(&self) -> bool {
        self.atoms.is_empty()
    }
}

/// A change of the atoms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtomChange {
    /// The last atom is new and has no history.
    Fresh,
    /// `new` was a part of `old` and shares its history.
    Split {
        /// Keeps the number.
        old: AtomId,
        /// The last atom.
        new: AtomId,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::bits::merged;
    use base::rng::SplitMix64;
    use kernel::{Buffer, Dim, Shape};

    /// A buffer of this many bits, and windows of these shapes in it.
    fn kernel(bits: u64, shapes: Vec<Shape>) -> Kernel {
        let buffer = Buffer { space: Space::Shared, bits, start: None, barriers: false, slot_bits: bits };
        Kernel { buffers: vec![buffer], shapes, ..Kernel::empty() }
    }

    fn window(start: u64, shape: usize) -> Window {
        Window { buffer: BufferId(0), start, shape: ShapeId(shape as u32) }
    }

    #[test]
    fn each_window_is_the_sum_of_its_atoms_and_no_two_atoms_overlap() {
        let strided =
            Shape { dims: vec![Dim { size: 3, stride: 16 }, Dim { size: 4, stride: 1 }], element: 1, exact: true };
        let kernel = kernel(256, vec![Shape::dense(&[8], 1), Shape::dense(&[64], 1), strided]);
        let mut rng = SplitMix64::stream(3, 0);
        let (mut atoms, mut all) = (Atoms::default(), Vec::new());
        for _ in 0..60 {
            let window = window(rng.below(180) as u64, rng.below(3));
            atoms.resolve(&kernel, window, |_| {});
            all.push(window);
            for window in &all {
                let number = atoms.known(*window).expect("it was resolved");
                let bits: Bits = atoms.of(number).iter().flat_map(|atom| atoms.bits(*atom).to_vec()).collect();
                let shape = kernel.shapes[window.shape.0 as usize].intervals();
                let wanted: Bits = shape.iter().map(|(lo, hi)| (lo + window.start, hi + window.start)).collect();
                assert_eq!(merged(bits), wanted);
            }
            let bits: Vec<(u64, u64)> = (0..atoms.len()).flat_map(|atom| atoms.bits(atom as AtomId).to_vec()).collect();
            let total: u64 = bits.iter().map(|(lo, hi)| hi - lo).sum();
            assert_eq!(merged(bits).iter().map(|(lo, hi)| hi - lo).sum::<u64>(), total);
        }
    }

    /// What looked at all atoms for each window took a minute for this.
    #[test]
    fn a_ring_of_many_slots_costs_as_much_as_it_has() {
        const SLOTS: u64 = 60_000;
        let kernel = kernel(64 * SLOTS, vec![Shape::dense(&[64], 1), Shape::dense(&[64 * SLOTS], 1)]);
        let mut atoms = Atoms::default();
        atoms.resolve(&kernel, window(0, 1), |_| {});
        let splits = (0..SLOTS).map(|slot| {
            let mut splits = 0;
            atoms.resolve(&kernel, window(64 * slot, 0), |_| splits += 1);
            splits
        });
        // The last slot is what is left of the whole.
        assert_eq!(splits.sum::<u64>(), SLOTS - 1);
        assert_eq!(atoms.len() as u64, SLOTS);
        assert_eq!(atoms.of(0).len() as u64, SLOTS);
    }
}
