//! What host code knows of a variable behind a condition that it took to hold, or not to.
//!
//! Each run of host code takes one way at a condition that is not known. Behind `if splits == 1:` a run that went in
//! launches with 1, and not with what somebody else chooses for `splits`: what it knows of tensors and strides is true
//! of that launch alone.

use ruff_python_ast::{BoolOp, CmpOp, Expr, Number, Operator, UnaryOp};

use super::Interp;
use crate::host::{OpenNumber, Thing, is_rank, is_unknown, note_flat, note_rank};
use crate::syntax::bodies::{is_at_most_one, ranked};
use crate::syntax::is_place;
use crate::value::Value;

/// Whether a value is a number of a kind that is not known.
fn is_open(value: &Value<'_>, kind: OpenNumber) -> bool {
    matches!(value, Value::Host(thing) if matches!(**thing, Thing::OpenNumber(of, _) if of == kind))
}

impl<'a> Interp<'a> {
    /// Gives variables of this function the values that a condition says they have. Only variables that are not known
    /// are set, to what is written there or known, or to a one that is said to be chosen.
    pub(super) fn refine(&mut self, test: &'a Expr, holds: bool) {
        match test {
            Expr::UnaryOp(not) if not.op == UnaryOp::Not => self.refine(&not.operand, !holds),
            // All of them hold; none of them does.
            Expr::BoolOp(all) if (all.op == BoolOp::And) == holds => {
                all.values.iter().for_each(|value| self.refine(value, holds));
            }
            Expr::Compare(compare) => {
                let ([op], [right]) = (&*compare.ops, &*compare.comparators) else { return };
                let equal = match op {
                    CmpOp::Eq | CmpOp::Is => holds,
                    CmpOp::NotEq | CmpOp::IsNot => !holds,
                    _ => false,
                };
                if equal {
                    self.refine_rank(&compare.left, right);
                    self.refine_multiple(&compare.left, right);
                    self.refine_same(&compare.left, right);
                    self.refine_equal(&compare.left, right);
                    self.refine_equal(right, &compare.left);
                } else if let Some(flat) = [holds, !holds].into_iter().find(|says| is_at_most_one(*op, right, *says)) {
                    match self.counted(&compare.left) {
                        Some(of) => note_flat(&of, flat == holds),
                        None if flat == holds => self.choose_one(&compare.left),
                        None => {}
                    }
                }
            }
            Expr::Name(name) if self.scope.own(&name.id).is_some_and(|value| is_open(&value, OpenNumber::Bool)) => {
                self.scope.set(&name.id, Value::Bool(holds));
            }
            _ => {}
        }
    }

    /// `len(x.shape) == 3`, `x.dim() == 3`: how many sizes and strides a tensor has.
    fn refine_rank(&mut self, counted: &'a Expr, number: &Expr) {
        let Expr::NumberLiteral(literal) = number else { return };
        let Number::Int(rank) = &literal.value else { return };
        if let (Some(rank), Some(value)) = (rank.as_u8(), self.counted(counted)) {
            note_rank(&value, rank.into());
        }
    }

    /// A tensor, its sizes or the number of its dimensions, of what counts these.
    fn counted(&mut self, counted: &'a Expr) -> Option<Value<'a>> {
        match (ranked(counted), counted) {
            (Some(of), _) => self.expr(of).ok(),
            (None, Expr::Name(name)) => self.scope.get(&name.id).filter(is_rank),
            _ => None,
        }
    }

    /// `n % 128 == 0`: the greatest such number counts, since those that hosts name divide each other.
    fn refine_multiple(&mut self, remainder: &'a Expr, number: &Expr) {
        let (Expr::BinOp(op), Expr::NumberLiteral(literal)) = (remainder, number) else { return };
        let Number::Int(zero) = &literal.value else { return };
        if op.op != Operator::Mod || zero.as_u8() != Some(0) || !matches!(*op.left, Expr::Name(_)) {
            return;
        }
        if let (Ok(size), Ok(Value::Int(of))) = (self.expr(&op.left), self.expr(&op.right))
            && let Ok(of) = i64::try_from(of)
        {
            crate::host::note_multiple(&size, of);
        }
    }

    /// `a.shape[1] == n`, of two numbers that are not known: they are one.
    fn refine_same(&mut self, one: &'a Expr, other: &'a Expr) {
        if is_place(one)
            && is_place(other)
            && let (Ok(one), Ok(other)) = (self.expr(one), self.expr(other))
        {
            crate::host::note_equal(&one, &other);
        }
    }

    /// Of a count that is not above one, one is chosen: nobody launches none. It may be no count, so what the run launches
    /// is said to be chosen from then on.
    fn choose_one(&mut self, variable: &Expr) {
        let Expr::Name(name) = variable else { return };
        let count = |value: Value<'a>| matches!(value, Value::Unknown(_)) || is_open(&value, OpenNumber::Int);
        if self.scope.own(&name.id).is_some_and(count) {
            self.scope.set(&name.id, Value::Int(1));
            if let Some(session) = &mut self.session {
                session.chosen = true;
            }
        }
    }

    fn refine_equal(&mut self, variable: &'a Expr, other: &'a Expr) {
        let Expr::Name(name) = variable else { return };
        let other = match other {
            Expr::NumberLiteral(_) | Expr::StringLiteral(_) | Expr::BooleanLiteral(_) | Expr::NoneLiteral(_) => {
                self.expr(other).ok()
            }
            Expr::Name(other) => self.scope.get(&other.id),
            _ => None,
        };
        let plain = |value: &Value<'a>| {
            matches!(value, Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Str(_))
        };
        let Some(other) = other.filter(plain) else { return };
        if self.scope.own(&name.id).is_some_and(|value| is_unknown(&value)) {
            self.scope.set(&name.id, other);
        }
    }
}
