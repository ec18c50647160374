//! Atoms: the equivalence classes of memory under "which accessed windows hold this bit".
//!
//! Two windows overlap where they share an atom, so overlap, packing and storage reuse are exact.
//! ConSan builds the classes from all windows of the program; here a window joins when it is
//! first touched and splits the atoms that it cuts, each half keeping the history of the whole.

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
}

/// The windows touched so far and the atoms they cut memory into.
#[derive(Clone, Debug, Default)]
pub struct Atoms {
    atoms: Vec<Atom>,
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
        for id in 0..self.atoms.len() {
            if rest.is_empty() {
                break;
            }
            if self.atoms[id].arena != arena {
                continue;
            }
            let shared = intersect(&self.atoms[id].bits, &rest);
            if shared.is_empty() {
                continue;
            }
            rest = subtract(&rest, &shared);
            let outside = subtract(&self.atoms[id].bits, &shared);
            members.push(id as AtomId);
            if !outside.is_empty() {
                self.atoms[id].bits = shared;
                let new = self.atoms.len() as AtomId;
                self.atoms.push(Atom { arena, bits: outside });
                for atoms in &mut self.windows {
                    if atoms.contains(&(id as AtomId)) {
                        atoms.push(new);
                    }
                }
                on(AtomChange::Split { old: id as AtomId, new });
            }
        }
        if !rest.is_empty() {
            let new = self.atoms.len() as AtomId;
            self.atoms.push(Atom { arena, bits: rest });
            members.push(new);
            on(AtomChange::Fresh);
        }
        let number = self.windows.len() as u32;
        self.windows.push(members);
        self.index.insert(window, number);
        number
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
