//! A hash of 128 bits, for what is known by its hash alone.
//!
//! Two sums of folded products over words of 64 bits (as in wyhash), with constants of their own. It is not made
//! against somebody who looks for collisions.

use std::hash::Hasher;

/// Digits of the fraction of pi, odd.
const FACTORS: [u64; 2] = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7345];

/// Takes words in and gives 128 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Digest([u64; 2]);

impl Default for Digest {
    fn default() -> Digest {
        Digest([0xa409_3822_299f_31d1, 0x082e_fa98_ec4e_6c89])
    }
}

impl Digest {
    /// All bits of what was taken in.
    pub fn bits(self) -> u128 {
        let [a, b] = self.0;
        (u128::from(a) << 64) | u128::from(b)
    }

    #[inline(always)]
    fn word(&mut self, word: u64) {
        let [a, b] = &mut self.0;
        *a = folded(*a ^ word, FACTORS[0]);
        *b = folded(b.rotate_left(29) ^ word, FACTORS[1]);
    }
}

/// The halves of a product, laid over each other.
#[inline(always)]
fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ (product >> 64) as u64
}

impl Hasher for Digest {
    fn finish(&self) -> u64 {
        self.0[0] ^ self.0[1]
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.word(u64::from_le_bytes(*word)));
        if !rest.is_empty() {
            let mut last = [0; 8];
            last.iter_mut().zip(rest).for_each(|(to, byte)| *to = *byte);
            self.word(u64::from_le_bytes(last));
            self.word(rest.len() as u64);
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.word(value.into());
    }

    fn write_u16(&mut self, value: u16) {
        self.word(value.into());
    }

    fn write_u32(&mut self, value: u32) {
        self.word(value.into());
    }

    fn write_u64(&mut self, value: u64) {
        self.word(value);
    }

    fn write_u128(&mut self, value: u128) {
        self.word(value as u64);
        self.word((value >> 64) as u64);
    }

    fn write_usize(&mut self, value: usize) {
        self.word(value as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::hash::Hash;

    fn digest(of: impl Hash) -> u128 {
        let mut digest = Digest::default();
        of.hash(&mut digest);
        digest.bits()
    }

    #[test]
    fn what_differs_a_little_has_another_digest_in_each_half() {
        let mut all: Vec<Vec<i64>> = (0..2000).map(|number| vec![number, 0, 0]).collect();
        all.extend((0..2000).map(|number| vec![0, number + 1, 0]));
        all.extend((1..2000).map(|length| vec![0; length + 3]));
        all.extend((0..63).map(|bit| vec![0, 0, 1 << bit]));
        let digests: Vec<u128> = all.iter().map(digest).collect();
        for half in [|bits: &u128| *bits as u64, |bits: &u128| (bits >> 64) as u64] {
            assert_eq!(digests.iter().map(half).collect::<HashSet<u64>>().len(), all.len());
        }
    }

    #[test]
    fn bytes_count_with_their_number() {
        assert_ne!(digest("a"), digest("a\0"));
        assert_ne!(digest([1u8, 2, 3].as_slice()), digest([1u8, 2, 3, 0].as_slice()));
        assert_eq!(digest("a long word of bytes"), digest("a long word of bytes"));
    }
}
