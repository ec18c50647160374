//! Texts from before Triton places proxy fences.
//!
//! Triton's fence insertion runs near the end of its pipeline: after warp specialisation, pipelining
//! and the lowering of descriptors. In a dump from before it no fence is missing, it is only not there
//! yet, so all of shared memory counts as one proxy. Such a text is known by what only earlier passes
//! leave: tasks or tokens that are not lowered, the schedule of a loop, tokens that tensor memory takes,
//! loads and stores of descriptors that are no TMA copies yet.
//!
//! Missed: a text between the last of these and fence insertion.

use super::lowerer::Lowerer;
use dialects::{OpCode, Tt, Ttng};
use kernel::{EffectKind, Kernel, Proxy, Stage};
use ttgir::{OpId, ValueId};

impl Lowerer<'_> {
    /// Whether a function is from before proxy fences are placed.
    pub(super) fn unfenced(&self, function: OpId) -> bool {
        let tree = self.tree;
        let (mut early, mut fenced) = (self.build.map.stage != Stage::Final, false);
        self.walk(function, &mut |op| {
            fenced |= tree.is(op, Ttng::FenceAsyncShared);
            // Tokens order ops of tensor memory until a late pass removes them.
            let takes_token = matches!(
                tree.code(op),
                Some(OpCode::Ttng(Ttng::TmemLoad | Ttng::TmemStore | Ttng::TcGen5Mma | Ttng::TcGen5MmaScaled))
            );
            // These become TMA copies.
            let descriptor = matches!(
                tree.code(op),
                Some(OpCode::Tt(
                    Tt::DescriptorLoad
                        | Tt::DescriptorStore
                        | Tt::DescriptorGather
                        | Tt::DescriptorScatter
                        | Tt::DescriptorReduce
                ))
            );
            let is_token =
                |value: &ValueId| tree.value_type(*value).is_some_and(|ty| tree.type_text(ty).contains("async.token"));
            // Gluon's have tokens too, which nothing takes.
            let token = takes_token && tree.operands(op).iter().any(is_token);
            early |= token || descriptor || tree.attr(op, "loop.stage").is_some();
        });
        early && !fenced
    }
}

/// Makes all of shared memory one proxy.
pub(super) fn ignore(kernel: &mut Kernel) {
    for effect in &mut kernel.effects {
        let accesses = match &mut effect.kind {
            EffectKind::Operation { accesses, .. } => accesses.as_mut_slice(),
            EffectKind::ClcLoad { source, .. } => std::slice::from_mut(source),
            _ => continue,
        };
        for access in accesses.iter_mut().filter(|access| access.proxy == Proxy::Async) {
            access.proxy = Proxy::Generic;
        }
    }
}
