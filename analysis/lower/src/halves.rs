//! Half of the warps behind the other half, on AMD: what Triton's ping-pong makes of a loop.
//!
//! `amdg.cond_barrier` is a barrier that only some warps come to. Before a loop it holds one half back until the other
//! one meets its first barrier; from then on the halves are one barrier apart, and behind the loop a second one for the
//! other half brings them together (`BlockPingpong.cpp` of Triton's AMD backend). So between two barriers of the loop one
//! half does what stands there while the other half does what stands before, as in a warp pipeline whose borders are the
//! barriers. Triton puts a barrier behind each `async_wait` too.
//!
//! Followed is a pair in one block whose conditions are one comparison of the thread's number, which tells whole warps
//! apart, and its opposite, with a barrier before the first one. All else is not followed, and neither are pairs with
//! barriers in between that only Triton knows of: around what exchanges values among warps, and between two accesses that
//! no barrier of the text keeps apart and that must not be swapped.
//!
//! Deviation: two stores of one stage to one allocation count as stores to two.

use super::lowerer::Lowerer;
use dialects::{Amdg, Arith, Gpu, OpCode, OpCompletion, OpEffect, Rocdl, Scf, Ttg};
use kernel::{CmpOp, CommitKind, EffectKind, Mode};
use ttgir::{Def, OpId, ValueId};

/// What stands between two barriers, as far as Triton may put another one there.
#[derive(Clone, Copy, Default)]
struct Between {
    reads: bool,
    /// Reads that are not synchronised by the wait for a copy.
    plain_reads: bool,
    writes: bool,
    copies: bool,
}

impl Between {
    /// Whether two accesses may need a barrier in between that the text does not have.
    fn lacks_barrier(self) -> bool {
        (self.writes && (self.reads || self.copies)) || (self.copies && self.plain_reads)
    }
}

impl Lowerer<'_> {
    /// Lowers a barrier for some of the warps; whether it is one of a pair that is followed.
    pub(super) fn hold_back(&mut self, op: OpId) -> bool {
        if self.executes() {
            return false;
        }
        if self.warps.meeting == Some(op) {
            let site = self.site(op);
            self.build.effect(site, None, EffectKind::Commit(CommitKind::Stage));
            self.warps_wait(op, CommitKind::Stage, 0);
            self.warps.staged = false;
            self.warps.meeting = None;
            return true;
        }
        if self.warps.staged || !self.ctas.apart || self.partition != 0 {
            return false;
        }
        let followed = |meeting: &OpId| self.is_behind_barrier(op) && self.knows_all_barriers(op, *meeting);
        let Some(meeting) = self.other_half(op).filter(followed) else { return false };
        if self.warps.relaxed {
            self.warps_wait(op, CommitKind::RelaxedRead, 0);
        }
        let site = self.site(op);
        self.build.effect(site, None, EffectKind::Commit(CommitKind::Stage));
        self.warps.staged = true;
        self.warps.meeting = Some(meeting);
        true
    }

    /// Whether Triton puts a barrier behind an op while one half of the warps is behind the other.
    pub(super) fn has_barrier_behind(&self, op: OpId) -> bool {
        let next = || self.behind(op).into_iter().find(|next| !self.is_hint(*next));
        self.warps.meeting.is_some() && self.waits_for_copies(op) && !next().is_some_and(|next| self.is_barrier(next))
    }

    /// Whether an op waits for copies in flight.
    pub(super) fn waits_for_copies(&self, op: OpId) -> bool {
        matches!(
            self.tree.effect(op),
            OpEffect::WaitGroup { kind: CommitKind::AsyncCopy, .. }
                | OpEffect::LoweredWaitGroup { kind: CommitKind::AsyncCopy, .. }
        )
    }

    /// Whether Triton puts no barrier between two ops that the text does not say or lead to.
    fn knows_all_barriers(&self, from: OpId, to: OpId) -> bool {
        let mut between = Between::default();
        let region = self.behind(from).into_iter().take_while(|op| *op != to);
        region.into_iter().all(|op| self.follow(op, &mut between))
    }

    /// Goes through an op and those in it, loops twice; whether all barriers there are known.
    fn follow(&self, op: OpId, between: &mut Between) -> bool {
        let tree = self.tree;
        if self.exchanges(op) {
            return false;
        }
        if self.is_barrier(op) || self.waits_for_copies(op) {
            *between = Between::default();
            return true;
        }
        match tree.effect(op) {
            OpEffect::Memory { accesses, completion: OpCompletion::InOrder, .. } => {
                let writes = accesses.iter().any(|access| access.mode == Mode::Write);
                between.writes |= writes;
                between.reads |= !writes;
                between.plain_reads |= !writes && !self.is_relaxed(op);
            }
            OpEffect::Memory { .. } => between.copies = true,
            OpEffect::Allocate | OpEffect::Unknown | OpEffect::Unmodelled(_) => return false,
            _ => {}
        }
        if between.lacks_barrier() {
            return false;
        }
        let turns = if tree.is(op, Scf::For) || tree.is(op, Scf::While) { 2 } else { 1 };
        (0..turns).all(|_| {
            let blocks = tree.regions(op).iter().flat_map(|region| tree.blocks(*region));
            blocks.flat_map(|block| tree.block_ops(*block)).all(|inner| self.follow(*inner, between))
        })
    }

    /// The barrier for the other warps: the next one of the block, with none below in between.
    fn other_half(&self, op: OpId) -> Option<OpId> {
        let tree = self.tree;
        for next in self.behind(op) {
            let mut inside = false;
            self.walk(next, &mut |inner| inside |= tree.is(inner, Amdg::CondBarrier));
            if inside {
                let pair = tree.is(next, Amdg::CondBarrier) && self.are_opposite(op, next);
                return pair.then_some(next);
            }
        }
        None
    }

    /// The ops of its block behind an op.
    fn behind(&self, op: OpId) -> Vec<OpId> {
        let ops = self.tree.parent_block(op).map_or(&[][..], |block| self.tree.block_ops(block));
        ops.iter().copied().skip_while(|other| *other != op).skip(1).collect()
    }

    /// Whether nothing that touches memory stands between an op and the last barrier before it.
    fn is_behind_barrier(&self, op: OpId) -> bool {
        let tree = self.tree;
        let ops = tree.parent_block(op).map_or(&[][..], |block| tree.block_ops(block));
        let before: Vec<OpId> = ops.iter().copied().take_while(|other| *other != op).collect();
        let barrier = before.iter().rev().find(|other| {
            self.is_barrier(**other) || !matches!(tree.effect(**other), OpEffect::Nothing | OpEffect::Pure)
        });
        barrier.is_some_and(|barrier| self.is_barrier(*barrier))
    }

    /// Whether an op only says something to the compiler.
    fn is_hint(&self, op: OpId) -> bool {
        matches!(
            self.tree.code(op),
            Some(OpCode::Rocdl(Rocdl::SchedBarrier | Rocdl::SchedGroupBarrier | Rocdl::SetPriority))
        )
    }

    /// Whether each warp comes to one of two barriers: their conditions are a comparison and its opposite.
    fn are_opposite(&self, one: OpId, other: OpId) -> bool {
        let (Some(a), Some(b)) = (self.comparison(one), self.comparison(other)) else { return false };
        let negated = match a.0 {
            CmpOp::Eq => CmpOp::Ne,
            CmpOp::Ne => CmpOp::Eq,
            CmpOp::Slt => CmpOp::Sge,
            CmpOp::Sge => CmpOp::Slt,
            CmpOp::Sle => CmpOp::Sgt,
            CmpOp::Sgt => CmpOp::Sle,
            CmpOp::Ult => CmpOp::Uge,
            CmpOp::Uge => CmpOp::Ult,
            CmpOp::Ule => CmpOp::Ugt,
            CmpOp::Ugt => CmpOp::Ule,
        };
        b.0 == negated && (a.1, a.2) == (b.1, b.2)
    }

    /// The comparison of a number of warps with a constant that a barrier stands under.
    fn comparison(&self, op: OpId) -> Option<(CmpOp, ValueId, i64)> {
        let tree = self.tree;
        let condition = self.defined(tree.group(op, "pred").first().copied()?)?;
        let &[warps, with] = tree.operands(condition) else { return None };
        let with = self.number_of(with)?;
        (tree.is(condition, Arith::Cmpi) && self.numbers_warps(warps)).then_some((
            self.compare(condition)?,
            warps,
            with,
        ))
    }

    /// Whether a value is the same for all threads of each warp because it is a quotient of the thread's number.
    fn numbers_warps(&self, value: ValueId) -> bool {
        let tree = self.tree;
        let Some(op) = self.defined(value) else { return false };
        match tree.code(op) {
            Some(OpCode::Ttg(Ttg::WarpId)) => true,
            Some(OpCode::Arith(Arith::Divsi | Arith::Divui)) => {
                let &[of, by] = tree.operands(op) else { return false };
                let thread = self.defined(of).and_then(|of| tree.code(of));
                let is_thread = matches!(thread, Some(OpCode::Rocdl(Rocdl::WorkitemIdX) | OpCode::Gpu(Gpu::ThreadId)));
                is_thread && self.number_of(by).is_some_and(|by| by > 0 && by % i64::from(self.lanes.max(1)) == 0)
            }
            _ => false,
        }
    }

    fn defined(&self, value: ValueId) -> Option<OpId> {
        match self.tree.value_def(value) {
            Def::Result(op, _) => Some(op),
            Def::BlockArg(..) | Def::Undefined => None,
        }
    }

    /// The number that a constant is.
    fn number_of(&self, value: ValueId) -> Option<i64> {
        let op = self.defined(value).filter(|op| self.tree.is(*op, Arith::Constant))?;
        self.tree.attr(op, "value").and_then(|attr| self.tree.attr_int(attr))
    }
}
