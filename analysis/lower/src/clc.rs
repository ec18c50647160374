//! Cluster launch control: requests for another tile, and what is read from their answers.
//!
//! CTA 0 asks for the whole cluster and the answer goes to every CTA, with its bytes on the barrier
//! there. Whether a tile is granted is the machine's choice; which one is a free value.
//!
//! Before a late pass of the fork gives a request memory and a barrier, it has a token. The task that asks is the one
//! that reads, so it is one step here, on memory of its own.

use super::autows::origin;
use super::lowerer::Lowerer;
use super::specialize::partition_regions;
use super::value::Val;
use dialects::{OperandAccess, Ttg, Ttng};
use kernel::{
    Access, Arrival, Buffer, Completion, CtaSet, EffectKind, Input, InputKind, Issuer, Mode, Proxy, Pure, Recipients,
    Shape, Space, Var,
};
use ttgir::{OpId, RegionId};

/// Bits of an answer (PTX ISA, `clusterlaunchcontrol.try_cancel`).
const ANSWER: u64 = 128;

impl Lowerer<'_> {
    /// A request; its operands go by different names in Triton and in the fork's TLX.
    pub(super) fn clc_request(&mut self, op: OpId, result: &'static str, barrier: &'static str) {
        let site = self.site(op);
        let touch = OperandAccess { group: result, mode: Mode::Write, proxy: Proxy::Async, operand: "" };
        let Some(mut accesses) = self.accesses(op, site, &[touch]) else { return };
        let all = self.ctas.cluster - 1;
        for access in &mut accesses {
            access.ctas = CtaSet::group(all);
        }
        let mask = self.broadcast(op, barrier, 0);
        let Some(barrier) = self.barrier(op, site, barrier, 0) else { return };
        let to = Recipients::one(CtaSet { clear: all, spread: all & !mask });
        // An answer has 16 bytes (PTX ISA, `clusterlaunchcontrol.try_cancel`).
        let arrival = Arrival { barrier, predicate: None, count: 0, bytes: 16, to };
        let completion = Completion::Transaction(vec![arrival]);
        let tiles = Input { kind: InputKind::Tiles, width: 32, divisor: 1 };
        self.build.input(tiles, "tiles to come");
        // The fork asks in every CTA whose number along x is 0.
        let leaders = if self.ctas.program > 1 { all } else { self.ctas.along_x - 1 };
        let kind = EffectKind::Operation { issuer: Issuer::Clc, accesses, completion };
        self.build.effect_of(site, None, leaders, kind);
    }

    /// Reads an answer: whether it grants a tile.
    pub(super) fn clc_read(&mut self, op: OpId, group: &'static str) -> Option<Var> {
        let site = self.site(op);
        let touch = OperandAccess { group, mode: Mode::Read, proxy: Proxy::Generic, operand: "" };
        let source = self.accesses(op, site, &[touch])?.pop()?;
        let name = self.tree.results(op).first().map_or("", |result| self.tree.value_name(*result));
        let dst = self.build.scalar_param(name);
        self.build.effect(site, None, EffectKind::ClcLoad { source, dst });
        Some(dst)
    }

    /// `clc_load_result`: the answer stands for whether it grants a tile.
    pub(super) fn clc_load(&mut self, op: OpId) {
        if let (Some(granted), Some(&result)) = (self.clc_read(op, "src"), self.tree.results(op).first())
            && !self.executes()
        {
            self.bind(result, Val::Scalar(granted));
        }
    }

    /// `clc_is_canceled`: a launch was cancelled, so its tile is ours.
    pub(super) fn clc_granted(&mut self, op: OpId) {
        let tree = self.tree;
        let (Some(&answer), Some(&result)) = (tree.operands(op).first(), tree.results(op).first()) else { return };
        if let Some(Val::Scalar(granted)) = self.values.get(&answer).copied().filter(|_| !self.executes()) {
            let var = self.build.compute(Pure::Copy(granted), tree.value_name(result));
            self.bind(result, Val::Scalar(var));
        }
    }

    /// A request with a token happens where its answer is read ([`Lowerer::clc_answer`]); one that nobody reads is said.
    pub(super) fn clc_ask(&mut self, op: OpId) {
        self.find_users();
        if !self.tree.results(op).iter().any(|token| self.users.contains_key(token)) {
            self.unmodelled(op, "nobody reads the answer to this request, which is not followed");
        }
    }

    /// `clc_read` and `clc_advance`: the answer to a request, before it has memory.
    pub(super) fn clc_answer(&mut self, op: OpId) {
        let tree = self.tree;
        let several = "several tasks go on by one answer: the broadcast of tiles (doDynamicTileBroadcast) lets one of them \
                       ask and tell the others";
        if self.executes() {
            return self.unmodelled(op, "cluster launch control before it has barriers is not followed");
        }
        if self.partitions_advance(op) > 1 {
            return self.unmodelled(op, several);
        }
        if self.task.is_some() {
            let own = self.tasks.partitions(tree, op);
            self.find_users();
            let others = |task: &usize| !own.contains(task) && (self.uses(op, *task) || self.steers(op, *task));
            if own.len() > 1 || (0..self.tasks.numbers.len()).any(|task| others(&task)) {
                return self.unmodelled(op, several);
            }
        }
        let asks = tree.operands(op).first().map_or(Some(op), |token| origin(tree, *token));
        let Some(asks) = asks.filter(|asks| *asks == op || tree.is(*asks, Ttng::ClcTryCancelAsync)) else {
            return self.unmodelled(op, "which request it answers is not followed");
        };
        let Some(&named) = tree.results(asks).first() else { return };
        let buffer = Buffer { space: Space::Shared, bits: ANSWER, start: None, barriers: false, slot_bits: ANSWER };
        let id = self.build.buffer(buffer, tree.value_name(named), tree.value_range(named));
        let shape = Shape::dense(&[1], ANSWER);
        let view = self.build.base(id, shape, tree.value_name(named));
        let (request, site) = (self.site(asks), self.site(op));
        let touch = |mode, proxy| Access { view, mode, proxy, operand: "Answer", clears: false, ctas: CtaSet::OWN };
        self.build.effect(request, None, EffectKind::Allocate(id));
        let tiles = Input { kind: InputKind::Tiles, width: 32, divisor: 1 };
        self.build.input(tiles, "tiles to come");
        let (accesses, completion) = (vec![touch(Mode::Write, Proxy::Async)], Completion::InOrder);
        self.build.effect(request, None, EffectKind::Operation { issuer: Issuer::Clc, accesses, completion });
        let [valid, places @ ..] = tree.results(op) else { return };
        let dst = self.build.scalar_param(tree.value_name(*valid));
        self.build.effect(site, None, EffectKind::ClcLoad { source: touch(Mode::Read, Proxy::Generic), dst });
        self.bind(*valid, Val::Scalar(dst));
        let none = self.build.number(-1);
        for &result in places {
            let tile = self.scalar(result);
            let var = self.build.compute(Pure::Select(dst, tile, none), tree.value_name(result));
            self.bind(result, Val::Scalar(var));
        }
    }

    /// How many regions of the `warp_specialize` around an op ask for the next tile, each for itself.
    fn partitions_advance(&self, op: OpId) -> usize {
        let tree = self.tree;
        let outer = |op: &OpId| tree.parent_block(*op).and_then(|block| tree.parent_op(tree.parent_region(block)));
        let around = std::iter::successors(outer(&op), outer).find(|op| tree.is(*op, Ttg::WarpSpecialize));
        let Some(around) = around else { return 1 };
        let default = tree.regions(around).first();
        let advances = |region: &&RegionId| {
            let mut found = false;
            for &op in tree.blocks(**region).iter().flat_map(|block| tree.block_ops(*block)) {
                self.walk(op, &mut |op| found |= tree.is(op, Ttng::ClcAdvance));
            }
            found
        };
        default.into_iter().chain(partition_regions(tree, around).1).filter(advances).count()
    }

    /// `clc_query_cancel`: the tile's place, or -1 in each dimension.
    pub(super) fn clc_query(&mut self, op: OpId) {
        let tree = self.tree;
        let Some(granted) = self.clc_read(op, "clcResAlloc") else { return };
        if self.executes() {
            return;
        }
        let none = self.build.number(-1);
        for &result in tree.results(op) {
            let tile = self.scalar(result);
            let var = self.build.compute(Pure::Select(granted, tile, none), tree.value_name(result));
            self.bind(result, Val::Scalar(var));
        }
    }
}
