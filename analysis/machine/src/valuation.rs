//! Concrete values for a kernel's inputs.
//!
//! Words of global memory read as one value, since what steers a kernel is often one word that each partition
//! reads for itself. Where a kernel looks at how words that lie side by side differ, they rise along memory.

use kernel::InputId;

/// One value an input.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Valuation {
    /// By input; `Memory` inputs hold the value that every word reads as, where words do not rise.
    pub values: Vec<i64>,
    /// How much larger a word is than the one a byte before it.
    pub slope: i64,
}

/// The bits of an address that tell places within what one pointer leads to.
const WITHIN: i64 = (1 << 24) - 1;

impl Valuation {
    /// An input's value.
    pub fn get(&self, input: InputId) -> i64 {
        self.values.get(input.index()).copied().unwrap_or(0)
    }

    /// The word at an address of memory.
    pub fn word(&self, memory: InputId, address: i64) -> i64 {
        self.get(memory).wrapping_add(self.slope.wrapping_mul(address & WITHIN))
    }
}
