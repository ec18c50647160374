//! Random choices.

use base::rng::SplitMix64;

/// One of some.
pub(super) fn one_of<T: Copy>(rng: &mut SplitMix64, all: &[T]) -> T {
    all[rng.below(all.len())]
}
