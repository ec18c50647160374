//! Physical buffers, the logical buffers in them, and which access touches which.
//!
//! A logical buffer (member) is what one allocation of the text names, or, where several were put
//! into one, what is carved out of it: the window that follows a `memdesc_reinterpret`, with its
//! element width. Other views of an allocation are parts of one member where they overlap; parts
//! that no access joins are members of their own.
//!
//! Names are a guess where compilers fold views: the votes of the views that lead to one member
//! only, and of the barriers right beside its accesses (see `names`).

use super::names::elected;
use super::trace::{Chain, Trace, ValueDef};
use super::uses::{note, slot, used, with_memory};
use super::{LogicalBuffer, PhysicalBuffer};
use kernel::{Access, BufferId, Effect, EffectId, EffectKind, Instr, Issuer, Lowered, Mode, Space, ViewOp};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use ttgir::queries::expr::name;
use ttgir::queries::memory::way;
use ttgir::{Def, OpId, Tree, ValueId};

/// Votes of a barrier beside an access, of a view of one member, of a view of several.
const VOTES: [u32; 3] = [3, 2, 1];

/// Endings by which a barrier's name tells its part from the data's name.
const HALVES: [&str; 7] = ["_full", "_empty", "_token", "_ready", "_free", "_barrier", "_bar"];

/// The memory of a kernel, barriers left out.
#[derive(Clone, Debug, Default)]
pub struct BufferAccesses {
    /// Physical buffers, in the order of their allocations.
    pub buffers: Vec<PhysicalBuffer>,
    /// Which member each access of each effect touches: indices of buffer and member. Where views
    /// lead to several, the first; [`BufferAccesses::touched`] tells them apart.
    pub of: FxHashMap<(EffectId, usize), (usize, usize)>,
    /// The kernel's buffers, as indices of [`BufferAccesses::buffers`].
    pub physical: FxHashMap<BufferId, usize>,
    all: FxHashMap<(EffectId, usize, usize), usize>,
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

/// What tells members apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Key {
    buffer: usize,
    /// The allocation in the text, where it is followed.
    root: Option<ValueId>,
    /// The window, where it is a reinterpretation.
    carved: Option<Window>,
}

/// An access on its way to a member.
struct Touch<'a> {
    effect: EffectId,
    access: usize,
    mode: Mode,
    key: Key,
    window: Window,
    slot: String,
    what: String,
    /// The view that is accessed, and the one that carves the member out.
    views: Vec<ValueId>,
    carve: Option<ValueId>,
    of: &'a Effect,
}

impl BufferAccesses {
    /// The memory of a lowered kernel.
    pub fn new(tree: &Tree, lowered: &Lowered) -> BufferAccesses {
        BufferAccesses::of(&Trace::new(tree, lowered))
    }

    /// What each access is called after that touches one of several logical buffers in one physical one.
    pub fn names(&self) -> BTreeMap<(EffectId, u16), String> {
        let named = |(&(effect, access), &(buffer, member)): (&(EffectId, usize), &(usize, usize))| {
            let buffer = self.buffers.get(buffer)?;
            let name = buffer.members.get(member).map(|member| &member.name)?;
            // A part that nothing names is called after its extent.
            let own = *name != buffer.name && !name.ends_with(']');
            own.then(|| ((effect, access as u16), name.clone()))
        };
        self.of.iter().filter_map(named).collect()
    }

    /// The member that an access touches where it lies in this buffer of the kernel.
    pub fn touched(&self, effect: EffectId, access: usize, buffer: BufferId) -> Option<(usize, usize)> {
        let buffer = *self.physical.get(&buffer)?;
        self.all.get(&(effect, access, buffer)).map(|member| (buffer, *member))
    }

    pub(super) fn of(trace: &Trace<'_>) -> BufferAccesses {
        let map = &trace.lowered.map;
        let kernel = trace.kernel();
        let mut memory = BufferAccesses::default();
        let mut order: Vec<usize> = (0..kernel.buffers.len()).filter(|at| !kernel.buffers[*at].barriers).collect();
        order.sort_by_key(|at| (map.buffers.get(*at).map(|(_, range)| range.start), *at));
        for at in order {
            let id = BufferId(at as u32);
            memory.physical.insert(id, memory.buffers.len());
            memory.buffers.push(physical(trace, id));
        }
        let touches = memory.touches(trace);
        memory.group(trace, &touches);
        memory
    }

    fn touches<'a>(&self, trace: &Trace<'a>) -> Vec<Touch<'a>> {
        let mut touches = Vec::new();
        for (id, effect) in trace.effects() {
            for (place, access) in accesses(&effect.kind).iter().enumerate() {
                let value = trace.access_value(effect.site, access.operand, place);
                let chains = trace.chains(access.view);
                for chain in &chains {
                    let Some(&buffer) = self.physical.get(&chain.buffer) else { continue };
                    let views =
                        value.filter(|_| chains.len() == 1).map_or_else(Vec::new, |value| way(trace.tree, value));
                    let owner = trace.buffer_value(chain.buffer);
                    let root = views.last().copied().filter(|root| is_allocation(trace, *root)).or(owner);
                    let carved = carved(trace, chain, &views, root);
                    touches.push(Touch {
                        effect: id,
                        access: place,
                        mode: access.mode,
                        key: Key { buffer, root, carved: carved.map(|(window, _)| window) },
                        window: window(trace, chain, chain.vars.len()),
                        slot: if self.buffers[buffer].slots > 1 {
                            slot(trace, chain).map_or_else(String::new, |slot| slot.to_string())
                        } else {
                            String::new()
                        },
                        what: with_memory(trace, effect, access),
                        carve: carved.map(|(_, value)| value),
                        views,
                        of: effect,
                    });
                }
            }
        }
        touches
    }

    /// Makes members of accesses.
    fn group(&mut self, trace: &Trace<'_>, touches: &[Touch<'_>]) {
        let mut keys: Vec<(Key, Vec<&Touch<'_>>)> = Vec::new();
        let mut known: FxHashMap<(usize, Option<ValueId>), Vec<usize>> = FxHashMap::default();
        for touch in touches {
            let candidates = known.entry((touch.key.buffer, touch.key.root)).or_default();
            match candidates.iter().find(|at| keys[**at].0 == touch.key) {
                Some(&at) => keys[at].1.push(touch),
                None => {
                    candidates.push(keys.len());
                    keys.push((touch.key, vec![touch]));
                }
            }
        }
        let parts: Vec<(Key, Vec<Vec<&Touch<'_>>>)> = keys
            .into_iter()
            .map(|(key, touches)| (key, if key.carved.is_some() { vec![touches] } else { overlapping(touches) }))
            .collect();
        let mut shared: FxHashMap<ValueId, u32> = FxHashMap::default();
        for part in parts.iter().flat_map(|(_, parts)| parts) {
            let mut views: Vec<ValueId> = part.iter().flat_map(|touch| &touch.views).copied().collect();
            views.sort_unstable();
            views.dedup();
            views.into_iter().for_each(|view| *shared.entry(view).or_default() += 1);
        }
        let mut members: Vec<(usize, bool, LogicalBuffer, Vec<&Touch<'_>>)> = Vec::new();
        for (key, parts) in parts {
            let whole = parts.len() == 1;
            for part in parts {
                let owner = key.carved.is_none() && key.root == trace.value_at(self.buffers[key.buffer].range);
                let member = self.member(trace, key, &part, whole, &shared);
                members.push((key.buffer, !owner, member, part));
            }
        }
        members.sort_by_key(|(buffer, sibling, member, _)| (*buffer, *sibling, member.extent, member.range.start));
        for (buffer, _, mut member, mut touches) in members {
            let list = &mut self.buffers[buffer].members;
            let number = list.len();
            touches.sort_by_key(|touch| (trace.site(touch.of.site).name.start, touch.effect));
            for touch in touches {
                let mut use_ = used(trace, touch.effect, touch.of);
                (use_.what, use_.slot) = (touch.what.clone(), touch.slot.clone());
                note(if touch.mode == Mode::Read { &mut member.readers } else { &mut member.writers }, use_);
                self.of.entry((touch.effect, touch.access)).or_insert((buffer, number));
                self.all.insert((touch.effect, touch.access, buffer), number);
            }
            if list.iter().any(|other| other.name == member.name) {
                member.name = format!("{}[{}..{}]", member.name, member.extent.0, member.extent.1);
            }
            list.push(member);
        }
    }

    fn member(
        &self,
        trace: &Trace<'_>,
        key: Key,
        touches: &[&Touch<'_>],
        whole: bool,
        shared: &FxHashMap<ValueId, u32>,
    ) -> LogicalBuffer {
        let tree = trace.tree;
        let buffer = &self.buffers[key.buffer];
        let start = touches.iter().map(|touch| touch.window.start).min().unwrap_or(0);
        let end = touches.iter().map(|touch| touch.window.end).max().unwrap_or(0);
        let (start, end) = key.carved.map_or((start, end), |window| (window.start, window.end));
        let extent = (units(buffer.space, start), units(buffer.space, end));
        let own = key.root.map_or_else(|| buffer.name.clone(), |root| name(tree, root));
        let carve = touches.iter().find_map(|touch| touch.carve);
        let named = match (key.carved, whole) {
            (None, true) => Some(own.clone()),
            _ => elected(&votes(trace, key, touches, shared)).map(str::to_owned),
        };
        let name = named.unwrap_or_else(|| format!("{own}[{}..{}]", extent.0, extent.1));
        let value = match (key.carved, whole) {
            (None, true) => key.root,
            (Some(_), _) => carve.or(key.root),
            (None, false) => touches.first().and_then(|touch| touch.views.first()).copied().or(key.root),
        };
        let numbered = name.strip_prefix('%').is_some_and(|bare| bare.starts_with(|c: char| c.is_ascii_digit()));
        LogicalBuffer {
            about: if numbered { about(trace, touches) } else { String::new() },
            name,
            range: value.map_or(buffer.range, |value| tree.value_range(value)),
            extent,
            ty: value.and_then(|value| tree.value_type(value)).map_or("", |ty| tree.type_text(ty)).to_owned(),
            writers: Vec::new(),
            readers: Vec::new(),
        }
    }
}

/// What a logical buffer holds, as those tell that fill it: of several, an MMA before a copy before a store.
fn about(trace: &Trace<'_>, touches: &[&Touch<'_>]) -> String {
    let tree = trace.tree;
    let of = |touch: &&Touch<'_>| {
        let op = trace.op(touch.of.site).filter(|_| touch.mode == Mode::Write)?;
        let access = accesses(&touch.of.kind).get(touch.access)?;
        let named = |value: &ValueId| trace.stem(*value).is_some();
        let value = |group: &str| tree.group(op, group).first().copied().filter(named).and_then(|it| trace.stem(it));
        if access.operand == "Acc" {
            return Some((0, "accumulator".to_owned()));
        }
        if let Some(desc) = value("desc") {
            return Some((1, format!("tile of {desc}")));
        }
        value("src").map(|stored| (2, format!("holds {stored}")))
    };
    touches.iter().filter_map(of).min().map_or_else(String::new, |(_, about)| about)
}

/// Accesses whose windows overlap, in groups.
fn overlapping<'t, 'a>(mut touches: Vec<&'t Touch<'a>>) -> Vec<Vec<&'t Touch<'a>>> {
    touches.sort_by_key(|touch| (touch.window.start, touch.effect));
    let mut groups: Vec<(u64, Vec<&Touch<'_>>)> = Vec::new();
    for touch in touches {
        match groups.last_mut() {
            Some((end, group)) if touch.window.start < *end => {
                *end = (*end).max(touch.window.end);
                group.push(touch);
            }
            _ => groups.push((touch.window.end, vec![touch])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

fn physical(trace: &Trace<'_>, id: BufferId) -> PhysicalBuffer {
    let (lowered, tree) = (trace.lowered, trace.tree);
    let info = &lowered.kernel.buffers[id.0 as usize];
    let range = lowered.map.buffers.get(id.0 as usize).map(|(_, range)| *range).unwrap_or_default();
    let slot = info.slot_bits.max(1).min(info.bits.max(1));
    let value = trace.buffer_value(id);
    PhysicalBuffer {
        name: lowered.map.buffer(id),
        range,
        id: value.and_then(|value| number(trace, value, "buffer.id")),
        space: info.space,
        slots: info.bits / slot,
        size: units(info.space, slot),
        ty: value.and_then(|value| tree.value_type(value)).map_or("", |ty| tree.type_text(ty)).to_owned(),
        registers: lowered.map.registers.contains(&id),
        members: Vec::new(),
    }
}

/// An attribute of the op that defines a value.
fn number(trace: &Trace<'_>, value: ValueId, attr: &str) -> Option<i64> {
    let Def::Result(op, _) = trace.tree.value_def(value) else { return None };
    trace.tree.attr_int(trace.tree.attr(op, attr)?)
}

fn is_allocation(trace: &Trace<'_>, value: ValueId) -> bool {
    matches!(trace.tree.value_def(value), Def::Result(op, _) if trace.tree.op_name(op).ends_with("_alloc"))
}

/// Bits as columns of tensor memory or bytes.
fn units(space: Space, bits: u64) -> u64 {
    bits / if space == Space::Tensor { 32 } else { 8 }
}

/// Where the view lies that is the first `len` variables of a chain.
fn window(trace: &Trace<'_>, chain: &Chain, len: usize) -> Window {
    let kernel = trace.kernel();
    let slot = kernel.buffers[chain.buffer.0 as usize].slot_bits.max(1);
    let (mut start, mut spread) = (0u64, 0u64);
    for &var in chain.vars.iter().take(len) {
        match trace.made(var) {
            ValueDef::View(_, ViewOp::Shift(by)) => start = start.saturating_add(by),
            ValueDef::View(_, ViewOp::Index { index, stride, count }) if stride < slot => match trace.constant(index) {
                Some(index) => start = start.saturating_add(u64::try_from(index).unwrap_or(0).saturating_mul(stride)),
                None => spread = spread.saturating_add(count.saturating_sub(1).saturating_mul(stride)),
            },
            _ => {}
        }
    }
    let shape = chain.vars.get(len.saturating_sub(1)).and_then(|var| kernel.shape(*var));
    let (bits, element) = shape.map_or((slot, 8), |shape| (shape.extent(), shape.element));
    let start = start % slot;
    let end = start.saturating_add(bits).saturating_add(spread).min(slot.max(start + 1));
    Window { start, end, element }
}

/// The window that is carved out of an allocation for a member of its own, and the view that does it.
fn carved(trace: &Trace<'_>, chain: &Chain, way: &[ValueId], root: Option<ValueId>) -> Option<(Window, ValueId)> {
    let tree = trace.tree;
    let view = |value: &ValueId| match tree.value_def(*value) {
        Def::Result(op, _) if Some(*value) != root && trace.is_view(op) => Some((*value, op)),
        _ => None,
    };
    // Innermost first, as are the views of the chain: each is one of the other, as far as the text is followed.
    let views: Vec<(ValueId, OpId)> = way.iter().filter_map(view).collect();
    let of_chain: Vec<usize> =
        (0..chain.vars.len()).rev().filter(|at| matches!(trace.made(chain.vars[*at]), ValueDef::View(..))).collect();
    let named = |at: usize, name: &str| views.get(at).is_some_and(|(_, op)| tree.op_name(*op).ends_with(name));
    let pun = (0..views.len()).find(|at| named(*at, "memdesc_reinterpret"))?;
    let slice = (0..pun).rev().find(|at| named(*at, "subslice"));
    // In tensor memory a slot of a reinterpretation covers what its own type says.
    let tensor = trace.kernel().buffers.get(chain.buffer.0 as usize).is_some_and(|it| it.space == Space::Tensor);
    let slot = (0..pun).rev().find(|at| tensor && named(*at, "memdesc_index"));
    let at = slice.or(slot).unwrap_or(pun);
    let cut = window(trace, chain, of_chain.get(at)? + 1);
    let kernel = trace.kernel();
    let whole = kernel.shape(*chain.vars.first()?)?;
    let slot = kernel.buffers[chain.buffer.0 as usize].slot_bits;
    let (value, _) = *views.get(at)?;
    // The same memory in another form, unless it is called something else.
    let same = cut.start == 0 && cut.end == slot && cut.element == whole.element;
    let other = trace.stem(value).is_some_and(|stem| root.and_then(|root| trace.stem(root)) != Some(stem));
    (!same || other).then_some((cut, value))
}

/// What a member may be called.
fn votes<'a>(
    trace: &Trace<'a>,
    key: Key,
    touches: &[&Touch<'_>],
    shared: &FxHashMap<ValueId, u32>,
) -> Vec<(&'a str, u32)> {
    let own = key.root.and_then(|root| trace.stem(root));
    let mut votes = Vec::new();
    let mut seen: Vec<ValueId> = Vec::new();
    for touch in touches {
        for &view in touch.views.iter().filter(|view| Some(**view) != key.root) {
            let weight = if shared.get(&view).copied().unwrap_or(0) > 1 { VOTES[2] } else { VOTES[1] };
            if !seen.contains(&view) && matches!(trace.tree.value_def(view), Def::Result(..)) {
                seen.push(view);
                votes.extend(trace.stem(view).filter(|stem| Some(*stem) != own).map(|stem| (stem, weight)));
            }
        }
        let tensor_core = matches!(touch.of.kind, EffectKind::Operation { issuer: Issuer::TensorCore, .. });
        let stored = stored(trace, touch).filter(|value| !seen.contains(value));
        if let Some(stem) = stored.and_then(|value| trace.stem(value)) {
            seen.extend(stored);
            votes.push((stem, VOTES[1]));
        }
        if !tensor_core {
            let names = beside(trace, touch.effect).into_iter().filter_map(|barrier| data(trace.stem(barrier)?));
            votes.extend(names.filter(|stem| Some(*stem) != own).map(|stem| (stem, VOTES[0])));
        }
    }
    // What another allocation is called is what another op makes of this one.
    let data = trace.kernel().buffers.iter().enumerate().filter(|(_, info)| !info.barriers);
    let others = data.filter_map(|(at, _)| trace.buffer_value(BufferId(at as u32)));
    let others: Vec<&str> =
        others.filter(|other| Some(*other) != key.root).filter_map(|other| trace.stem(other)).collect();
    votes.retain(|(stem, _)| !others.contains(stem));
    votes
}

/// What a store puts into memory, where it is a value of the text.
fn stored(trace: &Trace<'_>, touch: &Touch<'_>) -> Option<ValueId> {
    let op = trace.op(touch.of.site).filter(|_| touch.mode == Mode::Write)?;
    trace.tree.op_name(op).ends_with("_store").then(|| trace.tree.group(op, "src").first().copied()).flatten()
}

/// What a barrier's name says of the data: `alpha` of `alpha_full`, and nothing where it names the barrier alone.
fn data(stem: &str) -> Option<&str> {
    HALVES.iter().find_map(|half| stem.strip_suffix(half)).filter(|rest| !rest.is_empty())
}

/// The barrier waited on right before an effect, and the one arrived at right after it: allocations.
fn beside(trace: &Trace<'_>, effect: EffectId) -> Vec<ValueId> {
    let kernel = trace.kernel();
    let Some(block) = trace.block(effect) else { return Vec::new() };
    let effects = block.instrs.iter().filter_map(|instr| match instr {
        Instr::Effect(id) => Some(*id),
        _ => None,
    });
    let effects: Vec<EffectId> = effects.collect();
    let Some(at) = effects.iter().position(|id| *id == effect) else { return Vec::new() };
    let before = effects[..at].iter().rev().map(|id| &kernel.effect(*id).kind);
    let wait = before.take_while(|kind| accesses(kind).is_empty()).find_map(|kind| match kind {
        EffectKind::Wait { barrier, .. } => Some(*barrier),
        _ => None,
    });
    let after = effects[at + 1..].iter().map(|id| &kernel.effect(*id).kind);
    let arrival = after.take_while(|kind| accesses(kind).is_empty()).find_map(|kind| match kind {
        EffectKind::Arrive { barrier, .. } => Some(*barrier),
        _ => None,
    });
    let roots = wait.into_iter().chain(arrival).flat_map(|barrier| trace.chains(barrier));
    roots.filter_map(|chain| trace.buffer_value(chain.buffer)).collect()
}
