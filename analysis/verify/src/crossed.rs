//! Inputs that the plan tells nothing apart by: it comes to each trip count of a loop by the smallest value that gives it.
//!
//! What a kernel does besides may hang on where the loop begins, on what its bound leaves over, and on which way the conditions
//! on inputs go, all together: a tail behind two full rounds, a window that begins at the third tile, a second half of a
//! round that is just missed. So each input that drives a loop is moved through the multiples of what the kernel counts by and
//! their neighbours, with the others as they are, or large, or all of them but one large, and of each combination the first one
//! is kept. A program's number stays: which of them there are the host says.

use super::further::{UNITS, constants};
use super::inputs::{InputGroup, InputPlan, set_alone};
use super::limits::crossed::{COUNTS, EACH, INPUTS, ROUNDS, WAYS};
use super::slice::{Formula, Slices};
use kernel::{InputId, InputKind, Kernel, Var};
use machine::Valuation;
use rustc_hash::FxHashSet;

/// The inputs, those with the fewest iterations first.
pub(super) fn crossed(kernel: &Kernel, plan: &InputPlan) -> Vec<Valuation> {
    let slices = Slices::new(kernel).with_equal_words();
    let compile = |var: Var| slices.compile(&[var]);
    let conditions: Vec<Formula> = slices.conditions().into_iter().filter_map(compile).collect();
    let mut all: Vec<(u64, Valuation)> = Vec::new();
    for group in &plan.groups {
        let bounds = slices.compile(&[group.bounds.lower, group.bounds.upper, group.bounds.step]);
        let Some(bounds) = bounds else { continue };
        let units = units(kernel, group);
        let mut seen = FxHashSet::default();
        let mut own = Vec::new();
        for (start, moved) in starts(kernel, plan, group) {
            for value in values(kernel, moved, &units) {
                let mut valuation = start.clone();
                set_alone(kernel, &mut valuation, moved, value);
                let Some(trips) = group.trips.eval(&valuation).filter(|trips| *trips <= 2 * plan.depth + 1) else {
                    continue;
                };
                let class = class(&valuation, (&bounds, &conditions), &units, plan.depth);
                if plan.is_ample(kernel, &valuation) && seen.insert((trips, class)) {
                    own.push((trips, valuation));
                }
            }
        }
        own.sort_by_key(|(trips, _)| *trips);
        own.truncate(EACH);
        all.extend(own);
    }
    all.sort_by_key(|(trips, _)| *trips);
    let mut kept: Vec<Valuation> = Vec::new();
    for (_, valuation) in all {
        if !kept.contains(&valuation) {
            kept.push(valuation);
        }
    }
    kept.truncate(INPUTS);
    kept
}

/// What tells inputs apart besides how often the loop runs.
fn class(
    valuation: &Valuation,
    (bounds, conditions): (&Formula, &[Formula]),
    units: &[i64],
    depth: u64,
) -> (Option<i64>, Vec<bool>, Vec<Option<i64>>) {
    let bound = |at| bounds.eval(valuation, at);
    let (lower, upper, step) = (bound(0), bound(1), bound(2));
    let turns = 2 * i64::try_from(depth).unwrap_or(1).max(1);
    let first = lower.zip(step).map(|(lower, step)| lower.div_euclid(step.max(1)).min(turns).max(0));
    let full = units.iter().map(|unit| upper.is_some_and(|upper| upper.rem_euclid(*unit) == 0)).collect();
    let ways = conditions.iter().map(|condition| condition.eval(valuation, 0).map(|bit| bit & 1)).collect();
    (first, full, ways)
}

/// Where to start from, and which input is moved from there.
fn starts(kernel: &Kernel, plan: &InputPlan, group: &InputGroup) -> Vec<(Valuation, InputId)> {
    let is_free = |input: &InputId| {
        kernel.inputs.get(input.index()).is_some_and(|info| {
            info.width > 1
                && matches!(
                    info.kind,
                    InputKind::Argument(_) | InputKind::Size(_) | InputKind::Memory | InputKind::Free
                )
        })
    };
    let inputs: Vec<InputId> = group.inputs.iter().copied().filter(is_free).take(COUNTS).collect();
    let large = |but: Option<InputId>| {
        let mut valuation = plan.base.clone();
        for &input in inputs.iter().filter(|input| Some(**input) != but) {
            let most = super::inputs::candidates(kernel, input, &group.constants).last().copied();
            most.into_iter().for_each(|most| set_alone(kernel, &mut valuation, input, most));
        }
        valuation
    };
    let mut all: Vec<(Valuation, InputId)> = Vec::new();
    for &moved in &inputs {
        all.push((plan.base.clone(), moved));
        if inputs.len() > 1 {
            all.push((large(None), moved));
            let others = inputs.iter().filter(|other| **other != moved);
            all.extend(others.map(|other| (large(Some(*other)), moved)));
        }
    }
    all
}

/// What the kernel counts by, and what the bounds of the loop are made of.
fn units(kernel: &Kernel, group: &InputGroup) -> Vec<i64> {
    let mut units: Vec<i64> =
        group.constants.iter().copied().filter(|unit| (2..=*UNITS.end()).contains(unit)).collect();
    units.extend(constants(kernel, &(2..=*UNITS.end())));
    let mut seen = FxHashSet::default();
    units.retain(|unit| seen.insert(*unit));
    units.truncate(WAYS);
    units
}

/// Multiples of units, and what is next to them.
fn values(kernel: &Kernel, input: InputId, units: &[i64]) -> Vec<i64> {
    let Some(info) = kernel.inputs.get(input.index()) else { return Vec::new() };
    let divisor = info.divisor.max(1) as i64;
    let least = i64::from(matches!(info.kind, InputKind::Size(_)));
    let mut values: Vec<i64> = std::iter::once(&1)
        .chain(units)
        .flat_map(|unit| (0..=ROUNDS).flat_map(move |times| [-1, 0, 1].map(|next| times * unit + next * divisor)))
        .filter(|value| *value >= least && value % divisor == 0)
        .collect();
    values.sort_unstable();
    values.dedup();
    values
}
