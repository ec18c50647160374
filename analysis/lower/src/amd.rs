//! What AMD's ops do beyond a row of the table: arrivals that count threads or warps, the phase
//! that an arrival gives back, waits that were lowered to counts of instructions.

use super::apply::Predicate;
use super::lowerer::Lowerer;
use super::value::Val;
use crate::limits::amd::UPDATES;
use dialects::Amdg;
use kernel::{
    Access, Arrival, CmpOp, CommitKind, Completion, EffectKind, Issuer, Pure, Recipients, SiteId, Var, Width,
};
use ttgir::{Def, OpId, ValueId};

impl Lowerer<'_> {
    /// Warps of the partition that is being lowered.
    pub(super) fn warps(&self) -> u32 {
        self.build.kernel.partitions.get(self.partition).and_then(|partition| partition.warps).unwrap_or(1)
    }

    /// An arrival once for every thread. Where the phase it gives back is used, it is read just
    /// before: the phase cannot end without this arrival.
    pub(super) fn arrive_threads(&mut self, op: OpId) {
        let Some(count) = self.count(op, "count") else { return };
        let count = count.saturating_mul(self.warps()).saturating_mul(self.lanes);
        if self.hands_on(op) {
            self.read_phase(op);
        }
        let site = self.site(op);
        if let Some(barrier) = self.barrier(op, site, "alloc", 0) {
            self.build.effect(site, None, EffectKind::Arrive { barrier, count, to: Recipients::own() });
        }
    }

    pub(super) fn read_phase(&mut self, op: OpId) {
        let tree = self.tree;
        let site = self.site(op);
        let Some(barrier) = self.barrier(op, site, "alloc", 0) else { return };
        let Some(&result) = tree.results(op).first() else { return };
        let dst = self.build.scalar_param(tree.value_name(result));
        self.bind(result, Val::Scalar(dst));
        self.build.effect(site, None, EffectKind::ReadPhase { barrier, dst });
    }

    /// The arrivals of an operation of the data mover: one a warp, if it has a barrier.
    pub(super) fn warp_arrivals(&mut self, op: OpId, site: SiteId, group: &str) -> Option<Vec<Arrival>> {
        if self.tree.group(op, group).is_empty() {
            return Some(Vec::new());
        }
        let barrier = self.barrier(op, site, group, 0)?;
        let (count, to) = (self.warps(), Recipients::own());
        Some(vec![Arrival { barrier, predicate: None, count, bytes: 0, to }])
    }

    /// An operation of the data mover. One whose descriptor is switched off touches no memory, and counts all the
    /// same: a pipeline goes on to count its batches behind the last tile. Triton writes the predicate into the
    /// descriptor (`update_tensor_descriptor … pred = %p`), as the number of tiles.
    pub(super) fn data_mover(&mut self, op: OpId, site: SiteId, leaders: u16, accesses: Vec<Access>, barrier: &str) {
        let Some(arrivals) = self.warp_arrivals(op, site, barrier) else { return };
        let switched = self.switched(op);
        let operation = |accesses| EffectKind::Operation {
            issuer: Issuer::Tma,
            accesses,
            completion: Completion::InTurn(arrivals.clone()),
        };
        match switched {
            Predicate::Always => self.build.effect_of(site, None, leaders, operation(accesses)),
            Predicate::Never => self.build.effect_of(site, None, leaders, operation(Vec::new())),
            Predicate::When(on) => {
                let one = self.build.number(1);
                let off = self.build.compute(Pure::Xor(Width(1), on, one), "");
                self.build.effect_of(site, Some(on), leaders, operation(accesses));
                self.build.effect_of(site, Some(off), leaders, operation(Vec::new()));
            }
        }
    }

    /// Whether the descriptors of an operation are switched on; of several only where one switch is for all.
    fn switched(&mut self, op: OpId) -> Predicate {
        let tree = self.tree;
        let descriptors = ["desc", "descs"].iter().flat_map(|group| tree.group(op, group));
        let mut switches: Vec<Option<ValueId>> = descriptors.map(|desc| self.predicate_of(*desc)).collect();
        switches.dedup();
        let &[Some(predicate)] = &switches[..] else { return Predicate::Always };
        let var: Var = self.scalar(predicate);
        match self.build.constant(var) {
            Some(0) => Predicate::Never,
            Some(_) => Predicate::Always,
            None => {
                let zero = self.build.number(0);
                Predicate::When(self.build.compute(Pure::Cmp(CmpOp::Ne, Width(32), var, zero), ""))
            }
        }
    }

    /// The predicate that was last written into a descriptor, as far as that is seen.
    fn predicate_of(&self, descriptor: ValueId) -> Option<ValueId> {
        let tree = self.tree;
        let mut descriptor = descriptor;
        for _ in 0..UPDATES {
            let Def::Result(update, _) = tree.value_def(descriptor) else { return None };
            if !tree.is(update, Amdg::UpdateTensorDescriptor) {
                return None;
            }
            if let found @ Some(_) = tree.group(update, "pred").first().copied() {
                return found;
            }
            descriptor = tree.group(update, "desc").first().copied()?;
        }
        None
    }

    /// Without the count of groups only a wait for everything is followed. The device counts instructions: where one
    /// of the two counts is of a wait for everything and the other one is not, the count of groups is a stale one.
    pub(super) fn lowered_wait(&mut self, op: OpId, kind: CommitKind, groups: &str, rest: &str) {
        let count = |attr| self.int_attr(op, attr).and_then(|count| u32::try_from(count).ok());
        if let (Some(open), Some(instructions)) = (count(groups), count(rest))
            && (open == 0) != (instructions == 0)
        {
            return self.unmodelled(
                op,
                format!("it leaves {instructions} instructions open by `{rest}`, and {open} operations by `{groups}`: the two disagree"),
            );
        }
        let pending = count(groups).or_else(|| count(rest).filter(|rest| *rest == 0));
        let Some(pending) = pending else {
            return self
                .unmodelled(op, format!("it counts instructions, and has no `{groups}` that counts operations"));
        };
        let site = self.site(op);
        self.build.effect(site, None, EffectKind::WaitGroup { kind, pending });
    }
}
