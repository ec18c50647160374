//! What a kernel is run with.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::program::Base;
use terms::Variable;

/// A launch in numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Setting {
    /// Programs along each axis.
    pub(crate) grid: [i64; 3],
    /// The programs that are run, by number; all where it is empty.
    pub(crate) chosen: Vec<u32>,
    /// Arguments, sizes of descriptors.
    pub(crate) values: FxHashMap<Variable, i64>,
    /// Of each pointer argument: the argument whose tensor it points into, if not its own.
    pub(crate) same: FxHashMap<u32, u32>,
    /// Whether a launch gives all of it, and nothing was chosen.
    pub(crate) given: bool,
    /// The numbers without a formula from which the host computes the others.
    pub(crate) numbers: BTreeMap<u32, i64>,
    /// Elements of integer tensors, by argument.
    pub(crate) contents: FxHashMap<u32, Arc<[i64]>>,
}

impl Setting {
    /// Which tensor a base is; `None` where that is not known.
    pub(crate) fn tensor(&self, base: Base) -> Option<u32> {
        match base {
            Base::Argument(argument) => Some(self.same.get(&argument).copied().unwrap_or(argument)),
            Base::Unknown => None,
        }
    }

    /// How many programs are run.
    pub(crate) fn runs(&self) -> i64 {
        if self.chosen.is_empty() { self.programs() } else { self.chosen.len() as i64 }
    }

    /// The number of a program that is run.
    pub(crate) fn number(&self, at: u32) -> u32 {
        self.chosen.get(at as usize).copied().unwrap_or(at)
    }

    /// How many programs there are.
    pub(crate) fn programs(&self) -> i64 {
        self.grid.iter().fold(1, |programs: i64, count| programs.saturating_mul((*count).max(1)))
    }

    /// The place of a program in the grid.
    pub(crate) fn place(&self, program: u32) -> [i64; 3] {
        let program = i64::from(program);
        let (x, y) = (self.grid[0].max(1), self.grid[1].max(1));
        [program % x, program / x % y, program / x / y]
    }
}
