//! Launches for loops that go from tile to tile by a step: with more programs than the step has room for, two of them come
//! to one tile. Sizes that are tried have a few tiles, and a grid that the host gives may have a program for each of them and
//! more; there are launches here in which a program has a second one.

use std::borrow::Cow;

use rustc_hash::FxHashSet;

use crate::choose::{Choice, block, bounded, neighbours, setting};
use crate::host::Numbers;
use crate::launch::Known;
use crate::limits::choose::{FARTHEST, FEW, GROUPED, LONGER, STRIDED_LANES, UNLIKE};
use crate::point::goes_on;
use crate::program::Program;
use crate::prove::{Converter, Poly, Spread};
use crate::run::Setting;
use terms::{BinOp, Node, Term, Variable};

/// A loop of programs along an axis: the tiles from a program's first to its next one, by how many programs that is.
struct Stride {
    /// Which one.
    number: u32,
    axis: u8,
    /// A number, or an argument.
    step: Step,
}

/// How many programs further on the next tile of a program is the first one of.
#[derive(Clone, Copy)]
enum Step {
    Known(i64),
    Argument(u32),
}

/// Launches in which a program's second tile is another one's first, if there are as many programs as a launch says: what
/// they show is shown, and not that there is none.
pub(crate) fn persistent(program: &Program, launch: &Known, spreads: &[Spread]) -> Vec<Setting> {
    let mut with_bounds = Cow::Borrowed(program);
    let bounded = bounded(&mut with_bounds, spreads);
    let mut all = Vec::new();
    for stride in strides(program, launch) {
        let axis = usize::from(stride.axis);
        if !launch.given[axis] {
            continue;
        }
        let (step, fixed) = match stride.step {
            Step::Known(step) => (step, Numbers::new()),
            Step::Argument(argument) => match launch.host.number(argument) {
                Some(number) => (FEW, [(number, FEW)].into_iter().collect()),
                None => continue,
            },
        };
        let size = block(&with_bounds).saturating_mul(step.saturating_mul(2).saturating_add(2));
        if !(1..=FARTHEST).contains(&step) || size > STRIDED_LANES {
            continue;
        }
        let with = |size: i64| {
            let choice = Choice { size, choice: 1, fixed: fixed.clone(), wide: true, ..Choice::default() };
            let made = setting(&with_bounds, launch, &bounded, &choice)?;
            let fits = made.grid[axis] > step && made.grid.iter().all(|count| *count <= i64::from(u32::MAX));
            fits.then_some(made)
        };
        // The smallest in which a program comes to its second tile, or one that has room for any.
        let doubled = std::iter::successors(Some(2 * block(&with_bounds)), |size| size.checked_mul(2));
        let small = doubled.take_while(|smaller| *smaller < size).find_map(|smaller| {
            with(smaller).filter(|made| goes_twice(&with_bounds, made, stride.number) == Some(true))
        });
        let Some(mut made) = small.or_else(|| with(size)) else { continue };
        let before: i64 = made.grid.iter().take(axis).fold(1, |all: i64, count| all.saturating_mul((*count).max(1)));
        let Ok(next) = u32::try_from(step.saturating_mul(before)) else { continue };
        made.chosen = vec![0, next];
        all.push(made);
    }
    all
}

/// The steps of such loops.
fn strides(program: &Program, launch: &Known) -> Vec<Stride> {
    let mut all: Vec<Stride> = Vec::new();
    let mut terms = program.terms.clone();
    let mut convert = Converter::default();
    for (number, of) in (0u32..).zip(&program.loops) {
        for counter in compared(program, of.condition) {
            let counter = convert.poly(&mut terms, counter);
            let programs = counter.terms().find_map(|(monomial, by)| match monomial.as_slice() {
                [atom] => match terms.node(*atom) {
                    Node::Variable(Variable::Program(axis), _) if by > 0 => Some((*axis, by)),
                    _ => None,
                },
                _ => None,
            });
            let Some((axis, apart)) = programs else { continue };
            let is_round =
                |atom: &Term| matches!(terms.node(*atom), Node::Variable(Variable::Round(of), _) if *of == number);
            let steps = counter.terms().filter(|(monomial, _)| monomial.iter().any(is_round));
            for (monomial, by) in steps {
                let others: Vec<Term> = monomial.iter().copied().filter(|atom| !is_round(atom)).collect();
                let argument = |atom: &Term| match terms.node(*atom) {
                    Node::Variable(Variable::Argument(at), _) => Some(*at),
                    _ => None,
                };
                let step = match others.as_slice() {
                    [] if by % apart == 0 => i64::try_from(by / apart).ok().map(Step::Known),
                    [one] if by == apart => {
                        argument(one).map(|at| launch.value(at).map_or(Step::Argument(at), Step::Known))
                    }
                    _ => None,
                };
                all.extend(step.map(|step| Stride { number, axis, step }));
            }
        }
    }
    all
}

/// The smaller sides of the comparisons of which a condition is made.
fn compared(program: &Program, condition: Term) -> Vec<Term> {
    let (mut open, mut found) = (vec![condition], Vec::new());
    while let Some(term) = open.pop() {
        match *program.terms.node(term) {
            Node::Binary(BinOp::And, a, b) => open.extend([a, b]),
            Node::Binary(BinOp::Slt | BinOp::Sle | BinOp::Ult | BinOp::Ule, a, _) => found.push(a),
            _ => {}
        }
    }
    found
}

/// Loops around some accesses of which a program's number, or how many there are, says how often they go around, and of
/// these those that sizes drive.
pub(crate) fn shared(program: &Program, launch: &Known, asked: &FxHashSet<u32>) -> Vec<u32> {
    let mut all: Vec<u32> = Vec::new();
    for access in (0u32..).zip(&program.accesses).filter(|(number, _)| asked.contains(number)).map(|(_, access)| access)
    {
        all.extend(&access.loops);
    }
    all.sort_unstable();
    all.dedup();
    let is_grid = |node: &Node| matches!(node, Node::Variable(Variable::Program(_) | Variable::Programs(_), _));
    let is_size = |node: &Node| match node {
        Node::Variable(Variable::Argument(at), _) => launch.value(*at).is_none(),
        Node::Variable(Variable::DescriptorSize(at, dim), _) => !launch.sizes.contains_key(&(*at, *dim)),
        _ => false,
    };
    let drives = |number: &u32| {
        program.loops.get(*number as usize).is_some_and(|of| {
            program.terms.any_leaf(of.condition, is_grid) && program.terms.any_leaf(of.condition, is_size)
        })
    };
    all.retain(drives);
    all
}

/// Whether the first program goes around a loop twice.
pub(crate) fn goes_twice(program: &Program, setting: &Setting, number: u32) -> Option<bool> {
    goes_on(program, setting, number, 1)
}

/// Launches in which the first program goes around such a loop twice, as small as they come, with sizes that are multiples of
/// blocks and such that are not: what they show is shown, and not that there is none.
pub(crate) fn longer(program: &Program, launch: &Known, spreads: &[Spread], asked: &FxHashSet<u32>) -> Vec<Setting> {
    let mut with_bounds = Cow::Borrowed(program);
    let bounded = bounded(&mut with_bounds, spreads);
    let block = block(&with_bounds);
    let mut all = Vec::new();
    for number in shared(program, launch, asked) {
        for rest in [0, 1] {
            let mut sizes = (0..LONGER).map(|times| block << times).map(|size| size + rest * (size / 4 + 1));
            let made = sizes.find_map(|size| {
                let small = size <= STRIDED_LANES / block;
                let choice = Choice { size, choice: 1, wide: true, ..Choice::default() };
                let made = setting(&with_bounds, launch, &bounded, &choice).filter(|_| small)?;
                (goes_twice(&with_bounds, &made, number) == Some(true)).then_some(made)
            });
            let Some(made) = made else { continue };
            match made.programs() <= UNLIKE {
                true => all.push(made),
                false => all.extend(neighbours(&made).into_iter().map(|chosen| Setting { chosen, ..made.clone() })),
            }
        }
    }
    all
}

/// Launches in which a size that the kernel divides by another one is twice that: heads that share another one's memory.
pub(crate) fn grouped(program: &Program, launch: &Known, spreads: &[Spread]) -> Vec<Setting> {
    if launch.host.is_empty() {
        return Vec::new();
    }
    let mut with_bounds = Cow::Borrowed(program);
    let bounded = bounded(&mut with_bounds, spreads);
    let mut all = Vec::new();
    for (whole, part) in quotients(program, launch) {
        let (fixed, values): (Vec<_>, Vec<_>) =
            [(whole, 2 * FEW), (part, FEW)].into_iter().partition(|(at, _)| launch.host.of(*at).is_some());
        let numbers = fixed.iter().map(|(at, value)| Some((launch.host.number(*at)?, *value)));
        let Some(fixed) = numbers.collect::<Option<Numbers>>() else { continue };
        let size = block(&with_bounds);
        let choice = Choice { size, choice: 1, fixed, values, wide: true, ..Choice::default() };
        let made = setting(&with_bounds, launch, &bounded, &choice);
        let Some(made) = made.filter(|made| made.grid.iter().all(|count| *count <= i64::from(u32::MAX))) else {
            continue;
        };
        match made.programs() <= GROUPED {
            true => all.push(made),
            // Those that share are next to each other along some axis.
            false => all.extend(neighbours(&made).into_iter().map(|chosen| Setting { chosen, ..made.clone() })),
        }
    }
    all
}

/// Arguments of which one is divided by the other, and no launch gives either.
pub(crate) fn quotients(program: &Program, launch: &Known) -> Vec<(u32, u32)> {
    let mut terms = program.terms.clone();
    let mut convert = Converter::default();
    let mut argument = |of: Term| {
        let poly: Poly = convert.poly(&mut terms, of);
        let mut parts = poly.terms();
        match (parts.next(), parts.next()) {
            (Some((monomial, 1)), None) => match monomial.as_slice() {
                [atom] => match terms.node(*atom) {
                    Node::Variable(Variable::Argument(at), _) if launch.value(*at).is_none() => Some(*at),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    };
    let mut found = Vec::new();
    let mut seen = FxHashSet::default();
    for term in crate::expressions::used(program) {
        let Node::Binary(BinOp::DivS | BinOp::DivU | BinOp::FloorDivS, a, b) = *program.terms.node(term) else {
            continue;
        };
        if let (Some(whole), Some(part)) = (argument(a), argument(b))
            && whole != part
            && seen.insert((whole, part))
        {
            found.push((whole, part));
        }
    }
    found
}
