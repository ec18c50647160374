//! What the barriers of a plan will expect: bytes of TMA loads that code partitioning puts on them.
//!
//! In a plan a task loads from a descriptor and stores into the buffer, or the load names the buffer. Code
//! partitioning makes a TMA copy of it that counts on the full barrier, and announces the bytes there. Loads
//! that one op waits for are announced together, as in the facebookexperimental fork, where buffers with one
//! `buffer.id` and one consumer share a barrier.

use dialects::{Nvws, OpCode, Tt, Ttg};
use kernel::{AbstractOf, Effect, EffectKind, Half, Stage};
use ttgir::queries::expr::name;
use ttgir::queries::memory::way;
use ttgir::{Def, OpId, Ty, ValueId};

use super::barriers::Barriers;
use super::trace::Trace;
use super::{BarrierSummary, Expect};
use base::TextRange;
use std::collections::BTreeMap;

/// Who arrives with what, and who waits.
#[derive(Default)]
struct Traffic {
    loads: Vec<(TextRange, String, u64)>,
    others: bool,
    waits: Vec<OpId>,
}

/// Fills in what full barriers of channels will expect.
pub(super) fn expects(trace: &Trace<'_>, barriers: &mut Barriers) {
    let full = |row: &BarrierSummary| row.abstract_of == Some((AbstractOf::Channel.name(), Half::Full));
    let mut all: BTreeMap<usize, Traffic> = BTreeMap::new();
    for (_, effect) in trace.effects() {
        let (barrier, waits) = match &effect.kind {
            EffectKind::Arrive { barrier, .. } => (*barrier, false),
            EffectKind::Wait { barrier, .. } => (*barrier, true),
            _ => continue,
        };
        let chains = trace.chains(barrier);
        let rows = chains.iter().filter_map(|chain| barriers.of.get(&chain.buffer));
        let Some(&row) = rows.into_iter().find(|row| barriers.rows.get(**row).is_some_and(full)) else { continue };
        let Some(op) = trace.op(effect.site) else { continue };
        let traffic = all.entry(row).or_default();
        match (waits, load(trace, op)) {
            (true, _) if !traffic.waits.contains(&op) => traffic.waits.push(op),
            (true, _) => {}
            (false, Some((name, bytes))) => {
                let one = (trace.site(effect.site).name, name, bytes);
                if !traffic.loads.contains(&one) {
                    traffic.loads.push(one);
                }
            }
            (false, None) => traffic.others = true,
        }
    }
    for (row, traffic) in all {
        let Some(row) = barriers.rows.get_mut(row).filter(|_| !traffic.others) else { continue };
        let expect = |loads: &[(TextRange, String, u64)]| {
            let parts: Vec<(String, u64)> = loads.iter().map(|(_, name, bytes)| (name.clone(), *bytes)).collect();
            let bytes = parts.iter().map(|(_, bytes)| bytes).sum();
            loads.first().map(|(range, ..)| Expect { range: *range, bytes, parts })
        };
        row.expects = match traffic.waits.as_slice() {
            [_] => expect(&traffic.loads).into_iter().collect(),
            _ => traffic.loads.chunks(1).filter_map(expect).collect(),
        };
    }
}

/// What an arrival will be a copy of, where a plan makes it.
pub(super) fn copies(trace: &Trace<'_>, effect: &Effect) -> Option<(String, u64)> {
    let planned = trace.lowered.map.stage == Stage::Planned && matches!(effect.kind, EffectKind::Arrive { .. });
    load(trace, trace.op(effect.site).filter(|_| planned)?)
}

/// What an op brings from a descriptor into a buffer: the buffer's name, and how many bytes.
fn load(trace: &Trace<'_>, op: OpId) -> Option<(String, u64)> {
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
