//! What is known of how a kernel is launched.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// What is known of a launch; nothing by default. Arguments are numbered as the function has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// Programs along each axis of the grid.
    pub grid: [Option<i64>; 3],
    /// Values of integer arguments.
    pub values: FxHashMap<u32, i64>,
    /// Pointer arguments that point into the tensor of an earlier one, and which.
    pub same: FxHashMap<u32, u32>,
    /// Elements of integer tensors.
    pub contents: FxHashMap<u32, Arc<[i64]>>,
}

impl Launch {
    /// The value of an argument.
    pub(crate) fn value(&self, argument: u32) -> Option<i64> {
        self.values.get(&argument).copied()
    }
}
