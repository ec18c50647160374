//! Shared memory that an op uses for itself while it runs, after Triton has placed it.
//!
//! A layout conversion or a reduction writes its values there and reads them back. Where the place
//! was another buffer's, an operation on that buffer may still be in flight. Only the attributes
//! of the allocation say that there is any, so before it nothing is known of scratch memory.

use super::lowerer::Lowerer;
use dialects::{OpCode, Tt, Ttg};
use kernel::{Access, Buffer, Completion, CtaSet, EffectKind, Issuer, Mode, Proxy, Shape, Space};
use ttgir::OpId;

impl Lowerer<'_> {
    /// Lowers the scratch memory of an op that has some. That of `ttg.warp_specialize` holds what
    /// the partitions capture, which no program touches.
    pub(super) fn scratch(&mut self, op: OpId) {
        let tree = self.tree;
        let number = |name| self.int_attr(op, name).and_then(|bytes| u32::try_from(bytes).ok()).map(u64::from);
        let (Some(size), Some(start)) = (number("allocation.size"), number("allocation.offset")) else { return };
        if size == 0
            || matches!(tree.code(op), Some(OpCode::Ttg(Ttg::WarpSpecialize | Ttg::LocalAlloc) | OpCode::Tt(Tt::Call)))
        {
            return;
        }
        let bits = size * 8;
        let buffer = Buffer { space: Space::Shared, bits, start: Some(start * 8), barriers: false, slot_bits: bits };
        let name = "%scratch";
        let id = self.build.buffer(buffer, name, tree.op_name_range(op));
        let site = self.site(op);
        let view = self.build.base(id, Shape::dense(&[size], 8), name);
        self.role(op, site, "scratch", tree.op_name_range(op));
        for mode in [Mode::Write, Mode::Read] {
            let access =
                Access { view, mode, proxy: Proxy::Generic, operand: "Scratch", clears: false, ctas: CtaSet::OWN };
            let (accesses, completion) = (vec![access], Completion::InOrder);
            self.build.effect(site, None, EffectKind::Operation { issuer: Issuer::Base, accesses, completion });
        }
    }
}
