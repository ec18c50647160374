//! Launches to try where none is known: small numbers under which what was assumed of strides holds.

use std::borrow::Cow;
use std::collections::BTreeSet;

use base::Quantity;
use rustc_hash::FxHashMap;

use crate::conjuncts::conjuncts;
use crate::digits::is_of_other_digit;
use crate::divisor::{around, is_of};
use crate::expressions::used;
use crate::host::{Host, Numbers};
use crate::interval::Intervals;
use crate::launch::Known;
use crate::limits::choose::{COMPANIONS, FACTORS, FEW, LARGEST, ROUNDS, TILE_LANES, TILES, UNLIKE};
use crate::point::fails_in;
use crate::program::Program;
use crate::prove::{Converter, Poly, Spread};
use crate::run::{FirstWords, Setting};
use crate::say::{bound, end};
use terms::{BinOp, Node, Term, Variable};

/// The longest block.
pub(crate) fn block(program: &Program) -> i64 {
    let lanes = program.accesses.iter().flat_map(|access| access.lanes.iter().copied());
    lanes.max().unwrap_or(1).clamp(16, 4096)
}

/// Sizes that arguments get, given the longest block: several of those, one and a bit, and hardly anything.
pub(crate) fn sizes(program: &Program, launch: &Known) -> [i64; 3] {
    let longest = block(program);
    let most = wanted_tiles(program, launch).unwrap_or(1);
    [longest * (most.min(tiles(longest)) + 1).max(4), longest + longest / 4 + 1, 16]
}

/// Where it is known how many programs there are and nothing else is: as many, of which each is to have a tile.
fn wanted_tiles(program: &Program, launch: &Known) -> Option<i64> {
    let told = !launch.values.is_empty() || program.arguments.iter().any(|argument| argument.rank > 0);
    launch.grid.iter().flatten().copied().max().filter(|_| !told)
}

/// How many tiles sizes have room for at most.
fn tiles(longest: i64) -> i64 {
    TILES.min(TILE_LANES / longest).max(1)
}

/// How many programs along an axis have a tile with the sizes that are tried, where some have none for the limits' sake.
pub(crate) fn with_tile(program: &Program, launch: &Known) -> Option<i64> {
    let has_sizes = program.arguments.iter().any(|argument| argument.bits.is_some_and(|bits| bits > 1));
    let have = (tiles(block(program)) + 1).max(4);
    wanted_tiles(program, launch).filter(|wanted| has_sizes && *wanted > have).map(|_| have)
}

/// Programs along each axis, by how many axes programs differ on.
const GRIDS: [i64; 4] = [1, 3, 2, 2];

/// What the launch says, and small numbers for the rest: one setting a choice, without those that no choice of
/// strides makes fit. Whether every assumption could be met is said of each.
///
/// Where nothing that the host computes is found to fit, its formulas are left aside: how far a span goes is not told
/// exactly, and what is assumed then says what it takes.
pub(crate) fn settings(program: &Program, launch: &Known, spreads: &[Spread]) -> Vec<Setting> {
    let made = settings_of(program, launch, spreads);
    if !made.is_empty() || launch.host.is_empty() {
        return made;
    }
    settings_of(program, &Known { host: Host::default(), ..launch.clone() }, spreads)
}

/// The same with numbers as the host computes them, where it says of each on which an address, a mask or a loop depends what
/// it is computed from: some launch is like that, whether it meets what a proof would need or not.
pub(crate) fn real_settings(program: &Program, launch: &Known, spreads: &[Spread]) -> Vec<Setting> {
    match !launch.host.is_empty() && launch.host.tells_all(program, &launch.values) {
        true => settings_of(program, launch, spreads),
        false => Vec::new(),
    }
}

fn settings_of(program: &Program, launch: &Known, spreads: &[Spread]) -> Vec<Setting> {
    let open = program.arguments.iter().enumerate().any(|(at, argument)| {
        (argument.bits.is_some() && launch.value(at as u32).is_none())
            || (0..argument.rank).any(|dim| !launch.sizes.contains_key(&(at as u32, dim as u8)))
    });
    let mut settings = Vec::new();
    let mut with_bounds = Cow::Borrowed(program);
    let bounded = bounded(&mut with_bounds, spreads);
    let (program, spreads) = (&*with_bounds, bounded.as_slice());
    for (choice, size) in sizes(program, launch).into_iter().enumerate() {
        if let Some(setting) = setting(program, launch, spreads, &Choice { size, choice, ..Choice::default() }) {
            settings.push(setting);
        }
        if !open {
            break;
        }
    }
    // Along one axis at a time: what needs two to differ may rest on sizes that do not fit together.
    let free = |axis: &u8| launch.grid[usize::from(*axis)].is_none();
    if program.axes.len() > 1 && program.axes.iter().any(free) {
        for axis in program.axes.iter().filter(|axis| free(axis)) {
            let choice = Choice { size: sizes(program, launch)[0], only: Some(*axis), ..Choice::default() };
            settings.extend(setting(program, launch, spreads, &choice));
        }
    }
    settings
}

/// Launches in which sizes that divide programs' numbers are as small as they tell anything: two heads of two batches, so
/// that quotients and remainders both vary, and three of the one or of the other, so that they are not taken for each other.
pub(crate) fn few_of_each(program: &Program, launch: &Known, spreads: &[Spread]) -> Vec<Setting> {
    if launch.host.is_empty() || !launch.host.tells_all(program, &launch.values) {
        return Vec::new();
    }
    let mut with_bounds = Cow::Borrowed(program);
    let bounded = bounded(&mut with_bounds, spreads);
    let size = sizes(&with_bounds, launch)[1];
    let made = numbers_of_each(program, launch).into_iter().filter_map(|fixed| {
        setting(&with_bounds, launch, &bounded, &Choice { size, choice: 1, fixed, ..Choice::default() })
    });
    made.filter(|setting| is_small(&with_bounds, setting.programs(), 4 * UNLIKE)).collect()
}

/// Whether so many programs are few, and all their lanes.
fn is_small(program: &Program, programs: i64, most: i64) -> bool {
    programs <= UNLIKE || (programs <= most && programs * block(program) <= 4 * TILE_LANES)
}

/// Sizes of such launches.
fn numbers_of_each(program: &Program, launch: &Known) -> Vec<Numbers> {
    let mut factors: Vec<&Quantity> = Vec::new();
    let mut divided = false;
    for term in used(program) {
        let Node::Binary(BinOp::DivS | BinOp::DivU | BinOp::FloorDivS, of, by) = *program.terms.node(term) else {
            continue;
        };
        let mut divisors = Vec::new();
        program.terms.leaves(by, &mut |node| {
            if let Node::Variable(Variable::Argument(at), _) = node {
                divisors.extend(launch.host.of(*at).filter(|of| !launch.host.free_in(of).is_empty()));
            }
        });
        for (axis, programs) in (0u8..).zip(&launch.host.programs).filter(|(axis, _)| is_of(program, of, *axis)) {
            if !divisors.is_empty() && launch.grid[usize::from(axis)].is_none() {
                divided = true;
                programs.iter().for_each(|programs| programs.factors(&mut factors));
                factors.extend(&divisors);
            }
        }
    }
    factors.retain(|factor| !matches!(factor, Quantity::Known(_)) && !launch.host.free_in(factor).is_empty());
    let mut kinds: Vec<&Quantity> = Vec::new();
    for factor in factors {
        if !kinds.contains(&factor) {
            kinds.push(factor);
        }
    }
    if !divided {
        return Vec::new();
    }
    let mut all = Vec::new();
    for more in std::iter::once(None).chain((0..kinds.len().min(FACTORS)).map(Some)) {
        let mut fixed = Numbers::new();
        for (at, factor) in kinds.iter().enumerate() {
            let wanted = if more == Some(at) { FEW + 1 } else { FEW };
            for number in launch.host.free_in(factor) {
                fixed.entry(number).or_insert(1);
            }
            launch.host.raise(factor, wanted, &mut fixed, &Numbers::new());
        }
        // What counts programs along other axes need not be many.
        for programs in launch.host.programs.iter().flatten() {
            if let Quantity::Unknown { id, .. } = programs
                && !launch.host.is_bounded(*id)
            {
                fixed.entry(*id).or_insert(FEW);
            }
        }
        all.push(fixed);
    }
    all
}

/// Launches in which the sizes of a tensor are no two alike, as far as every assumption is met.
pub(crate) fn unlike(program: &Program, launch: &Known, spreads: &[Spread]) -> Vec<Setting> {
    let mut with_bounds = Cow::Borrowed(program);
    let bounded = bounded(&mut with_bounds, spreads);
    let size = sizes(&with_bounds, launch)[0];
    if !launch.host.tells_bounds(&with_bounds, &launch.values) {
        return Vec::new();
    }
    let made = launch.host.unlike(block(&with_bounds)).into_iter().filter_map(|fixed| {
        let choice = Choice { size, choice: 1, fixed, ..Choice::default() };
        let is_small = |programs| programs <= UNLIKE && programs * block(&with_bounds) <= 2 * TILE_LANES;
        setting(&with_bounds, launch, &bounded, &choice).filter(|setting| is_small(setting.programs()))
    });
    made.collect()
}

/// Whether what is assumed of a stride fails wherever sizes of a tensor that are free stand in some order: then the host
/// makes launches in which it does not hold.
pub(crate) fn is_contradicted(program: &Program, launch: &Known, spread: &Spread) -> bool {
    // Of a tensor that may lie in any way: no dense one of any size is so.
    if lies_somehow(program, launch, spread) {
        let run = settings_of(program, launch, &[]);
        let fails = |setting: &Setting| fails_in(program, setting, spread);
        return is_told(program, launch, spread)
            && !run.is_empty()
            && run.iter().all(fails)
            && settings_of(program, launch, std::slice::from_ref(spread)).is_empty();
    }
    if !is_exact(program, spread) {
        return is_told(program, launch, spread) && fails_at_places(program, launch, spread);
    }
    // The host computes both from the same numbers, and no numbers do.
    if is_unmasked(program, spread)
        && settings_of(program, launch, std::slice::from_ref(spread)).is_empty()
        && !settings_of(program, launch, &[]).is_empty()
    {
        return true;
    }
    let mut with_bounds = Cow::Borrowed(program);
    let bounded = bounded(&mut with_bounds, std::slice::from_ref(spread));
    // What is nothing to the tensor is as small as it can be.
    let size = 1;
    let fails = |fixed: &Numbers, spreads: &[Bounded<'_>]| {
        let choice = Choice { size, choice: 1, fixed: fixed.clone(), ..Choice::default() };
        setting(&with_bounds, launch, spreads, &choice).is_none()
    };
    let orders = launch.host.orders(block(&with_bounds));
    let strides: Vec<u32> = arguments(program, &spread.stride);
    orders.iter().filter(|scales| launch.host.leaves_free(&strides, &scales[0])).any(|scales| {
        // Sizes that no grid can be made of say nothing.
        scales.iter().all(|fixed| fails(fixed, &bounded)) && scales.iter().any(|fixed| !fails(fixed, &[]))
    })
}

/// Whether launches as the host makes them say of each argument on which what is assumed depends, or whether its access is
/// executed, what it is, and how many programs there are.
fn is_told(program: &Program, launch: &Known, spread: &Spread) -> bool {
    let access = &program.accesses[spread.access as usize];
    let mut told = tells_programs(program, launch, spread);
    for term in spread.span.atoms().chain(spread.stride.atoms()).chain([access.mask, access.path]) {
        program.terms.leaves(term, &mut |node| match node {
            Node::Variable(Variable::Argument(at), _) => {
                told &= launch.value(*at).is_some() || launch.host.of(*at).is_some();
            }
            Node::Variable(Variable::DescriptorSize(..), _) => told = false,
            _ => {}
        });
    }
    told
}

/// Launches of the host in which what is assumed may hold or not: those that are run, and by orders of sizes.
fn samples(program: &Program, launch: &Known) -> (Vec<Setting>, Vec<Vec<Setting>>) {
    let ordered = |fixed: &Numbers| {
        let choice = Choice { size: 1, choice: 1, fixed: fixed.clone(), ..Choice::default() };
        setting(program, launch, &[], &choice)
    };
    let orders = launch.host.orders(block(program));
    (
        settings_of(program, launch, &[]),
        orders.iter().map(|scales| scales.iter().filter_map(ordered).collect()).collect(),
    )
}

/// Whether what is assumed fails at some place of all launches that are run, or of all in which sizes stand in some order.
fn fails_at_places(program: &Program, launch: &Known, spread: &Spread) -> bool {
    let (run, orders) = samples(program, launch);
    let fails = |all: &Vec<Setting>| !all.is_empty() && all.iter().all(|setting| fails_in(program, setting, spread));
    fails(&run) || orders.iter().any(fails)
}

/// Whether in each launch of the host that is looked at some of what is assumed fails: all of it together says nothing of
/// the kernel.
pub(crate) fn is_never_met(program: &Program, launch: &Known, spreads: &[Spread]) -> bool {
    let is_plain = |spread: &&Spread| !lies_somehow(program, launch, spread) && is_told(program, launch, spread);
    let told: Vec<&Spread> = spreads.iter().filter(is_plain).collect();
    if launch.host.is_empty() || told.is_empty() {
        return false;
    }
    let (run, orders) = samples(program, launch);
    let mut all = run.iter().chain(orders.iter().flatten()).peekable();
    all.peek().is_some() && all.all(|setting| told.iter().any(|spread| fails_in(program, setting, spread)))
}

/// Whether what is assumed of a stride fails with sizes that are no multiples of blocks, which the host makes launches
/// with: then a block reaches into the next row there, and nothing but how long rows are keeps it out. Where it does, whether it fails
/// with multiples of them as well.
pub(crate) fn reaches_over(program: &Program, launch: &Known, spread: &Spread) -> Option<bool> {
    // Without what data add, which may be nothing, to programs' numbers.
    let without = without_data(program, spread);
    let spread = without.as_ref().unwrap_or(spread);
    if launch.host.is_empty() || lies_somehow(program, launch, spread) || !tells_programs(program, launch, spread) {
        return None;
    }
    let at_its_end = is_exact(program, spread) && is_unmasked(program, spread);
    let told = is_told(program, launch, spread);
    if !at_its_end && !told {
        return None;
    }
    let mut with_bounds = Cow::Borrowed(program);
    let bounded = bounded(&mut with_bounds, std::slice::from_ref(spread));
    let size = sizes(&with_bounds, launch)[1];
    let ragged = launch.host.ragged(size);
    let fails = |fixed: &Numbers| {
        let with = |spreads: &[Bounded<'_>]| {
            let choice = Choice { size, choice: 1, fixed: fixed.clone(), ..Choice::default() };
            setting(&with_bounds, launch, spreads, &choice)
        };
        // A switch that is computed from sizes, such as of whether they are multiples of a block, keeps others out.
        let Some(made) = with(&[]).filter(|made| launch.switches_so(program, made)) else { return false };
        (at_its_end && with(&bounded).is_none()) || (told && fails_in(&with_bounds, &made, spread))
    };
    let longest = block(&with_bounds);
    let whole = ragged.iter().map(|(number, value)| match launch.host.is_bounded(*number) {
        true => (*number, *value),
        false => (*number, round_up(*value, longest)),
    });
    let whole: Numbers = whole.collect();
    if !ragged.is_empty() && fails(&ragged) {
        return Some(fails(&whole));
    }
    let mut others = launch.host.one_small(&ragged);
    others.extend(numbers_of_each(program, launch));
    others.iter().any(fails).then_some(true)
}

/// What is assumed of numbers of programs and data together, where data add nothing; `None` of what is not made of both.
fn without_data(program: &Program, spread: &Spread) -> Option<Spread> {
    let is_data = |atom: Term| program.terms.any_leaf(atom, |node| matches!(node, Node::Read(..)));
    let is_program = |atom: Term| matches!(program.terms.node(atom), Node::Variable(Variable::Program(_), _));
    if !spread.span.atoms().any(is_data) || spread.stride.atoms().any(is_data) {
        return None;
    }
    let rest = spread.span.terms().filter(|(monomial, _)| !monomial.iter().any(|atom| is_data(*atom)));
    let span = Poly::sum(rest.map(|(monomial, times)| (monomial.clone(), times)).collect());
    let of_programs = span.atoms().any(is_program);
    of_programs.then(|| Spread { span, ..spread.clone() })
}

/// Launches with sizes that are no multiples of blocks, in which some of what is assumed does not hold and all else does;
/// beside each, whether its sizes are small ones.
pub(crate) fn ragged(program: &Program, launch: &Known, spreads: &[Spread]) -> Vec<(Setting, bool)> {
    let mut with_bounds = Cow::Borrowed(program);
    let bounded = bounded(&mut with_bounds, spreads);
    let size = sizes(&with_bounds, launch)[1];
    let mut all = Vec::new();
    for (fixed, small) in launch.host.all_ragged(size) {
        let with = |spreads: &[Bounded<'_>]| {
            let choice = Choice { size, choice: 1, fixed: fixed.clone(), ..Choice::default() };
            setting(&with_bounds, launch, spreads, &choice)
        };
        if fixed.is_empty() || with(&bounded).is_some() {
            continue;
        }
        let mut kept = bounded.clone();
        kept.retain(|spread| {
            !tells_programs(program, launch, spread.0) || with(std::slice::from_ref(spread)).is_some()
        });
        all.extend(with(&kept).map(|setting| (setting, small)));
    }
    all
}

/// Whether a launch says how many programs there are along each axis that a span goes along: else it may be no more than
/// have room.
fn tells_programs(program: &Program, launch: &Known, spread: &Spread) -> bool {
    let mut told = true;
    for atom in spread.span.atoms() {
        program.terms.leaves(atom, &mut |node| {
            if let Node::Variable(Variable::Program(axis), _) = node {
                told &= launch.given.get(usize::from(*axis)).is_none_or(|given| *given);
            }
        });
    }
    told
}

/// Whether a stride is of a tensor of which it is not known how it lies: what dense ones have speaks against nothing.
fn lies_somehow(program: &Program, launch: &Known, spread: &Spread) -> bool {
    let strides = arguments(program, &spread.stride);
    strides.iter().any(|at| matches!(launch.host.of(*at), Some(Quantity::Stride { .. })))
}

/// Arguments that a polynomial mentions.
fn arguments(program: &Program, poly: &Poly) -> Vec<u32> {
    let mut all = Vec::new();
    for atom in poly.atoms() {
        program.terms.leaves(atom, &mut |node| {
            if let Node::Variable(Variable::Argument(at), _) = node {
                all.push(*at);
            }
        });
    }
    all
}

/// Whether the ends of the interval in which a span lies are met: no part of it depends on another, nor on data or on how
/// often a loop runs, unless that is as often as arguments say.
fn is_exact(program: &Program, spread: &Spread) -> bool {
    let mut met = BTreeSet::new();
    let mut exact = true;
    let access = &program.accesses[spread.access as usize];
    let conditions: Vec<Term> = conjuncts(program, &[access.mask, access.path]);
    let is_counted = |number: u32| {
        let Some(of) = program.loops.get(number as usize) else { return false };
        let is_shared = |node: &Node| match node {
            Node::Variable(variable, _) => !matches!(variable, Variable::Argument(_)),
            node => matches!(node, Node::Read(..)),
        };
        let is_round = |node: &Node| matches!(node, Node::Variable(Variable::Round(other), _) if *other == number);
        let others = conditions.iter().filter(|term| **term != of.condition);
        of.trips.is_some_and(|trips| !program.terms.any_leaf(trips, is_shared))
            && !others.into_iter().any(|term| program.terms.any_leaf(*term, is_round))
    };
    for atom in spread.span.atoms().chain(spread.stride.atoms()).collect::<BTreeSet<Term>>() {
        let mut own = BTreeSet::new();
        program.terms.leaves(atom, &mut |node| match node {
            Node::Variable(variable @ (Variable::Program(_) | Variable::Lane(_)), _) => {
                own.insert(*variable);
            }
            Node::Variable(variable @ Variable::Round(number), _) => {
                own.insert(*variable);
                exact &= is_counted(*number);
            }
            Node::Variable(Variable::DescriptorSize(..), _) | Node::Read(..) => exact = false,
            _ => {}
        });
        exact &= own.is_disjoint(&met);
        met.extend(own);
    }
    exact
}

/// Whether no mask and no branch, but for loops, says anything of what a span is made of, save what is known to end it.
fn is_unmasked(program: &Program, spread: &Spread) -> bool {
    if bound(&mut program.clone(), spread).is_some() {
        return true;
    }
    let own: Vec<Term> = spread.span.atoms().collect();
    let of_span = |node: &Node| match node {
        Node::Variable(variable, _) if !variable.is_shared() => own.iter().any(|atom| {
            program.terms.any_leaf(*atom, |leaf| matches!(leaf, Node::Variable(other, _) if other == variable))
        }),
        _ => false,
    };
    let access = &program.accesses[spread.access as usize];
    let is_loop = |term: &Term| program.loops.iter().any(|of| of.condition == *term);
    let mut conditions = conjuncts(program, &[access.mask, access.path]).into_iter().filter(|term| !is_loop(term));
    !conditions.any(|term| {
        program.terms.any_leaf(term, of_span)
            && !lets_tails_in(program, spread, term)
            && !is_of_other_digit(program, &own, term)
    })
}

/// Whether a condition holds a number of tiles below data, and lanes go on from there: of the last tile that it lets in some
/// lanes may be left over, whatever the data say.
fn lets_tails_in(program: &Program, spread: &Spread, condition: Term) -> bool {
    let Node::Binary(BinOp::Slt | BinOp::Ult, index, data) = *program.terms.node(condition) else { return false };
    let is_data = |term: Term| program.terms.any_leaf(term, |node| matches!(node, Node::Read(..)));
    if is_data(index) || !is_data(data) {
        return false;
    }
    let mut terms = program.terms.clone();
    let index = terms.instance(index, 1, &mut FxHashMap::default());
    let beyond = spread.span.minus(&Converter::default().poly(&mut terms, index));
    let lanes = &program.accesses[spread.access as usize].lanes;
    let mut most = beyond.offset();
    for (monomial, times) in beyond.terms().filter(|(monomial, _)| !monomial.is_empty()) {
        let [atom] = monomial.as_slice() else { return false };
        let Node::Variable(Variable::Lane(dim), _) = terms.node(*atom) else { return false };
        most += times.max(0) * i128::from(lanes.get(usize::from(*dim)).copied().unwrap_or(1) - 1);
    }
    most > 0
}

/// What is assumed of a stride, and below what a mask holds that.
pub(crate) type Bounded<'s> = (&'s Spread, Option<Poly>);

/// Rows may lie one right after the other: where a mask ends what a stride has to exceed, it need not be more.
pub(crate) fn bounded<'s>(program: &mut Cow<'_, Program>, spreads: &'s [Spread]) -> Vec<Bounded<'s>> {
    spreads.iter().map(|spread| (spread, end(program.to_mut(), spread))).collect()
}

/// What numbers are wanted.
#[derive(Default)]
pub(crate) struct Choice {
    /// About this large.
    pub(crate) size: i64,
    /// The first, second or third of such choices.
    pub(crate) choice: usize,
    /// Several programs along this axis alone.
    pub(crate) only: Option<u8>,
    /// Numbers of the host that are these; with them there are as many programs as it computes.
    pub(crate) fixed: Numbers,
    /// Whether there are as many programs as it computes all the same.
    pub(crate) wide: bool,
    /// Arguments that are these.
    pub(crate) values: Vec<(u32, i64)>,
    /// So many programs along the axes of which no launch says how many there are; `None` for a few.
    pub(crate) programs: Option<i64>,
}

pub(crate) fn setting(program: &Program, launch: &Known, spreads: &[Bounded<'_>], choice: &Choice) -> Option<Setting> {
    let (size, only) = (choice.size, choice.only);
    let axes = program.axes.len().min(3);
    let around = around(program, launch);
    let mut setting = Setting { contents: launch.contents.clone(), same: launch.same.clone(), ..Setting::default() };
    for axis in 0..3u8 {
        let used = program.axes.contains(&axis) && only.is_none_or(|only| only == axis);
        let few = GRIDS[axes].max(around[usize::from(axis)]);
        let chosen = if used { choice.programs.unwrap_or(few) } else { 1 };
        setting.grid[usize::from(axis)] = launch.grid[usize::from(axis)].unwrap_or(chosen).max(1);
    }
    for (at, argument) in program.arguments.iter().enumerate() {
        let at = at as u32;
        if let Some(bits) = argument.bits {
            let chosen = if bits == 1 { 1 } else { round_up(size, argument.divisor) };
            let fixed = choice.values.iter().find(|(of, _)| *of == at).map(|(_, value)| *value);
            setting.values.insert(Variable::Argument(at), launch.value(at).or(fixed).unwrap_or(chosen));
        }
        for dim in 0..argument.rank {
            let known = launch.sizes.get(&(at, dim as u8)).copied();
            setting.values.insert(Variable::DescriptorSize(at, dim as u8), known.unwrap_or_else(|| round_up(size, 16)));
        }
    }
    setting.given = launch.is_whole(program);
    let wanted = if choice.fixed.is_empty() && !choice.wide { setting.grid } else { [i64::MAX; 3] };
    let mut numbers = launch.host.numbers(launch.host.fitting(program, size), choice.choice);
    numbers.extend(&choice.fixed);
    if choice.choice == 0 && choice.fixed.is_empty() && !choice.wide {
        launch.host.widen(&mut numbers, wanted);
    }
    launch.switch(program, &mut setting, &mut numbers);
    launch.host.apply(&numbers, &mut setting, wanted)?;
    for round in 0..ROUNDS {
        let mut met = true;
        for spread in spreads {
            met &= raise(program, launch, &mut setting, spread, (round, &mut numbers, choice))?;
            launch.switch(program, &mut setting, &mut numbers);
            launch.host.apply(&numbers, &mut setting, wanted)?;
        }
        if met {
            setting.numbers = numbers;
            return launch.switches_so(program, &setting).then_some(setting);
        }
    }
    None
}

/// The next multiple.
pub(crate) fn round_up(value: i64, by: i64) -> i64 {
    let by = by.max(1);
    let whole = value.div_euclid(by);
    whole.saturating_add(i64::from(value.rem_euclid(by) != 0)).max(1).saturating_mul(by)
}

/// How many lanes an access has along each dimension, under masks of lanes alone: those of a row that its block covers.
fn lanes(program: &Program, setting: &Setting, access: u32) -> Vec<i64> {
    let access = &program.accesses[access as usize];
    let mut lanes = access.lanes.to_vec();
    let mut open = vec![access.mask, access.path];
    while let Some(term) = open.pop() {
        match *program.terms.node(term) {
            Node::Binary(BinOp::And, a, b) => open.extend([a, b]),
            Node::Binary(BinOp::Slt | BinOp::Ult, a, b) => {
                let mut index = a;
                while let Node::Trunc(inner) | Node::ExtS(inner) | Node::ExtU(inner) = *program.terms.node(index) {
                    index = inner;
                }
                let Node::Variable(Variable::Lane(dim), _) = *program.terms.node(index) else { continue };
                let most = Intervals::new(program, setting, &access.lanes).term(b).map(|(_, most)| most);
                if let (Some(lanes), Some(most)) = (lanes.get_mut(usize::from(dim)), most) {
                    *lanes = i64::try_from(most).map_or(*lanes, |most| (*lanes).min(most.max(1)));
                }
            }
            _ => {}
        }
    }
    lanes
}

/// Makes a stride exceed what is added to it; whether it did already. `None` where that cannot be.
fn raise(
    program: &Program,
    launch: &Known,
    setting: &mut Setting,
    (spread, bound): &Bounded<'_>,
    (round, numbers, choice): (u32, &mut Numbers, &Choice),
) -> Option<bool> {
    let lanes = lanes(program, setting, spread.access);
    let mut intervals = Intervals::new(program, setting, &lanes);
    let (_, span) = intervals.poly(&spread.span)?;
    let below = bound.as_ref().and_then(|bound| Some(intervals.poly(bound)?.1 - 1));
    let most = below.map_or(span, |below| below.min(span));
    let (least, _) = intervals.poly(&spread.stride)?;
    if least > most {
        return Some(true);
    }
    // The first factor of the stride that may be chosen.
    let Choice { fixed, values, .. } = choice;
    let factors = spread.stride.terms().next_back()?.0;
    let may_rise = |at: u32| launch.host.of(at).is_none_or(|quantity| launch.host.may_rise(quantity, fixed));
    let is_open = |at: u32| launch.value(at).is_none() && values.iter().all(|(of, _)| *of != at) && may_rise(at);
    let choice = factors.iter().find_map(|atom| match program.terms.node(*atom) {
        Node::Variable(variable @ Variable::Argument(at), _) if is_open(*at) => Some((*variable, *at)),
        Node::Variable(variable @ Variable::DescriptorSize(at, dim), _) if !launch.sizes.contains_key(&(*at, *dim)) => {
            Some((*variable, u32::MAX))
        }
        _ => None,
    });
    let (variable, at) = choice?;
    let now = (*setting.values.get(&variable)?).max(1);
    let others = least / i128::from(now);
    let mut wanted = i64::try_from(most / others.max(1) + 1).ok()?;
    // What it has to exceed grows with it: half of a row and a tile.
    if round > 1 {
        wanted = wanted.max(2 * now);
    }
    if wanted > LARGEST {
        return None;
    }
    if let Some(quantity) = launch.host.of(at) {
        return launch.host.raise(quantity, wanted, numbers, fixed).then_some(false);
    }
    let divisor = program.arguments.get(at as usize).map_or(16, |argument| argument.divisor);
    setting.values.insert(variable, round_up(wanted, divisor));
    Some(false)
}

/// The same launch, of which two programs are run that meet at the words by which they steer each other, where the
/// first few do not: rows that share a lock.
pub(crate) fn companions(program: &Program, launch: &Known, setting: &Setting) -> Option<Setting> {
    let &[axis] = program.axes.as_slice() else { return None };
    let axis = usize::from(axis);
    let mut first = FirstWords::new(program, setting);
    let words = first.of(setting, 0)?;
    // No more than the host launches.
    let known = launch.grid[axis].or(launch.given[axis].then_some(setting.grid[axis]));
    let most = known.unwrap_or(i64::from(COMPANIONS)).min(i64::from(COMPANIONS));
    let mut wide = setting.clone();
    wide.grid[axis] = most;
    let next = (1..u32::try_from(most).ok()?).find(|number| first.of(&wide, *number).as_ref() == Some(&words))?;
    if i64::from(next) < setting.grid[axis] {
        return None;
    }
    wide.grid[axis] = known.unwrap_or(i64::from(next) + 1);
    wide.chosen = vec![0, next];
    Some(wide)
}

/// Programs that are near each other along the axes of the grid.
pub(crate) fn neighbours(setting: &Setting) -> Vec<Vec<u32>> {
    let all = u32::try_from(setting.programs()).unwrap_or(u32::MAX);
    let row = u32::try_from(setting.grid[0]).unwrap_or(u32::MAX);
    let plane = u32::try_from(setting.grid[0].saturating_mul(setting.grid[1])).unwrap_or(u32::MAX);
    let steps = [1, row, plane].into_iter().filter(|step| *step > 0 && *step < all);
    let mut chosen: Vec<Vec<u32>> =
        steps.map(|step| (0..3).map(|at| at * step).filter(|at| *at < all).collect()).collect();
    chosen.push(vec![0, 1, all - 1]);
    chosen.dedup();
    chosen
}
