//! Python's functions on sequences and iterables.

use std::cmp::Ordering;
use std::rc::Rc;

use super::kinds::type_name;
use super::values::{arg, call, count, items, known, list, order, same};
use python::interp::{Eval, ExecMode, Interp, Stop};
use python::library::{Bound, NOTHING, Part, Row};
use python::value::{ClassKind, Value};

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("len", "obj", 0, len),
        Row::new("min", "*args, key=None, default=None", 0, min),
        Row::new("max", "*args, key=None, default=None", 0, max),
        Row::new("sum", "iterable, start=0", 0, sum),
        Row::new("any", "iterable", 0, any),
        Row::new("all", "iterable", 0, all),
        Row::new("zip", "*iterables, strict=False", 0, zip),
        Row::new("enumerate", "iterable, start=0", 0, enumerate),
        Row::new("reversed", "sequence", 0, reversed),
        Row::new("sorted", "iterable, *, key=None, reverse=False", 0, sorted),
        Row::new("map", "function, *iterables", 0, map),
        Row::new("filter", "function, iterable", 0, filter),
        Row::new("iter", "iterable", 0, iter),
        Row::new("next", "iterator, default=None", 0, next),
    ],
    ..NOTHING
};

/// How many elements a value has.
pub(super) fn length<'a>(interp: &mut Interp<'a>, value: &Value<'a>) -> Result<usize, Stop> {
    Ok(match value {
        Value::Tuple(items) => items.len(),
        Value::List(items) | Value::Set(items) => items.borrow().len(),
        Value::Dict(entries) => entries.borrow().len(),
        Value::Str(text) => text.chars().count(),
        Value::Range(range) => {
            let (start, stop, step) = (interp.int(&range.start)?, interp.int(&range.stop)?, interp.int(&range.step)?);
            count(start, stop, step).and_then(|count| usize::try_from(count).ok()).unwrap_or(0)
        }
        Value::Tensor(tensor) => match tensor.shape.first() {
            Some(size) => usize::try_from(*size).unwrap_or(0),
            None => return interp.raise("a scalar has no `len`"),
        },
        Value::Instance(instance) if instance.class.kind == ClassKind::NamedTuple => instance.fields.borrow().len(),
        Value::Instance(_) => {
            let method = interp.attribute(value, "__len__")?;
            let length = call(interp, &method, Vec::new())?;
            usize::try_from(interp.int(&length)?).unwrap_or(0)
        }
        Value::Unknown(why) => return Err(Stop::Unknown(interp.at, why.clone())),
        Value::Lib(_) => return interp.unknown("how long this is is not known"),
        _ => return interp.raise(format!("a {} has no `len`", type_name(value))),
    })
}

fn len<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(Value::Int(length(interp, &arg(bound, 0))? as i128))
}

fn min<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    extreme(interp, bound, Ordering::Less)
}

fn max<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    extreme(interp, bound, Ordering::Greater)
}

fn extreme<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, wanted: Ordering) -> Eval<'a> {
    let values = match bound.rest.as_slice() {
        [one] => items(interp, one)?,
        more => more.to_vec(),
    };
    if interp.mode == ExecMode::Device && values.iter().any(|value| matches!(value, Value::Tensor(_))) {
        let mut values = values.into_iter();
        let Some(mut best) = values.next() else { return interp.raise("there is nothing to choose from") };
        for value in values {
            best = crate::tensor::extreme(interp, &best, &value, wanted == Ordering::Greater)?;
        }
        return Ok(best);
    }
    let key = bound.get("key").cloned().unwrap_or(Value::None);
    let mut best: Option<(Value<'a>, Value<'a>)> = None;
    for value in values {
        let by = keyed(interp, &key, &value)?;
        let better = match &best {
            None => true,
            Some((_, than)) => compare(interp, &by, than)? == wanted,
        };
        if better {
            best = Some((value, by));
        }
    }
    match (best, bound.get("default")) {
        (Some((value, _)), _) => Ok(value),
        (None, Some(default)) => Ok(default.clone()),
        (None, None) => interp.raise("there is nothing to choose from"),
    }
}

fn keyed<'a>(interp: &mut Interp<'a>, key: &Value<'a>, value: &Value<'a>) -> Eval<'a> {
    match key {
        Value::None => Ok(value.clone()),
        key => call(interp, key, vec![value.clone()]),
    }
}

fn compare<'a>(interp: &Interp<'a>, a: &Value<'a>, b: &Value<'a>) -> Result<Ordering, Stop> {
    match order(a, b) {
        Some(order) => Ok(order),
        None => interp.unknown(format!("a {} and a {} are not compared", type_name(a), type_name(b))),
    }
}

fn sum<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let mut total = bound.at(1).cloned().unwrap_or(Value::Int(0));
    for value in items(interp, &arg(bound, 0))? {
        total = interp.binary(ruff_python_ast::Operator::Add, &total, &value)?;
    }
    Ok(total)
}

fn any<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    truth_of(interp, bound, true)
}

fn all<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    truth_of(interp, bound, false)
}

/// Whether some element is `wanted`, given back as `wanted`.
fn truth_of<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>, wanted: bool) -> Eval<'a> {
    let mut open = false;
    for value in items(interp, &arg(bound, 0))? {
        match interp.truth(&value) {
            Some(truth) if truth == wanted => return Ok(Value::Bool(wanted)),
            Some(_) => {}
            None => open = true,
        }
    }
    if open { interp.unknown("whether this is true is not known here") } else { Ok(Value::Bool(!wanted)) }
}

fn zip<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let mut columns = Vec::new();
    for column in &bound.rest {
        columns.push(items(interp, column)?);
    }
    Ok(list(rows(&columns)))
}

/// Tuples of the first, second … elements, as many as the shortest has.
fn rows<'a>(columns: &[Vec<Value<'a>>]) -> Vec<Value<'a>> {
    let length = columns.iter().map(Vec::len).min().unwrap_or(0);
    let row = |at: usize| columns.iter().filter_map(|column| column.get(at).cloned()).collect::<Vec<_>>();
    (0..length).map(|at| Value::Tuple(row(at).into())).collect()
}

fn enumerate<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let start = match bound.at(1) {
        Some(start) => interp.int(start)?,
        None => 0,
    };
    let pairs = items(interp, &arg(bound, 0))?.into_iter().enumerate();
    Ok(list(pairs.map(|(at, value)| Value::Tuple(Rc::from([Value::Int(start + at as i128), value]))).collect()))
}

fn reversed<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let mut values = items(interp, &arg(bound, 0))?;
    values.reverse();
    Ok(list(values))
}

fn sorted<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let values = items(interp, &arg(bound, 0))?;
    Ok(list(sort(interp, values, bound.get("key"), bound.get("reverse"))?))
}

/// Sorted by a key, in a stable way.
pub(super) fn sort<'a>(
    interp: &mut Interp<'a>,
    values: Vec<Value<'a>>,
    key: Option<&Value<'a>>,
    reverse: Option<&Value<'a>>,
) -> Result<Vec<Value<'a>>, Stop> {
    let reverse = match reverse {
        Some(reverse) => known(interp, reverse)?,
        None => false,
    };
    let key = key.cloned().unwrap_or(Value::None);
    let mut keyed_values = Vec::new();
    for value in values {
        keyed_values.push((keyed(interp, &key, &value)?, value));
    }
    let mut orderless = false;
    keyed_values.sort_by(|a, b| {
        let found = order(&a.0, &b.0).unwrap_or_else(|| {
            orderless = true;
            Ordering::Equal
        });
        if reverse { found.reverse() } else { found }
    });
    if orderless {
        return interp.unknown("the order of these values is not known");
    }
    Ok(keyed_values.into_iter().map(|(_, value)| value).collect())
}

fn map<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let mut columns = Vec::new();
    for column in &bound.rest {
        columns.push(items(interp, column)?);
    }
    let mut results = Vec::new();
    for row in rows(&columns) {
        let Value::Tuple(row) = row else { continue };
        results.push(call(interp, &arg(bound, 0), row.to_vec())?);
    }
    Ok(list(results))
}

fn filter<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let function = arg(bound, 0);
    let mut kept = Vec::new();
    for value in items(interp, &arg(bound, 1))? {
        let verdict = keyed(interp, &function, &value)?;
        if known(interp, &verdict)? {
            kept.push(value);
        }
    }
    Ok(list(kept))
}

fn iter<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    Ok(list(items(interp, &arg(bound, 0))?))
}

/// Takes the first element away: an iterator is a list of its own.
fn next<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    if let Value::List(values) = arg(bound, 0) {
        let mut values = values.borrow_mut();
        if !values.is_empty() {
            return Ok(values.remove(0));
        }
    } else if let Some(first) = items(interp, &arg(bound, 0))?.into_iter().next() {
        return Ok(first);
    }
    match bound.at(1) {
        Some(default) => Ok(default.clone()),
        None => interp.raise("there is no next element"),
    }
}

/// Where a value stands in a list; `None` where it is not in it.
pub(super) fn position<'a>(
    interp: &Interp<'a>,
    values: &[Value<'a>],
    wanted: &Value<'a>,
) -> Result<Option<usize>, Stop> {
    for (at, value) in values.iter().enumerate() {
        match same(value, wanted) {
            Some(true) => return Ok(Some(at)),
            Some(false) => {}
            None => return interp.unknown("whether these are equal is not known"),
        }
    }
    Ok(None)
}
