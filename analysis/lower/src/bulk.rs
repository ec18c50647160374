//! Bulk copies into shared memory (`cp.async.bulk`): bytes of one block of memory, by the TMA engine, on a barrier.

use super::lowerer::Lowerer;
use dialects::OperandAccess;
use kernel::{Arrival, Completion, CtaSet, EffectKind, Issuer, Mode, Proxy, Recipients};
use ttgir::OpId;

impl Lowerer<'_> {
    /// Whether an asynchronous copy is one in bulk, that arrives on a barrier of its own.
    pub(super) fn copies_in_bulk(&self, op: OpId) -> bool {
        !self.tree.group(op, "barrier").is_empty()
    }

    /// A bulk copy: its size says what arrives. One that fills its buffer is followed.
    pub(super) fn bulk_copy(&mut self, op: OpId) {
        if self.executes() {
            return self.unmodelled(op, "a bulk copy is not executed yet");
        }
        let site = self.site(op);
        let whole = self.tree.group(op, "result").first().and_then(|value| self.memory(*value)).map(|to| to.bytes);
        let bytes = match self.tree.group(op, "bulkSize").first() {
            Some(&size) => {
                let size = self.scalar(size);
                self.build.constant(size).and_then(|size| u64::try_from(size).ok())
            }
            None => whole,
        };
        let Some(bytes) = bytes else { return self.unmodelled(op, "how much it copies is not known") };
        if whole != Some(bytes) {
            return self.unmodelled(op, "which part of its buffer it fills is not followed");
        }
        let touch = OperandAccess { group: "result", mode: Mode::Write, proxy: Proxy::Async, operand: "" };
        let Some(accesses) = self.accesses(op, site, &[touch]) else { return };
        let Some(barrier) = self.barrier(op, site, "barrier", 0) else { return };
        let to = Recipients::one(CtaSet::OWN);
        let completion = Completion::Transaction(vec![Arrival { barrier, predicate: None, count: 0, bytes, to }]);
        let kind = EffectKind::Operation { issuer: Issuer::Tma, accesses, completion };
        self.build.effect(site, None, kind);
    }
}
