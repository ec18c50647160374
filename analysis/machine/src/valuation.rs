//! Concrete values for a kernel's inputs.
//!
//! Words of global memory read as one value, since what steers a kernel is often one word that each partition
//! reads for itself. Where a kernel looks at how words that lie side by side differ, they rise along memory: evenly
//! by a slope, or at single addresses.

use kernel::InputId;

/// One value an input.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Valuation {
    /// By input; `Memory` inputs hold the value that every word reads as, where words do not rise.
    pub values: Vec<i64>,
    /// How much larger a word is than the one a byte before it.
    pub slope: i64,
    /// Words that are set, sorted by memory and address.
    pub words: Vec<MemoryWord>,
}

/// A word of memory that is set, and with it those behind it: what counts offsets stays ascending.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct MemoryWord {
    /// The input that stands for memory.
    pub memory: InputId,
    /// Its address; it holds up to the next one that is set, within what one pointer leads to.
    pub address: i64,
    /// What is read there.
    pub value: i64,
}

/// The bits of an address that tell places within what one pointer leads to.
const WITHIN: i64 = (1 << 24) - 1;

/// Whether two addresses are within what one pointer leads to.
pub fn same_pointer(one: i64, other: i64) -> bool {
    one & !WITHIN == other & !WITHIN
}

impl Valuation {
    /// An input's value.
    pub fn get(&self, input: InputId) -> i64 {
        self.values.get(input.index()).copied().unwrap_or(0)
    }

    /// The word at an address of memory.
    pub fn word(&self, memory: InputId, address: i64) -> i64 {
        let behind = self.words.partition_point(|word| (word.memory, word.address) <= (memory, address));
        let set = behind.checked_sub(1).and_then(|at| self.words.get(at));
        match set.filter(|word| word.memory == memory && same_pointer(word.address, address)) {
            Some(word) => word.value.wrapping_add(self.slope.wrapping_mul(address.wrapping_sub(word.address))),
            None => self.get(memory).wrapping_add(self.slope.wrapping_mul(address & WITHIN)),
        }
    }

    /// Gives a word a value.
    pub fn set_word(&mut self, word: MemoryWord) {
        let place =
            self.words.binary_search_by_key(&(word.memory, word.address), |known| (known.memory, known.address));
        match place {
            Ok(at) => self.words[at] = word,
            Err(at) => self.words.insert(at, word),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MemoryWord, Valuation};
    use kernel::InputId;

    #[test]
    fn a_word_that_is_set_holds_up_to_the_next_one_behind_the_same_pointer() {
        let memory = InputId(0);
        let mut valuation = Valuation { values: vec![1], ..Valuation::default() };
        valuation.set_word(MemoryWord { memory, address: 0x100_0008, value: 9 });
        valuation.set_word(MemoryWord { memory, address: 0x100_0004, value: 5 });
        let read = |valuation: &Valuation| {
            [0x100_0000, 0x100_0004, 0x100_0008, 0x100_000c, 0x200_0010].map(|address| valuation.word(memory, address))
        };
        assert_eq!(read(&valuation), [1, 5, 9, 9, 1]);
        assert_eq!(valuation.word(InputId(1), 0x100_0008), 0);
        valuation.slope = 2;
        assert_eq!(read(&valuation), [1, 5, 9, 17, 33]);
    }
}
