//! Scalars of the kernel as expressions that people read: `(%i + 1) mod 3`, `(%acc / 3) mod 2`.
//!
//! They are those of the kernel, so captures stand for what they capture, and what stands for a
//! token's phase is shown too. Widths are not shown. A value that a loop carries is a name, and
//! [`Exprs::carried`] says what the loop does with it.

use super::trace::{Trace, ValueDef};
use crate::limits::expressions::{DEPTH, FUEL};
use kernel::{CmpOp, Pure, Var};
use std::cell::Cell;
use std::fmt;

/// Operators that an expression may have before names stand for its parts.
const SIZE: usize = 8;

/// Values that a loop carries which are told of one expression.
const CARRIED: usize = 8;

/// A scalar of the kernel as people write it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Expr {
    Number(i64),
    Name(Var, String),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    Choice(Box<[Expr; 3]>),
}

impl Expr {
    fn binary(op: &'static str, a: Expr, b: Expr) -> Expr {
        Expr::Binary(op, Box::new(a), Box::new(b))
    }

    /// How many operators it has.
    pub(crate) fn size(&self) -> usize {
        match self {
            Expr::Number(_) | Expr::Name(..) => 0,
            Expr::Binary(_, a, b) => 1 + a.size() + b.size(),
            Expr::Choice(parts) => 1 + parts.iter().map(Expr::size).sum::<usize>(),
        }
    }

    /// The names in it, each once.
    fn names(&self, found: &mut Vec<Var>) {
        match self {
            Expr::Number(_) => {}
            Expr::Name(var, _) => {
                if !found.contains(var) {
                    found.push(*var);
                }
            }
            Expr::Binary(_, a, b) => {
                a.names(found);
                b.names(found);
            }
            Expr::Choice(parts) => parts.iter().for_each(|part| part.names(found)),
        }
    }

    /// A sum as what varies and a constant; the remainder of one as that of the sum.
    pub(crate) fn staggered(&self) -> (Expr, i64) {
        match self {
            Expr::Binary(op @ ("mod" | "/"), sum, by) => {
                let (base, offset) = sum.staggered();
                (Expr::Binary(op, Box::new(base), by.clone()), offset)
            }
            other => split(other.clone()),
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Number(number) => write!(f, "{number}"),
            Expr::Name(_, name) => f.write_str(name),
            Expr::Binary(op, a, b) => write!(f, "{} {op} {}", Inner(a), Inner(b)),
            Expr::Choice(parts) => {
                let [condition, yes, no] = &**parts;
                write!(f, "{} ? {} : {}", Inner(condition), Inner(yes), Inner(no))
            }
        }
    }
}

/// In parentheses where it is more than a word.
struct Inner<'a>(&'a Expr);

impl fmt::Display for Inner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Expr::Number(_) | Expr::Name(..) => write!(f, "{}", self.0),
            _ => write!(f, "({})", self.0),
        }
    }
}

/// Makes expressions of a kernel's scalars.
#[derive(Clone, Copy)]
pub(super) struct Exprs<'a, 't> {
    trace: &'t Trace<'a>,
}

impl<'a, 't> Exprs<'a, 't> {
    pub(crate) fn new(trace: &'t Trace<'a>) -> Exprs<'a, 't> {
        Exprs { trace }
    }

    /// A scalar as an expression; a long one is cut to names.
    pub(crate) fn of(&self, var: Var) -> Expr {
        self.sized(var, SIZE)
    }

    /// The same with at most so many operators, where its parts have names.
    pub(crate) fn sized(&self, var: Var, size: usize) -> Expr {
        if let Some(known) = self.trace.exprs.borrow().get(&(var, size)) {
            return known.clone();
        }
        // As deep as it is still short; deeper down, quotients may turn into a remainder.
        let attempt = |depth: u32| self.build(var, depth, &Cell::new(FUEL));
        let short = |expr: &Expr| expr.size() <= size;
        let shorter = || (1..DEPTH).rev().step_by(2).map(attempt).find(short);
        let expr = Some(attempt(DEPTH)).filter(short).or_else(shorter).unwrap_or_else(|| attempt(1));
        self.trace.exprs.borrow_mut().insert((var, size), expr.clone());
        expr
    }

    fn build(&self, var: Var, depth: u32, fuel: &Cell<u32>) -> Expr {
        let Some(left) = fuel.get().checked_sub(1) else { return self.name(var) };
        fuel.set(left);
        match self.trace.made(var) {
            ValueDef::Let(pure) => self.pure(var, pure, depth, fuel),
            ValueDef::Param => match self.trace.args(var) {
                [only] => self.build(*only, depth, fuel),
                _ => self.name(var),
            },
            ValueDef::View(..) | ValueDef::Base(_) | ValueDef::Other => self.name(var),
        }
    }

    fn name(&self, var: Var) -> Expr {
        let name = self.trace.lowered.map.var(var).filter(|name| !name.is_empty());
        Expr::Name(var, name.map_or_else(|| "?".to_owned(), |name| self.trace.known(name).to_owned()))
    }

    fn pure(&self, var: Var, pure: Pure<Var>, depth: u32, fuel: &Cell<u32>) -> Expr {
        if let Pure::Const(value) = pure {
            return Expr::Number(value);
        }
        if let Pure::Input(input) = pure {
            return Expr::Name(var, self.trace.lowered.map.input(input));
        }
        // What has no name has to be spelled out.
        let named = self.trace.lowered.map.var(var).is_some_and(|name| !name.is_empty());
        if depth == 0 && named {
            return self.name(var);
        }
        let of = |var: Var| self.build(var, depth.saturating_sub(1), fuel);
        use Pure::*;
        match pure {
            Copy(a) | ExtS(_, _, a) | ExtU(_, _, a) => self.build(a, depth, fuel),
            Trunc(width, a) if width.0 == 1 => remainder(self.build(a, depth, fuel), Expr::Number(2)),
            Trunc(_, a) => self.build(a, depth, fuel),
            Add(_, a, b) => sum(of(a), of(b)),
            Sub(_, a, b) => difference(of(a), of(b)),
            Mul(_, a, b) => product(of(a), of(b)),
            DivS(_, a, b) | DivU(_, a, b) | FloorDivS(_, a, b) => quotient(of(a), of(b)),
            RemS(_, a, b) | RemU(_, a, b) => remainder(of(a), of(b)),
            And(_, a, b) => and(of(a), of(b)),
            Or(_, a, b) => Expr::binary("|", of(a), of(b)),
            Xor(_, a, b) => xor(of(a), of(b)),
            Shl(_, a, b) => match power(&of(b)) {
                Some(by) => product(of(a), Expr::Number(by)),
                None => Expr::binary("<<", of(a), of(b)),
            },
            ShrS(_, a, b) | ShrU(_, a, b) => match power(&of(b)) {
                Some(by) => quotient(of(a), Expr::Number(by)),
                None => Expr::binary(">>", of(a), of(b)),
            },
            MinS(_, a, b) | MinU(_, a, b) => Expr::binary("min", of(a), of(b)),
            MaxS(_, a, b) | MaxU(_, a, b) => Expr::binary("max", of(a), of(b)),
            Cmp(op, _, a, b) => Expr::binary(comparison(op), of(a), of(b)),
            Select(c, a, b) => Expr::Choice(Box::new([of(c), of(a), of(b)])),
            CeilDivS(..) | CeilDivU(..) | Load(..) | Const(_) | Input(_) => self.name(var),
        }
    }

    /// What loops and branches do with the values that expressions name: name, and `0, then %i + 1`.
    /// Values that they are computed from follow.
    pub(crate) fn carried(&self, exprs: &[Expr]) -> Vec<(String, String)> {
        let mut open = Vec::new();
        exprs.iter().for_each(|expr| expr.names(&mut open));
        let mut told = Vec::new();
        let mut at = 0;
        while let Some(&var) = open.get(at) {
            at += 1;
            let Some((text, parts)) = self.course(var) else { continue };
            let Expr::Name(_, name) = self.name(var) else { continue };
            told.push((name, text));
            if told.len() >= CARRIED {
                break;
            }
            parts.iter().for_each(|part| part.names(&mut open));
        }
        told
    }

    /// What gives a parameter of several sources its values, and the expressions in that text.
    fn course(&self, var: Var) -> Option<(String, Vec<Expr>)> {
        let kernel = &self.trace.lowered.kernel;
        if let Some((_, lower, upper, step)) =
            kernel.loops.iter().filter_map(|info| info.counted).find(|(counter, ..)| *counter == var)
        {
            let [lower, upper, step] = [lower, upper, step].map(|bound| self.sized(bound, 2));
            return Some((format!("{lower} to {upper} by {step}"), Vec::new()));
        }
        let args = self.trace.args(var);
        if args.len() < 2 {
            return None;
        }
        let (first, again) = self.trace.entering(var);
        let list = |vars: &[Var]| -> Vec<Expr> { vars.iter().map(|var| self.sized(*var, 4)).collect() };
        let (first, again) = (list(&first), list(&again));
        let or = |exprs: &[Expr]| exprs.iter().map(Expr::to_string).collect::<Vec<_>>().join(" or ");
        let text = match again.as_slice() {
            [] => or(&first),
            _ => format!("{}, then {}", or(&first), or(&again)),
        };
        Some((text, first.into_iter().chain(again).collect()))
    }
}

/// A sum without its constant, and the constant.
fn split(expr: Expr) -> (Expr, i64) {
    match expr {
        Expr::Number(number) => (Expr::Number(0), number),
        Expr::Binary(op @ ("+" | "-"), base, by) => match *by {
            Expr::Number(by) => (*base, if op == "+" { by } else { by.wrapping_neg() }),
            by => (Expr::Binary(op, base, Box::new(by)), 0),
        },
        other => (other, 0),
    }
}

fn join(base: Expr, by: i64) -> Expr {
    match (base, by) {
        (Expr::Number(number), by) => Expr::Number(number.wrapping_add(by)),
        (base, 0) => base,
        (base, by) if by < 0 => Expr::binary("-", base, Expr::Number(by.wrapping_neg())),
        (base, by) => Expr::binary("+", base, Expr::Number(by)),
    }
}

fn sum(a: Expr, b: Expr) -> Expr {
    let ((a, more), (b, by)) = (split(a), split(b));
    let base = match (a, b) {
        (a, Expr::Number(0)) | (Expr::Number(0), a) => a,
        (a, b) => Expr::binary("+", a, b),
    };
    join(base, more.wrapping_add(by))
}

fn difference(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        // x - x / n * n.
        (a, Expr::Binary("*", quotient, by)) => match *quotient {
            Expr::Binary("/", of, size) if *of == a && size == by => remainder(a, *by),
            quotient => Expr::binary("-", a, Expr::binary("*", quotient, *by)),
        },
        (a, Expr::Number(by)) => sum(a, Expr::Number(by.wrapping_neg())),
        (a, b) if a == b => Expr::Number(0),
        (a, b) => Expr::binary("-", a, b),
    }
}

fn product(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Number(a), Expr::Number(b)) => Expr::Number(a.wrapping_mul(b)),
        (a, Expr::Number(1)) | (Expr::Number(1), a) => a,
        (Expr::Number(0), _) | (_, Expr::Number(0)) => Expr::Number(0),
        (a @ Expr::Number(_), b) => Expr::binary("*", b, a),
        (a, b) => Expr::binary("*", a, b),
    }
}

fn quotient(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (a, Expr::Number(1)) => a,
        (Expr::Number(a), Expr::Number(b)) if b > 0 && a >= 0 => Expr::Number(a / b),
        (a, b) => Expr::binary("/", a, b),
    }
}

fn remainder(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (_, Expr::Number(1)) => Expr::Number(0),
        (Expr::Number(a), Expr::Number(b)) if b > 0 && a >= 0 => Expr::Number(a % b),
        // A truth value, or what is less already.
        (a @ Expr::Binary("<" | "<=" | ">" | ">=" | "==" | "!=", ..), Expr::Number(2)) => a,
        (Expr::Binary("mod", inner, size), by) if *size == by => Expr::Binary("mod", inner, size),
        (Expr::Binary("^", inner, flip), Expr::Number(2)) if is_bit(&inner) && *flip == Expr::Number(1) => {
            Expr::Binary("^", inner, flip)
        }
        (a, b) => Expr::binary("mod", a, b),
    }
}

fn is_bit(expr: &Expr) -> bool {
    match expr {
        Expr::Binary("mod", _, by) => **by == Expr::Number(2),
        Expr::Binary("<" | "<=" | ">" | ">=" | "==" | "!=", ..) => true,
        Expr::Binary("^", a, b) => is_bit(a) && **b == Expr::Number(1),
        _ => false,
    }
}

fn and(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Number(a), Expr::Number(b)) => Expr::Number(a & b),
        (a, Expr::Number(mask)) | (Expr::Number(mask), a) if mask > 0 && (mask as u64 + 1).is_power_of_two() => {
            remainder(a, Expr::Number(mask + 1))
        }
        (a, b) => Expr::binary("&", a, b),
    }
}

fn xor(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Number(a), Expr::Number(b)) => Expr::Number(a ^ b),
        (a, Expr::Number(0)) | (Expr::Number(0), a) => a,
        (Expr::Binary("^", inner, flip), Expr::Number(1)) if *flip == Expr::Number(1) => *inner,
        (a @ Expr::Number(_), b) => xor(b, a),
        (a, b) => Expr::binary("^", a, b),
    }
}

/// The number that a shift by a constant multiplies with.
fn power(by: &Expr) -> Option<i64> {
    match by {
        Expr::Number(by @ 0..=62) => Some(1 << by),
        _ => None,
    }
}

fn comparison(op: CmpOp) -> &'static str {
    match op {
        CmpOp::Eq => "==",
        CmpOp::Ne => "!=",
        CmpOp::Slt | CmpOp::Ult => "<",
        CmpOp::Sle | CmpOp::Ule => "<=",
        CmpOp::Sgt | CmpOp::Ugt => ">",
        CmpOp::Sge | CmpOp::Uge => ">=",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name() -> Expr {
        Expr::Name(Var(7), "%x".to_owned())
    }

    #[test]
    fn a_remainder_in_three_steps_is_one() {
        let floor = product(quotient(name(), Expr::Number(3)), Expr::Number(3));
        assert_eq!(difference(name(), floor).to_string(), "%x mod 3");
    }

    #[test]
    fn a_bit_that_is_flipped_stays_a_bit() {
        let bit = and(quotient(name(), Expr::Number(3)), Expr::Number(1));
        let flipped = remainder(xor(bit.clone(), Expr::Number(1)), Expr::Number(2));
        assert_eq!(flipped.to_string(), "((%x / 3) mod 2) ^ 1");
        assert_eq!(xor(flipped, Expr::Number(1)), bit);
    }

    #[test]
    fn offsets_within_a_ring() {
        let slot = |by| remainder(sum(name(), Expr::Number(by)), Expr::Number(3));
        assert_eq!(slot(2).to_string(), "(%x + 2) mod 3");
        assert_eq!(slot(2).staggered(), (slot(0), 2));
        assert_eq!(sum(sum(name(), Expr::Number(1)), Expr::Number(-1)), name());
    }
}
