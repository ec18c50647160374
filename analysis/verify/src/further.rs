//! Inputs for kernels that no proof covers: what the plan varies one by one is varied together.
//!
//! Where a ring is reused and another loop goes around, or a branch goes the other way only after some iterations, one
//! change of the base shows nothing. So all loops are driven past their rings at once, each of them through its counts
//! from there, each condition is turned with every input that can turn it alone, and loops are driven on from there.
//! Words of memory that a loop reads one after the other are one value, as in all runs, or rise along memory, by as much
//! as makes loops between two of them go around their rings, or differ from one to the next: those that decide something
//! by themselves are small numbers in several orders, others rise unevenly. What several atomics give differs.

use super::directed::{WordAt, read_words};
use super::inputs::{InputGroup, InputPlan, set_alone, turns};
use super::limits::further::{INPUTS, WAYS};
use super::slice::Slices;
use kernel::{InputId, InputKind, Instr, Kernel, Pure, WordAccess};
use machine::Valuation;
use std::collections::{BTreeMap, BTreeSet};

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
        for start in std::iter::once(&plan.base).chain(&long) {
            found.extend(differing(kernel, plan, start));
        }
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

/// What words that decide something by themselves are, by their number behind one pointer.
const ORDERS: [fn(i64) -> i64; 4] =
    [|at| at & 1, |at| i64::from(at.count_ones() & 1), |at| 1 - (at & 1), |at| (3 * at + 2) % 4];

/// Constants of the kernel that may be how many rows or columns of a tile there are.
pub(super) const UNITS: std::ops::RangeInclusive<i64> = 8..=1 << 16;

/// The word of this number behind one pointer where words rise unevenly, of four bytes and of eight.
fn uneven(at: i64) -> i64 {
    at + (at >> 1) + (at >> 2)
}

/// The same inputs with the words of memory that are read under them differing from one to the next.
fn differing(kernel: &Kernel, plan: &InputPlan, start: &Valuation) -> Vec<Valuation> {
    let read = read_words(kernel, start);
    let (alone, others) = (numbered(&read.alone), numbered(&read.others));
    let several = |words: &[(WordAt, i64)]| words.iter().any(|(_, at)| *at > 0);
    let with = |valuation: &mut Valuation, words: &[(WordAt, i64)], value: &dyn Fn(i64) -> i64| {
        for ((memory, address), at) in words {
            let bit = kernel.inputs.get(memory.index()).is_some_and(|input| input.width == 1);
            let value = if bit { value(*at) & 1 } else { value(*at) };
            valuation.set_word(machine::MemoryWord { memory: *memory, address: *address, value });
        }
    };
    let mut all = Vec::new();
    if several(&alone) {
        for order in ORDERS {
            let mut valuation = start.clone();
            with(&mut valuation, &alone, &order);
            all.push(valuation);
        }
    }
    if several(&others) {
        // Stretches between two words fill no ring, and each of them does.
        let lengths = [1, i64::try_from(plan.depth).unwrap_or(1).saturating_add(1)];
        for (length, unit) in
            lengths.into_iter().flat_map(|length| units(kernel).into_iter().map(move |unit| (length, unit)))
        {
            let mut valuation = start.clone();
            with(&mut valuation, &alone, &ORDERS[0]);
            with(&mut valuation, &others, &|at| unit.saturating_mul(length).saturating_mul(uneven(at)));
            all.push(valuation);
        }
    }
    all
}

/// Numbers of which differences between words are made: 1, and what the kernel counts by, most of all.
fn units(kernel: &Kernel) -> Vec<i64> {
    std::iter::once(1).chain(constants(kernel, &UNITS)).take(1 + WAYS).collect()
}

/// Constants of the kernel, those that it has most often first.
pub(super) fn constants(kernel: &Kernel, within: &std::ops::RangeInclusive<i64>) -> Vec<i64> {
    let instrs = kernel.blocks.iter().flat_map(|block| &block.instrs);
    let constants = instrs.filter_map(|instr| match instr {
        Instr::Let(_, Pure::Const(value)) => Some(*value).filter(|value| within.contains(value)),
        _ => None,
    });
    let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
    constants.for_each(|value| *counts.entry(value).or_default() += 1);
    let mut units: Vec<(i64, usize)> = counts.into_iter().collect();
    units.sort_by_key(|(value, count)| (std::cmp::Reverse(*count), *value));
    units.into_iter().map(|(value, _)| value).collect()
}

/// Words with their numbers among those behind the same pointer.
fn numbered(words: &BTreeSet<WordAt>) -> Vec<(WordAt, i64)> {
    let mut all: Vec<(WordAt, i64)> = Vec::with_capacity(words.len());
    for &(memory, address) in words {
        let before = all.last().filter(|((of, at), _)| *of == memory && machine::same_pointer(*at, address));
        let number = before.map_or(0, |(_, number)| number + 1);
        all.push(((memory, address), number));
    }
    all
}

/// The results of atomics, where there are several: each has one of its own, and partitions that each ask for one need
/// not agree.
fn claimed(kernel: &Kernel, slices: &Slices<'_>) -> Vec<InputId> {
    let words = kernel.blocks.iter().flat_map(|block| &block.instrs);
    let mut inputs: Vec<InputId> = words
        .filter_map(|instr| match instr {
            Instr::Word(WordAccess::Claim { otherwise, .. }) => slices.pure(*otherwise),
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
