//! What AMD's ops do beyond a row of the table: arrivals that count threads or warps, the phase
//! that an arrival gives back, waits that were lowered to counts of instructions.

use super::lowerer::Lowerer;
use super::value::Val;
use kernel::{Arrival, CommitKind, EffectKind, Recipients, SiteId};
use ttgir::OpId;

impl Lowerer<'_> {
    /// Warps of the partition that is being lowered.
    pub(super) fn warps(&self) -> u32 {
        self.build.kernel.partitions.get(self.partition).map_or(1, |partition| partition.warps)
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

    /// Without the count of groups only a wait for everything is followed.
    pub(super) fn lowered_wait(&mut self, op: OpId, kind: CommitKind, groups: &str, rest: &str) {
        let count = |attr| self.int_attr(op, attr).and_then(|count| u32::try_from(count).ok());
        let pending = count(groups).or_else(|| count(rest).filter(|rest| *rest == 0));
        let Some(pending) = pending else {
            return self
                .unmodelled(op, format!("it counts instructions, and has no `{groups}` that counts operations"));
        };
        let site = self.site(op);
        self.build.effect(site, None, EffectKind::WaitGroup { kind, pending });
    }
}
