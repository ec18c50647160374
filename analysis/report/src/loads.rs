//! Loads from a descriptor that a plan will make TMA copies of.

use dialects::{Nvws, OpCode, Tt, Ttg};
use kernel::{Effect, EffectKind, Stage};
use ttgir::queries::expr::name;
use ttgir::queries::memory::way;
use ttgir::{Def, OpId, Ty, ValueId};

use super::trace::Trace;

/// What an arrival will be a copy of, where a plan makes it.
pub(super) fn copies(trace: &Trace<'_>, effect: &Effect) -> Option<(String, u64)> {
    let planned = trace.lowered.map.stage == Stage::Planned && matches!(effect.kind, EffectKind::Arrive { .. });
    load(trace, trace.op(effect.site).filter(|_| planned)?)
}

/// What an op brings from a descriptor into a buffer: the buffer's name, and how many bytes.
pub(super) fn load(trace: &Trace<'_>, op: OpId) -> Option<(String, u64)> {
    let tree = trace.tree;
    let into: ValueId = match tree.code(op)? {
        OpCode::Nvws(Nvws::DescriptorLoad | Nvws::DescriptorGather) => *tree.group(op, "result").first()?,
        OpCode::Ttg(Ttg::LocalStore | Ttg::LocalAlloc) => {
            let source = *tree.group(op, "src").first()?;
            let Def::Result(made, _) = tree.value_def(source) else { return None };
            if !matches!(tree.code(made)?, OpCode::Tt(Tt::DescriptorLoad | Tt::DescriptorGather)) {
                return None;
            }
            tree.group(op, "dst").first().or(tree.results(op).first()).copied()?
        }
        _ => return None,
    };
    let Ty::MemDesc { shape, elem, .. } = tree.ty(tree.value_type(into)?) else { return None };
    let bits =
        shape.iter().try_fold(u64::from(elem.bits), |bits, size| bits.checked_mul(u64::try_from(*size).ok()?))?;
    let root = way(tree, into).last().copied().unwrap_or(into);
    Some((name(tree, root), bits / 8))
}
