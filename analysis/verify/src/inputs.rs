//! Which concrete inputs a kernel is run with.
//!
//! Every loop whose bounds are functions of inputs is driven through 0, 1, 2, 3, depth, depth+1
//! and 2·depth+1 iterations, and every branch on inputs both ways, with small values that respect
//! the known divisors. A valuation is never infeasible: partitions that share an input agree.
//! Loops that only arguments drive are expected to fill their ring of buffers: with fewer
//! iterations many correct kernels wait for tiles that never come, so what breaks only there is
//! kept apart ([`InputPlan::floor`]). Loops that a program's number drives may well run not at all.
//! A program's number and how many there are take a second value where they drive a loop, and known launches are run with
//! their own numbers where no proof closes (`launched`).
//! A program behind those that the host launches with such arguments is none ([`launchable`]).
//! What is missed: loops whose bounds depend on other loops' counters run as these let them, and of
//! pairs of trip counts of two input-dependent loops those are run that [`further`](super::further) makes.

use super::slice::{Bounds, Formula, Slices, Trips};
use crate::limits::launches::LAUNCHES;
use base::{Limits, Quantity};
use kernel::{InputId, InputKind, Instr, Kernel, ViewOp};
use machine::Valuation;

/// Loops that run equally often whatever the inputs.
#[derive(Clone, Debug)]
pub struct InputGroup {
    /// Their common bounds.
    pub bounds: Bounds,
    /// Their common trip count.
    pub trips: Trips,
    /// Constants that the bounds are made of.
    pub constants: Vec<i64>,
    /// The inputs that drive them.
    pub inputs: Vec<InputId>,
    /// Numbers in [`Kernel::loops`].
    pub loops: Vec<usize>,
}

/// The inputs a kernel is run with.
#[derive(Clone, Debug)]
pub struct InputPlan {
    /// Inputs to run, smallest first.
    pub valuations: Vec<Valuation>,
    /// The valuation the others vary.
    pub base: Valuation,
    /// Loops driven by inputs.
    pub groups: Vec<InputGroup>,
    /// Deepest ring of buffers.
    pub depth: u64,
    /// Whether valuations were left out because of the limit.
    pub cut: bool,
}

/// How often an argument is doubled until the host launches a program.
const RAISED: u32 = 20;

/// The largest number of a program that a constant of the kernel makes worth trying.
const MOST_PROGRAMS: i64 = 1 << 16;

/// Deepest ring of buffers, for the choice of trip counts.
fn depth(kernel: &Kernel) -> u64 {
    let counts = kernel.blocks.iter().flat_map(|block| &block.instrs).filter_map(|instr| match instr {
        Instr::View { op: ViewOp::Index { count, .. }, .. } => Some(*count),
        _ => None,
    });
    counts.max().unwrap_or(1).clamp(1, 8)
}

fn default_value(kernel: &Kernel, input: InputId) -> i64 {
    let info = &kernel.inputs[input.index()];
    match info.kind {
        InputKind::Argument(_) | InputKind::Size(_) => info.divisor.max(1) as i64,
        InputKind::Pointer(position) => (i64::from(position) + 1) << 24,
        InputKind::ProgramId(_) | InputKind::Free | InputKind::CtaRank | InputKind::Tiles => 0,
        InputKind::NumPrograms(_) | InputKind::Memory | InputKind::Rewritten => 1,
    }
}

/// Values to try for an input, ascending.
pub(super) fn candidates(kernel: &Kernel, input: InputId, constants: &[i64]) -> Vec<i64> {
    let info = &kernel.inputs[input.index()];
    let mut values: Vec<i64> = match info.kind {
        InputKind::Argument(_) | InputKind::Size(_) | InputKind::Memory | InputKind::Rewritten => {
            let divisor = info.divisor.max(1) as i64;
            let units = constants.iter().copied().filter(|&unit| (2..=1 << 16).contains(&unit));
            let mut values: Vec<i64> = (0..=40).map(|factor| factor * divisor).collect();
            for unit in units {
                values.extend((0..=40).map(|factor| factor * unit));
            }
            let least = i64::from(matches!(info.kind, InputKind::Size(_)));
            values.retain(|value| value % divisor == 0 && *value >= least);
            values
        }
        InputKind::Pointer(_) => vec![default_value(kernel, input)],
        InputKind::ProgramId(_) => {
            let near = constants.iter().copied().filter(|value| (1..=MOST_PROGRAMS).contains(value));
            [0, 1, 2, 3, 7, 15, 31, 63]
                .into_iter()
                .chain(near.flat_map(|value| [value - 1, value, value + 1]))
                .collect()
        }
        InputKind::NumPrograms(_) => vec![1, 2, 4],
        // The machine supplies it.
        InputKind::CtaRank => vec![0],
        InputKind::Tiles => (0..=40).collect(),
        InputKind::Free if info.width == 1 => vec![0, 1],
        InputKind::Free => (0..=8).collect(),
    };
    if info.width == 1 {
        values.retain(|value| (0..=1).contains(value));
    }
    values.sort_unstable();
    values.dedup();
    values
}

impl InputPlan {
    /// Chooses the inputs for a kernel.
    pub fn new(kernel: &Kernel, limits: &Limits) -> InputPlan {
        let slices = Slices::new(kernel);
        let groups = groups(kernel, &slices);
        let depth = depth(kernel);
        let mut targets = vec![0, 1, 2, 3, depth, depth + 1, 2 * depth + 1];
        targets.sort_unstable();
        targets.dedup();

        let mut base = Valuation {
            values: (0..kernel.inputs.len()).map(|at| default_value(kernel, InputId(at as u32))).collect(),
            ..Valuation::default()
        };
        // Tiles that are still to come drive the loops of a persistent kernel as a bound does.
        let tiles = kernel.inputs.iter().position(|info| info.kind == InputKind::Tiles);
        if let Some(tiles) = tiles {
            base.values[tiles] = depth.max(2) as i64;
        }
        for group in &groups {
            let wanted = [depth.max(2), depth + 1, 3, 2, 1];
            let table = drive(kernel, group, &base, depth.max(2) + 1);
            if let Some(found) = wanted.iter().find_map(|&trips| table.get(trips as usize)?.clone()) {
                base = found;
            }
        }
        let mut valuations = vec![base.clone()];
        for group in &groups {
            let table = drive(kernel, group, &base, 2 * depth + 1);
            valuations.extend(targets.iter().filter_map(|&trips| table.get(trips as usize)?.clone()));
        }
        if let Some(tiles) = tiles {
            valuations.extend(targets.iter().map(|&count| {
                let mut valuation = base.clone();
                valuation.values[tiles] = count as i64;
                valuation
            }));
        }
        for group in &groups {
            valuations.extend(varied(kernel, group, &base, 2 * depth + 1));
        }
        for condition in slices.conditions() {
            valuations.extend(flips(kernel, &slices, condition, &base));
        }
        for (at, info) in kernel.inputs.iter().enumerate() {
            if info.kind == InputKind::Free {
                for value in candidates(kernel, InputId(at as u32), &[]).into_iter().take(3) {
                    let mut valuation = base.clone();
                    set(kernel, &mut valuation, InputId(at as u32), value);
                    valuations.push(valuation);
                }
            }
        }
        let mut unique: Vec<Valuation> = Vec::new();
        for valuation in valuations {
            if !unique.contains(&valuation) {
                unique.push(valuation);
            }
        }
        let cut = unique.len() > limits.valuations;
        unique.truncate(limits.valuations.max(1));
        unique.sort_by_key(|valuation| {
            valuation.values.iter().map(|value| i128::from(value.unsigned_abs())).sum::<i128>()
        });
        InputPlan { valuations: unique, base, groups, depth, cut }
    }

    /// The fewest iterations that a group is expected to run.
    pub fn floor(&self, kernel: &Kernel, group: &InputGroup) -> u64 {
        let kind = |input: &InputId| kernel.inputs[input.index()].kind;
        let argument = |input: &InputId| matches!(kind(input), InputKind::Argument(_) | InputKind::Size(_));
        if group.inputs.iter().all(argument) { self.depth.max(1) } else { 0 }
    }

    /// Whether a valuation gives every group the iterations that it is expected to run.
    pub fn is_ample(&self, kernel: &Kernel, valuation: &Valuation) -> bool {
        self.groups
            .iter()
            .all(|group| group.trips.eval(valuation).is_none_or(|trips| trips >= self.floor(kernel, group)))
    }

    /// Whether launches of the kernel are known, and all of them give every group the iterations that it is expected to
    /// run.
    pub fn is_launched_amply(&self, kernel: &Kernel) -> bool {
        let ample = |launch: &kernel::LaunchInputs| {
            let mut valuation = self.base.clone();
            for &(input, value) in &launch.values {
                set_alone(kernel, &mut valuation, input, value);
            }
            self.is_ample(kernel, &valuation)
        };
        !kernel.launched_otherwise && !kernel.launches.is_empty() && kernel.launches.iter().all(ample)
    }

    /// `base` with the inputs of a group changed so that its loops run 0, 1, …, `most` times;
    /// `None` for counts that were not reached.
    pub fn drive(&self, kernel: &Kernel, base: &Valuation, group: &InputGroup, most: u64) -> Vec<Option<Valuation>> {
        drive(kernel, group, base, most)
    }
}

/// The smallest inputs with which all loops fill their rings, for whoever wants to see a kernel run.
pub fn showcase(kernel: &Kernel, limits: &Limits) -> Valuation {
    let plan = InputPlan::new(kernel, limits);
    let full = |valuation: &&Valuation| {
        plan.groups.iter().all(|group| group.trips.eval(valuation).is_none_or(|trips| trips >= plan.depth.max(2)))
    };
    plan.valuations.iter().find(full).unwrap_or(&plan.base).clone()
}

/// Gives an input a value. Values that the machine cannot compute often stand for one value that
/// partitions read each for itself (a tile number that one of them hands to the others), so free
/// inputs of one width move together: a finding never rests on partitions that disagree on it.
pub(super) fn set(kernel: &Kernel, valuation: &mut Valuation, input: InputId, value: i64) {
    let info = &kernel.inputs[input.index()];
    for (at, other) in kernel.inputs.iter().enumerate() {
        if at == input.index() || (info.kind == InputKind::Free && other.kind == info.kind && other.width == info.width)
        {
            valuation.values[at] = value;
        }
    }
    keep_programs(kernel, valuation, input, value);
}

/// Gives an input a value and leaves all others as they are, as far as they go together.
pub(super) fn set_alone(kernel: &Kernel, valuation: &mut Valuation, input: InputId, value: i64) {
    if let Some(slot) = valuation.values.get_mut(input.index()) {
        *slot = value;
    }
    keep_programs(kernel, valuation, input, value);
}

/// A program's number is below how many there are: where an input became one of both, the other follows.
fn keep_programs(kernel: &Kernel, valuation: &mut Valuation, input: InputId, value: i64) {
    let (other, least, most) = match kernel.inputs.get(input.index()).map(|info| info.kind) {
        Some(InputKind::ProgramId(axis)) => (InputKind::NumPrograms(axis), value.saturating_add(1), i64::MAX),
        Some(InputKind::NumPrograms(axis)) => (InputKind::ProgramId(axis), 0, value.saturating_sub(1).max(0)),
        _ => return,
    };
    for (_, slot) in kernel.inputs.iter().zip(&mut valuation.values).filter(|(info, _)| info.kind == other) {
        *slot = (*slot).clamp(least, most);
    }
}

fn groups(kernel: &Kernel, slices: &Slices<'_>) -> Vec<InputGroup> {
    let mut groups: Vec<InputGroup> = Vec::new();
    for (number, info) in kernel.loops.iter().enumerate() {
        let Some((_, lower, upper, step)) = info.counted else { continue };
        let bounds = Bounds { lower: slices.root(lower), upper: slices.root(upper), step: slices.root(step) };
        let mut inputs = Vec::new();
        let leaves = [bounds.lower, bounds.upper, bounds.step].map(|bound| slices.inputs(bound));
        if leaves.iter().any(Option::is_none) {
            continue;
        }
        let mut constants = Vec::new();
        for leaves in leaves.into_iter().flatten() {
            inputs.extend(leaves.inputs);
            constants.extend(leaves.constants);
        }
        inputs.sort_unstable();
        inputs.dedup();
        if inputs.is_empty() {
            continue;
        }
        let equal = |group: &&mut InputGroup| {
            [(group.bounds.lower, bounds.lower), (group.bounds.upper, bounds.upper), (group.bounds.step, bounds.step)]
                .iter()
                .all(|&(a, b)| a == b || slices.equal(a, b))
        };
        match groups.iter_mut().find(equal) {
            Some(group) => group.loops.push(number),
            None => {
                let Some(trips) = slices.trips(bounds) else { continue };
                groups.push(InputGroup { bounds, trips, constants, inputs, loops: vec![number] });
            }
        }
    }
    groups
}

/// For each trip count up to `most` the valuation nearest to `base` that reaches it: first one
/// input is moved alone, then one input with the others of the group at large values.
fn drive(kernel: &Kernel, group: &InputGroup, base: &Valuation, most: u64) -> Vec<Option<Valuation>> {
    let mut reached: Vec<Option<Valuation>> = vec![None; most as usize + 1];
    let mut inputs = group.inputs.clone();
    // Arguments are what a user sets; a program's number comes last.
    inputs.sort_by_key(|input| kernel.inputs[input.index()].kind);
    // A program far from the first has work where arguments are multiples of how many there are.
    let is_grid = |input: &&InputId| {
        matches!(kernel.inputs[input.index()].kind, InputKind::ProgramId(_) | InputKind::NumPrograms(_))
    };
    let grid = inputs.iter().filter(is_grid).filter_map(|input| base.values.get(input.index()).copied());
    let constants: Vec<i64> = group.constants.iter().copied().chain(grid).collect();
    let choices: Vec<Vec<i64>> = inputs.iter().map(|&input| candidates(kernel, input, &constants)).collect();
    for others_large in [false, true] {
        let mut start = base.clone();
        if others_large {
            for (&input, choices) in inputs.iter().zip(&choices) {
                let kind = kernel.inputs[input.index()].kind;
                if let (Some(&large), false) =
                    (choices.last(), matches!(kind, InputKind::NumPrograms(_) | InputKind::ProgramId(_)))
                {
                    set(kernel, &mut start, input, large);
                }
            }
        }
        for (&input, choices) in inputs.iter().zip(&choices) {
            let mut valuation = start.clone();
            for value in choices.iter().copied().chain(shares(kernel, group, &start, input, most)) {
                set(kernel, &mut valuation, input, value);
                let Some(trips) = group.trips.eval(&valuation) else { continue };
                if let Some(slot @ None) = reached.get_mut(trips as usize) {
                    *slot = Some(valuation.clone());
                }
            }
        }
        if reached.iter().all(Option::is_some) {
            break;
        }
    }
    reached
}

/// Numbers of programs that share out the iterations of a loop so that one program gets up to `most`: a
/// persistent kernel may have hundreds of tiles with the smallest arguments that its divisors allow.
fn shares(kernel: &Kernel, group: &InputGroup, base: &Valuation, input: InputId, most: u64) -> Vec<i64> {
    if !matches!(kernel.inputs[input.index()].kind, InputKind::NumPrograms(_)) {
        return Vec::new();
    }
    let mut alone = base.clone();
    set(kernel, &mut alone, input, 1);
    let all = group.trips.eval(&alone).and_then(|trips| i64::try_from(trips).ok()).unwrap_or(0);
    (1..=most as i64).map(|share| all / share).filter(|programs| (1..=1 << 20).contains(programs)).collect()
}

/// Of a program's number, and of how many there are, a value that `base` does not give it, with at least two iterations: what drives a loop by its arguments leaves these as they are. Arguments are not varied so: a host as a
/// rule lets only some go together.
fn varied(kernel: &Kernel, group: &InputGroup, base: &Valuation, most: u64) -> Vec<Valuation> {
    const EACH: usize = 1;
    if group.inputs.len() < 2 {
        return Vec::new();
    }
    let several = |valuation: &Valuation| group.trips.eval(valuation).is_some_and(|trips| (2..=most).contains(&trips));
    let choices = |input: InputId| candidates(kernel, input, &group.constants);
    let mut all = Vec::new();
    let of_grid = |input: &&InputId| {
        matches!(kernel.inputs[input.index()].kind, InputKind::ProgramId(_) | InputKind::NumPrograms(_))
    };
    for &input in group.inputs.iter().filter(of_grid) {
        let now = base.values.get(input.index()).copied().unwrap_or(0);
        let mut told = 0;
        for value in choices(input).into_iter().filter(|value| *value > now) {
            let mut start = base.clone();
            set(kernel, &mut start, input, value);
            let others = group.inputs.iter().filter(|other| **other != input);
            let moved = others.flat_map(|&other| choices(other).into_iter().map(move |value| (other, value)));
            let found = std::iter::once(None).chain(moved.map(Some)).find_map(|change| {
                let mut valuation = start.clone();
                if let Some((other, value)) = change {
                    set(kernel, &mut valuation, other, value);
                }
                let keeps = valuation.values.get(input.index()) == Some(&value);
                (keeps && several(&valuation)).then_some(valuation)
            });
            if let Some(valuation) = found {
                all.push(valuation);
                told += 1;
            }
            if told == EACH {
                break;
            }
        }
    }
    all
}

/// Inputs that some launch has which is known, as near to these as they come: a host that computes its grid from an argument
/// launches no program behind what the argument says, and with a larger one more of them.
pub(super) fn launchable(kernel: &Kernel, valuation: &Valuation) -> Option<Valuation> {
    let number = |valuation: &Valuation, axis: u8| {
        let numbers = kernel.inputs.iter().zip(&valuation.values);
        numbers
            .filter(|(info, _)| info.kind == InputKind::ProgramId(axis))
            .map(|(_, number)| *number)
            .max()
            .unwrap_or(0)
    };
    let has = |valuation: &Valuation, axis: u8, count: &Quantity| {
        let count = count.value(&|input| valuation.values.get(input as usize).copied());
        count.is_none_or(|count| number(valuation, axis) < count)
    };
    let raised = |grid: &[Option<Quantity>; 3]| {
        let mut made = valuation.clone();
        for (axis, count) in (0u8..).zip(grid).filter_map(|(axis, count)| Some((axis, count.as_ref()?))) {
            let mut inputs = Vec::new();
            count.unknowns(&mut |input, _| inputs.push(InputId(input)));
            for input in inputs {
                for _ in 0..RAISED {
                    let now = made.values.get(input.index()).copied().unwrap_or(0);
                    if has(&made, axis, count) || now < 1 {
                        break;
                    }
                    set_alone(kernel, &mut made, input, now.saturating_mul(2));
                }
            }
            if !has(&made, axis, count) {
                return None;
            }
        }
        Some(made)
    };
    if kernel.grids.is_empty() { Some(valuation.clone()) } else { kernel.grids.iter().find_map(raised) }
}

/// The inputs of the first programs, the last and one in the middle, of the launches that are known.
pub(super) fn launched(kernel: &Kernel, base: &Valuation) -> Vec<Valuation> {
    let mut all: Vec<Valuation> = Vec::new();
    for launch in kernel.launches.iter().take(LAUNCHES) {
        let last = launch.grid.map(|count| count.unwrap_or(1).saturating_sub(1).max(0));
        let second = [last[0].min(1), 0, 0];
        for place in [[0; 3], second, last, last.map(|last| last / 2)] {
            let mut valuation = base.clone();
            for &(input, value) in &launch.values {
                if let Some(slot) = valuation.values.get_mut(input.index()) {
                    *slot = value;
                }
            }
            for (info, slot) in kernel.inputs.iter().zip(&mut valuation.values) {
                match info.kind {
                    InputKind::ProgramId(axis) => *slot = place.get(usize::from(axis)).copied().unwrap_or(0),
                    InputKind::NumPrograms(axis) => {
                        *slot = last.get(usize::from(axis)).copied().unwrap_or(0).saturating_add(1);
                    }
                    _ => {}
                }
            }
            if !all.contains(&valuation) {
                all.push(valuation);
            }
        }
    }
    all
}

/// Valuations under which a condition takes the outcome that `base` does not give,
/// by the first input that can do that alone, and by a program's number.
pub(super) fn flips(kernel: &Kernel, slices: &Slices<'_>, condition: kernel::Var, base: &Valuation) -> Vec<Valuation> {
    let mut flipped = flipped(kernel, slices, condition, base).into_iter();
    let first = flipped.next();
    let of_program = flipped
        .find(|(input, _)| matches!(kernel.inputs.get(input.index()), Some(info) if matches!(info.kind, InputKind::ProgramId(_))));
    first.into_iter().chain(of_program).map(|(_, valuation)| valuation).collect()
}

/// The same by each input that can do that alone.
pub(super) fn turns(kernel: &Kernel, slices: &Slices<'_>, condition: kernel::Var, base: &Valuation) -> Vec<Valuation> {
    flipped(kernel, slices, condition, base).into_iter().map(|(_, valuation)| valuation).collect()
}

fn flipped(
    kernel: &Kernel,
    slices: &Slices<'_>,
    condition: kernel::Var,
    base: &Valuation,
) -> Vec<(InputId, Valuation)> {
    let (Some(leaves), Some(formula)) = (slices.inputs(condition), slices.compile(&[condition])) else {
        return Vec::new();
    };
    let formula: Formula = formula;
    let value = |valuation: &Valuation| formula.eval(valuation, 0).map(|bit| bit & 1);
    let Some(now) = value(base) else { return Vec::new() };
    let flipped = leaves.inputs.iter().filter_map(|&input| {
        candidates(kernel, input, &leaves.constants).into_iter().find_map(|candidate| {
            let mut valuation = base.clone();
            set(kernel, &mut valuation, input, candidate);
            value(&valuation).is_some_and(|bit| bit != now).then_some((input, valuation))
        })
    });
    flipped.collect()
}
