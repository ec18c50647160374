//! Parts of one tensor: which of them have nothing in common.

use std::rc::Rc;

use base::Operation;

use super::thing::{Dims, Memory, OpenNumber, OpenTensor, Origin, Thing};
use super::torch::int;
use crate::library::Args;
use crate::limits::open::DEPTH;
use crate::specialization::Shared;
use crate::value::Value;

/// What an index takes of a tensor.
#[derive(Clone, Debug)]
pub(super) struct Cut<'a> {
    /// The tensor that it is taken of.
    of: Rc<Dims<'a>>,
    /// By dimension, from 0 or from the end.
    along: Vec<(i64, Along<'a>)>,
}

/// What it takes along a dimension.
#[derive(Clone, Debug)]
enum Along<'a> {
    One(Value<'a>),
    /// From one place to before another one; the ends where there is none.
    Range(Option<Value<'a>>, Option<Value<'a>>),
}

impl<'a> Cut<'a> {
    /// `tensor[index]`. Of a part of a tensor it is within that part.
    pub(super) fn by_index(of: &OpenTensor<'a>, index: &Value<'a>) -> Option<Rc<Cut<'a>>> {
        if of.cut.is_some() {
            return of.cut.clone();
        }
        let parts: &[Value<'a>] = match index {
            Value::Tuple(parts) => parts,
            one => std::slice::from_ref(one),
        };
        let ellipsis = parts.iter().position(|part| matches!(part, Value::Ellipsis));
        let counted = parts.iter().filter(|part| !matches!(part, Value::None)).count() as i64;
        let mut along = Vec::new();
        let mut dim = 0;
        for (at, part) in parts.iter().enumerate().filter(|(_, part)| !matches!(part, Value::None)) {
            // Behind an ellipsis dimensions are counted from the end.
            let own = if ellipsis.is_some_and(|ellipsis| at > ellipsis) { dim - counted } else { dim };
            dim += 1;
            match part {
                Value::Slice(bounds) if matches!(bounds[2], Value::None | Value::Int(1)) => {
                    let given = |bound: &Value<'a>| (!matches!(bound, Value::None)).then(|| bound.clone());
                    along.push((own, Along::Range(given(&bounds[0]), given(&bounds[1]))));
                }
                Value::Int(_) | Value::Host(_) => along.push((own, Along::One(part.clone()))),
                _ => {}
            }
        }
        Some(Rc::new(Cut { of: of.dims.clone(), along }))
    }

    /// `tensor.select(dim, index)`.
    pub(super) fn by_selection(of: &OpenTensor<'a>, args: &Args<'a>) -> Option<Rc<Cut<'a>>> {
        if of.cut.is_some() {
            return of.cut.clone();
        }
        let (dim, index) = (args.pos.first().and_then(int)?, args.pos.get(1)?.clone());
        Some(Rc::new(Cut { of: of.dims.clone(), along: vec![(dim, Along::One(index))] }))
    }

    /// Whether two parts of a tensor have nothing in common.
    fn is_apart(&self, other: &Cut<'a>) -> bool {
        Rc::ptr_eq(&self.of, &other.of)
            && self.along.iter().any(|(dim, one)| {
                let same = other.along.iter().filter(|(of, _)| of == dim);
                same.into_iter().any(|(_, other)| one.is_before(other) || other.is_before(one))
            })
    }
}

impl<'a> Along<'a> {
    /// Whether all of it is before what another one takes.
    fn is_before(&self, other: &Along<'a>) -> bool {
        match (self, other) {
            (Along::One(one), Along::One(other)) => match (int(one), int(other)) {
                (Some(one), Some(other)) => one < other && (one < 0) == (other < 0),
                _ => false,
            },
            (Along::One(one), Along::Range(Some(start), _)) => {
                matches!((int(one), int(start)), (Some(one), Some(start)) if 0 <= one && one < start)
            }
            (Along::Range(_, Some(end)), Along::One(start) | Along::Range(Some(start), _)) => {
                at_most(end, start, DEPTH)
            }
            _ => false,
        }
    }
}

/// Whether a place is not behind another one whatever sizes are, none of them negative.
fn at_most(one: &Value<'_>, other: &Value<'_>, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    if is_same(one, other, depth) {
        return true;
    }
    if let (Some(one), Some(other)) = (int(one), int(other)) {
        return one <= other && (one < 0) == (other < 0);
    }
    let Value::Host(thing) = other else { return false };
    let Thing::OpenNumber(OpenNumber::Int, Origin::Made(op, parts)) = &**thing else { return false };
    let factor = |part: &Value<'_>| int(part).is_some_and(|factor| factor > 0);
    let term = |part: &Value<'_>| int(part).is_none_or(|term| term >= 0);
    match op {
        Operation::Add => {
            (at_most(one, &parts.0, depth) && term(&parts.1)) || (at_most(one, &parts.1, depth) && term(&parts.0))
        }
        Operation::Mul => {
            (at_most(one, &parts.0, depth) && factor(&parts.1)) || (at_most(one, &parts.1, depth) && factor(&parts.0))
        }
        _ => false,
    }
}

/// Whether two values are one number.
fn is_same(one: &Value<'_>, other: &Value<'_>, depth: u32) -> bool {
    if let (Some(one), Some(other)) = (int(one), int(other)) {
        return one == other;
    }
    let (Value::Host(one), Value::Host(other), Some(depth)) = (one, other, depth.checked_sub(1)) else { return false };
    if std::ptr::addr_eq(Rc::as_ptr(one), Rc::as_ptr(other)) {
        return true;
    }
    match (&**one, &**other) {
        (Thing::OpenNumber(_, Origin::Made(a, x)), Thing::OpenNumber(_, Origin::Made(b, y))) => {
            a == b && is_same(&x.0, &y.0, depth) && is_same(&x.1, &y.1, depth)
        }
        _ => false,
    }
}

/// Pairs of arguments of a launch that are of one storage, or may be, where it is not known of both where they lie in it.
pub(super) fn shared(arguments: &[(Rc<str>, Value<'_>)]) -> Vec<(String, String, Shared)> {
    let mut tensors: Vec<(String, &OpenTensor<'_>)> = Vec::new();
    arguments.iter().for_each(|(name, value)| tensors_in(name.to_string(), value, &mut tensors));
    let mut pairs = Vec::new();
    for (at, (name, one)) in tensors.iter().enumerate() {
        let others = tensors.iter().skip(at + 1).filter(|(_, other)| other.memory.shares(&one.memory));
        for (other_name, other) in others {
            if one.memory.offset.and(other.memory.offset).is_some() {
                continue;
            }
            let cuts = one.cut.as_ref().zip(other.cut.as_ref());
            let how = if cuts.is_some_and(|(one, other)| one.is_apart(other)) {
                Shared::Apart
            } else if !one.memory.perhaps_copied && !other.memory.perhaps_copied {
                Shared::Parts
            } else if begin(&one.memory).is_some() && begin(&one.memory) == begin(&other.memory) {
                Shared::OneOrCopy
            } else {
                Shared::PartsOrCopy
            };
            pairs.push((name.clone(), other_name.clone(), how));
        }
    }
    pairs
}

/// Where a tensor begins unless it is a copy.
fn begin(memory: &Memory) -> Option<i64> {
    memory.offset.or(memory.unless_copied)
}

fn tensors_in<'v, 'a>(name: String, value: &'v Value<'a>, all: &mut Vec<(String, &'v OpenTensor<'a>)>) {
    match value {
        Value::Tuple(items) => {
            for (at, item) in items.iter().enumerate() {
                tensors_in(format!("{name}.{at}"), item, all);
            }
        }
        Value::Host(thing) => {
            if let Thing::OpenTensor(tensor) = &**thing {
                all.push((name, tensor));
            }
        }
        _ => {}
    }
}
