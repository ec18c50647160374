//! Expressions that people read: `(%i + 1) mod 3`, `(%acc / 3) mod 2`. Widths are not shown.

use kernel::{CmpOp, Var};
use std::fmt;

/// A scalar of the kernel as people write it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Expr {
    Number(i64),
    Name(Var, String),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    Choice(Box<[Expr; 3]>),
}

impl Expr {
    /// Two of them with an operator between.
    pub(super) fn binary(op: &'static str, a: Expr, b: Expr) -> Expr {
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
    pub(super) fn names(&self, found: &mut Vec<Var>) {
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
                write!(f, "{} if {} else {}", Inner(yes), Inner(condition), Inner(no))
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

pub(super) fn sum(a: Expr, b: Expr) -> Expr {
    let ((a, more), (b, by)) = (split(a), split(b));
    let base = match (a, b) {
        (a, Expr::Number(0)) | (Expr::Number(0), a) => a,
        (a, b) => Expr::binary("+", a, b),
    };
    join(base, more.wrapping_add(by))
}

pub(super) fn difference(a: Expr, b: Expr) -> Expr {
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

pub(super) fn product(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Number(a), Expr::Number(b)) => Expr::Number(a.wrapping_mul(b)),
        (a, Expr::Number(1)) | (Expr::Number(1), a) => a,
        (Expr::Number(0), _) | (_, Expr::Number(0)) => Expr::Number(0),
        (a @ Expr::Number(_), b) => Expr::binary("*", b, a),
        (a, b) => Expr::binary("*", a, b),
    }
}

pub(super) fn quotient(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (a, Expr::Number(1)) => a,
        (Expr::Number(a), Expr::Number(b)) if b > 0 && a >= 0 => Expr::Number(a / b),
        (a, b) => Expr::binary("/", a, b),
    }
}

pub(super) fn remainder(a: Expr, b: Expr) -> Expr {
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

pub(super) fn and(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Number(a), Expr::Number(b)) => Expr::Number(a & b),
        (a, Expr::Number(mask)) | (Expr::Number(mask), a) if mask > 0 && (mask as u64 + 1).is_power_of_two() => {
            remainder(a, Expr::Number(mask + 1))
        }
        (a, b) => Expr::binary("&", a, b),
    }
}

pub(super) fn xor(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Number(a), Expr::Number(b)) => Expr::Number(a ^ b),
        (a, Expr::Number(0)) | (Expr::Number(0), a) => a,
        (Expr::Binary("^", inner, flip), Expr::Number(1)) if *flip == Expr::Number(1) => *inner,
        (a @ Expr::Number(_), b) => xor(b, a),
        (a, b) => Expr::binary("^", a, b),
    }
}

/// The number that a shift by a constant multiplies with.
pub(super) fn power(by: &Expr) -> Option<i64> {
    match by {
        Expr::Number(by @ 0..=62) => Some(1 << by),
        _ => None,
    }
}

pub(super) fn comparison(op: CmpOp) -> &'static str {
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
