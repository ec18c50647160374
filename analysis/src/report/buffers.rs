//! Physical buffers, the logical buffers in them, and which access touches which.

use super::trace::{Chain, Made, Trace};
use super::uses::used;
use super::{Member, PhysicalBuffer, Use};
use crate::sync::{Access, BufferId, EffectId, EffectKind, Lowered, Mode, Space, ViewOp};
use crate::syntax::ttgir::{Def, Tree, ValueId};
use rustc_hash::FxHashMap;

/// The memory of a kernel, barriers left out.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// Physical buffers, in the order of their allocations.
    pub buffers: Vec<PhysicalBuffer>,
    /// Which member each access of each effect touches: indices of buffer and member. Where views
    /// lead to several, the first.
    pub of: FxHashMap<(EffectId, usize), (usize, usize)>,
    /// The kernel's buffers, as indices of [`Memory::buffers`].
    pub physical: FxHashMap<BufferId, usize>,
}

/// The accesses of an effect.
pub fn accesses(kind: &EffectKind) -> &[Access] {
    match kind {
        EffectKind::Operation { accesses, .. } => accesses,
        EffectKind::ClcLoad { source, .. } => std::slice::from_ref(source),
        _ => &[],
    }
}

/// Where a view lies in a slot, in bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Window {
    start: u64,
    end: u64,
    element: u64,
}

impl Memory {
    /// The memory of a lowered kernel.
    pub fn new(tree: &Tree, lowered: &Lowered) -> Memory {
        Memory::of(&Trace::new(tree, lowered))
    }

    pub(super) fn of(trace: &Trace<'_>) -> Memory {
        let lowered = trace.lowered;
        let kernel = &lowered.kernel;
        let mut memory = Memory::default();
        let mut order: Vec<usize> = (0..kernel.buffers.len()).filter(|at| !kernel.buffers[*at].barriers).collect();
        order.sort_by_key(|at| (lowered.map.buffers.get(*at).map(|(_, range)| range.start), *at));
        for at in order {
            let id = BufferId(at as u32);
            memory.physical.insert(id, memory.buffers.len());
            memory.buffers.push(physical(trace, id));
        }
        let mut windows: Vec<Vec<Window>> = vec![Vec::new(); memory.buffers.len()];
        for (id, effect) in trace.effects() {
            for (place, access) in accesses(&effect.kind).iter().enumerate() {
                for chain in trace.chains(access.view).iter().take(1) {
                    let Some(&buffer) = memory.physical.get(&chain.buffer) else { continue };
                    let window = window(trace, chain);
                    let known = &mut windows[buffer];
                    let member = known.iter().position(|other| *other == window).unwrap_or_else(|| {
                        known.push(window);
                        let mut new = member(trace, chain, window);
                        if let Some(value) = trace.access_value(effect.site, access.operand, place) {
                            let (tree, ty) = (trace.tree, trace.tree.value_type(value));
                            new.range = tree.value_range(value);
                            new.ty = ty.map_or("", |ty| tree.type_text(ty)).to_owned();
                        }
                        memory.buffers[buffer].members.push(new);
                        known.len() - 1
                    });
                    memory.of.insert((id, place), (buffer, member));
                    let used = used(trace, id, effect);
                    let member = &mut memory.buffers[buffer].members[member];
                    note(if access.mode == Mode::Read { &mut member.readers } else { &mut member.writers }, used);
                }
            }
        }
        memory
    }
}

fn note(uses: &mut Vec<Use>, used: Use) {
    if !uses.iter().any(|known| known.range == used.range && known.partition == used.partition) {
        uses.push(used);
    }
}

fn physical(trace: &Trace<'_>, id: BufferId) -> PhysicalBuffer {
    let lowered = trace.lowered;
    let info = &lowered.kernel.buffers[id.0 as usize];
    let range = lowered.map.buffers.get(id.0 as usize).map(|(_, range)| *range).unwrap_or_default();
    let slot = info.slot_bits.max(1).min(info.bits.max(1));
    let value = trace.value_at(range);
    let tree = trace.tree;
    PhysicalBuffer {
        name: lowered.map.buffer(id),
        range,
        id: value.and_then(|value| number(trace, value, "buffer.id")),
        space: info.space,
        slots: info.bits / slot,
        size: units(info.space, slot),
        ty: value.and_then(|value| tree.value_type(value)).map_or("", |ty| tree.type_text(ty)).to_owned(),
        members: Vec::new(),
    }
}

/// An attribute of the op that defines a value.
fn number(trace: &Trace<'_>, value: ValueId, attr: &str) -> Option<i64> {
    let Def::Result(op, _) = trace.tree.value_def(value) else { return None };
    trace.tree.attr_int(trace.tree.attr(op, attr)?)
}

/// Bits as columns of tensor memory or bytes.
fn units(space: Space, bits: u64) -> u64 {
    bits / if space == Space::Tensor { 32 } else { 8 }
}

fn window(trace: &Trace<'_>, chain: &Chain) -> Window {
    let kernel = &trace.lowered.kernel;
    let slot = kernel.buffers[chain.buffer.0 as usize].slot_bits.max(1);
    let (mut start, mut spread) = (0, 0);
    for &var in &chain.vars {
        match trace.made(var) {
            Made::View(_, ViewOp::Shift(by)) => start += by,
            Made::View(_, ViewOp::Index { index, stride, count }) if stride < slot => match trace.constant(index) {
                Some(index) => start += u64::try_from(index).unwrap_or(0) * stride,
                None => spread += count.saturating_sub(1) * stride,
            },
            _ => {}
        }
    }
    let shape = chain.vars.last().and_then(|var| kernel.shape(*var));
    let (bits, element) = shape.map_or((slot, 8), |shape| (shape.extent().min(slot), shape.element));
    let start = start % slot;
    Window { start, end: start + bits + spread, element }
}

fn member(trace: &Trace<'_>, chain: &Chain, window: Window) -> Member {
    let lowered = trace.lowered;
    let space = lowered.kernel.buffers[chain.buffer.0 as usize].space;
    let range = lowered.map.buffers.get(chain.buffer.0 as usize).map(|(_, range)| *range).unwrap_or_default();
    let name = chain.vars.last().and_then(|var| lowered.map.var(*var)).unwrap_or("").to_owned();
    Member {
        name,
        range,
        extent: (units(space, window.start), units(space, window.end)),
        ty: String::new(),
        writers: Vec::new(),
        readers: Vec::new(),
    }
}
