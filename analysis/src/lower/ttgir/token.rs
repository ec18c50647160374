//! `async_tma_store_token_wait`: waits for one TMA store, then hands its source back.
//!
//! A TMA store is a commit group of its own, so waiting for one is waiting until only the stores
//! issued after it are open. That is followed where the store stands in the same block, which is
//! where automatic warp specialisation puts it. Missed: tokens carried by loops or out of regions,
//! and tokens of NVWS, both said at the op.

use super::Lowerer;
use super::apply::Predicate;
use crate::sync::{CommitKind, EffectKind, Recipients};
use crate::syntax::ttgir::{Def, OpId};

const STORES: [&str; 3] = ["ttng.async_tma_copy_local_to_global", "ttng.async_tma_reduce", "ttng.async_tma_scatter"];

impl Lowerer<'_> {
    pub(super) fn store_token_wait(&mut self, op: OpId) {
        let tree = self.tree;
        if !tree.group(op, "nvws_tokens").is_empty() {
            return self.unmodelled(op, "tokens of automatic warp specialisation are not followed yet");
        }
        let Some(pending) = self.stores_after(op) else {
            return self.unmodelled(op, "the store of this token is not in the same block, which is not followed yet");
        };
        let site = self.site(op);
        self.build.effect(site, None, EffectKind::WaitGroup { kind: CommitKind::TmaStore, pending });
        for at in 0..tree.group(op, "barriers").len() {
            let predicate = match tree.group(op, "barrier_preds").get(at) {
                Some(&value) => {
                    let var = self.scalar(value);
                    self.known(var)
                }
                None => Predicate::Always,
            };
            let Some(barrier) = self.barrier(op, site, "barriers", at) else { return };
            if !matches!(predicate, Predicate::Never) {
                self.build.effect(
                    site,
                    predicate.var(),
                    EffectKind::Arrive { barrier, count: 1, to: Recipients::own() },
                );
            }
        }
    }

    /// How many stores are issued between the one of the token and its wait.
    fn stores_after(&self, op: OpId) -> Option<u32> {
        let tree = self.tree;
        let Def::Result(store, _) = tree.value_def(*tree.group(op, "token").first()?) else { return None };
        let block = tree.parent_block(op)?;
        if tree.parent_block(store) != Some(block) || !STORES.contains(&tree.op_name(store)) {
            return None;
        }
        let ops = tree.block_ops(block);
        let (from, to) = (ops.iter().position(|&other| other == store)?, ops.iter().position(|&other| other == op)?);
        let between = ops.get(from + 1..to)?;
        if between.iter().any(|&other| !tree.regions(other).is_empty()) {
            return None;
        }
        u32::try_from(between.iter().filter(|&&other| STORES.contains(&tree.op_name(other))).count()).ok()
    }
}
