//! Launches in which numbers of programs go beyond what they are divided by or held below: two of them are alike there.

use std::borrow::Cow;

use rustc_hash::FxHashSet;

use crate::choose::{Choice, bounded, setting, sizes, used};
use crate::host::Numbers;
use crate::launch::Known;
use crate::limits::choose::{CONGRUENT, LONGEST};
use crate::limits::runs::PROGRAMS;
use crate::program::Program;
use crate::prove::Spread;
use crate::run::Setting;
use crate::term::{BinOp, Node, Symbol, Term, apply};

/// What is divided, and by which number.
type Divided = (Term, i64);

/// Numbers of programs that kernels make less of.
#[derive(Default)]
struct Wrapped {
    /// What only the remainder is taken of.
    remainders: Vec<Divided>,
    quotients: FxHashSet<Divided>,
    /// What is held below a number.
    capped: Vec<Divided>,
}

/// What an expression is in a launch, where its constants and the launch alone say so.
fn told(program: &Program, launch: &Known, term: Term) -> Option<i64> {
    match *program.terms.node(term) {
        Node::Const(value) => Some(value),
        Node::Symbol(Symbol::Argument(at), _) => launch.value(at),
        Node::ExtS(a) => told(program, launch, a),
        Node::Binary(op, a, b) => {
            apply(op, program.terms.bits(a), told(program, launch, a)?, told(program, launch, b)?)
        }
        _ => None,
    }
}

/// What is divided by, and held below, numbers that are known in a launch. Of numbers of elements, in which lanes are, only
/// what constants are made of counts: how many tiles there are hangs on the arguments.
fn wrapped(program: &Program, launch: &Known) -> Wrapped {
    let mut all = Wrapped::default();
    for term in used(program) {
        let Node::Binary(op, a, b) = *program.terms.node(term) else { continue };
        let is_lane = |node: &Node| matches!(node, Node::Symbol(Symbol::Lane(_), _));
        let with = |of: Term, by: Term| match program.terms.constant(by) {
            Some(by) => Some((of, by)),
            None if program.terms.any_leaf(of, is_lane) => None,
            None => told(program, launch, by).map(|by| (of, by)),
        };
        let power = |by: i64| 1i64.checked_shl(u32::try_from(by).unwrap_or(u32::MAX)).unwrap_or(0);
        match op {
            BinOp::DivS | BinOp::DivU | BinOp::FloorDivS => all.quotients.extend(with(a, b)),
            BinOp::ShrS | BinOp::ShrU => all.quotients.extend(with(a, b).map(|(of, by)| (of, power(by)))),
            BinOp::RemS | BinOp::RemU => all.remainders.extend(with(a, b)),
            BinOp::And => {
                let masks = [with(a, b), with(b, a)].into_iter().flatten();
                all.remainders.extend(masks.map(|(of, mask)| (of, mask.saturating_add(1))));
            }
            BinOp::MinS | BinOp::MinU if !program.terms.any_leaf(term, is_lane) => {
                all.capped.extend([with(a, b), with(b, a)].into_iter().flatten());
            }
            _ => {}
        }
    }
    all
}

pub(crate) fn is_of(program: &Program, term: Term, axis: u8) -> bool {
    program.terms.any_leaf(term, |node| matches!(node, Node::Symbol(Symbol::Program(of), _) if *of == axis))
}

/// By axis: one more program than the numbers by which theirs are divided, so that a remainder comes again. Where
/// the quotient counts too, the two tell all numbers apart: how many of them there are is for the sizes to say.
pub(crate) fn around(program: &Program, launch: &Known) -> [i64; 3] {
    let Wrapped { mut remainders, quotients, .. } = wrapped(program, launch);
    remainders.retain(|one| (2..=LONGEST).contains(&one.1) && !quotients.contains(one));
    let mut most = [0; 3];
    for (of, divisor) in remainders {
        for (axis, most) in (0u8..).zip(&mut most) {
            if *most <= divisor && is_of(program, of, axis) {
                *most = divisor + 1;
            }
        }
    }
    most
}

/// Launches of which two programs are run: as far apart as a number by which theirs are divided with a remainder, so that
/// the quotient alone tells them apart; or both beyond a number that theirs are held below.
pub(crate) fn congruent(program: &Program, launch: &Known, spreads: &[Spread]) -> Vec<Setting> {
    let Wrapped { remainders, capped, .. } = wrapped(program, launch);
    let mut pairs: Vec<(u8, i64, i64)> = Vec::new();
    for axis in program.axes.iter().copied() {
        let of = |all: &[Divided]| -> Vec<i64> {
            all.iter().filter(|(of, _)| is_of(program, *of, axis)).map(|(_, by)| *by).collect()
        };
        // Small ones are gone beyond by as many programs as are run anyway, if they need no more along other axes.
        let least = if program.axes.len() == 1 { LONGEST } else { 2 };
        pairs.extend(of(&remainders).into_iter().filter(|by| *by >= least).map(|by| (axis, 0, by)));
        pairs.extend(of(&capped).into_iter().filter(|by| *by > 0).map(|by| (axis, by, by + 1)));
    }
    pairs.sort_unstable();
    pairs.dedup();
    let has = |(axis, _, last): &(u8, i64, i64)| launch.grid[usize::from(*axis)].is_none_or(|count| *last < count);
    pairs.retain(|pair| pair.2 < PROGRAMS && has(pair));
    if pairs.is_empty() {
        return Vec::new();
    }
    let mut with_bounds = Cow::Borrowed(program);
    let bounded = bounded(&mut with_bounds, spreads);
    let size = sizes(&with_bounds, launch)[0];
    let made = pairs.into_iter().filter_map(|(axis, first, last)| {
        let at = usize::from(axis);
        let host = &launch.host;
        let fixed = match &host.programs[at] {
            Some(quantity) => {
                let mut numbers = host.numbers(host.fitting(&with_bounds, size), 0);
                if !host.raise(quantity, last + 1, &mut numbers, &Numbers::new()) {
                    return None;
                }
                let own = host.free_in(quantity);
                numbers.into_iter().filter(|(number, _)| own.contains(number)).collect()
            }
            None => Numbers::new(),
        };
        let wide = !fixed.is_empty();
        let mut made = setting(&with_bounds, launch, &bounded, &Choice { size, wide, fixed, ..Choice::default() })?;
        made.grid[at] = launch.grid[at].unwrap_or(made.grid[at].max(last + 1));
        let before = made.grid.iter().take(at).fold(1i64, |all, count| all.saturating_mul((*count).max(1)));
        let number = |place: i64| u32::try_from(place.saturating_mul(before)).ok();
        made.chosen = vec![number(first)?, number(last)?];
        Some(made)
    });
    made.take(CONGRUENT).collect()
}
