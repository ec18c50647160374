//! The rendezvous that Triton adds after barriers were initialised.
//!
//! An arrival from another CTA needs the barrier to be there. Programs do not say so: below TTGIR,
//! where a barrier has one row for many CTAs or an operation that arrives in others uses it, Triton
//! lets all CTAs of the cluster meet between the inits and the first use. It orders them and
//! publishes nothing. The machine meets right after the last such init; nothing notices where in
//! between.

use dialects::{OpCode, Ttg, Ttng, ttng};
use rustc_hash::FxHashSet;

use super::lowerer::Lowerer;
use kernel::EffectKind;
use ttgir::{Def, OpId, RegionId, Tree, ValueId};

/// Whether an op stands between an allocation and a barrier's use and only names it.
fn only_names(tree: &Tree, op: OpId) -> bool {
    matches!(
        tree.code(op),
        Some(
            OpCode::Ttg(Ttg::MemdescIndex | Ttg::MemdescSubslice | Ttg::MemdescReinterpret)
                | OpCode::Ttng(Ttng::MapToRemoteBuffer)
        )
    )
}

impl Lowerer<'_> {
    /// All CTAs meet.
    pub(super) fn meet(&mut self, op: OpId) {
        let site = self.site(op);
        self.build.effect(site, None, EffectKind::ClusterArrive { relaxed: true });
        self.build.effect(site, None, EffectKind::ClusterWait);
    }

    /// The op of a kernel's body after which its CTAs meet, if they do.
    pub(super) fn meeting(&self, body: RegionId) -> Option<OpId> {
        if self.ctas.cluster <= 1 {
            return None;
        }
        let tree = self.tree;
        let top: Vec<OpId> = tree.blocks(body).iter().flat_map(|block| tree.block_ops(*block)).copied().collect();
        let shared = self.shared_barriers(&top);
        let has = |op: OpId, what: &dyn Fn(OpId) -> bool| {
            let mut found = false;
            self.walk(op, &mut |op| found |= what(op));
            found
        };
        let names = |op: OpId| tree.operands(op).iter().any(|value| shared.contains(&self.root(*value)));
        let inits = |op: OpId| tree.is(op, Ttng::InitBarrier) && names(op);
        let uses = |op: OpId| !tree.is(op, Ttng::InitBarrier) && !only_names(tree, op) && names(op);
        let meets = |op: OpId| matches!(tree.code(op), Some(OpCode::Ttng(Ttng::ClusterBarrier | Ttng::ClusterArrive)));
        let mut last = None;
        for &op in &top {
            if last.is_some() && has(op, &uses) {
                break;
            }
            if last.is_some() && has(op, &meets) {
                // The program meets by itself.
                return None;
            }
            // Partitions have barriers of their own, and no place where all CTAs could meet.
            if !tree.is(op, Ttg::WarpSpecialize) && has(op, &inits) {
                last = Some(op);
            }
        }
        last
    }

    /// The allocations whose barriers other CTAs arrive at.
    fn shared_barriers(&self, top: &[OpId]) -> FxHashSet<ValueId> {
        let tree = self.tree;
        let mut shared = FxHashSet::default();
        for &op in top {
            self.walk(op, &mut |op| {
                let multicast = || self.flag(op, "multicast") || !tree.group(op, "multicastTargets").is_empty();
                let has_descs = || ttng::TcGen5Commit::cast(tree, op).is_some_and(|commit| !commit.descs().is_empty());
                let group = match tree.code(op) {
                    Some(OpCode::Ttng(Ttng::InitBarrier)) if self.broadcast(op, "alloc", 0) != 0 => "alloc",
                    Some(OpCode::Ttng(Ttng::TcGen5Mma | Ttng::TcGen5MmaScaled)) if self.paired(op).leaders != 0 => {
                        "barriers"
                    }
                    Some(OpCode::Ttng(Ttng::TcGen5Commit)) if self.paired(op).leaders != 0 => "barrier",
                    Some(OpCode::Ttng(Ttng::TcGen5Mma | Ttng::TcGen5MmaScaled)) if multicast() => "barriers",
                    Some(OpCode::Ttng(Ttng::TcGen5Commit)) if has_descs() => "barrier",
                    Some(OpCode::Ttng(Ttng::AsyncTmaCopyGlobalToLocal | Ttng::AsyncTmaGather)) if multicast() => {
                        "barrier"
                    }
                    Some(OpCode::Ttng(Ttng::ClcTryCancel | Ttng::AsyncSharedStore)) => "mbarrier",
                    Some(OpCode::Ttng(Ttng::AsyncClcTryCancel)) => "mbarAlloc",
                    Some(OpCode::Ttng(Ttng::MapToRemoteBuffer)) => "src",
                    Some(OpCode::Ttg(Ttg::AsyncRemoteShmemStore | Ttg::AsyncRemoteShmemCopy)) => "barrier",
                    Some(OpCode::Ttng(Ttng::ArriveBarrier | Ttng::BarrierExpect))
                        if self.routed(op, 0).1.bits() != 0 =>
                    {
                        "alloc"
                    }
                    _ => return,
                };
                shared.extend(tree.group(op, group).iter().map(|barrier| self.root(*barrier)));
            });
        }
        shared
    }

    /// The value that a memdesc is a part of, through views and captures.
    fn root(&self, value: ValueId) -> ValueId {
        let tree = self.tree;
        let mut value = value;
        for _ in 0..super::options::DEPTH {
            let next = match tree.value_def(value) {
                Def::Result(op, _) if only_names(tree, op) => tree.operands(op).first().copied(),
                Def::BlockArg(block, at) => {
                    tree.parent_op(tree.parent_region(block)).and_then(|op| match tree.code(op) {
                        Some(OpCode::Ttg(Ttg::WarpSpecialize | Ttg::WarpSpecializePartitions)) => {
                            tree.operands(op).get(at as usize).copied()
                        }
                        _ => None,
                    })
                }
                _ => None,
            };
            let Some(next) = next else { break };
            value = next;
        }
        value
    }

    /// Shows an op and all ops within it.
    pub(super) fn walk(&self, op: OpId, see: &mut dyn FnMut(OpId)) {
        see(op);
        let tree = self.tree;
        let inner = tree.regions(op).iter().flat_map(|region| tree.blocks(*region));
        for &op in inner.flat_map(|block| tree.block_ops(*block)) {
            self.walk(op, see);
        }
    }
}
