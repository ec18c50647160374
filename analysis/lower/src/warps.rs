//! The warps of a partition on AMD, where they are not in step.
//!
//! Triton puts a barrier between accesses of LDS in one partition, so a partition counts as one thread.
//! Two things are its author's to order:
//!
//! * Between a `ttg.local_load` that counts as synchronised by an `async_wait` and an asynchronous copy into
//!   the same buffer no barrier is put, in either order (`membarFilter` in `TritonAMDGPUToLLVM/MembarUtility.h`,
//!   whose comment names the race that is left). Such a read is over for the other warps when all of them next
//!   meet: at a barrier, a wait for asynchronous operations (Triton puts a barrier behind each), or an
//!   operation that may exchange values among warps. That an operation only may do so counts as a meeting: no
//!   finding rests on it.
//! * In a loop of `warp_pipeline_stage`s with more than four warps, half of the warps runs one stage behind
//!   (`ConvertWarpPipeline.cpp`). A stage of one half is beside the stage before of the other; and a wait between
//!   two stages says nothing of the copies of the other half before the next border. What Triton's own ping-pong makes
//!   of loops is the same, with barriers for borders ([`halves`](super::halves)).
//!
//! Missed: in one stage of a pipeline, a copy behind a relaxed read; pipelines outside of loops; an
//! operation on registers between a border and a wait, with which Triton gives the pipeline up; pipelines
//! with `warp_used_hint`, where the half that is ahead may start all loads and so has waited for all of them.

use super::lowerer::Lowerer;
use super::warp_order::Warps;
use dialects::{Gluon, Gpu, OpCode, OpCompletion, OpEffect, Rocdl, Scf, Tt, Ttg};
use kernel::{CommitKind, Completion, EffectKind, Issuer, Mode};
use ttgir::{Def, OpId, ValueId};

const RELAXED: &str = "ttg.amdg.syncedViaAsyncWait";
const BORDER: &str = "triton.warp_pipeline.border";
const HINTS: [&str; 2] = ["warp_used_hint", "warp_used_hints"];
const STAGE: &str = "triton.warp_pipeline.stage";

/// What an op between the borders of a warp pipeline does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Border,
    Wait,
    Meeting,
    Read,
    Write,
    /// It is moved out of the loop.
    Constant,
    Other,
}

impl Lowerer<'_> {
    /// Looks for relaxed reads in a kernel.
    pub(super) fn read_warps(&mut self, function: OpId) {
        let (mut relaxed, mut hinted) = (false, false);
        for &function in self.functions.values().chain([&function]) {
            self.walk(function, &mut |op| {
                relaxed |= self.is_relaxed(op);
                hinted |= HINTS.iter().any(|hint| self.tree.attr(op, hint).is_some());
            });
        }
        self.warps = Warps { relaxed: relaxed && self.ctas.apart, hinted, staged: false, meeting: None };
    }

    /// Whether Triton takes a read for one that `async_wait` has synchronised: Gluon says so, and the token of
    /// a read says it where it comes from waits, also by way of loops.
    pub(super) fn is_relaxed(&self, op: OpId) -> bool {
        let tree = self.tree;
        if !tree.is(op, Ttg::LocalLoad) {
            return false;
        }
        if tree.attr(op, RELAXED).is_some() {
            return self.flag(op, RELAXED);
        }
        tree.group(op, "token").first().is_some_and(|token| self.comes_from_waits(*token, &mut Vec::new()))
    }

    /// Whether a token is of an `async_wait`, whichever way it came.
    fn comes_from_waits(&self, token: ValueId, seen: &mut Vec<ValueId>) -> bool {
        if seen.contains(&token) {
            return true;
        }
        seen.push(token);
        let tree = self.tree;
        let (carrier, number) = match tree.value_def(token) {
            Def::Result(by, number) if tree.is(by, Scf::For) => (by, number as usize),
            Def::Result(by, _) => return self.waits_for_copies(by),
            Def::BlockArg(block, number) => {
                let carrier = tree.parent_op(tree.parent_region(block)).filter(|op| tree.is(*op, Scf::For));
                // The first one is the counter.
                let Some((carrier, number)) = carrier.zip((number as usize).checked_sub(1)) else { return false };
                (carrier, number)
            }
            Def::Undefined => return false,
        };
        let body = tree.regions(carrier).first().and_then(|region| tree.blocks(*region).first());
        let next = body.and_then(|body| tree.block_ops(*body).last()).and_then(|end| tree.operands(*end).get(number));
        let (Some(&first), Some(&next)) = (tree.operands(carrier).get(number + 3), next) else { return false };
        self.comes_from_waits(first, seen) && self.comes_from_waits(next, seen)
    }

    /// How an access of the warps completes that is in order elsewhere.
    pub(super) fn warp_completion(&self, op: OpId, issuer: Issuer) -> Completion {
        let kind = match issuer {
            Issuer::Base if self.warps.staged => CommitKind::Stage,
            Issuer::Base if self.warps.relaxed && self.warps() > 1 && self.is_relaxed(op) => CommitKind::RelaxedRead,
            _ => return Completion::InOrder,
        };
        Completion::Commit { kind, implicit: kind == CommitKind::RelaxedRead, awaited: false, result: 0 }
    }

    /// Before an op: where all warps of the partition meet, or may.
    pub(super) fn meet_warps(&mut self, op: OpId) {
        if self.warps.staged {
            // A barrier more makes the distance larger.
            if self.exchanges(op) || (self.warps.meeting.is_some() && self.is_barrier(op)) {
                self.border(op);
            }
            return;
        }
        if self.warps.relaxed && self.meets(op) {
            self.warps_wait(op, CommitKind::RelaxedRead, 0);
        }
    }

    pub(super) fn warps_wait(&mut self, op: OpId, kind: CommitKind, pending: u32) {
        let site = self.site(op);
        self.build.effect(site, None, EffectKind::WaitGroup { kind, pending });
    }

    fn meets(&self, op: OpId) -> bool {
        match self.tree.effect(op) {
            OpEffect::WaitGroup { .. }
            | OpEffect::LoweredWaitGroup { .. }
            | OpEffect::StoreTokenWait
            | OpEffect::ArriveBarrier
            | OpEffect::ArriveByThreads
            | OpEffect::AsyncCopyArrive { .. }
            | OpEffect::ClusterBarrier
            | OpEffect::ClusterArrive
            | OpEffect::ClusterWait
            | OpEffect::NamedArrive
            | OpEffect::NamedWait
            | OpEffect::Allocate
            | OpEffect::Unknown => true,
            // Triton orders a store behind the reads.
            OpEffect::Memory { issuer: Issuer::Base, accesses, completion: OpCompletion::InOrder } => {
                accesses.iter().any(|access| access.mode == Mode::Write)
            }
            _ => self.exchanges(op) || self.is_barrier(op) || self.tree.is(op, Ttg::WarpSpecialize),
        }
    }

    pub(super) fn is_barrier(&self, op: OpId) -> bool {
        matches!(
            self.tree.code(op),
            Some(
                OpCode::Ttg(Ttg::Barrier) | OpCode::Gpu(Gpu::Barrier) | OpCode::Rocdl(Rocdl::Barrier | Rocdl::SBarrier)
            )
        )
    }

    /// Whether an op on registers may exchange values among the warps, through memory of its own.
    pub(super) fn exchanges(&self, op: OpId) -> bool {
        matches!(
            self.tree.code(op),
            Some(
                OpCode::Ttg(Ttg::ConvertLayout)
                    | OpCode::Gluon(Gluon::Exchange)
                    | OpCode::Tt(
                        Tt::Reduce
                            | Tt::Scan
                            | Tt::Histogram
                            | Tt::Gather
                            | Tt::Assert
                            | Tt::AtomicRmw
                            | Tt::AtomicCas
                            | Tt::AtomicLoad
                            | Tt::AtomicPoll
                    )
            )
        )
    }

    /// Whether a loop becomes a warp pipeline: it has two stages or more and more than four warps, and all
    /// waits stand between stages, one between two.
    pub(super) fn is_pipeline(&self, op: OpId) -> bool {
        if !self.ctas.apart || self.partition != 0 || self.warps() <= 4 || self.warps.hinted {
            return false;
        }
        let tree = self.tree;
        let body = tree.regions(op).first().and_then(|region| tree.blocks(*region).first());
        let Some(body) = body else { return false };
        let ops: Vec<OpId> = tree.block_ops(*body).iter().copied().filter(|op| !tree.is_terminator(*op)).collect();
        let parts: Vec<Vec<Part>> = ops.iter().map(|op| self.parts(*op)).collect();
        let borders = parts.iter().flatten().filter(|part| **part == Part::Border).count();
        if borders == 0 {
            return false;
        }
        let mut stages = 0;
        let mut waits = 0;
        let mut stage: Vec<Part> = Vec::new();
        for part in parts.iter().flatten().copied().filter(|part| *part != Part::Constant) {
            match part {
                Part::Border => {
                    if stage.contains(&Part::Read) && stage.contains(&Part::Write) {
                        return false;
                    }
                    stages += 1;
                    stage.clear();
                    waits = 0;
                }
                Part::Wait if !stage.is_empty() || waits > 0 => return false,
                Part::Wait => waits += 1,
                Part::Meeting => return false,
                other => stage.push(other),
            }
        }
        stages + usize::from(!stage.is_empty()) >= 2
    }

    /// What an op of a loop's body does, border behind it included.
    fn parts(&self, op: OpId) -> Vec<Part> {
        let tree = self.tree;
        if tree.attr(op, BORDER).is_some() {
            return vec![Part::Border];
        }
        let mut parts = Vec::new();
        let mut nested = false;
        self.walk(op, &mut |inner| {
            let part = match tree.effect(inner) {
                OpEffect::WaitGroup { .. } | OpEffect::LoweredWaitGroup { .. } => Part::Wait,
                OpEffect::Memory { issuer: Issuer::Base, accesses, completion: OpCompletion::InOrder } => {
                    let writes = accesses.iter().any(|access| access.mode == Mode::Write);
                    if writes { Part::Write } else { Part::Read }
                }
                OpEffect::Allocate | OpEffect::Unknown => Part::Meeting,
                _ if self.is_barrier(inner) || tree.is(inner, Ttg::WarpSpecialize) => Part::Meeting,
                _ if tree.op_name(inner) == "arith.constant" => Part::Constant,
                _ => Part::Other,
            };
            // Below the body a wait is part of a stage.
            parts.push(if nested && part == Part::Wait { Part::Meeting } else { part });
            nested = true;
        });
        if tree.attr(op, STAGE).is_some() {
            parts.push(Part::Border);
        }
        parts
    }

    /// Before a loop; whether it is a warp pipeline.
    pub(super) fn enter_pipeline(&mut self, op: OpId) -> bool {
        if self.warps.staged || !self.is_pipeline(op) {
            return false;
        }
        if self.warps.relaxed {
            self.warps_wait(op, CommitKind::RelaxedRead, 0);
        }
        let site = self.site(op);
        self.build.effect(site, None, EffectKind::Commit(CommitKind::Stage));
        self.warps.staged = true;
        true
    }

    /// At the end of the body of a pipeline: what stands behind the last border is a stage too.
    pub(super) fn end_round(&mut self, op: OpId) {
        let tree = self.tree;
        let body = tree.regions(op).first().and_then(|region| tree.blocks(*region).first());
        let last = body.and_then(|body| {
            let ops = tree.block_ops(*body).iter().rev().copied();
            ops.filter(|op| !tree.is_terminator(*op) && tree.op_name(*op) != "arith.constant")
                .find(|op| !matches!(tree.effect(*op), OpEffect::WaitGroup { .. } | OpEffect::LoweredWaitGroup { .. }))
        });
        if last.is_some_and(|last| !self.ends_stage(last)) {
            self.border(op);
        }
    }

    /// Behind a pipeline all warps meet.
    pub(super) fn leave_pipeline(&mut self, op: OpId) {
        self.warps_wait(op, CommitKind::Stage, 0);
        self.warps.staged = false;
    }

    fn ends_stage(&self, op: OpId) -> bool {
        self.tree.attr(op, BORDER).is_some() || self.tree.attr(op, STAGE).is_some()
    }

    /// Behind an op of a pipeline that ends a stage.
    pub(super) fn stage_ends(&mut self, op: OpId) {
        if self.warps.staged && (self.ends_stage(op) || self.has_barrier_behind(op)) {
            self.border(op);
        }
    }

    pub(super) fn border(&mut self, op: OpId) {
        let site = self.site(op);
        self.build.effect(site, None, EffectKind::Commit(CommitKind::Stage));
        self.warps_wait(op, CommitKind::Stage, 1);
    }
}
