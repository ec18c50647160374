//! By which numbers a kernel divides, with a quotient or a remainder, and below which it holds others.

use rustc_hash::FxHashSet;

use crate::expressions::used;
use crate::launch::Known;
use crate::limits::choose::LONGEST;
use crate::program::Program;
use terms::{BinOp, Node, Term, Variable, apply};

/// What is divided, and by which number.
pub(crate) type Divided = (Term, i64);

/// Numbers of programs that kernels make less of.
#[derive(Default)]
pub(crate) struct Divisors {
    /// What only the remainder is taken of.
    pub(crate) remainders: Vec<Divided>,
    pub(crate) quotients: FxHashSet<Divided>,
    /// What is held below a number.
    pub(crate) capped: Vec<Divided>,
}

/// What an expression is in a launch, where its constants and the launch alone say so.
fn told(program: &Program, launch: &Known, term: Term) -> Option<i64> {
    match *program.terms.node(term) {
        Node::Const(value) => Some(value),
        Node::Variable(Variable::Argument(at), _) => launch.value(at),
        Node::ExtS(a) => told(program, launch, a),
        Node::Binary(op, a, b) => {
            apply(op, program.terms.bits(a), told(program, launch, a)?, told(program, launch, b)?)
        }
        _ => None,
    }
}

/// What is divided by, and held below, numbers that are known in a launch. Of numbers of elements, in which lanes are, only
/// what constants are made of counts: how many tiles there are hangs on the arguments.
pub(crate) fn divisors(program: &Program, launch: &Known) -> Divisors {
    let mut all = Divisors::default();
    for term in used(program) {
        let Node::Binary(op, a, b) = *program.terms.node(term) else { continue };
        let is_lane = |node: &Node| matches!(node, Node::Variable(Variable::Lane(_), _));
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

/// Whether a program's number along an axis is in an expression.
pub(crate) fn is_of(program: &Program, term: Term, axis: u8) -> bool {
    program.terms.any_leaf(term, |node| matches!(node, Node::Variable(Variable::Program(of), _) if *of == axis))
}

/// By axis: one more program than the numbers by which theirs are divided, so that a remainder comes again. Where
/// the quotient counts too, the two tell all numbers apart: how many of them there are is for the sizes to say.
pub(crate) fn around(program: &Program, launch: &Known) -> [i64; 3] {
    let Divisors { mut remainders, quotients, .. } = divisors(program, launch);
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
