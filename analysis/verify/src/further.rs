//! Inputs for kernels that no proof covers: what the plan varies one by one is varied together.
//!
//! Where a ring is reused and another loop goes around, or a branch goes the other way only after some iterations, one
//! change of the base shows nothing. So all loops are driven past their rings at once, each of them through its counts
//! from there, each condition is turned with every input that can turn it alone, and loops are driven on from there.
//! Words of memory that a loop reads one after the other are one value, as in all runs, or rise along memory.

use super::inputs::{InputPlan, turns};
use super::limits::further::{INPUTS, WAYS};
use super::slice::Slices;
use kernel::{InputKind, Kernel};
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
        let rising = |start: &Valuation| Valuation { slope: SLOPE, ..start.clone() };
        found.extend([rising(&plan.base), rising(&long[0])]);
    }
    found.all
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
