//! Values that grow evenly along each dimension, and lanes in a box: what addresses and masks of tiles are as a rule.
//!
//! An operation on them is one on a few numbers, where its result is of this form again in all lanes, without being
//! cut off at its width. Where it is not, nothing is answered, and the lanes are looked at one by one.

use std::rc::Rc;

use smallvec::SmallVec;

use super::spans::{Row, Spans};
use crate::term::{BinOp, apply, wrap};

/// A number for each dimension.
type Dims = SmallVec<[i64; 4]>;

/// A start, and what is added from one place to the next along each dimension.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Line {
    start: i64,
    by: Dims,
    shape: Rc<[i64]>,
}

/// 1 in some lanes, 0 in the others: along each dimension from the first place to before the last.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Part {
    places: SmallVec<[(i64, i64); 4]>,
    shape: Rc<[i64]>,
}

/// What an operation on lines gives.
#[derive(Clone, Debug)]
pub(crate) enum Made {
    Line(Line),
    Part(Part),
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

impl Line {
    /// The same in all lanes.
    pub(crate) fn flat(value: i64, shape: &Rc<[i64]>) -> Line {
        Line { start: value, by: shape.iter().map(|_| 0).collect(), shape: shape.clone() }
    }

    /// The places along a dimension.
    pub(crate) fn along(dim: usize, shape: &Rc<[i64]>) -> Line {
        let mut line = Line::flat(0, shape);
        line.by.iter_mut().skip(dim).take(1).for_each(|by| *by = 1);
        line
    }

    pub(crate) fn at(&self, lane: usize) -> i64 {
        let places = places(&self.shape, lane);
        places.iter().zip(&self.by).fold(self.start, |sum, (place, by)| sum + place * by)
    }

    /// Its value where that is the same in all lanes.
    pub(crate) fn same(&self) -> Option<i64> {
        self.by.iter().all(|by| *by == 0).then_some(self.start)
    }

    /// The value of each lane.
    pub(crate) fn values(&self, mut room: Vec<i64>) -> Vec<i64> {
        room.clear();
        let Some((length, outer)) = self.shape.split_last() else {
            room.push(self.start);
            return room;
        };
        let by = self.by.last().copied().unwrap_or(0);
        each_row(outer, |places| {
            let start = places.iter().zip(&self.by).fold(self.start, |sum, (place, by)| sum + place * by);
            room.extend((0..*length).map(|place| start + place * by));
        });
        room
    }

    /// The least and the greatest value; `None` where they are out of hand.
    fn range(&self) -> Option<(i64, i64)> {
        let (mut low, mut high) = (self.start, self.start);
        for (size, by) in self.shape.iter().zip(&self.by) {
            let most = by.checked_mul(*size - 1)?;
            let end = if most < 0 { &mut low } else { &mut high };
            *end = end.checked_add(most)?;
        }
        Some((low, high))
    }

    /// `self + factor * other`.
    fn plus(&self, other: &Line, factor: i64) -> Option<Line> {
        let mut sum = self.clone();
        sum.start = sum.start.checked_add(other.start.checked_mul(factor)?)?;
        for (by, more) in sum.by.iter_mut().zip(&other.by) {
            *by = by.checked_add(more.checked_mul(factor)?)?;
        }
        Some(sum)
    }

    fn times(&self, factor: i64) -> Option<Line> {
        Line::flat(0, &self.shape).plus(self, factor)
    }

    /// Without the rest of a division by a positive number; of values that are not negative.
    fn divided(&self, divisor: i64) -> Option<Line> {
        let (low, high) = self.range()?;
        if low < 0 || divisor <= 0 {
            return None;
        }
        if high < divisor {
            return Some(Line::flat(0, &self.shape));
        }
        let whole = self.by.iter().all(|by| by % divisor == 0);
        whole.then(|| Line {
            start: self.start.div_euclid(divisor),
            by: self.by.iter().map(|by| by / divisor).collect(),
            shape: self.shape.clone(),
        })
    }

    /// The rest of a division by a positive number; of values that are not negative.
    fn rest(&self, divisor: i64) -> Option<Line> {
        let (low, high) = self.range()?;
        if low < 0 || divisor <= 0 {
            return None;
        }
        if high < divisor {
            return Some(self.clone());
        }
        let whole = self.by.iter().all(|by| by % divisor == 0);
        whole.then(|| Line::flat(self.start.rem_euclid(divisor), &self.shape))
    }

    /// Where it is negative.
    fn negative(&self) -> Option<Made> {
        let (low, high) = self.range()?;
        if high < 0 || low >= 0 {
            return Some(Made::Line(Line::flat(i64::from(high < 0), &self.shape)));
        }
        let mut dims = self.by.iter().enumerate().filter(|(_, by)| **by != 0);
        let ((dim, by), None) = (dims.next()?, dims.next()) else { return None };
        let mut part = Part::whole(&self.shape);
        let (first, end) = part.places.get_mut(dim)?;
        match by.checked_abs()? {
            down if *by < 0 => *first = self.start.div_euclid(down) + 1,
            up => *end = self.start.checked_neg()?.checked_sub(1)?.div_euclid(up) + 1,
        }
        Some(Made::Part(part))
    }

    /// Where it is 0, if that is nowhere, everywhere or at one place.
    fn zero(&self) -> Option<Made> {
        let flat = |holds: bool| Some(Made::Line(Line::flat(i64::from(holds), &self.shape)));
        let (low, high) = self.range()?;
        if low > 0 || high < 0 {
            return flat(false);
        }
        if let Some(value) = self.same() {
            return flat(value == 0);
        }
        let mut dims = self.by.iter().enumerate().filter(|(_, by)| **by != 0);
        let ((dim, by), None) = (dims.next()?, dims.next()) else { return None };
        if self.start % by != 0 {
            return flat(false);
        }
        let mut part = Part::whole(&self.shape);
        let place = self.start.checked_neg()? / by;
        *part.places.get_mut(dim)? = (place, place + 1);
        Some(Made::Part(part))
    }

    /// As a number of a width, where it is one.
    pub(crate) fn truncated(&self, bits: u8) -> Option<Line> {
        match self.same() {
            Some(value) => Some(Line::flat(wrap(value, bits), &self.shape)),
            None => fits(self.range()?, bits).then(|| self.clone()),
        }
    }

    /// Its low bits as a number without a sign, where no other is set.
    pub(crate) fn masked(&self, mask: i64) -> Option<Line> {
        match self.same() {
            Some(value) => Some(Line::flat(value & mask, &self.shape)),
            None => {
                let (low, high) = self.range()?;
                (low >= 0 && (mask < 0 || high <= mask)).then(|| self.clone())
            }
        }
    }

    /// The bytes of the lanes of a part, in the order of lanes or of bytes: that of bytes is tried.
    pub(crate) fn spans(&self, part: &Part, by_bytes: bool) -> Spans {
        let lanes = strides(&self.shape);
        // The place of the first lane, and of each dimension that has several its length, bytes and lanes.
        let (mut start, mut lane) = (self.start, 0);
        let mut dims: SmallVec<[(i64, i64, i64); 4]> = SmallVec::new();
        for ((&(first, end), by), step) in part.places.iter().zip(&self.by).zip(&lanes) {
            if first >= end {
                return Spans::default();
            }
            start += first * by;
            lane += first * step;
            if end - first > 1 {
                dims.push((end - first, *by, *step));
            }
        }
        if by_bytes {
            dims.sort_by_key(|(_, by, _)| std::cmp::Reverse(*by));
        }
        let (length, by, step) = dims.pop().unwrap_or((1, 0, 0));
        let row = |start: i64, lane: i64| Row::new(start, by, lane, step, length);
        let mut places: Dims = dims.iter().map(|_| 0).collect();
        let mut rows = Vec::new();
        loop {
            Row::append(&mut rows, row(start, lane));
            let mut more = false;
            for ((length, by, step), place) in dims.iter().zip(&mut places).rev() {
                *place += 1;
                (start, lane) = (start + by, lane + step);
                if *place < *length {
                    more = true;
                    break;
                }
                (start, lane) = (start - by * length, lane - step * length);
                *place = 0;
            }
            if !more {
                return Spans::of(rows);
            }
        }
    }
}

impl Part {
    /// All lanes.
    pub(crate) fn whole(shape: &Rc<[i64]>) -> Part {
        Part { places: shape.iter().map(|size| (0, *size)).collect(), shape: shape.clone() }
    }

    pub(crate) fn holds(&self, lane: usize) -> bool {
        let places = places(&self.shape, lane);
        places.iter().zip(&self.places).all(|(place, (first, end))| first <= place && place < end)
    }

    /// The value of each lane.
    pub(crate) fn values(&self, mut room: Vec<i64>) -> Vec<i64> {
        room.clear();
        let (Some((length, outer)), Some(((first, end), around))) = (self.shape.split_last(), self.places.split_last())
        else {
            room.push(1);
            return room;
        };
        each_row(outer, |places| {
            let inside = places.iter().zip(around).all(|(place, (first, end))| first <= place && place < end);
            room.extend((0..*length).map(|place| i64::from(inside && *first <= place && place < *end)));
        });
        room
    }

    fn and(&self, other: &Part) -> Part {
        let both = self.places.iter().zip(&other.places);
        let places = both.map(|(a, b)| (a.0.max(b.0), a.1.min(b.1))).collect();
        Part { places, shape: self.shape.clone() }
    }
}

/// An operation on two lines.
pub(crate) fn lines(op: BinOp, bits: u8, x: &Line, y: &Line) -> Option<Made> {
    if let (Some(a), Some(b)) = (x.same(), y.same()) {
        let exact = match op {
            BinOp::Add => a.checked_add(b),
            BinOp::Sub => a.checked_sub(b),
            BinOp::Mul => a.checked_mul(b),
            _ => apply(op, bits, a, b),
        };
        let value = exact.filter(|exact| op.is_question() || wrap(*exact, bits) == *exact)?;
        return Some(Made::Line(Line::flat(value, &x.shape)));
    }
    let positive = |line: &Line| line.range().is_some_and(|range| range.0 >= 0 && fits(range, bits));
    let below = |a: &Line, b: &Line| Some(a.range()?.1 <= b.range()?.0);
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
    fits(made.range()?, bits).then_some(Made::Line(made))
}

/// Where one is not above the other.
fn at_most(x: &Line, y: &Line) -> Option<Made> {
    let mut difference = x.plus(y, -1)?;
    difference.start = difference.start.checked_sub(1)?;
    difference.negative()
}

/// Where both hold.
pub(crate) fn both(x: &Made, y: &Made) -> Option<Made> {
    match (x, y) {
        (Made::Part(x), Made::Part(y)) => Some(Made::Part(x.and(y))),
        (Made::Line(line), other) | (other, Made::Line(line)) => match line.same()? {
            0 => Some(Made::Line(line.clone())),
            1 => Some(other.clone()),
            _ => None,
        },
    }
}
