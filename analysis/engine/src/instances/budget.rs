//! How much of a Python file is analysed: a test that launches a kernel in hundreds of shapes has hundreds of
//! instances, and most of them differ in nothing that its barriers notice.
//!
//! Counted are steps of the machine, so that the answer does not depend on the computer. An instance whose kernel
//! is equal to an earlier one costs nothing, and a proof that it shares with an earlier one costs nothing either. The
//! first instance of a kernel is always analysed.

use super::ElaboratedInstance;
use crate::limits::budget::{FILE, KERNEL, TEXT};
use base::Limits;
use findings::KernelReport;
use kernel::Lowered;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use verify::SharedProof;

/// What it took to analyse an instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Spent {
    /// Steps of the machine.
    pub steps: u64,
    /// The part of them that is shared with kernels of other sizes.
    pub proof: Option<SharedProof>,
    /// Whether it was analysed beyond the budget, because a few runs of it broke a rule.
    pub beyond: bool,
}

impl Spent {
    /// What a report took.
    pub(super) fn on(report: &KernelReport, beyond: bool) -> Spent {
        Spent { steps: report.steps, proof: report.proof, beyond }
    }
}

/// The verdict on an instance that was not analysed.
pub(super) const LEFT_OUT: &str = "were left out, since what this file may cost was spent";

/// What is left of the text of a file's elaborated modules.
#[derive(Debug)]
pub(super) struct TextBudget(usize);

impl TextBudget {
    /// For a file.
    pub(super) fn new() -> TextBudget {
        TextBudget(TEXT)
    }

    /// Whether an instance is elaborated; the first one of a kernel always is.
    pub(super) fn affords(&self, is_first: bool) -> bool {
        is_first || self.0 > 0
    }

    /// Notes what an instance took.
    pub(super) fn spend(&mut self, elaborated: &ElaboratedInstance) {
        self.0 = self.0.saturating_sub(elaborated.document().text().len());
    }
}

/// What is left of the steps of a file.
#[derive(Clone, Debug)]
pub(super) struct FileBudget {
    /// For all kernels.
    left: u64,
    /// Kernels that have not begun, the one at hand counted.
    kernels: u64,
    /// For the kernel at hand.
    share: u64,
    /// Its instances that were analysed.
    seen: Seen,
}

/// Instances that were analysed.
#[derive(Clone, Debug, Default)]
struct Seen {
    kernels: Vec<Arc<Lowered>>,
    proofs: Vec<u128>,
}

impl Seen {
    /// Whether an instance is equal to one of these, or is none at all.
    fn knows(&self, elaborated: &ElaboratedInstance) -> bool {
        let known = |lowered: &Arc<Lowered>| {
            self.kernels.iter().any(|seen| Arc::ptr_eq(seen, lowered) || seen.kernel == lowered.kernel)
        };
        elaborated.lowered().is_none_or(known)
    }

    /// Whether the proof of an instance is that of one of these.
    fn proves(&self, elaborated: &ElaboratedInstance, limits: &Limits) -> bool {
        !self.proofs.is_empty() && elaborated.shared_proof(limits).is_some_and(|proof| self.proofs.contains(&proof))
    }

    /// Takes an instance in; how many steps it took that none of these took before.
    fn add(&mut self, elaborated: &ElaboratedInstance, spent: Spent) -> u64 {
        if self.knows(elaborated) {
            return 0;
        }
        self.kernels.extend(elaborated.lowered().cloned());
        match spent.proof {
            Some(proof) if self.proofs.contains(&proof.of) => spent.steps.saturating_sub(proof.steps),
            proof => {
                self.proofs.extend(proof.map(|proof| proof.of));
                spent.steps
            }
        }
    }
}

impl FileBudget {
    /// For a file of so many kernels.
    pub(super) fn new(kernels: usize) -> FileBudget {
        FileBudget { left: FILE, kernels: kernels as u64 + 1, share: 0, seen: Seen::default() }
    }

    /// Goes on to the next kernel. What one kernel leaves is for those after it.
    pub(super) fn next_kernel(&mut self) {
        self.kernels = self.kernels.saturating_sub(1).max(1);
        self.share = share(self.left, self.kernels);
        self.seen = Seen::default();
    }

    /// What is left for the kernel at hand.
    pub(super) fn share(&self) -> u64 {
        self.share
    }

    /// What each kernel behind it can take in any case.
    pub(super) fn least_share(&self) -> u64 {
        share(self.left.saturating_sub(self.share), self.kernels.saturating_sub(1))
    }

    /// Whether an instance is analysed.
    pub(super) fn affords(&self, elaborated: &ElaboratedInstance, limits: &Limits) -> bool {
        !elaborated.is_left_out()
            && (self.share > 0
                || self.seen.kernels.is_empty()
                || self.seen.knows(elaborated)
                || self.seen.proves(elaborated, limits))
    }

    /// Notes what an instance took.
    pub(super) fn spend(&mut self, elaborated: &ElaboratedInstance, spent: Spent) {
        let steps = self.seen.add(elaborated, spent);
        self.left = self.left.saturating_sub(steps);
        self.share = self.share.saturating_sub(steps);
    }

    /// Whether just those instances of a kernel are analysed that took steps before.
    pub(super) fn affords_again(
        &self,
        instances: &[Arc<ElaboratedInstance>],
        spent: &[Option<Spent>],
        limits: &Limits,
    ) -> bool {
        let mut budget = self.clone();
        instances.iter().zip(spent).all(|(elaborated, spent)| {
            let same = budget.affords(elaborated, limits) == spent.is_some_and(|spent| !spent.beyond);
            spent.iter().for_each(|spent| budget.spend(elaborated, *spent));
            same
        })
    }

    /// Notes what the instances of a kernel took before.
    pub(super) fn spend_again(&mut self, instances: &[Arc<ElaboratedInstance>], spent: &[Option<Spent>]) {
        for (elaborated, spent) in instances.iter().zip(spent) {
            spent.iter().for_each(|spent| self.spend(elaborated, *spent));
        }
    }
}

/// What the instances of a file's kernels took that several workers judge at once. It bounds their work only; what is
/// analysed of a file is for [`FileBudget`] to say, so that the answer does not depend on who was first.
#[derive(Debug)]
pub(super) struct SharedBudget {
    /// By the number of the kernel.
    kernels: Vec<Mutex<SpentOnKernel>>,
}

#[derive(Debug, Default)]
struct SpentOnKernel {
    steps: u64,
    seen: Seen,
}

impl SharedBudget {
    /// For a file of so many kernels.
    pub(super) fn new(kernels: usize) -> SharedBudget {
        SharedBudget { kernels: (0..kernels).map(|_| Mutex::default()).collect() }
    }

    /// Whether another instance of the kernel of this number, which may take so many steps at `most`, is likely to be
    /// analysed.
    pub(super) fn affords(&self, kernel: usize, elaborated: &ElaboratedInstance, most: u64, limits: &Limits) -> bool {
        self.of(kernel).is_none_or(|spent| {
            spent.steps < most || spent.seen.knows(elaborated) || spent.seen.proves(elaborated, limits)
        })
    }

    /// Notes what an instance took.
    pub(super) fn spend(&self, kernel: usize, elaborated: &ElaboratedInstance, spent: Spent) {
        if let Some(mut all) = self.of(kernel) {
            all.steps += all.seen.add(elaborated, spent);
        }
    }

    fn of(&self, kernel: usize) -> Option<MutexGuard<'_, SpentOnKernel>> {
        self.kernels.get(kernel).map(|spent| spent.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What one of so many kernels may take of what is left.
fn share(left: u64, kernels: u64) -> u64 {
    (left / kernels.max(1)).max(left.min(KERNEL / 2)).min(KERNEL)
}
