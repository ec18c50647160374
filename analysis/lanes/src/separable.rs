//! Values that are sums of one number for each dimension's place, and lanes that are chosen along each dimension by
//! itself: what addresses and masks of tiles are as a rule.
//!
//! An operation on them is one on a few numbers, or on one number for each place of one dimension, where its result is
//! of this form again in all lanes. Where it is not, nothing is answered, and the lanes are looked at one by one.

use std::rc::Rc;

use smallvec::SmallVec;

use crate::integer::{BinOp, apply, wrap};
use base::spans::{Spans, StridedLanes};

/// A number for each dimension.
type Dims = SmallVec<[i64; 4]>;

/// A start, and what each dimension adds to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Separable {
    start: i64,
    along: SmallVec<[Along; 4]>,
    shape: Rc<[i64]>,
}

/// What a dimension adds at its places; nothing at the first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Along {
    /// So much more from one place to the next.
    Even(i64),
    /// So much at each place.
    Each(Rc<[i64]>),
}

/// 1 in some lanes, 0 in the others: in those whose places are all chosen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LaneMask {
    places: SmallVec<[Places; 4]>,
    shape: Rc<[i64]>,
}

/// Chosen places of a dimension.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Places {
    /// From the first to before the last.
    Range(i64, i64),
    /// By place.
    Each(Rc<[bool]>),
}

/// What an operation on separable values gives.
#[derive(Clone, Debug)]
pub(crate) enum Made {
    Separable(Separable),
    Part(LaneMask),
}

/// A value that depends on the place along one dimension at most.
#[derive(Clone, Debug)]
pub struct OfOne {
    /// The dimension; `None` where all lanes have the same value.
    pub dim: Option<usize>,
    /// By its places, or the one.
    pub values: Vec<i64>,
}

/// Lanes from one place to the next along each dimension.
fn strides(shape: &[i64]) -> Dims {
    let mut strides: Dims = shape.iter().map(|_| 1).collect();
    let mut below = 1;
    for (stride, size) in strides.iter_mut().zip(shape).rev() {
        (*stride, below) = (below, below * size);
    }
    strides
}

/// The place of a lane along each dimension.
fn places(shape: &[i64], lane: usize) -> Dims {
    let mut rest = lane as i64;
    let mut places: Dims = shape.iter().map(|_| 0).collect();
    for (place, size) in places.iter_mut().zip(shape).rev() {
        let size = (*size).max(1);
        (*place, rest) = (rest % size, rest / size);
    }
    places
}

/// Calls `each` with all places along these dimensions, the last of which changes first.
fn each_row(shape: &[i64], mut each: impl FnMut(&[i64])) {
    let mut places: Dims = shape.iter().map(|_| 0).collect();
    for _ in 0..shape.iter().product::<i64>().max(0) {
        each(&places);
        for (place, size) in places.iter_mut().zip(shape).rev() {
            *place += 1;
            if *place < *size {
                break;
            }
            *place = 0;
        }
    }
}

/// Whether numbers from `low` to `high` are numbers of this width.
fn fits((low, high): (i64, i64), bits: u8) -> bool {
    wrap(low, bits) == low && wrap(high, bits) == high
}

impl Along {
    /// What is added at each place, of which the first adds nothing.
    fn of(values: Vec<i64>) -> Along {
        let by = values.get(1).copied().unwrap_or(0);
        let even = values.iter().zip(0i64..).all(|(value, place)| by.checked_mul(place) == Some(*value));
        if even { Along::Even(by) } else { Along::Each(values.into()) }
    }

    fn at(&self, place: i64) -> i64 {
        match self {
            Along::Even(by) => by * place,
            Along::Each(values) => values.get(place as usize).copied().unwrap_or(0),
        }
    }

    fn varies(&self) -> bool {
        !matches!(self, Along::Even(0))
    }

    /// The least and the most that it adds; `None` where they are out of hand.
    fn range(&self, size: i64) -> Option<(i64, i64)> {
        match self {
            Along::Even(by) => by.checked_mul(size - 1).map(|most| (most.min(0), most.max(0))),
            Along::Each(values) => Some((*values.iter().min()?, *values.iter().max()?)),
        }
    }

    /// `self + factor * other`.
    fn plus(&self, other: &Along, factor: i64) -> Option<Along> {
        let sum = |a: i64, b: i64| a.checked_add(b.checked_mul(factor)?);
        match (self, other) {
            (Along::Even(a), Along::Even(b)) => sum(*a, *b).map(Along::Even),
            (Along::Each(a), other) => {
                a.iter().zip(0..).map(|(a, place)| sum(*a, other.at(place))).collect::<Option<_>>().map(Along::of)
            }
            (of, Along::Each(b)) => {
                b.iter().zip(0..).map(|(b, place)| sum(of.at(place), *b)).collect::<Option<_>>().map(Along::of)
            }
        }
    }
}

impl Places {
    fn of(chosen: Vec<bool>) -> Places {
        let first = chosen.iter().position(|chosen| *chosen).unwrap_or(0);
        let count = chosen.iter().filter(|chosen| **chosen).count();
        if chosen.iter().skip(first).take(count).all(|chosen| *chosen) {
            return Places::Range(first as i64, (first + count) as i64);
        }
        Places::Each(chosen.into())
    }

    fn holds(&self, place: i64) -> bool {
        match self {
            Places::Range(first, end) => *first <= place && place < *end,
            Places::Each(chosen) => chosen.get(place as usize).copied().unwrap_or(false),
        }
    }

    fn and(&self, other: &Places, size: i64) -> Places {
        match (self, other) {
            (Places::Range(a, b), Places::Range(c, d)) => Places::Range(*a.max(c), *b.min(d)),
            _ => Places::of((0..size).map(|place| self.holds(place) && other.holds(place)).collect()),
        }
    }
}

impl OfOne {
    /// The value at a place along its dimension.
    pub fn at(&self, place: usize) -> Option<i64> {
        self.values.get(if self.dim.is_some() { place } else { 0 }).copied()
    }

    /// The dimension on which the values together depend, where it is one that is worth its own treatment: there are
    /// more lanes than it has places.
    pub fn common<'v>(all: impl IntoIterator<Item = &'v OfOne>, shape: &[i64]) -> Option<usize> {
        let mut dim = None;
        for of in all {
            match (dim, of.dim) {
                (_, None) => {}
                (None, own) => dim = own,
                (Some(a), Some(b)) => (a == b).then_some(())?,
            }
        }
        let dim = dim?;
        shape.iter().enumerate().any(|(at, size)| at != dim && *size > 1).then_some(dim)
    }
}

impl Separable {
    /// The same in all lanes.
    pub fn flat(value: i64, shape: &Rc<[i64]>) -> Separable {
        Separable { start: value, along: shape.iter().map(|_| Along::Even(0)).collect(), shape: shape.clone() }
    }

    /// The places along a dimension.
    pub fn along(dim: usize, shape: &Rc<[i64]>) -> Separable {
        let mut made = Separable::flat(0, shape);
        made.along.iter_mut().skip(dim).take(1).for_each(|along| *along = Along::Even(1));
        made
    }

    /// A value for each place along a dimension.
    pub fn by_place(dim: usize, values: &[i64], shape: &Rc<[i64]>) -> Option<Separable> {
        let mut made = Separable::flat(*values.first()?, shape);
        let added = values.iter().map(|value| value.checked_sub(made.start)).collect::<Option<_>>()?;
        *made.along.get_mut(dim)? = Along::of(added);
        Some(made)
    }

    /// The value of a lane.
    pub fn at(&self, lane: usize) -> i64 {
        self.at_places(&places(&self.shape, lane))
    }

    fn at_places(&self, places: &[i64]) -> i64 {
        places.iter().zip(&self.along).fold(self.start, |sum, (place, along)| sum + along.at(*place))
    }

    /// Its value where that is the same in all lanes.
    pub fn same(&self) -> Option<i64> {
        self.along.iter().all(|along| !along.varies()).then_some(self.start)
    }

    /// The dimension on which it depends, if that is one.
    fn only(&self) -> Option<usize> {
        let mut dims = self.along.iter().enumerate().filter(|(_, along)| along.varies());
        let (dim, None) = (dims.next()?.0, dims.next()) else { return None };
        Some(dim)
    }

    /// By the places of the one dimension on which it depends.
    pub fn of_one(&self) -> Option<OfOne> {
        if let Some(value) = self.same() {
            return Some(OfOne { dim: None, values: vec![value] });
        }
        let dim = self.only()?;
        let (along, size) = (self.along.get(dim)?, *self.shape.get(dim)?);
        Some(OfOne { dim: Some(dim), values: (0..size).map(|place| self.start + along.at(place)).collect() })
    }

    /// The value of each lane.
    pub fn values(&self, mut room: Vec<i64>) -> Vec<i64> {
        room.clear();
        let (Some((length, outer)), Some(along)) = (self.shape.split_last(), self.along.last()) else {
            room.push(self.start);
            return room;
        };
        each_row(outer, |places| {
            let start = self.at_places(places);
            match along {
                Along::Even(by) => room.extend((0..*length).map(|place| start + place * by)),
                Along::Each(values) => room.extend(values.iter().map(|more| start + more)),
            }
        });
        room
    }

    /// The least and the greatest value; `None` where they are out of hand.
    fn range(&self) -> Option<(i64, i64)> {
        let (mut low, mut high) = (self.start, self.start);
        for (size, along) in self.shape.iter().zip(&self.along) {
            let (least, most) = along.range(*size)?;
            (low, high) = (low.checked_add(least)?, high.checked_add(most)?);
        }
        Some((low, high))
    }

    /// `self + factor * other`.
    fn plus(&self, other: &Separable, factor: i64) -> Option<Separable> {
        let mut sum = self.clone();
        sum.start = sum.start.checked_add(other.start.checked_mul(factor)?)?;
        for (along, more) in sum.along.iter_mut().zip(&other.along) {
            *along = along.plus(more, factor)?;
        }
        Some(sum)
    }

    fn times(&self, factor: i64) -> Option<Separable> {
        Separable::flat(0, &self.shape).plus(self, factor)
    }

    /// What each dimension adds from place to place, where all do so evenly.
    fn even(&self) -> Option<Dims> {
        self.along.iter().map(|along| if let Along::Even(by) = along { Some(*by) } else { None }).collect()
    }

    /// Without the rest of a division by a positive number; of values that are not negative.
    fn divided(&self, divisor: i64) -> Option<Separable> {
        let (low, high) = self.range()?;
        if low < 0 || divisor <= 0 {
            return None;
        }
        if high < divisor {
            return Some(Separable::flat(0, &self.shape));
        }
        let by = self.even()?;
        by.iter().all(|by| by % divisor == 0).then(|| Separable {
            start: self.start.div_euclid(divisor),
            along: by.iter().map(|by| Along::Even(by / divisor)).collect(),
            shape: self.shape.clone(),
        })
    }

    /// The rest of a division by a positive number; of values that are not negative.
    fn rest(&self, divisor: i64) -> Option<Separable> {
        let (low, high) = self.range()?;
        if low < 0 || divisor <= 0 {
            return None;
        }
        if high < divisor {
            return Some(self.clone());
        }
        let whole = self.even()?.iter().all(|by| by % divisor == 0);
        whole.then(|| Separable::flat(self.start.rem_euclid(divisor), &self.shape))
    }

    /// Where it is negative.
    fn negative(&self) -> Option<Made> {
        let (low, high) = self.range()?;
        if high < 0 || low >= 0 {
            return Some(Made::Separable(Separable::flat(i64::from(high < 0), &self.shape)));
        }
        let dim = self.only()?;
        let mut part = LaneMask::whole(&self.shape);
        let places = part.places.get_mut(dim)?;
        *places = match (self.along.get(dim)?, self.shape.get(dim)?) {
            (Along::Even(by), size) if *by < 0 => Places::Range(self.start.div_euclid(by.checked_abs()?) + 1, *size),
            (Along::Even(by), _) => Places::Range(0, self.start.checked_neg()?.checked_sub(1)?.div_euclid(*by) + 1),
            (Along::Each(values), _) => Places::of(values.iter().map(|more| self.start + more < 0).collect()),
        };
        Some(Made::Part(part))
    }

    /// Where it is 0.
    fn zero(&self) -> Option<Made> {
        let flat = |holds: bool| Some(Made::Separable(Separable::flat(i64::from(holds), &self.shape)));
        let (low, high) = self.range()?;
        if low > 0 || high < 0 {
            return flat(false);
        }
        if let Some(value) = self.same() {
            return flat(value == 0);
        }
        let dim = self.only()?;
        let mut part = LaneMask::whole(&self.shape);
        let places = part.places.get_mut(dim)?;
        match self.along.get(dim)? {
            Along::Even(by) if self.start % by != 0 => return flat(false),
            Along::Even(by) => {
                let place = self.start.checked_neg()? / by;
                *places = Places::Range(place, place + 1);
            }
            Along::Each(values) => *places = Places::of(values.iter().map(|more| self.start + more == 0).collect()),
        }
        Some(Made::Part(part))
    }

    /// As a number of a width, where it is one.
    pub fn truncated(&self, bits: u8) -> Option<Separable> {
        match self.same() {
            Some(value) => Some(Separable::flat(wrap(value, bits), &self.shape)),
            None => fits(self.range()?, bits).then(|| self.clone()),
        }
    }

    /// Its low bits as a number without a sign, where no other is set.
    pub fn masked(&self, mask: i64) -> Option<Separable> {
        match self.same() {
            Some(value) => Some(Separable::flat(value & mask, &self.shape)),
            None => {
                let (low, high) = self.range()?;
                (low >= 0 && (mask < 0 || high <= mask)).then(|| self.clone())
            }
        }
    }

    /// The bytes of the lanes of a part, in the order of lanes or of bytes: that of bytes is tried.
    pub fn spans(&self, part: &LaneMask, by_bytes: bool) -> Spans {
        let lanes = strides(&self.shape);
        // Bytes and lane of the first lane, and the further ones of each dimension that has several.
        let (mut start, mut lane) = (self.start, 0);
        let mut dims: SmallVec<[Further; 4]> = SmallVec::new();
        for (((places, along), step), size) in part.places.iter().zip(&self.along).zip(&lanes).zip(&*self.shape) {
            match (places, along) {
                (Places::Range(first, end), Along::Even(by)) => {
                    if first >= end {
                        return Spans::default();
                    }
                    (start, lane) = (start + first * by, lane + first * step);
                    if end - first > 1 {
                        dims.push(Further::Even { count: end - first, by: *by, step: *step });
                    }
                }
                _ => {
                    let chosen = (0..*size).filter(|place| places.holds(*place));
                    let mut each: Vec<(i64, i64)> = chosen.map(|place| (along.at(place), place * step)).collect();
                    if each.is_empty() {
                        return Spans::default();
                    }
                    if by_bytes {
                        each.sort_unstable();
                    }
                    dims.push(Further::Each(each));
                }
            }
        }
        if by_bytes {
            dims.sort_by_key(|further| std::cmp::Reverse(further.stride()));
        }
        let inner = dims.pop().unwrap_or(Further::Even { count: 1, by: 0, step: 0 });
        let counts: Dims = dims.iter().map(Further::count).collect();
        let mut rows = Vec::new();
        each_row(&counts, |places| {
            let (mut start, mut lane) = (start, lane);
            for (place, further) in places.iter().zip(&dims) {
                let (bytes, lanes) = further.at(*place);
                (start, lane) = (start + bytes, lane + lanes);
            }
            match &inner {
                Further::Even { count, by, step } => {
                    StridedLanes::append(&mut rows, StridedLanes::new(start, *by, lane, *step, *count))
                }
                Further::Each(each) => {
                    each.iter()
                        .for_each(|(bytes, lanes)| StridedLanes::push(&mut rows, start + bytes, (lane + lanes) as u32));
                }
            }
        });
        Spans::of(rows)
    }
}

/// Bytes and lanes of the places of a dimension behind those of its first.
enum Further {
    Even { count: i64, by: i64, step: i64 },
    Each(Vec<(i64, i64)>),
}

impl Further {
    fn count(&self) -> i64 {
        match self {
            Further::Even { count, .. } => *count,
            Further::Each(each) => each.len() as i64,
        }
    }

    fn at(&self, place: i64) -> (i64, i64) {
        match self {
            Further::Even { by, step, .. } => (by * place, step * place),
            Further::Each(each) => each.get(place as usize).copied().unwrap_or_default(),
        }
    }

    /// Bytes from one place to the next, about.
    fn stride(&self) -> i64 {
        match self {
            Further::Even { by, .. } => *by,
            Further::Each(each) => match (each.first(), each.last()) {
                (Some(first), Some(last)) => (last.0 - first.0) / (each.len() as i64 - 1).max(1),
                _ => 0,
            },
        }
    }
}

impl LaneMask {
    /// All lanes.
    pub fn whole(shape: &Rc<[i64]>) -> LaneMask {
        LaneMask { places: shape.iter().map(|size| Places::Range(0, *size)).collect(), shape: shape.clone() }
    }

    /// The lanes with these places along a dimension.
    pub fn by_place(dim: usize, chosen: Vec<bool>, shape: &Rc<[i64]>) -> Option<LaneMask> {
        let mut part = LaneMask::whole(shape);
        *part.places.get_mut(dim)? = Places::of(chosen);
        Some(part)
    }

    /// By the places of the one dimension along which not all are chosen.
    pub fn of_one(&self) -> Option<OfOne> {
        let partly = |(places, size): (&Places, &i64)| *places != Places::Range(0, *size);
        let mut dims = self.places.iter().zip(&*self.shape).enumerate().filter(|(_, of)| partly(*of));
        match (dims.next(), dims.next()) {
            (None, _) => Some(OfOne { dim: None, values: vec![1] }),
            (Some((dim, (places, size))), None) => {
                Some(OfOne { dim: Some(dim), values: (0..*size).map(|place| i64::from(places.holds(place))).collect() })
            }
            _ => None,
        }
    }

    /// Whether a lane takes part.
    pub fn holds(&self, lane: usize) -> bool {
        let places = places(&self.shape, lane);
        places.iter().zip(&self.places).all(|(place, chosen)| chosen.holds(*place))
    }

    /// The value of each lane.
    pub fn values(&self, mut room: Vec<i64>) -> Vec<i64> {
        room.clear();
        let (Some((length, outer)), Some((inner, around))) = (self.shape.split_last(), self.places.split_last()) else {
            room.push(1);
            return room;
        };
        each_row(outer, |places| {
            let inside = places.iter().zip(around).all(|(place, chosen)| chosen.holds(*place));
            room.extend((0..*length).map(|place| i64::from(inside && inner.holds(place))));
        });
        room
    }

    fn and(&self, other: &LaneMask) -> LaneMask {
        let both = self.places.iter().zip(&other.places).zip(&*self.shape);
        LaneMask { places: both.map(|((a, b), size)| a.and(b, *size)).collect(), shape: self.shape.clone() }
    }
}

/// An operation on two separable values, without a result that is cut off at the width.
pub(crate) fn separable(op: BinOp, bits: u8, x: &Separable, y: &Separable) -> Option<Made> {
    if let (Some(a), Some(b)) = (x.same(), y.same()) {
        let exact = match op {
            BinOp::Add => a.checked_add(b),
            BinOp::Sub => a.checked_sub(b),
            BinOp::Mul => a.checked_mul(b),
            _ => apply(op, bits, a, b),
        };
        let value = exact.filter(|exact| op.is_question() || wrap(*exact, bits) == *exact)?;
        return Some(Made::Separable(Separable::flat(value, &x.shape)));
    }
    let positive = |of: &Separable| of.range().is_some_and(|range| range.0 >= 0 && fits(range, bits));
    let below = |a: &Separable, b: &Separable| Some(a.range()?.1 <= b.range()?.0);
    let made = match op {
        BinOp::Add => x.plus(y, 1)?,
        BinOp::Sub => x.plus(y, -1)?,
        BinOp::Mul => match (x.same(), y.same()) {
            (_, Some(factor)) => x.times(factor)?,
            (Some(factor), _) => y.times(factor)?,
            _ => return None,
        },
        BinOp::Shl => x.times(1 << y.same().filter(|by| (0..i64::from(bits.min(32))).contains(by))?)?,
        BinOp::DivS | BinOp::DivU | BinOp::FloorDivS if positive(x) => x.divided(y.same()?)?,
        BinOp::RemS | BinOp::RemU if positive(x) => x.rest(y.same()?)?,
        BinOp::ShrS | BinOp::ShrU if positive(x) => {
            x.divided(1 << y.same().filter(|by| (0..i64::from(bits.min(32))).contains(by))?)?
        }
        BinOp::And if bits > 1 => match (x.same(), y.same()) {
            (_, Some(mask)) if mask >= 0 && (mask & (mask + 1)) == 0 => x.masked(mask)?,
            (Some(mask), _) if mask >= 0 && (mask & (mask + 1)) == 0 => y.masked(mask)?,
            _ => return None,
        },
        BinOp::MinS | BinOp::MinU if op == BinOp::MinS || (positive(x) && positive(y)) => {
            if below(x, y)? {
                x.clone()
            } else if below(y, x)? {
                y.clone()
            } else {
                return None;
            }
        }
        BinOp::MaxS | BinOp::MaxU if op == BinOp::MaxS || (positive(x) && positive(y)) => {
            if below(x, y)? {
                y.clone()
            } else if below(y, x)? {
                x.clone()
            } else {
                return None;
            }
        }
        BinOp::Slt => return x.plus(y, -1)?.negative(),
        BinOp::Ult if positive(x) && positive(y) => return x.plus(y, -1)?.negative(),
        BinOp::Sle => return at_most(x, y),
        BinOp::Ule if positive(x) && positive(y) => return at_most(x, y),
        BinOp::Eq => return x.plus(y, -1)?.zero(),
        _ => return None,
    };
    fits(made.range()?, bits).then_some(Made::Separable(made))
}

/// Where one is not above the other.
fn at_most(x: &Separable, y: &Separable) -> Option<Made> {
    let mut difference = x.plus(y, -1)?;
    difference.start = difference.start.checked_sub(1)?;
    difference.negative()
}

/// Where both hold.
pub(crate) fn both(x: &Made, y: &Made) -> Option<Made> {
    match (x, y) {
        (Made::Part(x), Made::Part(y)) => Some(Made::Part(x.and(y))),
        (Made::Separable(of), other) | (other, Made::Separable(of)) => match of.same()? {
            0 => Some(Made::Separable(of.clone())),
            1 => Some(other.clone()),
            _ => None,
        },
    }
}
