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
        match self {
            Condition::Compare(order, one, other) => {
                let (one, other) = (one.value(of)?, other.value(of)?);
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
fn each(parts: &[Condition], of: &dyn Fn(u32) -> Option<i64>, decides: bool) -> Option<bool> {
    let values: Vec<Option<bool>> = parts.iter().map(|part| part.value(of)).collect();
    if values.contains(&Some(decides)) {
        return Some(decides);
    }
    values.iter().all(Option::is_some).then_some(!decides)
}
