//! Arguments and values as Python's functions ask for them.

use std::cmp::Ordering;
use std::rc::Rc;

use super::kinds::{self, type_name};
use crate::limits::values::ITEMS;
use base::TextRange;
use python::interp::{Eval, Interp, Stop};
use python::library::{Args, Bound};
use python::value::Value;

/// An argument by its place; `None` where it is left out.
pub fn arg<'a>(bound: &Bound<'a>, at: usize) -> Value<'a> {
    bound.at(at).cloned().unwrap_or(Value::None)
}

/// A new list.
pub fn list<'a>(items: Vec<Value<'a>>) -> Value<'a> {
    Value::List(Rc::new(items.into()))
}

/// What iterating over a value gives.
pub fn items<'a>(interp: &mut Interp<'a>, value: &Value<'a>) -> Result<Vec<Value<'a>>, Stop> {
    Ok(match value {
        Value::Tuple(items) => items.to_vec(),
        Value::List(items) | Value::Set(items) => items.borrow().clone(),
        Value::Dict(entries) => entries.borrow().iter().map(|entry| entry.0.clone()).collect(),
        Value::Str(text) => text.chars().map(|c| Value::Str(c.to_string().into())).collect(),
        Value::Range(range) => {
            let (start, stop, step) = (interp.int(&range.start)?, interp.int(&range.stop)?, interp.int(&range.step)?);
            let Some(count) = count(start, stop, step) else { return interp.raise("the step of a range is 0") };
            if count > ITEMS {
                return interp.unknown("so long a range is not put into a list");
            }
            (0..count).map(|at| Value::Int(start + at * step)).collect()
        }
        Value::Instance(instance) if instance.class.kind == python::value::ClassKind::NamedTuple => {
            instance.fields.borrow().iter().map(|field| field.1.clone()).collect()
        }
        Value::Unknown(why) => return Err(Stop::Unknown(interp.at, why.clone())),
        Value::Instance(_) | Value::Class(_) | Value::Lib(_) => {
            return interp.unknown(format!("what iterating over a {} gives is not known", type_name(value)));
        }
        _ => return interp.raise(format!("a {} cannot be iterated over", type_name(value))),
    })
}

/// How many numbers a range has; `None` if its step is 0.
pub fn count(start: i128, stop: i128, step: i128) -> Option<i128> {
    match step.cmp(&0) {
        Ordering::Greater => Some((stop.saturating_sub(start).max(0) + step - 1) / step),
        Ordering::Less => Some((start.saturating_sub(stop).max(0) - step - 1) / -step),
        Ordering::Equal => None,
    }
}

/// Calls a host function with arguments by position.
pub(super) fn call<'a>(interp: &mut Interp<'a>, function: &Value<'a>, args: Vec<Value<'a>>) -> Eval<'a> {
    let at: TextRange = interp.at;
    interp.call(function, Args { pos: args, named: Vec::new() }, at)
}

/// The truth of a value that must be known.
pub(super) fn known<'a>(interp: &mut Interp<'a>, value: &Value<'a>) -> Result<bool, Stop> {
    match interp.truth(value) {
        Some(truth) => Ok(truth),
        None => interp.unknown("whether this is true is not known here"),
    }
}

/// The text that an argument must be.
pub(super) fn string<'a>(interp: &Interp<'a>, value: &Value<'a>) -> Result<Rc<str>, Stop> {
    match value {
        Value::Str(text) => Ok(text.clone()),
        Value::Unknown(why) => Err(Stop::Unknown(interp.at, why.clone())),
        Value::Lib(_) => interp.unknown("a text of a library is not known"),
        _ => interp.raise(format!("a str is wanted here, not a {}", type_name(value))),
    }
}

/// The number that an argument must be.
pub(super) fn number<'a>(interp: &Interp<'a>, value: &Value<'a>) -> Result<f64, Stop> {
    match value {
        Value::Bool(value) => Ok(f64::from(u8::from(*value))),
        Value::Int(value) => Ok(*value as f64),
        Value::Float(value) => Ok(*value),
        Value::Unknown(why) => Err(Stop::Unknown(interp.at, why.clone())),
        Value::Tensor(_) | Value::Lib(_) => interp.unknown("this number is not known before the kernel runs"),
        _ => interp.raise(format!("a number is wanted here, not a {}", type_name(value))),
    }
}

/// `==` of two host values; `None` where it is not known.
pub fn same<'a>(a: &Value<'a>, b: &Value<'a>) -> Option<bool> {
    kinds::same(a, b, 0)
}

/// The order of two host values; `None` where they have none.
pub fn order<'a>(a: &Value<'a>, b: &Value<'a>) -> Option<Ordering> {
    kinds::order(a, b, 0)
}
