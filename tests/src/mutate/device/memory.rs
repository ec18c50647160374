//! Memory by who wrote it: each bit holds the write that it came from, as the generic and as the
//! asynchronous proxy see it.

use std::collections::BTreeMap;

/// Where memory lies: a buffer with no known place is one of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Arena {
    /// CTA, and buffer number.
    Buffer(u16, u32),
    /// CTA, and whether it is tensor memory.
    Placed(u16, bool),
}

/// What a bit holds: the bit of a write's window.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Cell {
    /// Which write; 0 for none.
    write: u64,
    /// Address less the place in the write's window.
    shift: i64,
}

#[derive(Clone, Copy, Default, Debug)]
struct Piece {
    end: u64,
    generic: Cell,
    asynchronous: Cell,
    /// Whose generic write the asynchronous proxy does not see yet.
    unfenced: Option<u16>,
}

/// How a write goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Through {
    /// The asynchronous proxy, or tensor memory: all see it.
    Both,
    /// The generic proxy, by this thread.
    Generic(u16),
}

/// A window: where its bits lie, in its own order.
pub(super) struct Place<'a> {
    /// In which arena.
    pub arena: Arena,
    /// Added to each interval.
    pub base: u64,
    /// Ascending intervals.
    pub intervals: &'a [(u64, u64)],
}

/// All memory of a cluster.
#[derive(Clone, Default, Debug)]
pub(super) struct Memory {
    arenas: BTreeMap<Arena, BTreeMap<u64, Piece>>,
    dirty: bool,
}

/// Mixes a number into a hash.
pub(super) fn mix(hash: u64, value: u64) -> u64 {
    (hash.rotate_left(23) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Memory {
    /// The pieces of an interval, cut to fit.
    fn pieces(&mut self, arena: Arena, lo: u64, hi: u64) -> impl Iterator<Item = (u64, &mut Piece)> {
        let map = self.arenas.entry(arena).or_default();
        for at in [lo, hi] {
            if let Some((&start, &piece)) = map.range(..at).next_back()
                && piece.end > at
            {
                map.insert(at, piece);
                map.insert(start, Piece { end: at, ..piece });
            }
        }
        let mut at = lo;
        while at < hi {
            let next = map.range(at..).next().map_or(hi, |(&start, _)| start.min(hi));
            if next > at {
                map.insert(at, Piece { end: next, ..Piece::default() });
            }
            at = map.get(&at).map_or(hi, |piece| piece.end);
        }
        map.range_mut(lo..hi).map(|(&start, piece)| (start, piece))
    }

    /// Writes a window.
    pub(super) fn write(&mut self, place: &Place<'_>, write: u64, through: Through) {
        let mut position = 0;
        for &(lo, hi) in place.intervals {
            let (lo, hi) = (lo + place.base, hi + place.base);
            let cell = Cell { write, shift: lo as i64 - position };
            for (_, piece) in self.pieces(place.arena, lo, hi) {
                piece.generic = cell;
                match through {
                    Through::Both => (piece.asynchronous, piece.unfenced) = (cell, None),
                    Through::Generic(thread) => piece.unfenced = Some(thread),
                }
            }
            position += (hi - lo) as i64;
        }
        self.dirty |= through != Through::Both;
    }

    /// A number for what a window holds: equal where each bit comes from the same bit of the same
    /// write, wherever the window lies.
    pub(super) fn read(&mut self, place: &Place<'_>, asynchronous: bool) -> u64 {
        let (mut hash, mut position, mut last) = (0, 0, None);
        for &(lo, hi) in place.intervals {
            let (lo, hi) = (lo + place.base, hi + place.base);
            for (start, piece) in self.pieces(place.arena, lo, hi) {
                let cell = if asynchronous { piece.asynchronous } else { piece.generic };
                let here = position + (start - lo) as i64;
                let came = if cell.write == 0 { 0 } else { start as i64 - cell.shift - here };
                if last != Some((cell.write, came)) {
                    hash = mix(mix(mix(hash, here as u64), cell.write), came as u64);
                    last = Some((cell.write, came));
                }
            }
            position += (hi - lo) as i64;
        }
        hash
    }

    /// The write that a bit is from, as the generic proxy sees it; 0 for none.
    pub(super) fn writer(&self, arena: Arena, at: u64) -> u64 {
        let piece = self.arenas.get(&arena).and_then(|map| map.range(..=at).next_back());
        piece.filter(|(_, piece)| piece.end > at).map_or(0, |(_, piece)| piece.generic.write)
    }

    /// The asynchronous proxy sees the generic writes of a thread, or of all.
    pub(super) fn fence(&mut self, thread: Option<u16>) {
        if !self.dirty {
            return;
        }
        self.dirty = false;
        for piece in self.arenas.values_mut().flat_map(BTreeMap::values_mut) {
            match piece.unfenced {
                Some(writer) if thread.is_none_or(|thread| thread == writer) => {
                    (piece.asynchronous, piece.unfenced) = (piece.generic, None);
                }
                other => self.dirty |= other.is_some(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(base: u64, intervals: &[(u64, u64)]) -> Place<'_> {
        Place { arena: Arena::Buffer(0, 0), base, intervals }
    }

    #[test]
    fn what_is_read_is_what_was_written_wherever_it_lies() {
        let whole = [(0, 64)];
        let (mut a, mut b) = (Memory::default(), Memory::default());
        a.write(&place(0, &whole), 7, Through::Both);
        b.write(&place(128, &whole), 7, Through::Both);
        assert_eq!(a.read(&place(0, &whole), true), b.read(&place(128, &whole), true));
        assert_ne!(a.read(&place(32, &[(0, 32)]), true), a.read(&place(0, &[(0, 32)]), true));
        b.write(&place(136, &[(0, 8)]), 8, Through::Both);
        assert_ne!(a.read(&place(0, &whole), true), b.read(&place(128, &whole), true));
    }

    #[test]
    fn the_asynchronous_proxy_sees_what_is_fenced() {
        let whole = [(0, 64)];
        let mut memory = Memory::default();
        let fresh = memory.read(&place(0, &whole), true);
        memory.write(&place(0, &whole), 7, Through::Generic(1));
        assert_eq!(memory.read(&place(0, &whole), true), fresh);
        memory.fence(Some(0));
        assert_eq!(memory.read(&place(0, &whole), true), fresh);
        memory.fence(None);
        assert_eq!(memory.read(&place(0, &whole), true), memory.read(&place(0, &whole), false));
    }
}
