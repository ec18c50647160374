//! CTAs of a cluster, as one of them names the others.
//!
//! Which CTAs an operation concerns follows from the bits of the acting CTA's number: a multicast
//! group is all numbers that differ in some bits only, a collapsed barrier lives in the CTA whose
//! number has these bits clear. So a set is two masks, the same in every CTA. Source: the CTA
//! rules of Triton's concurrency sanitizer (PyPI triton 3.9).

use smallvec::{SmallVec, smallvec};

/// CTAs as seen from CTA `c`: `(c & !clear) | s` for every `s` within `spread`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct CtaSet {
    /// Bits of the acting CTA's number that do not count.
    pub clear: u16,
    /// Bits that run through both values; within `clear`.
    pub spread: u16,
}

impl CtaSet {
    /// The acting CTA alone.
    pub const OWN: CtaSet = CtaSet { clear: 0, spread: 0 };

    /// All CTAs that differ from the acting one in bits of `mask` only.
    pub fn group(mask: u16) -> CtaSet {
        CtaSet { clear: mask, spread: mask }
    }

    /// The one CTA of such a group whose number has these bits clear.
    pub fn leader(mask: u16) -> CtaSet {
        CtaSet { clear: mask, spread: 0 }
    }

    /// The numbers, ascending.
    pub fn of(self, cta: u16) -> impl Iterator<Item = u16> {
        let base = cta & !self.clear;
        let mut next = Some(0u16);
        std::iter::from_fn(move || {
            let bits = next?;
            // The next larger number within the mask; 0 again after the last.
            let following = (bits | !self.spread).wrapping_add(1) & self.spread;
            next = (following != 0).then_some(following);
            Some(base | bits)
        })
    }

    /// Bits in which the CTAs it names may differ from the acting one.
    pub fn bits(self) -> u16 {
        self.clear | self.spread
    }
}

/// Whose copies of a barrier an arrival goes to: the union of the sets.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Recipients(pub SmallVec<[CtaSet; 1]>);

impl Recipients {
    /// The acting CTA's copy alone.
    pub fn own() -> Recipients {
        Recipients::one(CtaSet::OWN)
    }

    /// The recipients that are just this set.
    pub fn one(set: CtaSet) -> Recipients {
        Recipients(smallvec![set])
    }

    /// The numbers, ascending, each once.
    pub fn of(&self, cta: u16) -> SmallVec<[u16; 4]> {
        let mut numbers: SmallVec<[u16; 4]> = self.0.iter().flat_map(|set| set.of(cta)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// Bits in which the CTAs it names may differ from the acting one.
    pub fn bits(&self) -> u16 {
        self.0.iter().fold(0, |bits, set| bits | set.bits())
    }
}

impl Default for Recipients {
    fn default() -> Recipients {
        Recipients::own()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(set: CtaSet, cta: u16) -> Vec<u16> {
        set.of(cta).collect()
    }

    #[test]
    fn sets_are_cosets_of_their_bits() {
        assert_eq!(numbers(CtaSet::OWN, 5), [5]);
        assert_eq!(numbers(CtaSet::group(0b101), 3), [2, 3, 6, 7]);
        assert_eq!(numbers(CtaSet::leader(1), 3), [2]);
        assert_eq!(numbers(CtaSet { clear: 0b11, spread: 0b10 }, 7), [4, 6]);
        assert_eq!(numbers(CtaSet::group(15), 9).len(), 16);
    }

    #[test]
    fn recipients_are_a_union() {
        let both = Recipients(smallvec![CtaSet::group(1), CtaSet::group(2)]);
        assert_eq!(both.of(0).as_slice(), [0, 1, 2]);
        assert_eq!(both.bits(), 3);
    }
}
