//! Partitions of one program in global memory: whether barriers order them where two of them touch one place. That place is
//! lowered to a word beside the kernel's own memory ([`lower::lower_with_places`]), and the machine decides.

use base::{Cancel, Cancelled};
use kernel::{Access, BufferId, EffectKind, Instr, Lowered, Mode};
use lower::{GlobalPlace, lower_with_places};
use machine::{Event, Rule};
use races::{Beside, Global, PartitionRace, Reason, Status};
use ttgir::{OpId, Tree};
use verify::Reach;

use crate::Engine;

impl Engine {
    /// Says of the accesses of several partitions of a kernel which may meet ([`Global::beside`]) whether they are ordered
    /// in all runs: what is not makes a race where the two surely touch the same elements, and else leaves the kernel
    /// undecided.
    ///
    /// # Errors
    ///
    /// Where `cancel` says so.
    pub(crate) fn order_partitions(
        &mut self,
        tree: &Tree,
        global: &mut Global,
        cancel: &Cancel<'_>,
    ) -> Result<(), Cancelled> {
        if global.beside.is_empty() {
            return Ok(());
        }
        let mode = |writes: bool| if writes { Mode::Write } else { Mode::Read };
        let place = |pair: &Beside| -> GlobalPlace {
            let ([a, b], [x, y]) = (pair.ops, pair.writes);
            [(a, mode(x)), (b, mode(y))]
        };
        let places: Vec<GlobalPlace> = global.beside.iter().map(place).collect();
        let beside = std::mem::take(&mut global.beside);
        let Some(lowered) = lower_with_places(tree, &global.kernel, &places, self.options) else {
            global.reasons.extend(beside.iter().map(not_known));
            global.status = global.status.max(Status::Undecided);
            return Ok(());
        };
        let outcome = self.outcome(&lowered.kernel, cancel)?;
        // What was not run, or not with all inputs, tells of no order; nor does what breaks before.
        let mut ordered = outcome.gaps.is_empty()
            && lowered.unmodelled.is_empty()
            && outcome.assumed.is_empty()
            && !matches!(outcome.reach, Reach::Runs(_));
        let followed = outcome.gaps.is_empty() && lowered.unmodelled.is_empty();
        let mut met: Vec<(usize, [&Event; 2])> = Vec::new();
        for found in &outcome.found {
            let place = match &found.violation.rule {
                Rule::Race { earlier, later } => place_of(&lowered, later).map(|place| (place, [earlier, later])),
                _ => None,
            };
            ordered &= place.is_some();
            met.extend(place);
        }
        for (place, pair) in beside.iter().enumerate() {
            match met.iter().find(|(of, _)| *of == place) {
                Some((_, events)) if pair.same && followed && are_of(tree, &lowered, pair, *events) => {
                    let partitions = in_order(pair, *events).map(|event| partition(&lowered, event));
                    global.partition_races.push(PartitionRace { pair: pair.clone(), partitions });
                }
                Some(_) => global.reasons.push(unordered(pair)),
                None if ordered && are_lowered(tree, &lowered, place, pair) => {}
                None => global.reasons.push(not_known(pair)),
            }
        }
        if !global.partition_races.is_empty() {
            global.status = Status::Found;
        } else if global.status != Status::Found && !global.reasons.is_empty() {
            global.status = Status::Undecided;
        }
        Ok(())
    }
}

/// That two accesses may meet, and that nothing orders them.
fn unordered(pair: &Beside) -> Reason {
    let text = format!("two partitions may touch one place of `{}`, and nothing orders them", pair.tensor);
    Reason { range: pair.ranges[1], text }
}

/// That two accesses may meet, and that it is not known whether something orders them.
fn not_known(pair: &Beside) -> Reason {
    let tensor = &pair.tensor;
    let text = format!("whether barriers order two partitions that may touch one place of `{tensor}` is not known");
    Reason { range: pair.ranges[1], text }
}

/// The accesses of a pair, first the one that the pair names first where the two can be told apart.
fn in_order<'e>(pair: &Beside, [one, other]: [&'e Event; 2]) -> [&'e Event; 2] {
    let writes = |event: &Event| event.mode == Mode::Write;
    let [first, second] = pair.writes;
    if writes(one) == second && writes(other) == first { [other, one] } else { [one, other] }
}

/// Whether two accesses are of both ops of a pair: one op may stand in several partitions, each with a place of its own.
fn are_of(tree: &Tree, lowered: &Lowered, pair: &Beside, events: [&Event; 2]) -> bool {
    let site = |event: &Event| {
        let effect = lowered.kernel.effects.get(event.effect.index());
        effect.map(|effect| lowered.map.site(effect.site).name)
    };
    let ops = pair.ops.map(|op| Some(tree.op_name_range(op)));
    let [one, other] = events.map(site);
    ops == [one, other] || ops == [other, one]
}

/// The label of the partition that makes an access.
fn partition(lowered: &Lowered, event: &Event) -> String {
    let number = usize::from(event.thread) % lowered.kernel.partitions.len().max(1);
    lowered.map.partition(number)
}

/// Whether both ops of a pair touch their place in the kernel that is run.
fn are_lowered(tree: &Tree, lowered: &Lowered, place: usize, pair: &Beside) -> bool {
    let Some(place) = lowered.map.global_places.get(place) else { return false };
    let touches = |accesses: &[Access]| accesses.iter().any(|access| buffer(lowered, access) == Some(*place));
    let touched = |op: OpId| {
        lowered.kernel.effects.iter().any(|effect| {
            lowered.map.site(effect.site).name == tree.op_name_range(op)
                && matches!(&effect.kind, EffectKind::Operation { accesses, .. } if touches(accesses))
        })
    };
    pair.ops.into_iter().all(touched)
}

/// Which place of global memory an access is of, where it is of one.
fn place_of(lowered: &Lowered, event: &Event) -> Option<usize> {
    let effect = lowered.kernel.effects.get(event.effect.index())?;
    let EffectKind::Operation { accesses, .. } = &effect.kind else { return None };
    let buffer = buffer(lowered, accesses.get(usize::from(event.access))?)?;
    lowered.map.global_places.iter().position(|place| *place == buffer)
}

/// The buffer whose first view an access is through.
fn buffer(lowered: &Lowered, access: &Access) -> Option<BufferId> {
    let mut instrs = lowered.kernel.blocks.iter().flat_map(|block| &block.instrs);
    instrs.find_map(|instr| match instr {
        Instr::Base(var, buffer) if *var == access.view => Some(*buffer),
        _ => None,
    })
}
