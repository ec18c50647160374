//! How a thread can name a barrier, and the phases it could wait for.

use super::context::FixContext;
use super::draft::Draft;
use machine::BarrierPlace;
use ttgir::{Def, OpId, ValueId};

/// A way to name a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Slot {
    /// A memdesc in scope.
    Known(ValueId),
    /// A ring in scope, at an index in scope.
    Index(ValueId, ValueId),
    /// A ring in scope, at a constant index.
    Number(ValueId, i64),
}

/// Ways to name a barrier at the draft's place, the likeliest first. `like` is a memdesc of the
/// same ring position.
pub(crate) fn slots(case: &FixContext<'_>, draft: &Draft<'_>, place: BarrierPlace, like: Option<ValueId>) -> Vec<Slot> {
    let code = case.code;
    let Some(alloc) = case.alloc(place.buffer) else { return Vec::new() };
    let ring = draft.scope().iter().copied().find(|value| code.base(*value) == alloc);
    if let Some(ring) = ring.filter(|ring| code.extents(*ring).as_deref() == Some(&[1])) {
        return vec![Slot::Known(ring)];
    }
    let like = like.and_then(|like| code.slot(like));
    let known: Vec<ValueId> = draft
        .scope()
        .iter()
        .copied()
        .filter(|value| code.root(*value) == alloc && code.slot(*value).is_some())
        .collect();
    let number = case.slot_number(place);
    let constant = |value: ValueId| code.slot(value).and_then(|slot| code.constant(slot));
    let mut out = Vec::new();
    match like {
        Some(index) => {
            out.extend(known.iter().copied().filter(|value| code.slot(*value) == Some(index)).map(Slot::Known));
            if let Some(ring) = ring.filter(|_| out.is_empty() && draft.sees(index)) {
                out.push(Slot::Index(ring, index));
            }
            // Another position of the ring: nearest first, constants are not what a loop means.
            out.extend(known.iter().copied().filter(|value| constant(*value).is_none()).map(Slot::Known));
        }
        None => {
            out.extend(known.iter().copied().filter(|value| constant(*value) == Some(number)).map(Slot::Known));
            out.extend(ring.filter(|_| out.is_empty()).map(|ring| Slot::Number(ring, number)));
        }
    }
    if let (true, Some(ring), Some([1, 1])) =
        (out.is_empty(), ring, ring.and_then(|ring| code.extents(ring)).as_deref())
    {
        out.push(Slot::Number(ring, 0));
    }
    out.truncate(2);
    out
}

/// The name and type of a slot; an index line is added where it needs one.
pub(crate) fn slot_name(case: &FixContext<'_>, draft: &mut Draft<'_>, slot: Slot) -> Option<(String, String)> {
    let code = case.code;
    let (ring, index) = match slot {
        Slot::Known(value) => return Some((code.name(value), code.type_of(value)?.to_owned())),
        Slot::Index(ring, index) => (ring, code.name(index)),
        Slot::Number(ring, number) => (ring, draft.constant(number, 32)),
    };
    let whole = code.type_of(ring)?;
    let slot = slot_type(case, ring, whole)?;
    let name = draft.fresh("bar");
    draft.line(format!("{name} = ttg.memdesc_index {}[{index}] : {whole} -> {slot}", code.name(ring)));
    Some((name, slot))
}

/// The value that a slot's index is, if one is.
pub(crate) fn slot_index(case: &FixContext<'_>, slot: Slot) -> Option<ValueId> {
    match slot {
        Slot::Known(value) => case.code.slot(value),
        Slot::Index(_, index) => Some(index),
        Slot::Number(..) => None,
    }
}

/// The type of a ring's slot: what another slot has, else `memdesc<2x1xi64, …>` without its first
/// extent.
fn slot_type(case: &FixContext<'_>, ring: ValueId, whole: &str) -> Option<String> {
    let (code, tree) = (case.code, case.code.tree);
    let root = code.root(ring);
    let ops = case.lowered.map.sites.iter().filter_map(|site| code.op_of(site));
    let barriers = ops.flat_map(|op| tree.operands(op).to_vec());
    let mut slots = barriers.filter(|value| code.root(*value) == root && code.extents(*value).as_deref() == Some(&[1]));
    if let Some(ty) = slots.next().and_then(|slot| code.type_of(slot)) {
        return Some(ty.to_owned());
    }
    let (head, rest) = whole.split_once('<')?;
    let (_, rest) = rest.split_once('x')?;
    Some(format!("{head}<{rest}"))
}

/// A phase that a thread could wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// A value in scope.
    Value(ValueId),
    /// Its complement.
    Other(ValueId),
    /// A constant.
    Constant(i64),
    /// The parity of the lap of a counter around a ring of so many slots, plus a constant.
    Lap(ValueId, i64, i64),
}

/// Phases worth trying before `at` for a barrier, likeliest first; `index` is its ring position.
pub(crate) fn phases(
    case: &FixContext<'_>,
    draft: &Draft<'_>,
    at: OpId,
    place: BarrierPlace,
    index: Option<ValueId>,
) -> Vec<Phase> {
    let code = case.code;
    let alloc = case.alloc(place.buffer);
    let mut out = Vec::new();
    // What other waits of this thread name: those on the same barrier first, then those at the
    // same ring position, then the nearest.
    let ops = code.thread(at).map(|region| code.ops(region)).unwrap_or_default();
    let mut named: Vec<(bool, bool, u32, ValueId)> = Vec::new();
    for wait in ops.into_iter().filter(|op| code.is_barrier_op(*op, "wait_barrier")) {
        let (Some(&barrier), Some(&phase)) =
            (code.tree.group(wait, "alloc").first(), code.tree.group(wait, "phase").first())
        else {
            continue;
        };
        if code.constant(phase).is_none() && draft.sees(phase) {
            let far = code.tree.op_range(wait).start.abs_diff(code.tree.op_range(at).start);
            let elsewhere = index.is_none() || code.slot(barrier) != index;
            named.push((Some(code.root(barrier)) != alloc, elsewhere, far, phase));
        }
    }
    named.sort_by_key(|&(other, elsewhere, far, _)| (other, elsewhere, far));
    let mut seen = Vec::new();
    named.retain(|&(.., phase)| {
        !seen.contains(&phase) && {
            seen.push(phase);
            true
        }
    });
    for &(other, _, _, phase) in named.iter().take(2) {
        out.push(Phase::Value(phase));
        if other {
            out.push(Phase::Other(phase));
        }
    }
    // A parity that nobody waits for here.
    let parity = |value: &ValueId| {
        let op = code.def(*value).filter(|op| code.tree.op_name(*op) == "arith.andi");
        op.is_some_and(|op| code.tree.operands(op).iter().any(|operand| code.constant(*operand) == Some(1)))
    };
    for value in draft.scope().iter().copied().filter(parity).take(2) {
        if !named.iter().any(|(.., other)| *other == value) {
            out.extend([Phase::Value(value), Phase::Other(value)]);
        }
    }
    // What the ring position itself is computed from.
    let stepped = index.and_then(|index| counted_around(case, index)).filter(|counter| draft.sees(*counter));
    let looping = stepped.or_else(|| enclosing_loop(case, at)).or_else(|| counter(case, draft));
    let depth = alloc.and_then(|alloc| code.extents(alloc)).map_or(1, |extents| match extents.as_slice() {
        [depth, 1] => *depth,
        _ => 1,
    });
    if let Some(counter) = looping {
        out.push(Phase::Lap(counter, depth, 0));
        out.push(Phase::Lap(counter, depth, 1));
    }
    // A phase that the loop carries though nobody waits for it here.
    let carriers = [index.filter(|index| draft.sees(*index)), looping].into_iter().flatten();
    let carried: Vec<ValueId> = carriers.flat_map(|counter| carried(case, counter)).collect();
    for value in carried.into_iter().filter(|value| named.iter().all(|(.., other)| other != value)).take(2) {
        if !out.contains(&Phase::Value(value)) {
            out.extend([Phase::Value(value), Phase::Other(value)]);
        }
    }
    let constants = [Phase::Constant(0), Phase::Constant(1)];
    if looping.is_some() {
        out.extend(constants)
    } else {
        out.splice(0..0, constants).for_each(drop)
    }
    out
}

/// The counter of the innermost counted loop around an op, in the same thread.
pub(crate) fn enclosing_loop(case: &FixContext<'_>, at: OpId) -> Option<ValueId> {
    let (code, tree) = (case.code, case.code.tree);
    let mut at = at;
    loop {
        let region = tree.parent_region(tree.parent_block(at)?);
        if code.is_wall(region) {
            return None;
        }
        at = tree.parent_op(region)?;
        if tree.op_name(at) == "scf.for" {
            let from_zero = tree.group(at, "lowerBound").first().and_then(|lower| code.constant(*lower)) == Some(0);
            let by_one = tree.group(at, "step").first().and_then(|step| code.constant(*step)) == Some(1);
            let counter = tree.blocks(region).first().and_then(|block| tree.block_args(*block).first()).copied();
            return counter.filter(|counter| from_zero && by_one && code.width(*counter) == Some(32));
        }
    }
}

/// What goes around a ring at a position that is computed as a remainder.
fn counted_around(case: &FixContext<'_>, index: ValueId) -> Option<ValueId> {
    let code = case.code;
    let op = code.def(index).filter(|op| matches!(code.tree.op_name(*op), "arith.remsi" | "arith.remui"))?;
    let counter = code.tree.operands(op).first().copied()?;
    (code.width(counter) == Some(32) && code.constant(counter).is_none()).then_some(counter)
}

/// What counts from zero by ones in a flat loop: an argument of a block to which 1 is added.
fn counter(case: &FixContext<'_>, draft: &Draft<'_>) -> Option<ValueId> {
    let (code, tree) = (case.code, case.code.tree);
    draft.scope().iter().copied().find(|value| {
        let Def::BlockArg(block, _) = tree.value_def(*value) else { return false };
        let region = tree.parent_region(block);
        tree.blocks(region).first() != Some(&block)
            && code.width(*value) == Some(32)
            && code.ops(region).iter().any(|op| {
                tree.op_name(*op) == "arith.addi"
                    && tree.operands(*op).first() == Some(value)
                    && tree.operands(*op).get(1).and_then(|one| code.constant(*one)) == Some(1)
            })
    })
}

/// What the loop of a counter carries and flips: `xori` and `subi` give these away.
fn carried(case: &FixContext<'_>, counter: ValueId) -> Vec<ValueId> {
    let (code, tree) = (case.code, case.code.tree);
    let Def::BlockArg(block, _) = tree.value_def(counter) else { return Vec::new() };
    let ops = code.ops(tree.parent_region(block));
    let flips = |value: ValueId| {
        ops.iter()
            .any(|op| matches!(tree.op_name(*op), "arith.xori" | "arith.subi") && tree.operands(*op).contains(&value))
    };
    let others = tree.block_args(block).iter().copied().filter(|value| *value != counter);
    others.filter(|value| code.width(*value).is_some() && flips(*value)).collect()
}

/// The name of a phase; lines that compute it are added.
pub(crate) fn phase_name(case: &FixContext<'_>, draft: &mut Draft<'_>, phase: Phase) -> String {
    let code = case.code;
    match phase {
        Phase::Value(value) => code.name(value),
        Phase::Constant(value) => draft.constant(value, 32),
        Phase::Other(value) => {
            let complement = |known: &ValueId| {
                let op = code.def(*known).filter(|op| code.tree.op_name(*op) == "arith.xori");
                let operands = op.map(|op| code.tree.operands(op)).unwrap_or_default();
                operands.contains(&value) && operands.iter().any(|operand| code.constant(*operand) == Some(1))
            };
            if let Some(known) = draft.scope().iter().copied().find(complement) {
                return code.name(known);
            }
            let width = code.width(value).unwrap_or(32);
            let one = draft.constant(1, width);
            let name = draft.fresh("phase");
            draft.line(format!("{name} = arith.xori {}, {one} : i{width}", code.name(value)));
            name
        }
        Phase::Lap(counter, depth, plus) => {
            let one = draft.constant(1, 32);
            let mut lap = code.name(counter);
            if depth > 1 {
                let depth = draft.constant(depth, 32);
                let name = draft.fresh("lap");
                draft.line(format!("{name} = arith.divsi {lap}, {depth} : i32"));
                lap = name;
            }
            let mut name = draft.fresh("phase");
            draft.line(format!("{name} = arith.andi {lap}, {one} : i32"));
            if plus == 1 {
                let flipped = draft.fresh("phase");
                draft.line(format!("{flipped} = arith.xori {name}, {one} : i32"));
                name = flipped;
            }
            name
        }
    }
}
