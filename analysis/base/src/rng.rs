//! Pseudo-random numbers that a seed decides, the same on every machine (SplitMix64, by Steele, Lea and Flood).

const INCREMENT: u64 = 0x9e37_79b9_7f4a_7c15;

/// A generator of 64-bit words with a period of 2^64.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The sequence of this seed.
    pub fn new(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    /// One of several sequences of a seed, for users of one seed that must not share numbers.
    pub fn stream(seed: u64, stream: u64) -> SplitMix64 {
        SplitMix64(seed.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(stream))
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(INCREMENT);
        mix(self.0)
    }

    /// An index below `count`; 0 where `count` is 0.
    pub fn below(&mut self, count: usize) -> usize {
        if count == 0 { 0 } else { (self.next_u64() % count as u64) as usize }
    }

    /// True once in `count` calls on average.
    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }
}

/// The `index`th element of a sequence in [0, 1) that `key` selects, without those before it.
pub fn unit(key: u64, index: u64) -> f64 {
    (mix(key.wrapping_add(index.wrapping_mul(INCREMENT))) >> 11) as f64 / (1u64 << 53) as f64
}

/// A bijection of 64-bit words in which each bit of the result depends on all of `word`.
pub fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_sequence() {
        let mut random = SplitMix64::new(1_234_567);
        let words: [u64; 3] = std::array::from_fn(|_| random.next_u64());
        assert_eq!(words, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
        assert_eq!(SplitMix64::new(1).below(0), 0);
    }
}
