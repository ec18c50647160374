//! Which slot, phase and flip each wait on a barrier sees, in the order in which a partition comes to it.
//!
//! The text is stepped through with the numbers that it gives: a loop whose end is not known goes on until enough
//! waits were seen, and what comes behind it is left out. Where a slot or phase hangs on what is not known, so is what
//! follows. A wait with parity `p` goes on when the flips so far are not of that parity, so the flip that it sees is
//! known from those that its slot has seen before.

use crate::limits::cadence::{FUEL, ITERATIONS, TIMES};
use dialects::{BarrierVerb, OpCode, Scf, Ttg};
use rustc_hash::{FxHashMap, FxHashSet};
use ttgir::queries::evaluate::{Numbers, evaluate};
use ttgir::queries::memory::{Use, indices};
use ttgir::queries::spot::around;
use ttgir::{OpId, RegionId, Tree, ValueId};

/// What one wait sees, time after time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cadence {
    /// The wait.
    pub(crate) op: OpId,
    /// The slots that it waits on.
    pub(crate) slots: Vec<i64>,
    /// The parities that it waits for.
    pub(crate) phases: Vec<i64>,
    /// Which flip of its slot it sees, from 1; 0 where it goes on at once because nothing has to have happened yet.
    pub(crate) flips: Vec<u64>,
    /// Times that see no flip which was not seen before, though one should: the phase does not go on.
    pub(crate) repeats: bool,
}

/// What the waits among the uses of a barrier array see.
pub(crate) fn cadences(tree: &Tree, within: OpId, uses: &[Use]) -> Vec<Cadence> {
    let is_wait = |used: &&Use| {
        let barrier = tree.code(used.op).and_then(|code| code.decl().barrier);
        barrier.is_some_and(|barrier| {
            let span = tree.group_span(used.op, barrier.group);
            barrier.verb == BarrierVerb::Wait
                && span.is_some_and(|(first, len)| (first..first + len).contains(&used.operand))
        })
    };
    let mut homes: Vec<(Option<RegionId>, Vec<&Use>)> = Vec::new();
    for used in uses.iter().filter(is_wait) {
        let home = partition_region(tree, used.op);
        match homes.iter_mut().find(|(known, _)| *known == home) {
            Some((_, list)) => list.push(used),
            None => homes.push((home, vec![used])),
        }
    }
    let mut found = Vec::new();
    for (home, waits) in homes {
        let Some(region) = home.or_else(|| tree.regions(within).first().copied()) else { continue };
        let mut walk = Walk::new(tree, &waits);
        let _ = walk.region(region);
        found.extend(walk.finish());
    }
    found.sort_by_key(|cadence| tree.op_range(cadence.op).start);
    found
}

/// The region of the partition around an op; `None` for the default one.
fn partition_region(tree: &Tree, op: OpId) -> Option<RegionId> {
    around(tree, op).find_map(|(outer, number)| match tree.code(outer) {
        Some(OpCode::Ttg(Ttg::WarpSpecializePartitions)) => tree.regions(outer).get(number).copied(),
        Some(OpCode::Ttg(Ttg::WarpSpecialize)) if number > 0 => tree.regions(outer).get(number).copied(),
        _ => None,
    })
}

/// Where stepping ends: what comes next is not known, or enough was seen.
struct End;

struct Walk<'t> {
    tree: &'t Tree,
    /// Slot index and phase of each wait.
    waits: FxHashMap<OpId, (Option<ValueId>, ValueId)>,
    /// Ops with a wait inside.
    around: FxHashSet<OpId>,
    numbers: Numbers,
    events: Vec<(OpId, i64, i64)>,
    fuel: u32,
}

impl<'t> Walk<'t> {
    fn new(tree: &'t Tree, uses: &[&Use]) -> Walk<'t> {
        let mut waits = FxHashMap::default();
        let mut outer = FxHashSet::default();
        for used in uses {
            if let Some(phase) = tree.group(used.op, "phase").first() {
                waits.insert(used.op, (indices(tree, used.value).first().copied(), *phase));
                outer.extend(around(tree, used.op).map(|(op, _)| op));
            }
        }
        Walk { tree, waits, around: outer, numbers: Numbers::default(), events: Vec::new(), fuel: FUEL }
    }

    fn number(&self, value: ValueId) -> Option<i64> {
        evaluate(self.tree, value, &self.numbers)
    }

    /// A region of one block.
    fn region(&mut self, region: RegionId) -> Result<Option<OpId>, End> {
        let tree = self.tree;
        let [block] = tree.blocks(region) else { return Err(End) };
        for op in tree.block_ops(*block) {
            self.fuel = self.fuel.checked_sub(1).ok_or(End)?;
            if let Some((slot, phase)) = self.waits.get(op).copied() {
                self.wait(*op, slot, phase)?;
            } else if self.around.contains(op) {
                self.inside(*op)?;
            }
        }
        Ok(tree.block_ops(*block).last().copied())
    }

    fn wait(&mut self, op: OpId, slot: Option<ValueId>, phase: ValueId) -> Result<(), End> {
        if let Some(predicate) = self.tree.group(op, "pred").first() {
            match self.number(*predicate) {
                Some(0) => return Ok(()),
                Some(_) => {}
                None => return Err(End),
            }
        }
        let slot = slot.map_or(Some(0), |slot| self.number(slot)).ok_or(End)?;
        let phase = self.number(phase).ok_or(End)?;
        if self.events.iter().filter(|(known, ..)| *known == op).count() >= TIMES {
            return Err(End);
        }
        self.events.push((op, slot, phase & 1));
        Ok(())
    }

    fn inside(&mut self, op: OpId) -> Result<(), End> {
        let tree = self.tree;
        let regions = tree.regions(op);
        match tree.code(op) {
            Some(OpCode::Scf(Scf::For)) => self.repeat(op),
            Some(OpCode::Scf(Scf::If)) => {
                let condition = tree.operands(op).first().and_then(|condition| self.number(*condition)).ok_or(End)?;
                let taken = regions.get(usize::from(condition == 0)).copied();
                let end = taken.map(|region| self.region(region)).transpose()?.flatten();
                self.give(op, end);
                Ok(())
            }
            Some(OpCode::Ttg(Ttg::WarpSpecialize)) => {
                let end = regions.first().map(|region| self.region(*region)).transpose()?.flatten();
                self.give(op, end);
                Ok(())
            }
            _ => Err(End),
        }
    }

    /// The results of an op are what the end of its region gives.
    fn give(&mut self, op: OpId, end: Option<OpId>) {
        let given = end.map_or(&[][..], |end| self.tree.operands(end));
        let numbers: Vec<(ValueId, Option<i64>)> =
            self.tree.results(op).iter().zip(given).map(|(result, value)| (*result, self.number(*value))).collect();
        self.set(numbers);
    }

    fn set(&mut self, numbers: Vec<(ValueId, Option<i64>)>) {
        for (value, number) in numbers {
            match number {
                Some(number) => self.numbers.insert(value, number),
                None => self.numbers.remove(&value),
            };
        }
    }

    fn repeat(&mut self, op: OpId) -> Result<(), End> {
        let tree = self.tree;
        let bound = |group: &str| tree.group(op, group).first().copied();
        let from = bound("lowerBound").and_then(|bound| self.number(bound)).ok_or(End)?;
        let step = bound("step").and_then(|bound| self.number(bound)).filter(|step| *step > 0).ok_or(End)?;
        let until = bound("upperBound").and_then(|bound| self.number(bound));
        let region = *tree.regions(op).first().ok_or(End)?;
        let [block] = tree.blocks(region) else { return Err(End) };
        let Some((counter, carried)) = tree.block_args(*block).split_first() else { return Err(End) };
        let mut values: Vec<Option<i64>> = tree.group(op, "initArgs").iter().map(|value| self.number(*value)).collect();
        let mut at = from;
        for _ in 0..ITERATIONS {
            if until.is_some_and(|until| at >= until) {
                let results = tree.results(op).iter().copied().zip(values).collect();
                self.set(results);
                return Ok(());
            }
            self.numbers.insert(*counter, at);
            let now = carried.iter().copied().zip(values).collect();
            self.set(now);
            let end = self.region(region)?.ok_or(End)?;
            values = tree.operands(end).iter().map(|value| self.number(*value)).collect();
            at = at.checked_add(step).ok_or(End)?;
        }
        Err(End)
    }

    fn finish(self) -> Vec<Cadence> {
        let mut seen: FxHashMap<i64, u64> = FxHashMap::default();
        let mut found: Vec<Cadence> = Vec::new();
        for (op, slot, phase) in self.events {
            let before = seen.get(&slot).copied();
            let flips = before.unwrap_or(0);
            // It goes on when the number of flips is of the other parity.
            let flip = if flips % 2 == phase as u64 { flips + 1 } else { flips };
            seen.insert(slot, flip);
            let at = found.iter().position(|known| known.op == op).unwrap_or_else(|| {
                found.push(Cadence { op, slots: vec![], phases: vec![], flips: vec![], repeats: false });
                found.len() - 1
            });
            let Some(cadence) = found.get_mut(at) else { continue };
            cadence.slots.push(slot);
            cadence.phases.push(phase);
            cadence.flips.push(flip);
            cadence.repeats |= before == Some(flip);
        }
        found
    }
}
