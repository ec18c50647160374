//! `list`, `tuple`, `dict` and `set`: making them, and their methods.

use python::eval::extent::{extend, held};
use std::cell::RefCell;
use std::rc::Rc;

use super::functions::{position, sort};
use super::kinds::type_name;
use super::numbers::index as place;
use super::values::{arg, items, list, same};
use python::interp::{Eval, Interp, Stop};
use python::library::{Bound, NOTHING, Part, Row};
use python::value::Value;

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("list", "iterable=()", 0, make_list),
        Row::new("tuple", "iterable=()", 0, make_tuple),
        Row::new("dict", "*args, **kwargs", 0, make_dict),
        Row::new("set", "iterable=()", 0, make_set),
        Row::new("frozenset", "iterable=()", 0, make_set),
        Row::new("list.append", "self, item", 0, append),
        Row::new("list.extend", "self, items", 0, extended),
        Row::new("list.insert", "self, index, item", 0, insert),
        Row::new("list.pop", "self, index=-1", 0, pop),
        Row::new("list.remove", "self, item", 0, remove),
        Row::new("list.clear", "self", 0, clear),
        Row::new("list.copy", "self", 0, copy),
        Row::new("list.reverse", "self", 0, reverse),
        Row::new("list.sort", "self, *, key=None, reverse=False", 0, sort_in_place),
        Row::new("list.index", "self, item", 0, index),
        Row::new("list.count", "self, item", 0, count),
        Row::new("tuple.index", "self, item", 0, index),
        Row::new("tuple.count", "self, item", 0, count),
        Row::new("dict.get", "self, key, default=None", 0, get),
        Row::new("dict.keys", "self", 0, keys),
        Row::new("dict.values", "self", 0, values),
        Row::new("dict.items", "self", 0, entries),
        Row::new("dict.pop", "self, key, default=None", 0, take),
        Row::new("dict.setdefault", "self, key, default=None", 0, set_default),
        Row::new("dict.update", "self, *args, **kwargs", 0, update),
        Row::new("dict.copy", "self", 0, copy),
        Row::new("dict.clear", "self", 0, clear),
        Row::new("set.add", "self, item", 0, add),
        Row::new("set.update", "self, *others", 0, add_all),
        Row::new("set.discard", "self, item", 0, discard),
        Row::new("set.remove", "self, item", 0, discard),
        Row::new("set.union", "self, *others", 0, union),
        Row::new("set.intersection", "self, other", 0, intersection),
        Row::new("set.difference", "self, other", 0, difference),
        Row::new("set.issubset", "self, other", 0, is_subset),
        Row::new("set.issuperset", "self, other", 0, is_superset),
        Row::new("set.copy", "self", 0, copy),
    ],
    ..NOTHING
};

type Items<'a> = Rc<RefCell<Vec<Value<'a>>>>;
type Entries<'a> = Rc<RefCell<Vec<(Value<'a>, Value<'a>)>>>;

fn elements<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, at: usize) -> Result<Vec<Value<'a>>, Stop> {
    match bound.at(at) {
        None => Ok(Vec::new()),
        Some(value) => items(interp, &value.clone()),
    }
}

fn make_list<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(list(elements(interp, bound, 0)?))
}

fn make_tuple<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(Value::Tuple(elements(interp, bound, 0)?.into()))
}

fn make_set<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let values = elements(interp, bound, 0)?;
    Ok(set(values))
}

/// A set of some values, each once.
fn set<'a>(values: Vec<Value<'a>>) -> Value<'a> {
    let mut unique: Vec<Value<'a>> = Vec::new();
    for value in values {
        if !unique.iter().any(|known| same(known, &value) == Some(true)) {
            unique.push(value);
        }
    }
    Value::Set(Rc::new(unique.into()))
}

fn make_dict<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let mut entries = Vec::new();
    merge(interp, bound, &mut entries)?;
    Ok(Value::Dict(Rc::new(entries.into())))
}

/// What `dict(…)` and `update(…)` are given.
fn merge<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, into: &mut Vec<(Value<'a>, Value<'a>)>) -> Result<(), Stop> {
    for from in &bound.rest {
        if let Value::Dict(entries) = from {
            for (key, value) in entries.borrow().iter() {
                put(into, key.clone(), value.clone());
            }
            continue;
        }
        for pair in items(interp, from)? {
            match items(interp, &pair)?.as_slice() {
                [key, value] => put(into, key.clone(), value.clone()),
                _ => return interp.raise("a dict is made of pairs"),
            }
        }
    }
    for (key, value) in &bound.more {
        put(into, Value::Str(key.clone()), value.clone());
    }
    Ok(())
}

/// Sets the value of a key.
pub(super) fn put<'a>(entries: &mut Vec<(Value<'a>, Value<'a>)>, key: Value<'a>, value: Value<'a>) {
    match entries.iter_mut().find(|entry| same(&entry.0, &key) == Some(true)) {
        Some(entry) => entry.1 = value,
        None => entries.push((key, value)),
    }
}

/// The value of a key.
pub(super) fn find<'a>(entries: &[(Value<'a>, Value<'a>)], key: &Value<'a>) -> Option<Value<'a>> {
    entries.iter().find(|entry| same(&entry.0, key) == Some(true)).map(|entry| entry.1.clone())
}

fn own<'a>(interp: &Interp<'a>, bound: &Bound<'a>) -> Result<Items<'a>, Stop> {
    match bound.at(0) {
        Some(Value::List(items) | Value::Set(items)) => Ok(items.clone()),
        Some(Value::Tuple(items)) => Ok(Rc::new(items.to_vec().into())),
        other => interp.raise(format!("a {} has no such method", other.map_or("value".into(), type_name))),
    }
}

fn own_entries<'a>(interp: &Interp<'a>, bound: &Bound<'a>) -> Result<Entries<'a>, Stop> {
    match bound.at(0) {
        Some(Value::Dict(entries)) => Ok(entries.clone()),
        other => interp.raise(format!("a {} has no such method", other.map_or("value".into(), type_name))),
    }
}

fn append<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let values = own(interp, bound)?;
    extend(&arg(bound, 0), &values, vec![arg(bound, 1)]);
    Ok(Value::None)
}

fn extended<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (values, more) = (own(interp, bound)?, elements(interp, bound, 1)?);
    extend(&arg(bound, 0), &values, more);
    Ok(Value::None)
}

fn insert<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let values = own(interp, bound)?;
    let at = interp.int(&arg(bound, 1))?;
    let length = values.borrow().len() as i128;
    let at = (if at < 0 { at + length } else { at }).clamp(0, length) as usize;
    values.borrow_mut().insert(at, held(&arg(bound, 0), arg(bound, 2)));
    Ok(Value::None)
}

fn pop<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let values = own(interp, bound)?;
    let length = values.borrow().len();
    let at = bound.at(1).cloned().unwrap_or(Value::Int(-1));
    match place(interp, &at, length)? {
        Some(at) => Ok(values.borrow_mut().remove(at)),
        None => interp.raise("the list has no such element"),
    }
}

fn remove<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let values = own(interp, bound)?;
    let at = position(interp, &values.borrow(), &arg(bound, 1))?;
    match at {
        Some(at) => drop(values.borrow_mut().remove(at)),
        None => return interp.raise("the list has no such element"),
    }
    Ok(Value::None)
}

fn clear<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    match bound.at(0) {
        Some(Value::Dict(entries)) => entries.borrow_mut().clear(),
        _ => own(interp, bound)?.borrow_mut().clear(),
    }
    Ok(Value::None)
}

fn copy<'a>(_: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(shallow(&arg(bound, 0)))
}

/// A container of its own with the same elements.
pub(super) fn shallow<'a>(value: &Value<'a>) -> Value<'a> {
    match value {
        Value::List(items) => list(items.borrow().clone()),
        Value::Set(items) => Value::Set(Rc::new(items.borrow().clone().into())),
        Value::Dict(entries) => Value::Dict(Rc::new(entries.borrow().clone().into())),
        other => other.clone(),
    }
}

fn reverse<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    own(interp, bound)?.borrow_mut().reverse();
    Ok(Value::None)
}

fn sort_in_place<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let values = own(interp, bound)?;
    let unsorted = values.borrow().clone();
    let sorted = sort(interp, unsorted, bound.get("key"), bound.get("reverse"))?;
    *values.borrow_mut() = sorted;
    Ok(Value::None)
}

fn index<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let values = own(interp, bound)?;
    let at = position(interp, &values.borrow(), &arg(bound, 1))?;
    match at {
        Some(at) => Ok(Value::Int(at as i128)),
        None => interp.raise("there is no such element"),
    }
}

fn count<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (values, wanted) = (own(interp, bound)?, arg(bound, 1));
    let count = values.borrow().iter().filter(|value| same(value, &wanted) == Some(true)).count();
    Ok(Value::Int(count as i128))
}

fn get<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let entries = own_entries(interp, bound)?;
    let found = find(&entries.borrow(), &arg(bound, 1));
    Ok(found.unwrap_or_else(|| arg(bound, 2)))
}

fn keys<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(list(own_entries(interp, bound)?.borrow().iter().map(|entry| entry.0.clone()).collect()))
}

fn values<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(list(own_entries(interp, bound)?.borrow().iter().map(|entry| entry.1.clone()).collect()))
}

fn entries<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let entries = own_entries(interp, bound)?;
    let pairs =
        entries.borrow().iter().map(|(key, value)| Value::Tuple(Rc::from([key.clone(), value.clone()]))).collect();
    Ok(list(pairs))
}

fn take<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (entries, key) = (own_entries(interp, bound)?, arg(bound, 1));
    let at = entries.borrow().iter().position(|entry| same(&entry.0, &key) == Some(true));
    match (at, bound.at(2)) {
        (Some(at), _) => Ok(entries.borrow_mut().remove(at).1),
        (None, Some(default)) => Ok(default.clone()),
        (None, None) => interp.raise("the dict has no such key"),
    }
}

fn set_default<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (entries, key) = (own_entries(interp, bound)?, arg(bound, 1));
    let found = find(&entries.borrow(), &key);
    Ok(found.unwrap_or_else(|| {
        entries.borrow_mut().push((key, held(&arg(bound, 0), arg(bound, 2))));
        arg(bound, 2)
    }))
}

fn update<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let entries = own_entries(interp, bound)?;
    let mut merged = entries.borrow().clone();
    merge(interp, bound, &mut merged)?;
    let whole = arg(bound, 0);
    merged.iter_mut().for_each(|(_, value)| *value = held(&whole, value.clone()));
    *entries.borrow_mut() = merged;
    Ok(Value::None)
}

fn add<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (values, item) = (own(interp, bound)?, arg(bound, 1));
    if !contains(&values.borrow(), &item) {
        values.borrow_mut().push(item);
    }
    Ok(Value::None)
}

fn contains<'a>(values: &[Value<'a>], item: &Value<'a>) -> bool {
    values.iter().any(|value| same(value, item) == Some(true))
}

fn joined<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Result<Vec<Value<'a>>, Stop> {
    let mut all = own(interp, bound)?.borrow().clone();
    for other in &bound.rest {
        all.extend(items(interp, other)?);
    }
    Ok(all)
}

fn add_all<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let Value::Set(all) = set(joined(interp, bound)?) else { return Ok(Value::None) };
    *own(interp, bound)?.borrow_mut() = all.take();
    Ok(Value::None)
}

fn union<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(set(joined(interp, bound)?))
}

fn discard<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let item = arg(bound, 1);
    own(interp, bound)?.borrow_mut().retain(|value| same(value, &item) != Some(true));
    Ok(Value::None)
}

/// Elements of the set, by whether the other one has them.
fn by<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, within: bool) -> Result<Vec<Value<'a>>, Stop> {
    let other = elements(interp, bound, 1)?;
    let mut all = own(interp, bound)?.borrow().clone();
    all.retain(|value| contains(&other, value) == within);
    Ok(all)
}

fn intersection<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(set(by(interp, bound, true)?))
}

fn difference<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(set(by(interp, bound, false)?))
}

fn is_subset<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(Value::Bool(by(interp, bound, false)?.is_empty()))
}

fn is_superset<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let own = own(interp, bound)?.borrow().clone();
    Ok(Value::Bool(elements(interp, bound, 1)?.iter().all(|value| contains(&own, value))))
}
