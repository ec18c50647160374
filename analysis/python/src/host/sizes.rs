//! Numbers that are not known, as far as they hang together: sizes of one tensor, and what is computed of them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use base::{Operation, Quantity};
use ruff_python_ast::Operator;

use super::thing::{Dims, NumberOrigin, OpenNumber, Thing};
use super::torch::int;
use crate::limits::open::DEPTH;
use crate::value::Value;
use torch::Torch;

impl<'a> Dims<'a> {
    /// Sizes of a tensor that may be any.
    pub(super) fn free() -> Rc<Dims<'a>> {
        Rc::new(Dims { group: Some(Rc::default()), ..Dims::default() })
    }

    /// These sizes.
    fn known(sizes: &[Value<'a>]) -> Rc<Dims<'a>> {
        let dims = Dims { rank: Cell::new(Some(sizes.len() as i64)), ..Dims::default() };
        *dims.asked.borrow_mut() = (0..).zip(sizes.iter().cloned()).collect();
        Rc::new(dims)
    }

    /// Strides of a tensor, whose sizes are a `shape` or else these, as far as they were asked for.
    pub(super) fn strides_of(shape: Option<&[Value<'a>]>, sizes: &Rc<Dims<'a>>) -> Rc<Dims<'a>> {
        let sizes = shape.map_or_else(|| sizes.clone(), Dims::known);
        Rc::new(Dims { strides_of: Some(sizes), ..Dims::default() })
    }

    /// What a stride along a dimension is where a tensor of these sizes lies densely; `None` where it is not known how
    /// many dimensions there are.
    fn dense_stride(&self, dim: i64) -> Option<Value<'a>> {
        let rank = self.rank.get();
        let end = if dim < 0 { 0 } else { rank.unwrap_or_else(|| self.least.get()) };
        let mut inner: Vec<Value<'a>> = (dim + 1..end).map(|inner| self.at(inner)).collect();
        if dim >= 0 && rank.is_none() {
            inner.push(self.behind());
        }
        (dim < end).then(|| product(&inner))
    }

    /// Notes that there is a dimension of this number.
    pub(super) fn note(&self, dim: i64) {
        self.least.set(self.least.get().max(dim + 1));
        if let Some(sizes) = &self.strides_of {
            sizes.note(dim);
        }
    }

    /// The size along a dimension.
    pub(super) fn at(&self, dim: i64) -> Value<'a> {
        let dim = match self.rank.get() {
            Some(rank) if dim < 0 => dim + rank,
            _ => dim,
        };
        self.note(dim);
        let mut asked = self.asked.borrow_mut();
        if let Some((_, size)) = asked.iter().find(|(known, _)| *known == dim) {
            return size.clone();
        }
        // Counted from both ends, two may be one.
        let mixed = self.rank.get().is_none() && asked.iter().any(|(known, _)| (*known < 0) != (dim < 0));
        if mixed {
            asked.iter().for_each(|(_, size)| compared(size));
        }
        let size = match (&self.group, &self.strides_of) {
            (Some(group), _) => free(group),
            (None, Some(sizes)) => number(NumberOrigin::Stride(sizes.clone(), dim)),
            (None, None) => loose(),
        };
        if mixed {
            compared(&size);
        }
        asked.push((dim, size.clone()));
        size
    }

    /// Whether no size was asked for but that of a dimension which may be the only one.
    pub(super) fn may_be_flat(&self) -> bool {
        let may_be = self.rank.get().is_none() && self.least.get() < 2;
        may_be && self.asked.borrow().iter().all(|(dim, _)| matches!(dim, 0 | -1))
    }

    /// How many dimensions there are.
    pub(super) fn count(self: &Rc<Self>) -> Value<'a> {
        self.rank.get().map_or_else(|| number(NumberOrigin::Rank(self.clone())), |rank| Value::Int(rank.into()))
    }

    /// So many sizes as it is unpacked into.
    pub(super) fn unpacked(&self, count: usize) -> Vec<Value<'a>> {
        let count = count as i64;
        self.rank.set(Some(count));
        if let Some(sizes) = self.strides_of.as_ref().filter(|sizes| sizes.rank.get().is_none()) {
            sizes.unpacked(count as usize);
        }
        for (dim, _) in self.asked.borrow_mut().iter_mut().filter(|(dim, _)| *dim < 0) {
            *dim += count;
        }
        (0..count).map(|dim| self.at(dim)).collect()
    }

    /// All of them, where it is known how many there are.
    pub(super) fn all(&self) -> Option<Vec<Value<'a>>> {
        let rank = self.rank.get().or_else(|| self.strides_of.as_ref()?.rank.get())?;
        Some(self.unpacked(usize::try_from(rank).ok()?))
    }

    /// How many elements there are.
    fn elements(&self) -> Value<'a> {
        let rank = self.rank.get();
        let mut sizes: Vec<Value<'a>> = (0..rank.unwrap_or_else(|| self.least.get())).map(|dim| self.at(dim)).collect();
        if rank.is_none() {
            sizes.push(self.behind());
        }
        product(&sizes)
    }

    /// How many elements lie behind the dimensions that were asked for.
    fn behind(&self) -> Value<'a> {
        let rest = || self.group.as_ref().map_or_else(loose, free);
        self.rest.borrow_mut().get_or_insert_with(rest).clone()
    }
}

/// How many elements a tensor of these sizes has.
pub(super) fn count_of_dims<'a>(sizes: &Rc<Dims<'a>>) -> Value<'a> {
    number(NumberOrigin::Count(sizes.clone()))
}

/// An integer of which nothing is known.
fn loose<'a>() -> Value<'a> {
    number(NumberOrigin::Loose)
}

fn number(origin: NumberOrigin<'_>) -> Value<'_> {
    Value::Host(Rc::new(Thing::OpenNumber(OpenNumber::Int, origin)))
}

/// An integer that may be any number, whatever the others of its group are.
pub(super) fn free<'a>(group: &Rc<()>) -> Value<'a> {
    let group = group.clone();
    number(NumberOrigin::Free { group, compared: Cell::new(0), multiple: Cell::new(1), equal: RefCell::default() })
}

/// Notes that the host compares a number with another one.
fn compared(value: &Value<'_>) {
    let Value::Host(thing) = value else { return };
    match &*alike(thing) {
        Thing::OpenNumber(_, NumberOrigin::Free { compared, .. }) => compared.set(compared.get() + 1),
        Thing::OpenNumber(_, NumberOrigin::Made(_, parts)) => {
            compared(&parts.0);
            compared(&parts.1);
        }
        _ => {}
    }
}

/// The number that one is said to be equal to, or itself.
pub(super) fn alike<'a>(thing: &Rc<Thing<'a>>) -> Rc<Thing<'a>> {
    let mut one = thing.clone();
    // A loop in host code may have said so of any number of them, one after the other.
    loop {
        let next = match &*one {
            Thing::OpenNumber(_, NumberOrigin::Free { equal, .. }) => equal.borrow().clone(),
            _ => None,
        };
        match next {
            Some(next) => one = next,
            None => return one,
        }
    }
}

/// Notes that two numbers, which were compared for it, are one, or that a tensor has these sizes: that keeps none of them from
/// being any.
pub fn note_equal<'a>(one: &Value<'a>, other: &Value<'a>) {
    match (one, other) {
        (Value::Host(one), Value::Host(other)) => are_one(one, other, 2),
        (Value::Host(sizes), Value::Tuple(known)) | (Value::Tuple(known), Value::Host(sizes)) => {
            let Thing::OpenSizes(dims) = &**sizes else { return };
            for (own, known) in dims.unpacked(known.len()).iter().zip(known.iter()) {
                if let (Value::Host(own), Value::Host(known)) = (own, known) {
                    are_one(known, own, 0);
                }
            }
        }
        _ => {}
    }
}

/// Makes one number of two, of which so many comparisons said that.
fn are_one<'a>(one: &Rc<Thing<'a>>, other: &Rc<Thing<'a>>, comparisons: u32) {
    let (one, other) = (alike(one), alike(other));
    if let Thing::OpenNumber(OpenNumber::Int, NumberOrigin::Free { compared, multiple, .. }) = &*one
        && let Thing::OpenNumber(OpenNumber::Int, NumberOrigin::Free { compared: own, multiple: of, equal, .. }) =
            &*other
        && !Rc::ptr_eq(&one, &other)
    {
        compared.set((compared.get() + own.get()).saturating_sub(comparisons));
        multiple.set(multiple.get().max(of.get()));
        *equal.borrow_mut() = Some(one.clone());
    }
}

/// Runs something after which it counts as compared what was so before: what a launcher compares to switch a kernel bounds
/// no launch.
pub(super) fn uncompared<'a, T>(values: &[Value<'a>], run: impl FnOnce() -> T) -> T {
    fn free<'a>(value: &Value<'a>, all: &mut Vec<Rc<Thing<'a>>>) {
        let Value::Host(thing) = value else { return };
        match &**thing {
            Thing::OpenNumber(_, NumberOrigin::Free { .. }) => all.push(alike(thing)),
            Thing::OpenNumber(_, NumberOrigin::Made(_, parts)) => {
                free(&parts.0, all);
                free(&parts.1, all);
            }
            _ => {}
        }
    }
    let mut all = Vec::new();
    values.iter().for_each(|value| free(value, &mut all));
    all.retain(
        |thing| matches!(&**thing, Thing::OpenNumber(_, NumberOrigin::Free { compared, .. }) if compared.get() == 0),
    );
    let made = run();
    for thing in all {
        if let Thing::OpenNumber(_, NumberOrigin::Free { compared, .. }) = &*thing {
            compared.set(0);
        }
    }
    made
}

/// Notes that the host compares two values: what is told from a number alone leaves the others free.
pub(super) fn note_comparison(left: &Value<'_>, right: &Value<'_>) {
    let open = |value: &Value<'_>| matches!(value, Value::Host(_) | Value::Unknown(_));
    let computed = |value: &Value<'_>| {
        matches!(value, Value::Host(thing)
            if matches!(**thing, Thing::OpenNumber(_, NumberOrigin::Made(Operation::Mod | Operation::FloorDiv, _))))
    };
    if (open(left) && open(right)) || computed(left) || computed(right) {
        compared(left);
        compared(right);
    }
}

/// An integer that is computed from two others.
pub(super) fn computed<'a>(op: Operation, left: &Value<'a>, right: &Value<'a>) -> Value<'a> {
    number(NumberOrigin::Made(op, Rc::new((left.clone(), right.clone()))))
}

/// A float that is computed from two integers.
pub(super) fn ratio<'a>(left: &Value<'a>, right: &Value<'a>) -> Value<'a> {
    let parts = Rc::new((left.clone(), right.clone()));
    Value::Host(Rc::new(Thing::OpenNumber(OpenNumber::Float, NumberOrigin::Ratio(parts))))
}

/// The two integers that a float is computed from; `None` where it is another one.
pub(super) fn parts_of_ratio<'a>(value: &Value<'a>) -> Option<(Value<'a>, Value<'a>)> {
    let Value::Host(thing) = value else { return None };
    match &**thing {
        Thing::OpenNumber(_, NumberOrigin::Ratio(parts)) => Some((parts.0.clone(), parts.1.clone())),
        _ => None,
    }
}

/// The product of some sizes.
pub(super) fn product<'a>(sizes: &[Value<'a>]) -> Value<'a> {
    let times = |all: Value<'a>, size: &Value<'a>| match (&all, size) {
        (Value::Int(a), Value::Int(b)) => Value::Int(a.saturating_mul(*b)),
        (Value::Int(1), _) => size.clone(),
        (_, Value::Int(1)) => all,
        _ => computed(Operation::Mul, &all, size),
    };
    sizes.iter().fold(Value::Int(1), times)
}

/// Elements between neighbours of a dense tensor.
pub(super) fn dense<'a>(sizes: &[Value<'a>]) -> Rc<[Value<'a>]> {
    (0..sizes.len()).map(|dim| product(sizes.get(dim + 1..).unwrap_or_default())).collect()
}

/// What an operator of Python's is, where it gives whole numbers of whole numbers.
pub fn operation(op: Operator) -> Option<Operation> {
    Some(match op {
        Operator::Add => Operation::Add,
        Operator::Sub => Operation::Sub,
        Operator::Mult => Operation::Mul,
        Operator::FloorDiv => Operation::FloorDiv,
        Operator::Mod => Operation::Mod,
        _ => return None,
    })
}

/// What an operation with a number, or a comparison with one, makes of each element of a tensor.
pub(super) fn with_number(tensor: &Torch, op: Option<Operator>, number: &Value<'_>) -> Torch {
    match (op.and_then(operation), int(number)) {
        (Some(op), Some(number)) => tensor.with_number(op, number),
        _ => tensor.compared(op.is_none()),
    }
}

/// The numbers without a formula of a launch, in the order in which they are met.
#[derive(Default)]
pub(super) struct Quantities<'a> {
    numbers: Vec<Rc<Thing<'a>>>,
    groups: Vec<Rc<()>>,
}

impl<'a> Quantities<'a> {
    /// How many numbers were met.
    pub(super) fn count(&self) -> u32 {
        self.numbers.len() as u32
    }

    /// What a number is made of; `None` of what is none.
    pub(super) fn of(&mut self, value: &Value<'a>) -> Option<Quantity> {
        self.within(value, DEPTH)
    }

    fn within(&mut self, value: &Value<'a>, depth: u32) -> Option<Quantity> {
        let thing = match value {
            Value::Int(value) => return i64::try_from(*value).ok().map(Quantity::Known),
            Value::Host(thing) => &alike(thing),
            _ => return None,
        };
        let Thing::OpenNumber(OpenNumber::Int, origin) = &**thing else { return None };
        if let NumberOrigin::Made(op, parts) = origin {
            let depth = depth.checked_sub(1)?;
            let parts = (self.within(&parts.0, depth)?, self.within(&parts.1, depth)?);
            return Some(Quantity::Made(*op, parts.into()));
        }
        if let NumberOrigin::Count(sizes) = origin
            && let Some(count) = self.within(&sizes.elements(), depth.checked_sub(1)?)
        {
            return Some(count);
        }
        if let NumberOrigin::Stride(sizes, dim) = origin
            && let Some(dense) = sizes.dense_stride(*dim)
            && let Some(dense) = self.within(&dense, depth.checked_sub(1)?)
        {
            let id = place(&mut self.numbers, thing);
            return Some(Quantity::Stride { id, dense: dense.into() });
        }
        let of = match origin {
            NumberOrigin::Free { group, compared, .. } if compared.get() == 0 => Some(place(&mut self.groups, group)),
            _ => None,
        };
        let id = place(&mut self.numbers, thing);
        let number = Quantity::Unknown { id, of };
        match origin {
            NumberOrigin::Free { multiple, .. } if multiple.get() > 1 => {
                let of = Quantity::Known(multiple.get());
                let count = Quantity::Made(Operation::CeilDiv, (number, of.clone()).into());
                Some(Quantity::Made(Operation::Mul, (count, of).into()))
            }
            _ => Some(number),
        }
    }
}

/// Where something stands among those that were met before, or after them.
fn place<T>(all: &mut Vec<Rc<T>>, new: &Rc<T>) -> u32 {
    let at = all.iter().position(|known| Rc::ptr_eq(known, new)).unwrap_or_else(|| {
        all.push(new.clone());
        all.len() - 1
    });
    at as u32
}
