//! Texts from before Triton places proxy fences.
//!
//! Triton's fence insertion runs near the end of its pipeline: after warp specialisation, pipelining
//! and the lowering of descriptors. In a dump from before it no fence is missing, it is only not there
//! yet, so all of shared memory counts as one proxy. Such a text is known by what only earlier passes
//! leave: tasks or tokens that are not lowered, the schedule of a loop, tokens that tensor memory takes,
//! loads and stores of descriptors that are no TMA copies yet.
//!
//! Missed: a text between the last of these and fence insertion.

use super::Lowerer;
use kernel::{EffectKind, Kernel, Proxy, Stage};
use ttgir::{OpId, ValueId};

/// Ops of tensor memory whose tokens order them until a late pass removes these.
const WITH_TOKENS: [&str; 4] = ["ttng.tmem_load", "ttng.tmem_store", "ttng.tc_gen5_mma", "ttng.tc_gen5_mma_scaled"];

/// Accesses of descriptors that become TMA copies.
const DESCRIPTORS: [&str; 5] = [
    "tt.descriptor_load",
    "tt.descriptor_store",
    "tt.descriptor_gather",
    "tt.descriptor_scatter",
    "tt.descriptor_reduce",
];

impl Lowerer<'_> {
    /// Whether a function is from before proxy fences are placed.
    pub(super) fn unfenced(&self, function: OpId) -> bool {
        let tree = self.tree;
        let (mut early, mut fenced) = (self.build.map.stage != Stage::Final, false);
        self.walk(function, &mut |op| {
            let name = tree.op_name(op);
            fenced |= name == "ttng.fence_async_shared";
            let is_token =
                |value: &ValueId| tree.value_type(*value).is_some_and(|ty| tree.type_text(ty).contains("async.token"));
            // Gluon's have tokens too, which nothing takes.
            let token = WITH_TOKENS.contains(&name) && tree.operands(op).iter().any(is_token);
            early |= token || DESCRIPTORS.contains(&name) || tree.attr(op, "loop.stage").is_some();
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
