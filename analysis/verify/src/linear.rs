//! Conditions that hold, or do not, whatever the inputs: both sides are the same sum but for a constant, for counters of
//! loops between their bounds, or for remainders below their divisors.
//!
//! `pid * 128 + 128 < (pid + 1) * 128` holds in no program. A compiler that unrolls or pipelines a loop of one
//! iteration leaves such conditions behind, and one that unrolls a loop twice a loop from `n - n % 2` to `n`. What is a
//! multiple of its own divisor, `n / 2 * 2`, is taken for `n` less a remainder. A signed comparison is decided as if its sums did not overflow, which is
//! what Triton's `sanitize_overflow` asserts of them.

use super::slice::Slices;
use crate::limits::linear::{DEPTH, TERMS as MOST_TERMS};
use kernel::{CmpOp, Kernel, Pure, Var, Width};

/// What a sum is made of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Atom {
    /// A variable.
    Value(Var),
    /// What the division that this quotient comes from leaves over: what is divided, less the divisor times the quotient.
    Rest(Var),
}

/// A sum of atoms with factors, and a constant, in the arithmetic of one width.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Sum {
    /// Sorted by atom; no factor is zero.
    terms: Vec<(Atom, i64)>,
    constant: i64,
}

impl Sum {
    fn of(slices: &Slices<'_>, var: Var, width: Width, depth: usize) -> Sum {
        let var = slices.root(var);
        let atom = || Sum { terms: vec![(Atom::Value(var), 1)], constant: 0 };
        let Some(deeper) = depth.checked_sub(1) else { return atom() };
        let side = |var| Sum::of(slices, var, width, deeper);
        let sum = match slices.pure(var) {
            Some(Pure::Const(value)) => Some(Sum { terms: Vec::new(), constant: value }),
            Some(Pure::Add(w, a, b)) if w == width => side(a).plus(&side(b), 1, width),
            Some(Pure::Sub(w, a, b)) if w == width => side(a).plus(&side(b), -1, width),
            Some(Pure::Mul(w, a, b)) if w == width => side(a).times(&side(b), width),
            Some(Pure::Shl(w, a, by)) if w == width => {
                let by = slices.constant(by).filter(|by| (0..63).contains(by));
                by.and_then(|by| side(a).times(&Sum { terms: Vec::new(), constant: 1 << by }, width))
            }
            _ => None,
        };
        sum.unwrap_or_else(atom)
    }

    /// The sum and `factor` times another one.
    fn plus(&self, other: &Sum, factor: i64, width: Width) -> Option<Sum> {
        let mut sum = self.clone();
        for &(var, by) in &other.terms {
            let by = by.wrapping_mul(factor);
            match sum.terms.binary_search_by_key(&var, |(known, _)| *known) {
                Ok(at) => sum.terms[at].1 = width.wrap(sum.terms[at].1.wrapping_add(by)),
                Err(at) => sum.terms.insert(at, (var, width.wrap(by))),
            }
        }
        sum.terms.retain(|(_, by)| *by != 0);
        sum.constant = width.wrap(sum.constant.wrapping_add(other.constant.wrapping_mul(factor)));
        (sum.terms.len() <= MOST_TERMS).then_some(sum)
    }

    /// The product, where one of the two is a constant.
    fn times(&self, other: &Sum, width: Width) -> Option<Sum> {
        let (sum, factor) = match (self.terms.is_empty(), other.terms.is_empty()) {
            (_, true) => (self, other.constant),
            (true, false) => (other, self.constant),
            (false, false) => return None,
        };
        Sum::default().plus(sum, factor, width)
    }
}

/// Which way a quotient is rounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rounding {
    Down,
    Up,
    ToZero,
}

/// A quotient of some number by a constant, which is 1 or more.
#[derive(Clone, Copy, Debug)]
struct Quotient {
    width: Width,
    of: Var,
    by: i64,
    rounding: Rounding,
}

/// What is known of conditions whatever the inputs.
#[derive(Debug)]
pub(super) struct Facts<'s, 'k> {
    slices: &'s Slices<'k>,
    /// Induction variables of loops that count up, with their lower and upper bounds.
    counters: Vec<(Var, Var, Var)>,
}

/// Where a condition stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Position {
    /// At the head of a loop, whose counter may have come to its upper bound there.
    Head,
    /// Anywhere else: a counter is below its upper bound.
    Body,
}

impl<'s, 'k> Facts<'s, 'k> {
    pub(super) fn new(kernel: &Kernel, slices: &'s Slices<'k>) -> Facts<'s, 'k> {
        let counters = kernel.loops.iter().filter_map(|info| info.counted);
        let up = counters.filter(|(_, _, _, step)| slices.constant(*step).is_some_and(|step| step > 0));
        Facts { slices, counters: up.map(|(counter, lower, upper, _)| (counter, lower, upper)).collect() }
    }

    /// The least and the greatest that `a - b` can be, as far as they are constants.
    pub(super) fn difference(&self, a: Var, b: Var, width: Width, position: Position) -> (Option<i64>, Option<i64>) {
        let (a, b) = (Sum::of(self.slices, a, width, DEPTH), Sum::of(self.slices, b, width, DEPTH));
        let bound = |least| self.bound(a.plus(&b, -1, width)?, least, width, position, MOST_TERMS);
        (bound(true), bound(false))
    }

    /// The least (or greatest) value of a sum: each counter is at one of its bounds, and so is each remainder.
    fn bound(&self, sum: Sum, least: bool, width: Width, position: Position, left: usize) -> Option<i64> {
        if sum.terms.is_empty() {
            return Some(sum.constant);
        }
        let left = left.checked_sub(1)?;
        let without = |atom: Atom| {
            let mut rest = sum.clone();
            rest.terms.retain(|(known, _)| *known != atom);
            rest
        };
        let in_place_of = |atom: Atom, by: i64, end: &Sum| {
            self.bound(without(atom).plus(end, by, width)?, least, width, position, left)
        };
        // Quotients that are times their divisor become what is divided, which may go against other terms.
        if let Some((atom, by, of)) = sum.terms.iter().find_map(|&(atom, by)| self.divided(atom, by, width)) {
            return in_place_of(atom, by, &of);
        }
        sum.terms.iter().find_map(|&(atom, by)| {
            let at_lower = (by > 0) == least;
            if let Some((low, high)) = self.range(atom) {
                let end = Sum { terms: Vec::new(), constant: if at_lower { low } else { high } };
                return in_place_of(atom, by, &end);
            }
            let Atom::Value(var) = atom else { return None };
            let &(_, lower, upper) = self.counters.iter().find(|(counter, ..)| self.slices.root(*counter) == var)?;
            if !at_lower && position == Position::Head {
                return None;
            }
            let mut end = Sum::of(self.slices, if at_lower { lower } else { upper }, width, DEPTH);
            if !at_lower {
                end.constant = width.wrap(end.constant.wrapping_sub(1));
            }
            in_place_of(atom, by, &end)
        })
    }

    /// A quotient by a constant, with how it is rounded.
    fn quotient(&self, var: Var) -> Option<Quotient> {
        let (width, of, by, rounding) = match self.slices.pure(var)? {
            Pure::DivU(width, of, by) => (width, of, by, Rounding::Down),
            Pure::FloorDivS(width, of, by) => (width, of, by, Rounding::Down),
            Pure::DivS(width, of, by) => (width, of, by, Rounding::ToZero),
            Pure::CeilDivS(width, of, by) => (width, of, by, Rounding::Up),
            _ => return None,
        };
        let by = self.slices.constant(by).filter(|by| *by > 0)?;
        Some(Quotient { width, of, by, rounding })
    }

    /// A quotient with a factor that is a multiple of its divisor, as what is divided less what is left over: with how
    /// many times the divisor the factor is.
    fn divided(&self, atom: Atom, factor: i64, width: Width) -> Option<(Atom, i64, Sum)> {
        let Atom::Value(var) = atom else { return None };
        let quotient = self.quotient(var).filter(|quotient| quotient.width == width && factor % quotient.by == 0)?;
        let rest = Sum { terms: vec![(Atom::Rest(var), 1)], constant: 0 };
        let of = Sum::of(self.slices, quotient.of, width, DEPTH).plus(&rest, -1, width)?;
        Some((atom, factor / quotient.by, of))
    }

    /// The least and the greatest value of what is a remainder.
    fn range(&self, atom: Atom) -> Option<(i64, i64)> {
        match atom {
            Atom::Rest(var) => {
                let Quotient { by, rounding, .. } = self.quotient(var)?;
                Some(match rounding {
                    Rounding::Down => (0, by - 1),
                    Rounding::Up => (1 - by, 0),
                    Rounding::ToZero => (1 - by, by - 1),
                })
            }
            Atom::Value(var) => match self.slices.pure(var)? {
                Pure::RemU(_, _, by) => Some((0, self.slices.constant(by).filter(|by| *by > 0)? - 1)),
                Pure::RemS(_, of, by) => {
                    let most = self.slices.constant(by).filter(|by| *by > 0)? - 1;
                    // An unsigned quotient by 2 or more is no negative number.
                    let positive = matches!(self.slices.pure(of), Some(Pure::DivU(_, _, by)) if self.slices.constant(by).is_some_and(|by| by > 1));
                    Some((if positive { 0 } else { -most }, most))
                }
                Pure::And(_, a, b) => {
                    let mask =
                        [a, b].into_iter().filter_map(|mask| self.slices.constant(mask)).find(|mask| *mask >= 0)?;
                    Some((0, mask))
                }
                _ => None,
            },
        }
    }

    /// Whether a condition holds for all inputs, or for none.
    pub(super) fn decided(&self, condition: Var, position: Position) -> Option<bool> {
        self.truth(condition, position, DEPTH)
    }

    fn truth(&self, condition: Var, position: Position, depth: usize) -> Option<bool> {
        let deeper = depth.checked_sub(1)?;
        let side = |var| self.truth(var, position, deeper);
        match self.slices.pure(condition)? {
            Pure::Const(value) => Some(value & 1 == 1),
            Pure::And(Width(1), a, b) => match (side(a), side(b)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Pure::Or(Width(1), a, b) => match (side(a), side(b)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            Pure::Xor(Width(1), a, b) => Some(side(a)? != side(b)?),
            Pure::Select(condition, yes, no) => match side(condition)? {
                true => side(yes),
                false => side(no),
            },
            Pure::Cmp(op, width, a, b) => self.compare(op, width, a, b, position),
            _ => None,
        }
    }

    fn compare(&self, op: CmpOp, width: Width, a: Var, b: Var, position: Position) -> Option<bool> {
        let (least, greatest) = self.difference(a, b, width, position);
        let below = |bound: i64| match (least, greatest) {
            (_, Some(greatest)) if greatest < bound => Some(true),
            (Some(least), _) if least >= bound => Some(false),
            _ => None,
        };
        let equal = match (least, greatest) {
            (Some(0), Some(0)) => Some(true),
            (Some(least), _) if least > 0 => Some(false),
            (_, Some(greatest)) if greatest < 0 => Some(false),
            _ => None,
        };
        match op {
            CmpOp::Eq => equal,
            CmpOp::Ne => equal.map(|equal| !equal),
            CmpOp::Slt => below(0),
            CmpOp::Sge => below(0).map(|below| !below),
            CmpOp::Sle => below(1),
            CmpOp::Sgt => below(1).map(|below| !below),
            // An unsigned sum wraps by right.
            CmpOp::Ult | CmpOp::Ugt => equal.filter(|equal| *equal).map(|_| false),
            CmpOp::Ule | CmpOp::Uge => equal.filter(|equal| *equal),
        }
    }
}
