//! Proofs by generic kernel, so that instances of one kernel that differ in sizes alone are proved once.

use super::{Proof, prove};
use crate::cache::kernel_bytes;
use crate::generic::Generic;
use crate::limits::memo::PROOFS as CAPACITY;
use base::cache::{Cache, Weight};
use base::{Cancel, Cancelled, Digest, Limits};
use kernel::Kernel;
use machine::TxCount;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// What a proof is asked of.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Question {
    /// The generic kernel.
    pub kernel: Kernel,
    /// What its transaction counts are numbers of.
    pub tx: TxCount,
    /// By loop: how many iterations are taken for granted.
    pub floors: Vec<i64>,
    /// What the proof may cost, and what rules are about.
    pub limits: Limits,
}

impl Question {
    /// The question for a kernel, and whether no answer to it is one for the kernel too.
    pub(super) fn new(kernel: &Kernel, floors: &[i64], limits: &Limits) -> (Question, bool) {
        let Generic { kernel, tx, is_exact } = Generic::new(kernel);
        (Question { kernel, tx, floors: floors.to_vec(), limits: limits.clone() }, is_exact)
    }

    /// A number that differs for questions that differ.
    pub(super) fn digest(&self) -> u128 {
        let mut digest = Digest::default();
        self.hash(&mut digest);
        digest.bits()
    }
}

/// Proofs that are known, shared by engines and threads.
#[derive(Debug)]
pub(crate) struct ProofMemo {
    cache: Cache<Arc<Question>, Proof>,
}

impl Default for ProofMemo {
    fn default() -> ProofMemo {
        ProofMemo { cache: Cache::new(CAPACITY) }
    }
}

impl ProofMemo {
    /// The proof of a kernel of which nothing was assumed.
    pub(super) fn prove(&self, question: Question, cancel: &Cancel<'_>) -> Result<Arc<Proof>, Cancelled> {
        let mut hasher = FxHasher::default();
        question.hash(&mut hasher);
        let question = Arc::new(question);
        let is_key = |key: &Arc<Question>| *key == question;
        let (proof, _) = self.cache.get_or_compute(
            hasher.finish(),
            is_key,
            || question.clone(),
            cancel,
            || {
                let Question { kernel, tx, floors, limits } = &*question;
                let proof = prove(kernel, *tx, floors, &[], limits, cancel)?;
                let weight = Weight { bytes: kernel_bytes(kernel), work: 1 + proof.steps };
                Ok((proof, weight))
            },
        )?;
        Ok(proof)
    }

    /// Ends a period, and forgets kernels for which nobody asked in it nor in the one before.
    pub(crate) fn forget_unused(&self) {
        self.cache.forget_unused();
    }
}
