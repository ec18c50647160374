//! An effect as a use of a barrier or buffer.

use super::Use;
use super::trace::Trace;
use crate::sync::{Effect, EffectId, EffectKind};

/// The use that an effect is.
pub(super) fn used(trace: &Trace<'_>, id: EffectId, effect: &Effect) -> Use {
    let site = trace.site(effect.site);
    Use {
        range: site.name,
        op: site.op.clone(),
        partition: trace.partition(id),
        what: what(&effect.kind).to_owned(),
        slot: String::new(),
        cadence: trace.cadence(id),
    }
}

fn what(kind: &EffectKind) -> &'static str {
    match kind {
        EffectKind::Init { .. } => "initialises",
        EffectKind::Invalidate { .. } => "invalidates",
        EffectKind::Expect { .. } => "expects",
        EffectKind::Arrive { .. } => "arrives",
        EffectKind::Wait { .. } => "waits",
        EffectKind::ReadPhase { .. } => "reads the phase",
        EffectKind::TensorCoreCommit { .. } => "arrives when the tensor core is done so far",
        EffectKind::AsyncCopyArrive { .. } => "arrives when the cp.async so far are done",
        EffectKind::Operation { .. } => "arrives when it has landed",
        _ => "",
    }
}
