//! What a kernel promises of its numbers: launches for which that does not hold are none.

use super::exit::Exit;
use super::lowerer::Lowerer;
use kernel::{EffectKind, Terminator};
use ttgir::OpId;

impl Lowerer<'_> {
    /// Ends the kernel where a promise does not hold. That is followed before the kernel has done anything that its end could
    /// come too early for; a promise that is made later, or by one of several partitions, counts for nothing.
    pub(super) fn assume(&mut self, op: OpId) {
        let tree = self.tree;
        let is_setup = |kind: &EffectKind| matches!(kind, EffectKind::Allocate(_) | EffectKind::Init { .. });
        let &[condition] = tree.operands(op) else { return };
        let function = tree.parent_block(op).and_then(|block| tree.parent_op(tree.parent_region(block)));
        if !matches!(self.exits.as_slice(), [Exit::Kernel])
            || function != self.calls.first().copied()
            || self.class(condition) != super::value::Class::Scalar(1)
            || !self.build.kernel.effects.iter().all(|effect| is_setup(&effect.kind))
            || !self.build.kernel.loops.is_empty()
        {
            return;
        }
        let condition = self.scalar(condition);
        let (goes_on, ends) = (self.build.block(Vec::new()), self.build.block(Vec::new()));
        self.build.branch(condition, goes_on, ends);
        self.build.enter(ends);
        let site = self.site(op);
        self.build.end(Terminator::Return(site));
        self.build.enter(goes_on);
    }
}
