//! Conditions on numbers of a launch that were decided before a kernel was compiled.

use crate::{Operation, Quantity};

/// A condition on numbers of a launch. An unknown of a quantity is a name of [`Switch::names`] by its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A comparison.
    Compare(Order, Quantity, Quantity),
    /// Each of these.
    All(Vec<Condition>),
    /// One of these.
    Any(Vec<Condition>),
}

/// How two numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Order {
    Equal,
    Unequal,
    Less,
    AtMost,
}

/// A condition that was decided before a kernel was compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// The condition.
    pub condition: Condition,
    /// The arguments that it names.
    pub names: Vec<String>,
    /// Whether it holds.
    pub holds: bool,
}

impl Condition {
    /// Whether it holds with these numbers; `None` where that is not known.
    pub fn value(&self, of: &dyn Fn(u32) -> Option<i64>) -> Option<bool> {
        self.holds(&|quantity| quantity.value(of))
    }

    /// Whether it holds by what the quantities come to that it compares; `None` where that is not known.
    pub fn holds(&self, of: &dyn Fn(&Quantity) -> Option<i64>) -> Option<bool> {
        match self {
            Condition::Compare(order, one, other) => {
                let (one, other) = (of(one)?, of(other)?);
                Some(match order {
                    Order::Equal => one == other,
                    Order::Unequal => one != other,
                    Order::Less => one < other,
                    Order::AtMost => one <= other,
                })
            }
            Condition::All(parts) => each(parts, of, false),
            Condition::Any(parts) => each(parts, of, true),
        }
    }

    /// Names that have to be multiples of numbers, or must not be, for it to hold or not.
    pub fn multiples<'c>(&'c self, holds: bool, out: &mut Vec<(u32, &'c Quantity, bool)>) {
        match self {
            Condition::Compare(order @ (Order::Equal | Order::Unequal), Quantity::Made(op, of), Quantity::Known(0)) => {
                if let (Operation::Mod, Quantity::Unknown { id, .. }, by) = (op, &of.0, &of.1) {
                    out.push((*id, by, (*order == Order::Equal) == holds));
                }
            }
            Condition::All(parts) if holds => parts.iter().for_each(|part| part.multiples(holds, out)),
            Condition::Any(parts) if !holds => parts.iter().for_each(|part| part.multiples(holds, out)),
            _ => {}
        }
    }
}

/// `decides` where one of the parts is that, the other where none is; `None` where that is not known.
fn each(parts: &[Condition], of: &dyn Fn(&Quantity) -> Option<i64>, decides: bool) -> Option<bool> {
    let values: Vec<Option<bool>> = parts.iter().map(|part| part.holds(of)).collect();
    if values.contains(&Some(decides)) {
        return Some(decides);
    }
    values.iter().all(Option::is_some).then_some(!decides)
}

/// Between what a number lies, by what is known to hold of it.
#[derive(Clone, Copy, Debug)]
pub struct NumberRange {
    least: i64,
    most: i64,
}

/// A comparison of a number with a constant.
#[derive(Clone, Copy, Debug)]
pub struct NumberBound {
    /// How they compare.
    pub order: Order,
    /// The constant.
    pub bound: i64,
    /// Whether the number stands first.
    pub first: bool,
}

impl NumberRange {
    /// Any number.
    pub const ALL: NumberRange = NumberRange { least: i64::MIN / 2, most: i64::MAX / 2 };

    /// The numbers of it for which a comparison holds.
    #[must_use]
    pub fn within(self, NumberBound { order, bound, first }: NumberBound) -> NumberRange {
        let (mut least, mut most) = (i64::MIN / 2, i64::MAX / 2);
        match (order, first) {
            (Order::Equal, _) => (least, most) = (bound, bound),
            (Order::Unequal, _) => {}
            (Order::Less, true) => most = bound.saturating_sub(1),
            (Order::AtMost, true) => most = bound,
            (Order::Less, false) => least = bound.saturating_add(1),
            (Order::AtMost, false) => least = bound,
        }
        NumberRange { least: self.least.max(least), most: self.most.min(most) }
    }

    /// Whether a comparison holds for all of it, or for none; `None` where that is not so.
    pub fn decides(self, of: NumberBound) -> Option<bool> {
        let (order, turned) = of.order.negated();
        let unless = self.within(NumberBound { order, first: of.first != turned, ..of });
        let holds = self.within(of);
        let equal = of.bound >= self.least && of.bound <= self.most;
        match of.order {
            Order::Equal => (!equal).then_some(false),
            Order::Unequal => (!equal).then_some(true),
            _ if unless.least > unless.most => Some(true),
            _ => (holds.least > holds.most).then_some(false),
        }
    }
}

/// Numbers without a formula of a launch that is being made up.
pub trait Choosable {
    /// The value of a number so far; `None` where nothing is known of it.
    fn get(&self, id: u32) -> Option<i64>;

    /// Gives it another value; whether that may be.
    fn set(&mut self, id: u32, value: i64) -> bool;
}

/// Up to which numbers are raised.
const LARGEST: i64 = 1 << 24;

/// A size that is moved keeps what it leaves when it is divided by this: whether it is a multiple of a block.
const KEPT: i64 = 256;

impl Order {
    /// The comparison that holds where this one does not; whether its sides are turned around.
    pub fn negated(self) -> (Order, bool) {
        match self {
            Order::Equal => (Order::Unequal, false),
            Order::Unequal => (Order::Equal, false),
            Order::Less => (Order::AtMost, true),
            Order::AtMost => (Order::Less, true),
        }
    }
}

impl Condition {
    /// The condition that holds where this one does not.
    #[must_use]
    pub fn negated(self) -> Condition {
        let each = |parts: Vec<Condition>| parts.into_iter().map(Condition::negated).collect();
        match self {
            Condition::Compare(order, one, other) => match order.negated() {
                (order, true) => Condition::Compare(order, other, one),
                (order, false) => Condition::Compare(order, one, other),
            },
            Condition::All(parts) => Condition::Any(each(parts)),
            Condition::Any(parts) => Condition::All(each(parts)),
        }
    }

    /// Calls `see` with each number without a formula.
    pub fn unknowns(&self, see: &mut dyn FnMut(u32)) {
        match self {
            Condition::Compare(_, one, other) => {
                one.unknowns(&mut |id, _| see(id));
                other.unknowns(&mut |id, _| see(id));
            }
            Condition::All(parts) | Condition::Any(parts) => parts.iter().for_each(|part| part.unknowns(see)),
        }
    }

    /// Changes numbers until it holds, where a way to that is plain; whether it does, or is not known.
    pub fn fulfil(&self, numbers: &mut dyn Choosable) -> bool {
        if self.value(&|id| numbers.get(id)).is_none_or(|holds| holds) {
            return true;
        }
        match self {
            Condition::All(parts) => parts.iter().for_each(|part| _ = part.fulfil(numbers)),
            Condition::Any(parts) => _ = parts.iter().any(|part| part.fulfil(numbers)),
            Condition::Compare(Order::Less, one, other) => at_most((one, other), 1, numbers),
            Condition::Compare(Order::AtMost, one, other) => at_most((one, other), 0, numbers),
            Condition::Compare(Order::Equal, one, other) => equal(one, other, numbers),
            Condition::Compare(Order::Unequal, one, other) => {
                let mut moved = false;
                for quantity in [one, other] {
                    quantity.unknowns(&mut |id, _| {
                        moved = moved || numbers.get(id).is_some_and(|now| numbers.set(id, now.saturating_add(1)));
                    });
                }
            }
        }
        self.value(&|id| numbers.get(id)).is_none_or(|holds| holds)
    }
}

/// Makes one quantity no more than another one, by so much at least.
fn at_most((one, other): (&Quantity, &Quantity), by: i64, numbers: &mut dyn Choosable) {
    let value = |of: &Quantity, numbers: &dyn Choosable| of.value(&|id| numbers.get(id));
    let (Some(least), Some(most)) = (value(one, numbers), value(other, numbers)) else { return };
    let (least, most) = (least.saturating_add(by), most.saturating_sub(by));
    if let &Quantity::Unknown { id, .. } = one
        && let Some(now) = numbers.get(id)
        && most > 0
    {
        let kept = most - most.saturating_sub(now).rem_euclid(KEPT);
        if numbers.set(id, if kept > 0 { kept } else { most }) {
            return;
        }
    }
    if let &Quantity::Unknown { id, .. } = other
        && let Some(now) = numbers.get(id)
        && numbers.set(id, least.saturating_add(now.saturating_sub(least).rem_euclid(KEPT)))
    {
        return;
    }
    let holds = |numbers: &dyn Choosable| {
        let (one, other) = (value(one, numbers), value(other, numbers));
        one.zip(other).is_none_or(|(one, other)| one.saturating_add(by) <= other)
    };
    for (of, doubles) in [(other, true), (one, false)] {
        if !of.rises() {
            continue;
        }
        let mut own = Vec::new();
        of.unknowns(&mut |id, _| own.push(id));
        own.dedup();
        for id in own {
            while !holds(numbers) {
                let Some(now) = numbers.get(id) else { break };
                let next = if doubles { now.max(1).saturating_mul(2) } else { now / 2 };
                if !(1..=LARGEST).contains(&next) || !numbers.set(id, next) {
                    break;
                }
            }
        }
    }
}

/// Makes two quantities one number, where one of them is a number without a formula, or the remainder of one.
fn equal(one: &Quantity, other: &Quantity, numbers: &mut dyn Choosable) {
    for (one, other) in [(one, other), (other, one)] {
        let Some(wanted) = other.value(&|id| numbers.get(id)) else { return };
        match one {
            Quantity::Unknown { id, .. } if wanted > 0 && numbers.set(*id, wanted) => return,
            Quantity::Made(Operation::Mod, of) => {
                let Quantity::Unknown { id, .. } = of.0 else { continue };
                let (Some(now), Some(by)) = (numbers.get(id), of.1.value(&|id| numbers.get(id))) else { continue };
                if by > 0 && wanted < by {
                    let whole = now - now.rem_euclid(by);
                    let next = whole.saturating_add(wanted);
                    if numbers.set(id, if next > 0 { next } else { next.saturating_add(by) }) {
                        return;
                    }
                }
            }
            _ => {}
        }
    }
}
