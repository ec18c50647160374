//! Memory of another CTA, named by its number: the facebookexperimental fork's way of clusters.

use super::apply::Predicate;
use super::lowerer::Lowerer;
use super::value::Val;
use dialects::RemoteStoreKind;
use kernel::{
    Access, Arrival, Completion, CtaSet, EffectKind, Issuer, Mode, Proxy, Pure, Recipients, SiteId, Var, ViewOp, Width,
};
use ttgir::OpId;

impl Lowerer<'_> {
    /// A view of the same place in another CTA.
    pub(super) fn in_cta(&mut self, src: Var, cta: Var, name: &str) -> Option<Var> {
        let shape = self.build.shape(src)?.clone();
        let punned = self.build.facts(src).punned;
        Some(self.build.view(src, ViewOp::Remote(cta), shape, punned, name))
    }

    /// `map_to_remote_buffer`: the view of the same buffer in another CTA.
    pub(super) fn map_to_remote(&mut self, op: OpId) {
        let tree = self.tree;
        let (&[src, rank], Some(&result)) = (tree.operands(op), tree.results(op).first()) else { return };
        let rank = self.scalar(rank);
        match self.view(src).and_then(|src| self.in_cta(src, rank, tree.value_name(result))) {
            Some(view) => self.bind(result, Val::View(view)),
            None => self.bind(result, Val::Opaque),
        }
    }

    /// `remote_shmem_store` and its asynchronous kin.
    pub(super) fn remote_store(&mut self, op: OpId, how: RemoteStoreKind) {
        let tree = self.tree;
        let Some(&rank) = tree.group(op, "ctaRank").first() else {
            return self.unmodelled(op, "its operand `ctaRank` is missing");
        };
        let rank = self.scalar(rank);
        let site = self.site(op);
        let (mut accesses, access) = (Vec::new(), |view, mode, proxy| Access {
            view,
            mode,
            proxy,
            operand: "",
            clears: false,
            ctas: CtaSet::OWN,
        });
        if how == RemoteStoreKind::AsyncCopy {
            let Some(src) = self.operand(op, "src", 0) else { return };
            self.role_of(op, site, "src", "src", 0);
            accesses.push(access(src, Mode::Read, Proxy::Async));
        }
        let bytes = tree.group(op, "dst").first().and_then(|value| self.memory(*value)).map_or(0, |dst| dst.bytes);
        let Some(dst) = self.operand(op, "dst", 0).and_then(|dst| self.in_cta(dst, rank, "")) else { return };
        self.role_of(op, site, "dst", "dst", 0);
        let proxy = if how == RemoteStoreKind::AsyncCopy { Proxy::Async } else { Proxy::Generic };
        accesses.push(access(dst, Mode::Write, proxy));
        let (issuer, completion) = if how == RemoteStoreKind::Store {
            (Issuer::Base, Completion::InOrder)
        } else {
            let Some(barrier) = self.barrier(op, site, "barrier", 0) else { return };
            let Some(barrier) = self.in_cta(barrier, rank, "") else { return };
            let arrival = Arrival { barrier, predicate: None, count: 0, bytes, to: Recipients::own() };
            (Issuer::Tma, Completion::Transaction(vec![arrival]))
        };
        self.build.effect(site, None, EffectKind::Operation { issuer, accesses, completion });
    }

    /// A TMA load into the CTAs of a mask that the program computes: one copy for each, of which
    /// those happen whose bit is set.
    pub(super) fn multicast_to(&mut self, op: OpId, site: SiteId, predicate: &Predicate, mask: Var) {
        let tree = self.tree;
        let bytes = tree.group(op, "result").first().and_then(|value| self.memory(*value)).map_or(0, |it| it.bytes);
        let Some(result) = self.operand(op, "result", 0) else { return };
        self.role_of(op, site, "result", "result", 0);
        let Some(barrier) = self.barrier(op, site, "barrier", 0) else { return };
        for cta in 0..self.ctas.cluster {
            let number = self.build.number(i64::from(cta));
            let bit = self.build.compute(Pure::ShrU(Width(32), mask, number), "");
            let bit = self.build.compute(Pure::Trunc(Width(1), bit), "");
            let happens = match self.known(bit) {
                Predicate::Never => continue,
                Predicate::Always => predicate.var(),
                Predicate::When(bit) => Some(self.both(predicate, bit)),
            };
            let (Some(view), Some(barrier)) = (self.in_cta(result, number, ""), self.in_cta(barrier, number, ""))
            else {
                return;
            };
            let write =
                Access { view, mode: Mode::Write, proxy: Proxy::Async, operand: "", clears: false, ctas: CtaSet::OWN };
            let arrival = Arrival { barrier, predicate: None, count: 0, bytes, to: Recipients::own() };
            let completion = Completion::Transaction(vec![arrival]);
            let kind = EffectKind::Operation { issuer: Issuer::Tma, accesses: vec![write], completion };
            self.build.effect(site, happens, kind);
        }
    }
}
