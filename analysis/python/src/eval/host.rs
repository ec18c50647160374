//! What Python itself computes: numbers, texts and collections.

use std::cmp::Ordering;
use std::rc::Rc;

use ruff_python_ast::Operator;

use super::extent::{ITEMS, TOO_LONG, copied};
use crate::host;
use crate::interp::{Eval, Interp, Stop};
use crate::limits::host::{COMPARISONS, NESTED, TEXT};
use crate::value::{ClassKind, FnKind, Range, Value};

/// Bytes of a text that are copied in the time of an item.
const BYTES_OF_AN_ITEM: usize = 512;

/// Python's `==`, for what it can be told of; what [`compared`] gives up on is not equal.
pub(super) fn equal<'a>(a: &Value<'a>, b: &Value<'a>) -> bool {
    compared(a, b).unwrap_or(false)
}

/// Python's `==`, for what it can be told of; `None` where a part of a value is not known, and where the values are
/// nested too deeply, hold themselves, or share so many parts that comparing them would not end.
pub(super) fn compared<'a>(a: &Value<'a>, b: &Value<'a>) -> Option<bool> {
    let mut comparison = Comparison { depth: 0, left: COMPARISONS };
    comparison.equal(a, b)
}

/// A comparison of two values that goes on.
struct Comparison {
    depth: u32,
    left: u32,
}

impl Comparison {
    fn equal<'a>(&mut self, a: &Value<'a>, b: &Value<'a>) -> Option<bool> {
        self.left = self.left.checked_sub(1)?;
        if self.depth >= NESTED {
            return None;
        }
        self.depth += 1;
        let equal = self.parts(a, b);
        self.depth -= 1;
        equal
    }

    /// Whether two sequences are equal, item by item.
    fn all<'v, 'a: 'v>(&mut self, pairs: impl Iterator<Item = (&'v Value<'a>, &'v Value<'a>)>) -> Option<bool> {
        for (a, b) in pairs {
            if !self.equal(a, b)? {
                return Some(false);
            }
        }
        Some(true)
    }

    fn sequences<'a>(&mut self, a: &[Value<'a>], b: &[Value<'a>]) -> Option<bool> {
        if a.len() != b.len() { Some(false) } else { self.all(a.iter().zip(b)) }
    }

    /// Whether each of some items has an equal one among others.
    fn each_in<'v, 'a: 'v, T>(
        &mut self,
        items: &'v [T],
        others: &'v [T],
        same: fn(&mut Comparison, &'v T, &'v T) -> Option<bool>,
    ) -> Option<bool> {
        if items.len() != others.len() {
            return Some(false);
        }
        for item in items {
            let mut found = false;
            for other in others {
                found = same(self, item, other)?;
                if found {
                    break;
                }
            }
            if !found {
                return Some(false);
            }
        }
        Some(true)
    }

    fn parts<'a>(&mut self, a: &Value<'a>, b: &Value<'a>) -> Option<bool> {
        let number = |value: &Value<'a>| match value {
            Value::Bool(bool) => Some(i128::from(*bool)),
            Value::Int(int) => Some(*int),
            _ => None,
        };
        if let (Some(a), Some(b)) = (number(a), number(b)) {
            return Some(a == b);
        }
        if matches!(a, Value::Unknown(_)) || matches!(b, Value::Unknown(_)) {
            return None;
        }
        Some(match (a, b) {
            (Value::None, Value::None) | (Value::Ellipsis, Value::Ellipsis) => true,
            (Value::Float(a), Value::Float(b)) => a == b,
            (Value::Float(float), other) | (other, Value::Float(float)) => {
                number(other).is_some_and(|n| n as f64 == *float)
            }
            (Value::Str(a), Value::Str(b)) => a == b,
            (Value::Tuple(a), Value::Tuple(b)) => Rc::ptr_eq(a, b) || self.sequences(a, b)?,
            (Value::List(a), Value::List(b)) => Rc::ptr_eq(a, b) || self.sequences(&a.borrow(), &b.borrow())?,
            // In the kernel lists are tuples, and are compared with lists of constants.
            (Value::Tuple(a), Value::List(b)) | (Value::List(b), Value::Tuple(a)) => self.sequences(a, &b.borrow())?,
            (Value::Set(a), Value::Set(b)) => {
                Rc::ptr_eq(a, b) || self.each_in(&a.borrow(), &b.borrow(), |it, a, b| it.equal(a, b))?
            }
            (Value::Dict(a), Value::Dict(b)) => {
                let same =
                    |it: &mut Comparison, (key, value): &(Value<'a>, Value<'a>), (k, v): &(Value<'a>, Value<'a>)| {
                        Some(it.equal(key, k)? && it.equal(value, v)?)
                    };
                Rc::ptr_eq(a, b) || self.each_in(&a.borrow(), &b.borrow(), same)?
            }
            (Value::DType(a), Value::DType(b)) => a == b,
            (Value::Lib(a) | Value::Type(a), Value::Lib(b) | Value::Type(b)) => a == b,
            (Value::Builtin(a), Value::Builtin(b)) => std::ptr::eq(*a, *b),
            (Value::LibClass(a), Value::LibClass(b)) => std::ptr::eq(*a, *b),
            (Value::Function(a), Value::Function(b)) => Rc::ptr_eq(a, b) || std::ptr::eq(a.def.name(), b.def.name()),
            (Value::Class(a), Value::Class(b)) => Rc::ptr_eq(a, b),
            (Value::Module(a), Value::Module(b)) => Rc::ptr_eq(a, b),
            (Value::Host(a), Value::Host(b)) => Rc::ptr_eq(a, b),
            (Value::Object(a), Value::Object(b)) => {
                std::ptr::eq(a.class, b.class)
                    && a.fields.len() == b.fields.len()
                    && self.all(a.fields.iter().zip(&b.fields).map(|((_, a), (_, b))| (a, b)))?
            }
            (Value::Instance(a), Value::Instance(b)) => {
                let by_fields =
                    || Rc::ptr_eq(&a.class, &b.class) && !matches!(a.class.kind, ClassKind::Plain | ClassKind::Enum);
                Rc::ptr_eq(a, b)
                    || (by_fields() && {
                        let (a, b) = (a.fields.borrow(), b.fields.borrow());
                        a.len() == b.len() && self.all(a.iter().zip(b.iter()).map(|((_, a), (_, b))| (a, b)))?
                    })
            }
            (Value::Tensor(a), Value::Tensor(b)) => a.ssa.is_some() && a.ssa == b.ssa,
            (Value::MemDesc(a), Value::MemDesc(b)) => a.ssa == b.ssa,
            (Value::TensorDesc(a), Value::TensorDesc(b)) => a.ssa == b.ssa,
            _ => false,
        })
    }
}

/// Python's order, for what has one.
pub(super) fn order<'a>(a: &Value<'a>, b: &Value<'a>) -> Option<Ordering> {
    let exact = |value: &Value<'a>| match value {
        Value::Bool(bool) => Some(i128::from(*bool)),
        Value::Int(int) => Some(*int),
        _ => None,
    };
    let rough = |value: &Value<'a>| match value {
        Value::Float(float) => Some(*float),
        other => exact(other).map(|int| int as f64),
    };
    let list = |a: &[Value<'a>], b: &[Value<'a>]| {
        for (a, b) in a.iter().zip(b) {
            match order(a, b)? {
                Ordering::Equal => {}
                other => return Some(other),
            }
        }
        Some(a.len().cmp(&b.len()))
    };
    match (a, b) {
        (Value::Str(a), Value::Str(b)) => Some(a.cmp(b)),
        (Value::Tuple(a), Value::Tuple(b)) => list(a, b),
        (Value::List(a), Value::List(b)) => list(&a.borrow(), &b.borrow()),
        _ => match (exact(a), exact(b)) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            _ => rough(a)?.partial_cmp(&rough(b)?),
        },
    }
}

/// A Python index as a place.
pub(super) fn index(index: i128, len: usize) -> Option<usize> {
    let at = if index < 0 { index + len as i128 } else { index };
    usize::try_from(at).ok().filter(|at| *at < len)
}

/// What a slice means of a sequence.
pub(super) struct SlicePlaces {
    /// Where it begins: what is assigned to an empty one goes there.
    pub(super) start: usize,
    /// Whether its step is one: what is assigned to it may have another length.
    pub(super) is_stretch: bool,
    /// The places, in the order of the slice.
    pub(super) places: Vec<usize>,
}

impl<'a> Interp<'a> {
    /// The items of something that can be run through.
    pub fn items(&mut self, value: &Value<'a>) -> Result<Vec<Value<'a>>, Stop> {
        Ok(match value {
            Value::Tuple(items) => items.to_vec(),
            Value::List(items) | Value::Set(items) => items.borrow().clone(),
            Value::Dict(items) => items.borrow().iter().map(|(key, _)| key.clone()).collect(),
            Value::Str(text) => text.chars().map(|c| Value::Str(c.to_string().into())).collect(),
            Value::Range(range) => self.numbers(range)?.map(Value::Int).collect(),
            Value::Instance(instance) if instance.class.kind == ClassKind::NamedTuple => {
                instance.fields.borrow().iter().map(|(_, value)| value.clone()).collect()
            }
            Value::Class(class) if class.kind == ClassKind::Enum => {
                let names = class.scope.names.borrow();
                names
                    .iter()
                    .map(|(_, value)| value.clone())
                    .filter(|value| matches!(value, Value::Instance(_)))
                    .collect()
            }
            Value::Host(thing) => match host::items(thing) {
                Some(items) => items,
                None => return self.unknown("what is run through here is not known"),
            },
            Value::Unknown(reason) => return self.unknown(reason.clone()),
            Value::Lib(path) => return self.unknown(format!("what `{path}` holds is not known")),
            value => return self.raise(format!("{} cannot be run through", value.class_name())),
        })
    }

    /// The numbers of a range.
    pub(super) fn numbers(&self, range: &Range<'a>) -> Result<impl Iterator<Item = i128> + use<>, Stop> {
        let (start, stop, step) = (self.int(&range.start)?, self.int(&range.stop)?, self.int(&range.step)?);
        let (from, to) = if step > 0 { (start, stop) } else { (stop, start) };
        let count = match step {
            0 => 0,
            _ => to.saturating_sub(from).max(0).unsigned_abs().div_ceil(step.unsigned_abs()),
        };
        if count > ITEMS as u128 {
            return self.unknown(format!("a range of more than {ITEMS} numbers is not run through"));
        }
        Ok((0..count as i128).map(move |at| start.saturating_add(at.saturating_mul(step))))
    }

    /// A host integer.
    pub fn int(&self, value: &Value<'a>) -> Result<i128, Stop> {
        match value {
            Value::Int(int) => Ok(*int),
            Value::Bool(bool) => Ok(i128::from(*bool)),
            Value::Float(float) if float.fract() == 0.0 && float.abs() < 1e30 => Ok(*float as i128),
            Value::Unknown(reason) => self.unknown(reason.clone()),
            Value::Host(_) => self.unknown("this number is not known"),
            Value::Lib(path) => self.unknown(format!("the value of `{path}` is not known")),
            Value::Tensor(_) => self.raise("a constexpr is needed here, and this is computed by the kernel"),
            value => match value.member_number() {
                Some(number) => self.int(&number),
                None => self.raise(format!("a number is needed here, and this is {}", value.class_name())),
            },
        }
    }

    /// `whole[at]`.
    pub(super) fn item(&mut self, whole: &Value<'a>, at: &Value<'a>) -> Eval<'a> {
        match (whole, at) {
            (Value::Unknown(_), Value::Str(name)) => Ok(self.assumed(name).unwrap_or_else(|| whole.clone())),
            (Value::Unknown(_), _) => Ok(whole.clone()),
            (Value::Tuple(items), Value::Slice(parts)) => Ok(Value::Tuple(self.slice(items, parts)?.into())),
            (Value::List(items), Value::Slice(parts)) => {
                let items = items.borrow().clone();
                Ok(Value::List(Rc::new(self.slice(&items, parts)?.into())))
            }
            (Value::Str(text), Value::Slice(parts)) => {
                let chars: Vec<Value<'a>> = text.chars().map(|c| Value::Str(c.to_string().into())).collect();
                let text: String = self.slice(&chars, parts)?.iter().map(|c| self.str(c)).collect();
                Ok(Value::Str(text.into()))
            }
            (Value::Dict(items), _) => {
                let found = items.borrow().iter().find(|(key, _)| equal(key, at)).map(|(_, value)| value.clone());
                match found {
                    Some(found) => Ok(found),
                    None if self.follows_host() && host::is_unknown(at) => {
                        let all: Vec<Value<'a>> = items.borrow().iter().map(|(_, value)| value.clone()).collect();
                        let one = self.one_of(&all);
                        Ok(one.unwrap_or_else(|| Value::Unknown("which element this is is not known".into())))
                    }
                    None if matches!(at, Value::Unknown(_)) => Ok(at.clone()),
                    None => self.raise(format!("there is no key {}", self.repr(at))),
                }
            }
            (Value::Tuple(_) | Value::List(_), _)
                if self.follows_host() && host::is_unknown(at) && !matches!(at, Value::Slice(_)) =>
            {
                let all = self.items(whole)?;
                let one = self.one_of(&all);
                Ok(one.unwrap_or_else(|| Value::Unknown("which element this is is not known".into())))
            }
            (Value::Tuple(_) | Value::List(_) | Value::Str(_) | Value::Range(_), Value::Unknown(_)) => Ok(at.clone()),
            (Value::Tuple(_) | Value::List(_) | Value::Str(_) | Value::Range(_), _) => {
                let items = self.items(whole)?;
                let at = match at {
                    Value::Tensor(tensor) => match tensor.constant {
                        Some(constant) => constant,
                        None => self.int(at)?,
                    },
                    at => self.int(at)?,
                };
                match index(at, items.len()).and_then(|at| items.get(at)) {
                    Some(item) => Ok(item.clone()),
                    None => self.raise(format!("the index {at} is out of range: there are {}", items.len())),
                }
            }
            (Value::Instance(instance), _) if instance.class.kind == ClassKind::NamedTuple => {
                let items = self.items(whole)?;
                self.item(&Value::Tuple(items.into()), at)
            }
            (Value::Class(class), Value::Str(name)) if class.kind == ClassKind::Enum => self.attribute(whole, name),
            // A type with parameters.
            (Value::Class(_) | Value::Type(_) | Value::LibClass(_), _) => Ok(whole.clone()),
            (Value::Host(thing), _) => host::item(self, thing, at),
            (Value::Function(function), _) if function.kind == FnKind::Jit && self.follows_host() => {
                Ok(host::with_grid(whole, at))
            }
            (Value::Lib(path), _) => Ok(Value::Unknown(format!("an element of `{path}` is not known").into())),
            (Value::Builtin(_), _) => Ok(Value::Type("a type".into())),
            _ => {
                let method = match self.find_attribute(whole, "__getitem__")? {
                    Some(method) => method,
                    None => return self.unknown(format!("elements of {} are not followed", whole.class_name())),
                };
                let args = crate::library::Args { pos: vec![at.clone()], named: Vec::new() };
                self.call(&method, args, self.at)
            }
        }
    }

    fn slice(&mut self, items: &[Value<'a>], parts: &[Value<'a>; 3]) -> Result<Vec<Value<'a>>, Stop> {
        let SlicePlaces { places, .. } = self.slice_places(items.len(), parts)?;
        Ok(places.into_iter().filter_map(|at| items.get(at)).cloned().collect())
    }

    /// The places of a sequence of `len` items that a slice means.
    pub(super) fn slice_places(&mut self, len: usize, parts: &[Value<'a>; 3]) -> Result<SlicePlaces, Stop> {
        let len = len as i128;
        let step = match &parts[2] {
            Value::None => 1,
            step => self.int(step)?,
        };
        if step == 0 {
            return self.raise("the step of a slice is 0");
        }
        let (first, last) = if step > 0 { (0, len) } else { (-1, len - 1) };
        let bound = |part: &Value<'a>, default| {
            Ok::<i128, Stop>(match part {
                Value::None => default,
                part => {
                    let at = self.int(part)?;
                    (if at < 0 { at + len } else { at }).clamp(first, last)
                }
            })
        };
        let (start, stop) = if step > 0 {
            (bound(&parts[0], 0)?, bound(&parts[1], len)?)
        } else {
            (bound(&parts[0], len - 1)?, bound(&parts[1], -1)?)
        };
        let mut places = Vec::new();
        let mut at = start;
        while (step > 0 && at < stop) || (step < 0 && at > stop) {
            places.extend(usize::try_from(at).ok().filter(|at| (*at as i128) < len));
            at += step;
        }
        self.steps += copied(places.len());
        Ok(SlicePlaces { start: start.clamp(0, len) as usize, is_stretch: step == 1, places })
    }

    /// An operator on host values.
    pub(super) fn host_binary(&mut self, op: Operator, a: &Value<'a>, b: &Value<'a>) -> Eval<'a> {
        let int = |value: &Value<'a>| match value {
            Value::Bool(bool) => Some(i128::from(*bool)),
            Value::Int(int) => Some(*int),
            _ => None,
        };
        if let (Value::Bool(a), Value::Bool(b)) = (a, b) {
            match op {
                Operator::BitAnd => return Ok(Value::Bool(a & b)),
                Operator::BitOr => return Ok(Value::Bool(a | b)),
                Operator::BitXor => return Ok(Value::Bool(a ^ b)),
                _ => {}
            }
        }
        if let (Some(x), Some(y)) = (int(a), int(b)) {
            return self.int_binary(op, x, y);
        }
        let float = |value: &Value<'a>| match value {
            Value::Float(float) => Some(*float),
            other => int(other).map(|int| int as f64),
        };
        if let (Some(x), Some(y)) = (float(a), float(b)) {
            return self.float_binary(op, x, y);
        }
        let repeat = |items: Vec<Value<'a>>, times: i128| {
            let times = usize::try_from(times).unwrap_or(0);
            let all = || std::iter::repeat_n(&items, times).flatten().cloned().collect::<Vec<_>>();
            (items.len().saturating_mul(times) <= ITEMS).then(all)
        };
        match (op, a, b) {
            (Operator::Add, Value::Str(a), Value::Str(b)) => {
                if a.len().saturating_add(b.len()) > TEXT {
                    return self.unknown("a text of this size is not built");
                }
                self.steps += copied((a.len() + b.len()) / BYTES_OF_AN_ITEM);
                Ok(Value::Str(format!("{a}{b}").into()))
            }
            (Operator::Add, Value::Tuple(_), Value::Tuple(_) | Value::List(_)) => {
                Ok(Value::Tuple(self.concatenated(a, b)?.into()))
            }
            (Operator::Add, Value::List(_), Value::List(_) | Value::Tuple(_)) => {
                let items = self.concatenated(a, b)?;
                Ok(if self.in_kernel() { Value::Tuple(items.into()) } else { Value::List(Rc::new(items.into())) })
            }
            (Operator::Mult, Value::Tuple(_) | Value::List(_), other)
            | (Operator::Mult, other, Value::Tuple(_) | Value::List(_)) => {
                let whole = if matches!(a, Value::Tuple(_) | Value::List(_)) { a } else { b };
                let times = self.int(other)?;
                let items = self.items(whole)?;
                match repeat(items, times) {
                    Some(items) if matches!(whole, Value::Tuple(_)) => Ok(Value::Tuple(items.into())),
                    Some(items) => Ok(Value::List(Rc::new(items.into()))),
                    None => self.unknown(TOO_LONG),
                }
            }
            (Operator::Mult, Value::Str(text), times) | (Operator::Mult, times, Value::Str(text)) => {
                let times = usize::try_from(self.int(times)?).unwrap_or(0);
                if text.len().saturating_mul(times) > TEXT {
                    return self.unknown("a text of this size is not built");
                }
                Ok(Value::Str(text.repeat(times).into()))
            }
            (Operator::Div, Value::Str(a), Value::Str(b)) => {
                Ok(Value::Str(crate::syntax::texts::join_paths(a, b).into()))
            }
            (Operator::BitOr, Value::Dict(a), Value::Dict(b)) => {
                let mut items = a.borrow().clone();
                for (key, value) in b.borrow().iter() {
                    match items.iter_mut().find(|(known, _)| equal(known, key)) {
                        Some(slot) => slot.1 = value.clone(),
                        None => items.push((key.clone(), value.clone())),
                    }
                }
                Ok(Value::Dict(Rc::new(items.into())))
            }
            (Operator::BitOr | Operator::BitAnd | Operator::Sub, Value::Set(a), Value::Set(b)) => {
                let (a, b) = (a.borrow(), b.borrow());
                let has = |items: &[Value<'a>], item: &Value<'a>| items.iter().any(|known| equal(known, item));
                let items: Vec<Value<'a>> = match op {
                    Operator::BitOr => a.iter().chain(b.iter().filter(|item| !has(&a, item))).cloned().collect(),
                    Operator::BitAnd => a.iter().filter(|item| has(&b, item)).cloned().collect(),
                    _ => a.iter().filter(|item| !has(&b, item)).cloned().collect(),
                };
                Ok(Value::Set(Rc::new(items.into())))
            }
            // `int | None` in an annotation.
            (
                Operator::BitOr,
                Value::Type(_) | Value::Class(_) | Value::LibClass(_) | Value::Builtin(_) | Value::Lib(_),
                _,
            ) => Ok(Value::Type("a union".into())),
            // Python refuses it; host code may have got its `None` from what is not followed.
            (_, Value::None, Value::None | Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Tensor(_))
            | (_, Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Tensor(_), Value::None)
                if !self.follows_host() =>
            {
                self.raise(format!("`{}` of {} and {}", op.as_str(), a.class_name(), b.class_name()))
            }
            _ => {
                self.unknown(format!("`{}` of {} and {} is not followed", op.as_str(), a.class_name(), b.class_name()))
            }
        }
    }

    fn concatenated(&mut self, a: &Value<'a>, b: &Value<'a>) -> Result<Vec<Value<'a>>, Stop> {
        let mut items = self.items(a)?;
        let more = self.items(b)?;
        if items.len() + more.len() > ITEMS {
            return self.unknown(TOO_LONG);
        }
        items.extend(more);
        self.steps += copied(items.len());
        Ok(items)
    }

    fn int_binary(&mut self, op: Operator, a: i128, b: i128) -> Eval<'a> {
        let some = match op {
            Operator::Add => a.checked_add(b),
            Operator::Sub => a.checked_sub(b),
            Operator::Mult => a.checked_mul(b),
            Operator::Div => {
                return if b == 0 { self.raise("a division by zero") } else { Ok(Value::Float(a as f64 / b as f64)) };
            }
            Operator::FloorDiv | Operator::Mod if b == 0 => return self.raise("a division by zero"),
            Operator::FloorDiv => a.checked_rem(b).and_then(|rem| {
                let floor = rem != 0 && (rem < 0) != (b < 0);
                a.checked_div(b).map(|quotient| quotient - i128::from(floor))
            }),
            Operator::Mod => a.checked_rem(b).map(|rem| if rem != 0 && (rem < 0) != (b < 0) { rem + b } else { rem }),
            Operator::Pow if b < 0 => return Ok(Value::Float((a as f64).powf(b as f64))),
            Operator::Pow => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
            Operator::LShift => {
                let shift = u32::try_from(b).ok().filter(|b| *b < 127);
                shift.and_then(|b| a.checked_mul(1i128 << b))
            }
            Operator::RShift => u32::try_from(b).ok().map(|b| a >> b.min(127)),
            Operator::BitOr => Some(a | b),
            Operator::BitXor => Some(a ^ b),
            Operator::BitAnd => Some(a & b),
            Operator::MatMult => None,
        };
        match some {
            Some(int) => Ok(Value::Int(int)),
            None => self.unknown("the result of this arithmetic is too large, or has no meaning"),
        }
    }

    fn float_binary(&mut self, op: Operator, a: f64, b: f64) -> Eval<'a> {
        Ok(Value::Float(match op {
            Operator::Add => a + b,
            Operator::Sub => a - b,
            Operator::Mult => a * b,
            Operator::Div | Operator::FloorDiv | Operator::Mod if b == 0.0 => {
                return self.raise("a division by zero");
            }
            Operator::Div => a / b,
            Operator::FloorDiv => (a / b).floor(),
            Operator::Mod => a - b * (a / b).floor(),
            Operator::Pow => a.powf(b),
            _ => return self.raise(format!("`{}` of floating-point numbers", op.as_str())),
        }))
    }
}
