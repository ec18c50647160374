//! How much a value may hold. Values share their parts and, in Python, may hold themselves, so that what walks through
//! one might never end: what is larger is not kept.
//!
//! Deviations: objects of classes without fields of their own kind (`ClassInstance`) are not looked into; what walks
//! through their fields has a bound of its own.

use std::cell::RefCell;
use std::rc::Rc;

pub(super) use crate::limits::values::ITEMS;
use crate::limits::values::{CONTAINERS, LEVELS};
use crate::value::Value;

/// Containers that are looked into in the time of a step.
const CONTAINERS_A_STEP: u64 = 16;

/// Items that are copied in the time of a step.
const ITEMS_A_STEP: u64 = 4;

/// Why a value is not kept.
const TOO_MUCH: &str = "a value that holds itself, or this much, is not followed";

/// Why one has no more.
pub(super) const TOO_LONG: &str = "a collection of this size is not built";

/// The value, or that it is not known where it holds too much; and the steps that it costs to find that out.
pub(super) fn bounded(value: Value<'_>) -> (Value<'_>, u64) {
    if !is_container(&value) {
        return (value, 0);
    }
    let mut walk = Walk::default();
    let ends = walk.ends(&value, LEVELS, None);
    let cost = u64::from(walk.seen) / CONTAINERS_A_STEP;
    (if ends { value } else { Value::Unknown(TOO_MUCH.into()) }, cost)
}

/// The steps that copying a collection of so many items costs.
pub(super) fn copied(items: usize) -> u64 {
    items as u64 / ITEMS_A_STEP
}

/// What a container holds of a part that is put into it: that it is not known where the part holds the container, or too
/// much.
pub fn held<'a>(whole: &Value<'a>, part: Value<'a>) -> Value<'a> {
    if is_container(&part) && !Walk::default().ends(&part, LEVELS, identity(whole)) {
        return Value::Unknown(TOO_MUCH.into());
    }
    part
}

/// Puts items at the end of a list, or that they are not known where they are too many. `list` is what `whole` holds.
pub fn extend<'a>(whole: &Value<'a>, list: &RefCell<Vec<Value<'a>>>, items: Vec<Value<'a>>) {
    let length = list.borrow().len();
    let items = if length + items.len() > ITEMS { vec![Value::Unknown(TOO_LONG.into())] } else { items };
    let held: Vec<Value<'a>> = items.into_iter().map(|item| held(whole, item)).collect();
    list.borrow_mut().extend(held);
}

fn is_container(value: &Value<'_>) -> bool {
    matches!(value, Value::Tuple(_) | Value::List(_) | Value::Set(_) | Value::Dict(_))
}

/// Where a container is kept.
fn identity(value: &Value<'_>) -> Option<*const ()> {
    match value {
        Value::List(items) | Value::Set(items) => Some(Rc::as_ptr(items).cast()),
        Value::Dict(items) => Some(Rc::as_ptr(items).cast()),
        _ => None,
    }
}

/// A walk through a value.
#[derive(Default)]
struct Walk {
    seen: u32,
}

impl Walk {
    /// Whether it ends within the bounds, and without `not`.
    fn ends(&mut self, value: &Value<'_>, levels: u32, not: Option<*const ()>) -> bool {
        if !is_container(value) {
            return true;
        }
        self.seen += 1;
        let Some(levels) = levels.checked_sub(1).filter(|_| self.seen <= CONTAINERS) else { return false };
        if not.is_some() && identity(value) == not {
            return false;
        }
        match value {
            Value::Tuple(items) => items.iter().all(|item| self.ends(item, levels, not)),
            Value::List(items) | Value::Set(items) => items.borrow().iter().all(|item| self.ends(item, levels, not)),
            Value::Dict(items) => {
                items.borrow().iter().all(|(key, value)| self.ends(key, levels, not) && self.ends(value, levels, not))
            }
            _ => true,
        }
    }
}
