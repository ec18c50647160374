//! Races of one overwrite with several logical buffers that are packed into what it overwrites: each is a
//! finding of its own, since each needs a wait of its own.
//!
//! Two accesses are of two such buffers where their windows share no bit, as far as constants tell, and
//! where their thread hears of them, or tells of them, apart: halves of one buffer that are handed over at
//! once are one.

use super::shadow::Event;
use super::violation::{Rule, Violation};
use kernel::{BufferId, EffectId, EffectKind, Instr, Kernel, Mode, Pure, Var, ViewOp};
use rustc_hash::FxHashMap;

/// Whether two violations at one op are races of an op that overwrites all with different logical buffers.
pub fn siblings(kernel: &Kernel, a: &Violation, b: &Violation) -> bool {
    let (Rule::Race { earlier: one, later }, Rule::Race { earlier: other, later: again }) = (&a.rule, &b.rule) else {
        return false;
    };
    let all = |event: &Event| access(kernel, event).is_some_and(|access| access.clears && access.mode == Mode::Write);
    if a.site != b.site || !all(later) || !all(again) || one.effect == other.effect {
        return false;
    }
    let windows = Windows::new(kernel);
    let window = |event| windows.of(kernel, event);
    let (Some((buffer, left)), Some((same, right))) = (window(one), window(other)) else { return false };
    let meet = left.iter().any(|x| right.iter().any(|y| x.0 < y.1 && y.0 < x.1));
    buffer == same && !meet && handed_over_apart(kernel, one.effect, other.effect)
}

fn access<'k>(kernel: &'k Kernel, event: &Event) -> Option<&'k kernel::Access> {
    match &kernel.effects.get(event.effect.index())?.kind {
        EffectKind::Operation { accesses, .. } => accesses.get(usize::from(event.access)),
        _ => None,
    }
}

/// Whether there is a barrier between two effects, or they stand in different blocks.
fn handed_over_apart(kernel: &Kernel, one: EffectId, other: EffectId) -> bool {
    let is = |effect: EffectId| move |instr: &Instr| matches!(instr, Instr::Effect(id) if *id == effect);
    let both = kernel.blocks.iter().find_map(|block| {
        let at = |effect| block.instrs.iter().position(is(effect));
        Some((&block.instrs, at(one)?, at(other)?))
    });
    let Some((instrs, one, other)) = both else { return true };
    let between = instrs.get(one.min(other)..one.max(other)).unwrap_or_default();
    between.iter().any(|instr| match instr {
        Instr::Effect(id) => matches!(
            kernel.effect(*id).kind,
            EffectKind::Wait { .. }
                | EffectKind::Arrive { .. }
                | EffectKind::NamedArrive { .. }
                | EffectKind::NamedWait { .. }
        ),
        _ => false,
    })
}

/// Buffer and start of each view for which constants tell them, slots left out.
struct Windows {
    of: FxHashMap<Var, Option<(BufferId, u64)>>,
}

impl Windows {
    fn new(kernel: &Kernel) -> Windows {
        let mut of: FxHashMap<Var, Option<(BufferId, u64)>> = FxHashMap::default();
        let mut numbers: FxHashMap<Var, i64> = FxHashMap::default();
        let mut made: Vec<(Var, Var, Option<ViewOp<Var>>)> = Vec::new();
        for block in &kernel.blocks {
            for instr in &block.instrs {
                match instr {
                    Instr::Base(var, buffer) => drop(of.insert(*var, Some((*buffer, 0)))),
                    Instr::View { dst, src, op } => made.push((*dst, *src, Some(*op))),
                    Instr::Let(dst, Pure::Copy(src)) => made.push((*dst, *src, None)),
                    Instr::Let(dst, Pure::Const(number)) => drop(numbers.insert(*dst, *number)),
                    _ => {}
                }
            }
            for target in block.terminator.targets() {
                let params = kernel.blocks.get(target.block.index()).map_or(&[][..], |block| &block.params);
                made.extend(params.iter().zip(&target.args).map(|(param, arg)| (*param, *arg, None)));
            }
        }
        let moved = |start: (BufferId, u64), op: &Option<ViewOp<Var>>| match op {
            None | Some(ViewOp::Remote(_)) => Some(start),
            Some(ViewOp::Shift(by)) => Some((start.0, start.1.checked_add(*by)?)),
            Some(ViewOp::Index { index, stride, .. }) => {
                let slot = kernel.buffers.get(start.0.0 as usize)?.slot_bits;
                let by = match numbers.get(index) {
                    _ if *stride >= slot => 0,
                    Some(number) => u64::try_from(*number).ok()?.checked_mul(*stride)?,
                    None => return None,
                };
                Some((start.0, start.1.checked_add(by)?))
            }
        };
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (dst, src, op) in &made {
                let Some(&from) = of.get(src) else { continue };
                let next = from.and_then(|from| moved(from, op));
                let joined = match of.get(dst) {
                    Some(known) if *known == next || known.is_none() => continue,
                    Some(_) => None,
                    None => next,
                };
                of.insert(*dst, joined);
                changed = true;
            }
        }
        Windows { of }
    }

    /// Where an access lies in a slot of its buffer.
    fn of(&self, kernel: &Kernel, event: &Event) -> Option<(BufferId, Vec<(u64, u64)>)> {
        let view = access(kernel, event)?.view;
        let (buffer, start) = (*self.of.get(&view)?)?;
        let intervals = kernel.shape(view)?.intervals();
        Some((buffer, intervals.into_iter().map(|(from, to)| (from + start, to + start)).collect()))
    }
}
