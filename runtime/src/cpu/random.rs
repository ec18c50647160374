//! Numbers that a seed decides: the schedule of a run is made of them and of nothing else.

/// A generator (splitmix64).
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    /// For a seed and a purpose.
    pub(super) fn new(seed: u64, purpose: u64) -> Random {
        Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(purpose))
    }

    /// The next number.
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// One of so many; 0 where there is none.
    pub(super) fn below(&mut self, count: usize) -> usize {
        if count == 0 { 0 } else { (self.next() % count as u64) as usize }
    }

    /// Once in so many.
    pub(super) fn once_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }
}
