//! Inputs for kernels that no proof covers: what the plan varies one by one is varied together.
//!
//! Where a ring is reused and another loop goes around, or a branch goes the other way only after some iterations, one
//! change of the base shows nothing. So all loops are driven past their rings at once, each of them through its counts
//! from there, each condition is turned with every input that can turn it alone, and loops are driven on from there.
//! Words of memory that a loop reads one after the other are one value, as in all runs, or rise along memory, by as much
//! as makes loops between two of them go around their rings. What several atomics give differs.

use super::inputs::{InputGroup, InputPlan, set_alone, turns};
use super::limits::further::{INPUTS, WAYS};
use super::slice::Slices;
use kernel::{InputId, InputKind, Instr, Kernel, Pure, Word};
use machine::Valuation;

/// How much a word rises a byte of its address, where words rise: one of four bytes is 4 more than the one before.
const SLOPE: i64 = 1;

/// The inputs, those that differ least from the plan's first.
pub(super) fn further(kernel: &Kernel, plan: &InputPlan) -> Vec<Valuation> {
    let mut found = Further { kernel, plan, all: Vec::new() };
    let longer = [plan.depth + 1, 2 * plan.depth + 1];
    let long = longer.map(|trips| found.driven(&plan.base, trips));
    found.extend(long.iter().cloned());
    let slices = Slices::new(kernel).with_equal_words();
    for condition in slices.conditions() {
        let Some(formula) = slices.compile(&[condition]) else { continue };
        for start in [&plan.base, &long[0]] {
            let was = formula.eval(start, 0).map(|bit| bit & 1);
            for turned in turns(kernel, &slices, condition, start).into_iter().take(WAYS) {
                let stays = |valuation: &Valuation| formula.eval(valuation, 0).map(|bit| bit & 1) != was;
                found.extend([turned.clone()]);
                for trips in longer {
                    let on = found.driven(&turned, trips);
                    found.extend([on].into_iter().filter(stays));
                    for group in &plan.groups {
                        let table = plan.drive(kernel, &turned, group, trips);
                        found.extend(table.into_iter().flatten().next_back().filter(stays));
                    }
                }
            }
        }
    }
    for start in &long {
        for group in &plan.groups {
            let table = plan.drive(kernel, start, group, 2 * plan.depth + 1);
            found.extend(table.into_iter().flatten());
        }
    }
    if kernel.inputs.iter().any(|input| input.kind == InputKind::Memory) {
        let rising = |start: &Valuation, slope| Valuation { slope, ..start.clone() };
        found.extend([rising(&plan.base, SLOPE), rising(&long[0], SLOPE)]);
        found.extend(slopes(kernel, plan).into_iter().map(|slope| rising(&plan.base, slope)));
    }
    for input in claimed(kernel, &slices) {
        let mut apart = plan.base.clone();
        let more = apart.get(input).saturating_add(longer[1] as i64);
        set_alone(kernel, &mut apart, input, more);
        found.extend([apart]);
    }
    found.all
}

/// The results of atomics, where there are several: each has one of its own, and partitions that each ask for one need
/// not agree.
fn claimed(kernel: &Kernel, slices: &Slices<'_>) -> Vec<InputId> {
    let words = kernel.blocks.iter().flat_map(|block| &block.instrs);
    let mut inputs: Vec<InputId> = words
        .filter_map(|instr| match instr {
            Instr::Word(Word::Claim { otherwise, .. }) => slices.pure(*otherwise),
            _ => None,
        })
        .filter_map(|pure| if let Pure::Input(input) = pure { Some(input) } else { None })
        .collect();
    inputs.sort_unstable();
    inputs.dedup();
    if inputs.len() > 1 { inputs } else { Vec::new() }
}

/// Slopes of words with which loops whose counts are how far words lie apart fill their rings and go around, evenly and
/// with a rest.
fn slopes(kernel: &Kernel, plan: &InputPlan) -> Vec<i64> {
    let mut all = Vec::new();
    let reads = |group: &&InputGroup| {
        group.inputs.iter().any(|input| kernel.inputs.get(input.index()).is_some_and(|it| it.kind == InputKind::Memory))
    };
    for group in plan.groups.iter().filter(reads) {
        let units = group.constants.iter().copied().filter(|unit| (2..=1 << 16).contains(unit));
        let units: Vec<i64> = std::iter::once(1).chain(units).collect();
        for trips in [plan.depth + 1, 2 * plan.depth + 1] {
            // Words of four bytes, and of eight.
            let near = units.iter().flat_map(|unit| [4, 8].map(|bytes| unit * trips as i64 / bytes));
            let near: Vec<i64> = near.flat_map(|slope| [slope, slope + 1]).collect();
            let gives = |slope: &i64| {
                let valuation = Valuation { slope: *slope, ..plan.base.clone() };
                *slope > 0 && group.trips.eval(&valuation) == Some(trips)
            };
            all.extend(near.into_iter().filter(gives));
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

struct Further<'k> {
    kernel: &'k Kernel,
    plan: &'k InputPlan,
    all: Vec<Valuation>,
}

impl Further<'_> {
    fn extend(&mut self, new: impl IntoIterator<Item = Valuation>) {
        for valuation in new {
            if self.all.len() < INPUTS && !self.all.contains(&valuation) {
                self.all.push(valuation);
            }
        }
    }

    /// With all loops driven to so many iterations, or as near as they come.
    fn driven(&self, from: &Valuation, trips: u64) -> Valuation {
        self.plan.groups.iter().fold(from.clone(), |now, group| {
            let table = self.plan.drive(self.kernel, &now, group, trips);
            table.into_iter().flatten().next_back().unwrap_or(now)
        })
    }
}
