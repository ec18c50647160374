//! Parts of one tensor: which of them have nothing in common.

use std::rc::Rc;

use base::Quantity;

use super::sizes::Quantities;
use super::thing::{Along, Cut, OpenTensor, Thing};
use crate::library::Args;
use crate::specialization::Shared;
use crate::value::Value;
use torch::Memory;

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
        let dims = parts.iter().enumerate().filter(|(_, part)| !matches!(part, Value::None));
        for (dim, (at, part)) in (0i64..).zip(dims) {
            // Behind an ellipsis dimensions are counted from the end.
            let own = if ellipsis.is_some_and(|ellipsis| at > ellipsis) { dim - counted } else { dim };
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
        let (Value::Int(dim), index) = (args.pos.first()?, args.pos.get(1)?.clone()) else { return None };
        let dim = i64::try_from(*dim).ok()?;
        Some(Rc::new(Cut { of: of.dims.clone(), along: vec![(dim, Along::One(index))] }))
    }

    /// Whether two parts of a tensor have nothing in common.
    fn is_apart(&self, other: &Cut<'a>, quantities: &mut Quantities<'a>) -> bool {
        let mut apart = false;
        for (dim, one) in self.along.iter().filter(|_| Rc::ptr_eq(&self.of, &other.of)) {
            for (_, other) in other.along.iter().filter(|(of, _)| of == dim) {
                apart |= one.is_before(other, quantities) || other.is_before(one, quantities);
            }
        }
        apart
    }
}

impl<'a> Along<'a> {
    /// Whether all of it is before what another one takes. Places that are counted from the end are not compared with others.
    fn is_before(&self, other: &Along<'a>, quantities: &mut Quantities<'a>) -> bool {
        let (one, other, apart) = match (self, other) {
            (Along::One(one), Along::One(other) | Along::Range(Some(other), _)) => (one, other, 1),
            (Along::Range(_, Some(end)), Along::One(start) | Along::Range(Some(start), _)) => (end, start, 0),
            _ => return false,
        };
        match (quantities.of(one), quantities.of(other)) {
            (Some(Quantity::Known(one)), Some(Quantity::Known(other))) => {
                one + apart <= other && (one < 0) == (other < 0)
            }
            (Some(one), Some(other)) => apart == 0 && one.is_at_most(&other),
            _ => false,
        }
    }
}

/// Pairs of arguments of a launch that are of one storage, or may be, where it is not known of both where they lie in it.
pub(super) fn shared<'v, 'a>(
    arguments: &'v [(Rc<str>, Value<'a>)],
    quantities: &mut Quantities<'a>,
) -> Vec<(String, String, Shared)> {
    let mut tensors: Vec<(String, &'v OpenTensor<'a>)> = Vec::new();
    arguments.iter().for_each(|(name, value)| tensors_in(name.to_string(), value, &mut tensors));
    let mut pairs = Vec::new();
    for (at, (name, one)) in tensors.iter().enumerate() {
        let others = tensors.iter().skip(at + 1).filter(|(_, other)| other.memory.shares(&one.memory));
        for (other_name, other) in others {
            if one.memory.offset.and(other.memory.offset).is_some() {
                continue;
            }
            let cuts = one.cut.as_ref().zip(other.cut.as_ref());
            let how = if std::ptr::eq(*one, *other) {
                Shared::One
            } else if cuts.is_some_and(|(one, other)| one.is_apart(other, quantities)) {
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
