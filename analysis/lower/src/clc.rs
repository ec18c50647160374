//! Cluster launch control: requests for another tile, and what is read from their answers.
//!
//! CTA 0 asks for the whole cluster and the answer goes to every CTA, with its bytes on the barrier
//! there. Whether a tile is granted is the machine's choice; which one is a free value.

use super::lowerer::Lowerer;
use super::value::Val;
use dialects::OperandAccess;
use kernel::{Arrival, Completion, CtaSet, EffectKind, Input, InputKind, Issuer, Mode, Proxy, Pure, Recipients, Var};
use ttgir::OpId;

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
