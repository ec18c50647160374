//! `tc_gen5_mma` and `tc_gen5_mma_scaled`.
//!
//! With `useD` false the accumulator is only written, and all of its allocation is cleared; with
//! `useD` true it is read too. Where `useD` is known at run time only, the op becomes two
//! effects of one site of which exactly one happens.
//!
//! Two CTAs that work as a pair are one issuer, the even one, which touches the memory of both.

use super::apply::Predicate;
use super::lowerer::Lowerer;
use dialects::{OpEffect, OperandAccess, Ttg, Ttng};
use kernel::{Access, Arrival, Completion, EffectKind, Issuer, Mode, Proxy, Pure, SiteId, Width};
use ttgir::{Def, MemSpace, OpId, Ty, ValueId};

const fn read(group: &'static str, operand: &'static str) -> OperandAccess {
    OperandAccess { group, mode: Mode::Read, proxy: Proxy::Async, operand }
}

const PLAIN: &[OperandAccess] = &[read("a", "A"), read("b", "B")];
const SCALED: &[OperandAccess] =
    &[read("a", "A"), read("b", "B"), read("a_scale", "AScale"), read("b_scale", "BScale")];

impl Lowerer<'_> {
    pub(super) fn mma(&mut self, op: OpId, scaled: bool) {
        let tree = self.tree;
        let predicate = self.predicate(op);
        if matches!(predicate, Predicate::Never) {
            return;
        }
        let site = self.site(op);
        let Some(mut reads) = self.accesses(op, site, if scaled { SCALED } else { PLAIN }) else { return };
        let reach = self.paired(op);
        reads.iter_mut().for_each(|access| access.ctas = reach.ctas);
        let Some(accumulator) = self.operand(op, "d", 0) else { return };
        let Some(&use_d) = tree.group(op, "useD").first() else {
            return self.unmodelled(op, "its operand `useD` is missing");
        };
        let use_d = self.scalar(use_d);
        let use_d_known = self.known(use_d);
        // A place an access, and the accumulator has two where it is read.
        for _ in 0..if matches!(use_d_known, Predicate::Never) { 1 } else { 2 } {
            self.role_of(op, site, "Acc", "d", 0);
        }
        let Some((issuer, completion)) = self.completion(op, site, matches!(predicate, Predicate::Always)) else {
            return;
        };

        let effect = |reads: &[Access], uses: bool| {
            let access = |mode, clears| Access {
                view: accumulator,
                mode,
                proxy: Proxy::Tensor,
                operand: "Acc",
                clears,
                ctas: reach.ctas,
            };
            let mut accesses = reads.to_vec();
            if uses {
                accesses.push(access(Mode::Read, false));
            }
            accesses.push(access(Mode::Write, !uses));
            EffectKind::Operation { issuer, accesses, completion: completion.clone() }
        };
        match use_d_known {
            Predicate::Always => self.build.effect_of(site, predicate.var(), reach.leaders, effect(&reads, true)),
            Predicate::Never => self.build.effect_of(site, predicate.var(), reach.leaders, effect(&reads, false)),
            Predicate::When(use_d) => {
                let one = self.build.number(1);
                let clear = self.build.compute(Pure::Xor(Width(1), use_d, one), "");
                let (adds, clears) = (self.both(&predicate, use_d), self.both(&predicate, clear));
                self.build.effect_of(site, Some(adds), reach.leaders, effect(&reads, true));
                self.build.effect_of(site, Some(clears), reach.leaders, effect(&reads, false));
            }
        }
    }

    /// Who runs it and what it arrives on.
    fn completion(&mut self, op: OpId, site: SiteId, always: bool) -> Option<(Issuer, Completion)> {
        let tree = self.tree;
        let count = tree.group(op, "barriers").len();
        let mut arrivals = Vec::new();
        // Without `multicast` it arrives in its own pair only.
        let shared = |value: &&ValueId| {
            let ty = tree.value_type(**value).map(|ty| tree.ty(ty));
            matches!(ty, Some(Ty::MemDesc { space: MemSpace::Shared, .. }))
        };
        let sent = ["a", "b"].iter().flat_map(|group| tree.group(op, group)).filter(shared).copied();
        let multicast = self.flag(op, "multicast");
        let to = self.completion_ctas(op, sent.take(if multicast { 2 } else { 0 }));
        if always {
            arrivals.extend(self.plan_completions(op));
        }
        for at in 0..count {
            let predicate = match tree.group(op, "barrier_preds").get(at) {
                Some(&value) => {
                    let var = self.scalar(value);
                    self.known(var)
                }
                None => Predicate::Always,
            };
            let barrier = self.barrier(op, site, "barriers", at)?;
            if !matches!(predicate, Predicate::Never) {
                arrivals.push(Arrival { barrier, predicate: predicate.var(), count: 1, bytes: 0, to: to.clone() });
            }
        }
        // Triton's pipeline hands tokens on until it makes the op asynchronous; Gluon makes them
        // and uses none, and there the op is asynchronous whatever it says.
        let planned = self.plan.is_some() && self.tasks.spans_function();
        let plain = !planned && count == 0 && !self.flag(op, "is_async");
        // What it makes it wait for its operands comes with the pipeline, if it waits for them by itself.
        let pipelined = !planned && count == 0 && tree.attr(op, "loop.stage").is_some() && self.takes_own(op);
        // Plain Triton's is synchronous too once its tokens are taken away: the pass that lowers it puts the wait behind it.
        let hands_on = tree.results(op).is_empty() || !tree.group(op, "acc_dep").is_empty() || self.hands_on(op);
        let synchronous = pipelined || plain && hands_on;
        Some(match (synchronous, arrivals.is_empty()) {
            (true, _) => (Issuer::Base, Completion::InOrder),
            (false, true) => (Issuer::TensorCore, Completion::InOrder),
            (false, false) => (Issuer::TensorCore, Completion::Frontier(arrivals)),
        })
    }

    /// Whether an operand is filled where it is allocated, beside the op: Triton's pipeline gives such a buffer slots
    /// and lets the op be waited for before one is filled again.
    fn takes_own(&self, op: OpId) -> bool {
        let tree = self.tree;
        let here = tree.parent_block(op);
        // Where a commit stands beside it, it is asynchronous already.
        let beside = here.map_or(&[][..], |block| tree.block_ops(block));
        if beside.iter().any(|op| tree.is(*op, Ttng::TcGen5Commit)) {
            return false;
        }
        let mut operands = ["a", "b"].iter().flat_map(|group| tree.group(op, group));
        operands.any(|value| {
            let mut value = *value;
            while let Def::Result(made, _) = tree.value_def(value) {
                if tree.is(made, Ttg::LocalAlloc) {
                    return tree.parent_block(made) == here && !tree.group(made, "src").is_empty();
                }
                match (tree.effect(made), tree.operands(made).first()) {
                    (OpEffect::View(_), Some(&source)) => value = source,
                    _ => return false,
                }
            }
            false
        })
    }

    /// Whether any op takes a result of `op`.
    pub(super) fn hands_on(&mut self, op: OpId) -> bool {
        self.find_users();
        self.tree.results(op).iter().any(|result| self.users.contains_key(result))
    }
}
