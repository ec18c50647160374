//! Conditions on numbers that are not known by which host code comes to a launch: no other numbers are launched so.

use std::rc::Rc;

use base::condition::{Condition, NumberBound, NumberRange, Order};
use ruff_python_ast::CmpOp;

use super::open::kind;
use super::sizes::{Quantities, alike};
use super::thing::{NumberOrigin, OpenNumber, Session, TakenCondition, Thing};
use super::torch::int;
use crate::limits::open::CONDITIONS;
use crate::value::Value;

/// The truth value that a comparison of two integers is, of which one is not known; `None` of what else is compared.
pub(crate) fn compared<'a>(op: CmpOp, left: &Value<'a>, right: &Value<'a>) -> Option<Value<'a>> {
    if (kind(left)?, kind(right)?) != (OpenNumber::Int, OpenNumber::Int) {
        return None;
    }
    let (order, turned) = match op {
        CmpOp::Eq => (Order::Equal, false),
        CmpOp::NotEq => (Order::Unequal, false),
        CmpOp::Lt => (Order::Less, false),
        CmpOp::LtE => (Order::AtMost, false),
        CmpOp::Gt => (Order::Less, true),
        CmpOp::GtE => (Order::AtMost, true),
        _ => return None,
    };
    let (one, other) = if turned { (right, left) } else { (left, right) };
    Some(truth(order, one.clone(), other.clone()))
}

fn truth<'a>(order: Order, one: Value<'a>, other: Value<'a>) -> Value<'a> {
    let origin = NumberOrigin::Compared(order, Rc::new((one, other)));
    Value::Host(Rc::new(Thing::OpenNumber(OpenNumber::Bool, origin)))
}

/// The two sides of a comparison.
fn sides<'v, 'a>(value: &'v Value<'a>) -> Option<(Order, &'v (Value<'a>, Value<'a>))> {
    let Value::Host(thing) = value else { return None };
    match &**thing {
        Thing::OpenNumber(_, NumberOrigin::Compared(order, sides)) => Some((*order, sides)),
        _ => None,
    }
}

/// A number that is compared with a constant, and how.
fn bounded<'v, 'a>(value: &'v Value<'a>) -> Option<(&'v Value<'a>, NumberBound)> {
    let (order, (one, other)) = sides(value)?;
    match (int(one), int(other)) {
        (None, Some(bound)) => Some((one, NumberBound { order, bound, first: true })),
        (Some(bound), None) => Some((other, NumberBound { order, bound, first: false })),
        _ => None,
    }
}

/// `not` of a comparison; `None` of what is none.
pub(crate) fn negated<'a>(value: &Value<'a>) -> Option<Value<'a>> {
    let (order, (one, other)) = sides(value)?;
    let (order, turned) = order.negated();
    let (one, other) = if turned { (other, one) } else { (one, other) };
    Some(truth(order, one.clone(), other.clone()))
}

impl<'a> Session<'a> {
    /// Whether a comparison holds by what was taken to hold before; `None` where that says nothing of it.
    pub(crate) fn follows(&self, value: &Value<'a>) -> Option<bool> {
        let (order, both) = sides(value)?;
        if same(&both.0, &both.1) {
            return Some(matches!(order, Order::Equal | Order::AtMost));
        }
        let (number, of) = bounded(value)?;
        let taken = self.conditions.iter().filter_map(|taken| bounded(&taken.value));
        let own = taken.filter(|(other, _)| same(other, number));
        own.fold(NumberRange::ALL, |range, (_, of)| range.within(of)).decides(of)
    }

    /// Notes that a comparison is taken to hold, or not to. Where the text that it stands in was taken for another one
    /// before, both are one way of several, and neither is kept.
    pub(crate) fn take(&mut self, text: u64, value: &Value<'a>, holds: bool) {
        let value = if holds { sides(value).map(|_| value.clone()) } else { negated(value) };
        let Some(value) = value else { return };
        let mut alike = false;
        for known in &mut self.conditions {
            let is_same = same(&known.value, &value);
            let is_other = text != 0 && known.text == text && !is_same;
            alike |= is_same || is_other;
            if is_other {
                known.value = Value::None;
            }
        }
        if !alike && self.conditions.len() < CONDITIONS {
            self.conditions.push(TakenCondition { text, value });
        }
    }
}

/// Whether two values are one number, or made of the same in the same way.
fn same<'a>(one: &Value<'a>, other: &Value<'a>) -> bool {
    let (Value::Host(one), Value::Host(other)) = (one, other) else {
        return int(one).is_some() && int(one) == int(other);
    };
    let (one, other) = (alike(one), alike(other));
    if Rc::ptr_eq(&one, &other) {
        return true;
    }
    let (Thing::OpenNumber(_, one), Thing::OpenNumber(_, other)) = (&*one, &*other) else { return false };
    match (one, other) {
        (NumberOrigin::Made(op, one), NumberOrigin::Made(other_op, other)) if op == other_op => {
            same(&one.0, &other.0) && same(&one.1, &other.1)
        }
        (NumberOrigin::Compared(order, one), NumberOrigin::Compared(other_order, other)) if order == other_order => {
            same(&one.0, &other.0) && same(&one.1, &other.1)
        }
        _ => false,
    }
}

impl<'a> Quantities<'a> {
    /// What is taken to hold of the numbers that were met before.
    pub(super) fn conditions(&mut self, taken: &[TakenCondition<'a>]) -> Vec<Condition> {
        let met = self.count();
        let all = taken.iter().filter_map(|taken| self.condition(&taken.value));
        let is_known = |condition: &Condition| {
            let mut known = true;
            condition.unknowns(&mut |id| known &= id < met);
            known
        };
        all.filter(is_known).collect()
    }

    /// What a truth value says of numbers; `None` where it is no comparison of such.
    pub(super) fn condition(&mut self, value: &Value<'a>) -> Option<Condition> {
        let (order, (one, other)) = sides(value)?;
        Some(Condition::Compare(order, self.of(one)?, self.of(other)?))
    }
}
