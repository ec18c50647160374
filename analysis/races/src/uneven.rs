//! Launches with many tiles along one size and few along the others. Equal sizes, and fewer tiles than a kernel takes
//! together, hide that two programs come to one tile.

use std::borrow::Cow;
use std::collections::BTreeSet;

use base::{Cancel, Cancelled};
use rustc_hash::FxHashSet;

use crate::choose::{Bounded, Choice, block, bounded, setting};
use crate::conjuncts::conjuncts;
use crate::decide::Decider;
use crate::expressions::used;
use crate::host::Numbers;
use crate::interval::Intervals;
use crate::launch::Known;
use crate::limits::choose::{FEW, LONG_SIDE, SIZES, TOGETHER, UNLIKE};
use crate::persistent::quotients;
use crate::program::Program;
use crate::prove::{Premise, Spread};
use crate::report::Reason;
use crate::run::{Allowance, Meeting, Setting, explore};
use terms::{BinOp, Node, Term, Variable};

impl Decider<'_> {
    /// That two programs meet where what is assumed of strides does not hold, whatever they are.
    pub(crate) fn meet_against(
        &self,
        spreads: &[Spread],
        premises: &BTreeSet<Premise>,
        cancel: &Cancel<'_>,
    ) -> Result<Option<Reason>, Cancelled> {
        let asked = self.placed();
        let mut allowance = Allowance::whole();
        let mut settings = against(&self.program, &self.launch, spreads);
        settings.iter_mut().for_each(|setting| self.few(premises, setting));
        self.meet_in(&settings, &asked, &mut allowance, cancel)
    }

    /// That two programs meet in a launch whose sizes are unlike, which nothing rules out.
    pub(crate) fn meet_unevenly(
        &self,
        (spreads, premises): (&[Spread], &BTreeSet<Premise>),
        asked: &FxHashSet<u32>,
        allowance: &mut Allowance,
        cancel: &Cancel<'_>,
    ) -> Result<(Option<Reason>, Vec<Setting>), Cancelled> {
        let mut settings = uneven(&self.program, &self.launch, spreads);
        settings.iter_mut().for_each(|setting| self.few(premises, setting));
        let met = self.meet_in(&settings, asked, allowance, cancel)?;
        Ok((met, settings))
    }

    /// What accesses depend on that was the same in all launches which were run: their programs cannot have met for it.
    pub(crate) fn never_varied(&self, settings: &[&Setting], asked: &FxHashSet<u32>) -> Option<Reason> {
        let mut accesses: Vec<u32> = asked.iter().copied().collect();
        accesses.sort_unstable();
        for number in accesses {
            let access = &self.program.accesses[number as usize];
            let reason = |text| Some(Reason { range: self.tree.op_header_range(access.op), text });
            for tile in tiles_of(&self.program, &[access.offset]) {
                let varies = |setting: &&Setting| {
                    let interval = Intervals::new(&self.program, setting, &access.lanes).term(tile);
                    interval.is_none_or(|(least, most)| least < most)
                };
                if !settings.iter().any(varies) {
                    let tile = crate::say::term(&self.program, tile);
                    return reason(format!("in the launches that were run there is one value of {tile}"));
                }
            }
            for (of, most) in held_below(&self.program, access.offset) {
                let goes_beyond = |setting: &&Setting| {
                    let mut intervals = Intervals::new(&self.program, setting, &access.lanes);
                    let (of, limit) = (intervals.term(of), intervals.term(most.term()));
                    let above = most.above().and_then(|above| intervals.term(above));
                    above.is_none_or(|(least, most)| least < most)
                        && of.zip(limit).is_none_or(|(of, limit)| of.1 >= limit.0 + i128::from(most.is_last()))
                };
                if !settings.iter().any(goes_beyond) {
                    let (of, term) =
                        (crate::say::term(&self.program, of), crate::say::term(&self.program, most.term()));
                    let how = if most.is_last() { "not above" } else { "below" };
                    return reason(format!("in the launches that were run {of} is {how} {term}"));
                }
            }
        }
        None
    }

    fn meet_in(
        &self,
        settings: &[Setting],
        asked: &FxHashSet<u32>,
        allowance: &mut Allowance,
        cancel: &Cancel<'_>,
    ) -> Result<Option<Reason>, Cancelled> {
        for setting in settings {
            let outcome = explore(&self.program, setting, asked, allowance, cancel)?;
            let sound =
                |race: &&Meeting| race.programs[0] != race.programs[1] && !race.first.wrapped && !race.second.wrapped;
            if let Some(race) = outcome.races.iter().find(sound) {
                let (range, they) = self.two_that_meet(setting, race);
                let text = format!("with sizes that are unlike, which nothing rules out, {they}");
                return Ok(Some(Reason { range, text }));
            }
        }
        Ok(None)
    }
}

/// One launch a size: it has more tiles than constants of the kernel take together, or else three, and the others one
/// and a half.
fn uneven(program: &Program, launch: &Known, spreads: &[Spread]) -> Vec<Setting> {
    let mut with_bounds = Cow::Borrowed(program);
    let bounded = bounded(&mut with_bounds, spreads);
    let longest = block(&with_bounds);
    let few = longest + longest / 2 + 1;
    let fits = |setting: &Setting| setting.programs() <= UNLIKE;
    let counts = [together(program) + 1, 3];
    let mut all = Vec::new();
    if !launch.host.is_empty() {
        let free = launch.host.ragged(few);
        // What is no size of a tensor may be the length of something, or how often something is done.
        let mut others = launch.host.numbers(few, 1);
        others.retain(|number, _| !free.contains_key(number));
        for number in free.keys().filter(|number| !launch.host.is_bounded(**number)).take(SIZES) {
            // Where that makes too many programs, the others are as few as they tell anything.
            let choices = counts.iter().flat_map(|count| [(count, few, few), (count, few, 2), (count, FEW + 1, 2)]);
            let made = choices.into_iter().find_map(|(count, rest, other)| {
                let kept = |of: &u32, value: i64| if launch.host.is_bounded(*of) { value } else { value.min(rest) };
                let one = |(of, value): (&u32, &i64)| {
                    (*of, if of == number { longest * count - 1 } else { kept(of, *value) })
                };
                let mut fixed: Numbers = free.iter().map(one).collect();
                let as_bounded =
                    |(of, value): (&u32, &i64)| (*of, if launch.host.is_bounded(*of) { *value } else { other });
                fixed.extend(others.iter().map(as_bounded));
                let choice = Choice { size: few, choice: 1, fixed, ..Choice::default() };
                setting(&with_bounds, launch, &bounded, &choice).filter(fits)
            });
            all.extend(made);
        }
        return all;
    }
    let &[axis] = program.axes.as_slice() else { return all };
    if launch.grid[usize::from(axis)].is_some() {
        return all;
    }
    let sizes = sizes(program, launch);
    for argument in sizes.iter().take(SIZES) {
        for count in counts {
            let one = |of: &u32| (*of, if of == argument { longest * count - 1 } else { few });
            let values = sizes.iter().map(one).collect();
            // Two tiles along each of the others.
            let (size, programs) = (longest * count, Some(count * sizes.len().clamp(1, 2) as i64));
            let choice = Choice { size, choice: 1, values, programs, ..Choice::default() };
            let Some(made) = setting(&with_bounds, launch, &bounded, &choice) else { continue };
            all.push(made);
            break;
        }
    }
    all
}

/// Launches of a kernel that nothing launches in which some of what is assumed of strides cannot hold, whatever they are,
/// and all else does: one size is many tiles and the others few, or one is as small as it can be.
fn against(program: &Program, launch: &Known, spreads: &[Spread]) -> Vec<Setting> {
    let &[axis] = program.axes.as_slice() else { return Vec::new() };
    let known = launch.grid[usize::from(axis)].is_some() || !launch.host.is_empty();
    if spreads.is_empty() || known || !quotients(program, launch).is_empty() {
        return Vec::new();
    }
    let mut with_bounds = Cow::Borrowed(program);
    let bounded = bounded(&mut with_bounds, spreads);
    let longest = block(&with_bounds);
    let (few, many) = (longest + longest / 2 + 1, 3 * longest - 1);
    let sizes = sizes(program, launch);
    let mut all = Vec::new();
    for argument in sizes.iter().take(SIZES) {
        for (own, other, programs) in [(LONG_SIDE * longest - 1, few, 2 * LONG_SIDE), (2, many, LONG_SIDE)] {
            let values: Vec<(u32, i64)> =
                sizes.iter().map(|of| (*of, if of == argument { own } else { other })).collect();
            let with = |spreads: &[Bounded<'_>]| {
                let (size, programs, values) = (LONG_SIDE * longest, Some(programs), values.clone());
                let choice = Choice { size, choice: 1, values, programs, ..Choice::default() };
                setting(&with_bounds, launch, spreads, &choice)
            };
            if with(&bounded).is_some() {
                continue;
            }
            let (kept, gone): (Vec<Bounded<'_>>, Vec<Bounded<'_>>) =
                bounded.iter().cloned().partition(|spread| with(std::slice::from_ref(spread)).is_some());
            // That there are fewer programs than an argument says is for no stride to hold.
            if !gone.is_empty() && !gone.iter().any(|(spread, _)| counts_programs(program, spread)) {
                all.extend(with(&kept));
            }
        }
    }
    all
}

/// Whether what is assumed says how many programs there are, and nothing else.
fn counts_programs(program: &Program, spread: &Spread) -> bool {
    let is_program = |atom| matches!(program.terms.node(atom), Node::Variable(Variable::Program(_), _));
    spread.span.atoms().all(is_program)
}

/// Numbers of tiles that addresses are made of: programs' numbers, and quotients and remainders of what these are in. Those
/// of what lanes are in are numbers of elements.
fn tiles_of(program: &Program, of: &[Term]) -> Vec<Term> {
    let is_program = |node: &Node| matches!(node, Node::Variable(Variable::Program(_), _));
    let is_lane = |node: &Node| matches!(node, Node::Variable(Variable::Lane(_), _));
    let is_tile = |term: &Term| match program.terms.node(*term) {
        Node::Binary(op, ..) => {
            is_quotient(*op) && program.terms.any_leaf(*term, is_program) && !program.terms.any_leaf(*term, is_lane)
        }
        node => is_program(node),
    };
    crate::expressions::parts(program, of.to_vec()).into_iter().filter(is_tile).collect()
}

/// What numbers of tiles are held below.
#[derive(Clone, Copy)]
enum Held {
    /// It is divided by this, and the remainder taken.
    Below(Term),
    /// It is no more than this, or of its bits those that this has are taken.
    Within(Term),
    /// It is a digit of a number in this base, below another digit.
    Digit(Term, Term),
}

impl Held {
    fn term(self) -> Term {
        match self {
            Held::Below(term) | Held::Within(term) | Held::Digit(term, _) => term,
        }
    }

    /// The digit above it, which has to vary where it goes beyond its base.
    fn above(self) -> Option<Term> {
        if let Held::Digit(_, above) = self { Some(above) } else { None }
    }

    fn is_last(self) -> bool {
        matches!(self, Held::Within(_))
    }
}

/// Numbers of programs that addresses are made of less than of, each with what they are held below: programs that differ by
/// that, or beyond it, are alike. What is read, and elements, in which lanes are, are no such numbers.
fn held_below(program: &Program, of: Term) -> Vec<(Term, Held)> {
    let is_program = |node: &Node| matches!(node, Node::Variable(Variable::Program(_), _));
    let is_other = |node: &Node| matches!(node, Node::Variable(Variable::Lane(_), _) | Node::Read(..));
    let is_own = |node: &Node| matches!(node, Node::Variable(variable, _) if !variable.is_shared());
    let mut all = Vec::new();
    for term in crate::expressions::parts(program, vec![of]) {
        let Node::Binary(op, a, b) = *program.terms.node(term) else { continue };
        if program.terms.any_leaf(term, is_other) {
            continue;
        }
        let tile = |of: Term, by: Term| program.terms.any_leaf(of, is_program) && !program.terms.any_leaf(by, is_own);
        match op {
            BinOp::RemS | BinOp::RemU if tile(a, b) => all.push((a, Held::Below(b))),
            BinOp::And if tile(a, b) => all.push((a, Held::Within(b))),
            // A digit of a number in a base.
            BinOp::Add => {
                for (high, low) in [(a, b), (b, a)] {
                    let Node::Binary(BinOp::Mul, one, other) = *program.terms.node(high) else { continue };
                    let (of, base) = if program.terms.constant(one).is_some() { (other, one) } else { (one, other) };
                    let digits = program.terms.constant(base).is_some() && tile(of, base) && is_digit(program, low);
                    all.extend(digits.then_some((low, Held::Digit(base, of))));
                }
            }
            BinOp::MinS | BinOp::MinU if tile(a, b) => all.push((a, Held::Within(b))),
            BinOp::MinS | BinOp::MinU if tile(b, a) => all.push((b, Held::Within(a))),
            _ => {}
        }
    }
    all
}

/// Whether a term is a program's number, or a quotient of what programs' numbers are in, which nothing but sizes bounds.
fn is_digit(program: &Program, of: Term) -> bool {
    let is_program = |node: &Node| matches!(node, Node::Variable(Variable::Program(_), _));
    if is_program(program.terms.node(of)) {
        return true;
    }
    matches!(program.terms.node(of), Node::Binary(BinOp::DivS | BinOp::DivU | BinOp::FloorDivS, ..))
        && program.terms.any_leaf(of, is_program)
}

/// The largest constant that program numbers are multiplied with, divided by or held below.
fn together(program: &Program) -> i64 {
    let is_program = |node: &Node| matches!(node, Node::Variable(Variable::Program(_), _));
    let mut most = 2;
    for term in used(program) {
        let Node::Binary(op, a, b) = *program.terms.node(term) else { continue };
        let groups = is_quotient(op) || matches!(op, BinOp::Mul | BinOp::MinS | BinOp::MinU);
        if groups && (program.terms.any_leaf(a, is_program) || program.terms.any_leaf(b, is_program)) {
            let constants = [a, b].into_iter().filter_map(|side| program.terms.constant(side));
            most = constants.filter(|value| (2..=TOGETHER).contains(value)).fold(most, i64::max);
        }
    }
    most
}

/// Arguments that bound what hangs on a program's number, or by which such is divided, and that no launch gives. A stride
/// bounds nothing, and the length of a loop in each program tells nothing of how many there are.
fn sizes(program: &Program, launch: &Known) -> Vec<u32> {
    let mut open: Vec<Term> = program.accesses.iter().flat_map(|access| [access.mask, access.path]).collect();
    open.extend(program.loops.iter().map(|of| of.condition));
    let mut conditions = conjuncts(program, &open);
    let divides = |term: &Term| matches!(program.terms.node(*term), Node::Binary(op, ..) if is_quotient(*op));
    conditions.extend(used(program).into_iter().filter(divides));
    let is_program = |node: &Node| matches!(node, Node::Variable(Variable::Program(_), _));
    let mut all = Vec::new();
    for condition in conditions.into_iter().filter(|condition| program.terms.any_leaf(*condition, is_program)) {
        program.terms.leaves(condition, &mut |node| {
            if let Node::Variable(Variable::Argument(at), _) = node
                && !all.contains(at)
            {
                all.push(*at);
            }
        });
    }
    let is_number = |at: &u32| program.arguments.get(*at as usize).and_then(|of| of.bits).is_some_and(|bits| bits > 1);
    all.retain(|at| is_number(at) && launch.value(*at).is_none());
    all
}

fn is_quotient(op: BinOp) -> bool {
    use BinOp::{CeilDivS, CeilDivU, DivS, DivU, FloorDivS, RemS, RemU};
    matches!(op, DivS | DivU | FloorDivS | CeilDivS | CeilDivU | RemS | RemU)
}
