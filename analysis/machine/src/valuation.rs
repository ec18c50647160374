//! Concrete values for a kernel's inputs.

use kernel::InputId;

/// One value an input; words of global memory read as one value each.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Valuation {
    /// By input; `Memory` inputs hold the value that every word reads as.
    pub values: Vec<i64>,
}

impl Valuation {
    /// An input's value.
    pub fn get(&self, input: InputId) -> i64 {
        self.values.get(input.index()).copied().unwrap_or(0)
    }
}
