//! Outcomes by kernel, so that an equal kernel is explored once, whatever file it comes from.

use crate::limits::memo::OUTCOMES as CAPACITY;
use crate::proof::ProofMemo;
use crate::{Outcome, decided};
use base::cache::{Cache, Weight};
use base::{Cancel, Cancelled, Limits};
use kernel::{Effect, Instr, Kernel};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::mem::size_of;
use std::sync::Arc;

/// What was decided of a kernel under limits.
#[derive(PartialEq, Eq)]
struct Key {
    kernel: Kernel,
    limits: Limits,
    /// Whether a clean answer was to be closed over all inputs.
    prove: bool,
}

/// Outcomes of kernels, shared by engines and threads.
#[derive(Debug)]
pub struct OutcomeCache {
    cache: Cache<Key, Outcome>,
    proofs: ProofMemo,
}

impl Default for OutcomeCache {
    fn default() -> OutcomeCache {
        OutcomeCache { cache: Cache::new(CAPACITY), proofs: ProofMemo::default() }
    }
}

impl OutcomeCache {
    /// [`decide`](crate::decide), and whether this call did the work.
    ///
    /// # Errors
    ///
    /// Where `cancel` says so.
    pub fn decide(
        &self,
        kernel: &Kernel,
        limits: &Limits,
        cancel: &Cancel<'_>,
    ) -> Result<(Arc<Outcome>, bool), Cancelled> {
        self.outcome(kernel, limits, cancel, true)
    }

    /// [`survey`](crate::survey), and whether this call did the work.
    ///
    /// # Errors
    ///
    /// Where `cancel` says so.
    pub fn survey(
        &self,
        kernel: &Kernel,
        limits: &Limits,
        cancel: &Cancel<'_>,
    ) -> Result<(Arc<Outcome>, bool), Cancelled> {
        self.outcome(kernel, limits, cancel, false)
    }

    /// What [`decide`](crate::decide) said of a kernel, where that is known.
    pub fn decided(&self, kernel: &Kernel, limits: &Limits) -> Option<Arc<Outcome>> {
        self.cache.get(hash(kernel, limits, true), |key| key.is(kernel, limits, true))
    }

    /// Ends a period, and forgets kernels for which nobody asked in it nor in the one before.
    pub fn forget_unused(&self) {
        self.cache.forget_unused();
        self.proofs.forget_unused();
    }

    fn outcome(
        &self,
        kernel: &Kernel,
        limits: &Limits,
        cancel: &Cancel<'_>,
        prove: bool,
    ) -> Result<(Arc<Outcome>, bool), Cancelled> {
        let key = || Key { kernel: kernel.clone(), limits: limits.clone(), prove };
        let is_key = |key: &Key| key.is(kernel, limits, prove);
        self.cache.get_or_compute(hash(kernel, limits, prove), is_key, key, cancel, || {
            let outcome = decided(kernel, limits, cancel, prove.then_some(&self.proofs))?;
            let weight = Weight { bytes: kernel_bytes(kernel) + outcome_bytes(&outcome), work: 1 + outcome.steps };
            Ok((outcome, weight))
        })
    }
}

impl Key {
    fn is(&self, kernel: &Kernel, limits: &Limits, prove: bool) -> bool {
        self.prove == prove && self.limits == *limits && self.kernel == *kernel
    }
}

fn hash(kernel: &Kernel, limits: &Limits, prove: bool) -> u64 {
    let mut hasher = FxHasher::default();
    (kernel, limits, prove).hash(&mut hasher);
    hasher.finish()
}

/// About how much memory a kernel takes.
pub fn kernel_bytes(kernel: &Kernel) -> usize {
    let instrs: usize = kernel.blocks.iter().map(|block| block.instrs.len() + 4).sum();
    let tables = kernel.vars.len() + kernel.inputs.len() + kernel.shapes.len() + kernel.buffers.len();
    size_of::<Kernel>() + instrs * size_of::<Instr>() + kernel.effects.len() * 2 * size_of::<Effect>() + tables * 32
}

fn outcome_bytes(outcome: &Outcome) -> usize {
    let found = [&outcome.found, &outcome.assumed, &outcome.discarded, &outcome.consequences]
        .into_iter()
        .flatten()
        .chain(&outcome.outlives);
    let runs = found
        .map(|found| &found.schedule)
        .chain(outcome.lapped.iter().flat_map(|lapped| [&lapped.schedule, &lapped.canonical]));
    let inputs = outcome.valuations.iter().map(|valuation| 64 + valuation.values.len() * 8);
    size_of::<Outcome>() + runs.map(|schedule| 256 + schedule.len() * 2).sum::<usize>() + inputs.sum::<usize>()
}
