//! What the programs of a launch share while they run.

use base::rng::SplitMix64;

use super::context::Context;
use super::finding_log::FindingLog;
use super::gsan::Gsan;
use tensors::Environment;

/// The programs of a launch, of which those up to a number were started.
#[derive(Debug)]
pub(super) struct Grid {
    pub(super) size: [i64; 3],
    next: i64,
}

impl Grid {
    pub(super) fn new(size: [i64; 3]) -> Grid {
        Grid { size, next: 0 }
    }

    /// How many programs the grid has.
    pub(super) fn total(&self) -> i64 {
        self.size.iter().fold(1i64, |total, size| total.saturating_mul(*size))
    }

    /// How many programs were started.
    pub(super) fn started(&self) -> i64 {
        self.next
    }

    /// Starts the next program: its number along x, y and z.
    pub(super) fn take(&mut self) -> Option<[i64; 3]> {
        let at = self.next;
        if at >= self.total() {
            return None;
        }
        self.next += 1;
        let [x, y, _] = self.size;
        Some([at % x, at / x % y, at / x / y])
    }
}

/// What the programs of a launch share while they run.
pub(super) struct LaunchState<'c, 'k> {
    pub(super) context: &'c Context<'k>,
    pub(super) world: Environment,
    pub(super) grid: Grid,
    pub(super) random: SplitMix64,
    pub(super) findings: FindingLog,
    /// Who watches global memory, if somebody does.
    pub(super) gsan: Option<Gsan>,
    /// Instructions so far.
    pub(super) steps: u64,
    /// Atomics since a program ended or began.
    pub(super) atomics: u64,
    /// The tile that the last request to cluster launch control was granted.
    pub(super) granted: Option<[i64; 3]>,
    /// Effects, copies, and programs that began or ended.
    pub(super) moves: u64,
}

impl LaunchState<'_, '_> {
    /// Counts what one thread can notice of another.
    pub(super) fn changes(&self) -> u64 {
        self.moves + self.world.global.changes()
    }
}
