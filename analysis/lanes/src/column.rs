//! Values of all lanes at once.

use std::borrow::Cow;
use std::rc::Rc;

use crate::integer::{BinOp, apply, wrap, wraps};
use crate::separable::{LaneMask, Made, OfOne, Separable, both, separable};

/// A value of every lane.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Column {
    /// One for all of them: `None` where it is not known.
    One(Option<i64>),
    /// Each dimension adds to them what depends on the place along it alone.
    Separable(Rc<Separable>),
    /// 1 in some lanes, 0 in the others.
    Part(Rc<LaneMask>),
    /// All of them are known.
    Known(Rc<Vec<i64>>),
    /// Some are not known.
    Partly(Rc<Vec<Option<i64>>>),
}

impl Column {
    /// The values of lanes.
    pub fn of(values: Vec<Option<i64>>) -> Column {
        match values.iter().copied().collect::<Option<Vec<i64>>>() {
            Some(known) => Column::Known(known.into()),
            None => Column::Partly(values.into()),
        }
    }

    /// The value of a lane; `None` where it is not known.
    pub fn at(&self, lane: usize) -> Option<i64> {
        match self {
            Column::One(value) => *value,
            Column::Separable(of) => Some(of.at(lane)),
            Column::Part(part) => Some(i64::from(part.holds(lane))),
            Column::Known(values) => values.get(lane).copied(),
            Column::Partly(values) => values.get(lane).copied().flatten(),
        }
    }

    /// Whether it has a value of its own for each lane.
    pub fn is_many(&self) -> bool {
        !matches!(self, Column::One(_))
    }

    /// Whether it has a number in memory for each lane.
    pub fn is_spelled(&self) -> bool {
        matches!(self, Column::Known(_) | Column::Partly(_))
    }

    /// The same lane by lane.
    pub fn spelled(&self) -> Cow<'_, Column> {
        match self {
            Column::Separable(of) => Cow::Owned(Column::Known(of.values(Vec::new()).into())),
            Column::Part(part) => Cow::Owned(Column::Known(part.values(Vec::new()).into())),
            _ => Cow::Borrowed(self),
        }
    }

    /// As a separable value over lanes of this shape.
    fn separable(&self, shape: &Rc<[i64]>) -> Option<Cow<'_, Separable>> {
        match self {
            Column::One(value) => value.map(|value| Cow::Owned(Separable::flat(value, shape))),
            Column::Separable(of) => Some(Cow::Borrowed(&**of)),
            _ => None,
        }
    }

    fn condition(&self, shape: &Rc<[i64]>) -> Option<Made> {
        match self {
            Column::Part(part) => Some(Made::Part((**part).clone())),
            _ => self.separable(shape).map(|of| Made::Separable(of.into_owned())),
        }
    }

    /// By the places of the one dimension on which it depends.
    pub fn of_one(&self) -> Option<OfOne> {
        match self {
            Column::One(value) => value.map(|value| OfOne { dim: None, values: vec![value] }),
            Column::Separable(of) => of.of_one(),
            Column::Part(part) => part.of_one(),
            Column::Known(_) | Column::Partly(_) => None,
        }
    }

    /// What has these values at the places of a dimension; where they are `truths`, 1 and 0, those of
    /// a part.
    pub fn by_place(dim: usize, values: &[i64], truths: bool, shape: &Rc<[i64]>) -> Option<Column> {
        if truths && values.iter().all(|value| matches!(value, 0 | 1)) {
            let chosen = values.iter().map(|value| *value != 0).collect();
            return Some(Column::Part(LaneMask::by_place(dim, chosen, shape)?.into()));
        }
        Some(Column::Separable(Separable::by_place(dim, values, shape)?.into()))
    }

    /// Which lanes take part, where they are chosen along each dimension by itself.
    pub fn part(&self, shape: &Rc<[i64]>) -> Option<Cow<'_, LaneMask>> {
        match self {
            Column::Part(part) => Some(Cow::Borrowed(&**part)),
            _ => (self.separable(shape)?.same()? != 0).then(|| Cow::Owned(LaneMask::whole(shape))),
        }
    }

    /// The memory of a column that is not needed any more, if nobody else needs it.
    pub fn take_room(&mut self) -> Vec<i64> {
        match self {
            Column::Known(values) => Rc::get_mut(values).map(std::mem::take).unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    /// The same function of the value of each lane; `room` is memory for the answer.
    fn map(&self, room: Vec<i64>, shape: &Rc<[i64]>, with: impl Fn(i64) -> i64) -> Column {
        match self {
            Column::One(value) => Column::One(value.map(with)),
            Column::Separable(_) | Column::Part(_) => {
                let by_place = || {
                    let of = self.of_one()?;
                    let dim = OfOne::common([&of], shape)?;
                    let values: Vec<i64> = of.values.iter().map(|value| with(*value)).collect();
                    Column::by_place(dim, &values, false, shape)
                };
                by_place().unwrap_or_else(|| match &*self.spelled() {
                    Column::Known(values) => filled(room, values.iter().map(|value| with(*value))),
                    other => other.clone(),
                })
            }
            Column::Known(values) => filled(room, values.iter().map(|value| with(*value))),
            Column::Partly(values) => Column::of(values.iter().map(|value| value.map(&with)).collect()),
        }
    }

    /// An operation on numbers of a width in each of the lanes of a shape, and whether it was cut off at the width in
    /// any. `None` where it has to be spelled out, and there is no `room` for that.
    pub fn binary(
        op: BinOp,
        bits: u8,
        (x, y): (&Column, &Column),
        (shape, count): (&Rc<[i64]>, usize),
        room: Option<Vec<i64>>,
    ) -> Option<(Column, bool)> {
        let mut wrapped = false;
        // A truth value may be known by one side alone.
        let mut decide = |x: Option<i64>, y: Option<i64>| match (x, y) {
            (Some(x), Some(y)) => {
                wrapped |= wraps(op, bits, x, y);
                apply(op, bits, x, y)
            }
            (Some(0), None) | (None, Some(0)) if op == BinOp::And => Some(0),
            (Some(1), None) | (None, Some(1)) if op == BinOp::Or && bits == 1 => Some(1),
            _ => None,
        };
        if let (Column::One(x), Column::One(y)) = (x, y) {
            let made = decide(*x, *y);
            return Some((Column::One(made), wrapped));
        }
        if let Some(made) = evenly(op, bits, (x, y), shape).filter(|_| count > 0) {
            return Some((made, false));
        }
        if let Some(made) = by_place(op, bits, (x, y), shape).filter(|_| count > 0) {
            return Some(made);
        }
        let room = room?;
        let (x, y) = (&*x.spelled(), &*y.spelled());
        if let (Some(x), Some(y)) = (Side::new(x, count), Side::new(y, count))
            && let Some(made) = known(op, bits, x, y, room)
        {
            return Some(made);
        }
        let values = (0..count).map(|lane| decide(x.at(lane), y.at(lane))).collect();
        Some((Column::of(values), wrapped))
    }
}

fn filled(mut room: Vec<i64>, values: impl Iterator<Item = i64>) -> Column {
    room.clear();
    room.extend(values);
    Column::Known(Rc::new(room))
}

/// A known operand.
#[derive(Clone, Copy)]
enum Side<'c> {
    One(i64),
    Many(&'c [i64]),
}

impl<'c> Side<'c> {
    fn new(column: &'c Column, count: usize) -> Option<Side<'c>> {
        match column {
            Column::One(value) => value.map(Side::One),
            Column::Known(values) => (values.len() == count).then_some(Side::Many(values)),
            _ => None,
        }
    }
}

/// An operation on columns of which at least one is separable or a part, where the result is one too.
fn evenly(op: BinOp, bits: u8, (x, y): (&Column, &Column), shape: &Rc<[i64]>) -> Option<Column> {
    let made = if op == BinOp::And && bits == 1 {
        both(&x.condition(shape)?, &y.condition(shape)?)?
    } else {
        separable(op, bits, &*x.separable(shape)?, &*y.separable(shape)?)?
    };
    Some(match made {
        Made::Separable(of) => Column::Separable(of.into()),
        Made::Part(part) => Column::Part(part.into()),
    })
}

/// An operation on columns that depend on one dimension together: by its places.
fn by_place(op: BinOp, bits: u8, (x, y): (&Column, &Column), shape: &Rc<[i64]>) -> Option<(Column, bool)> {
    let (x, y) = (x.of_one()?, y.of_one()?);
    let dim = OfOne::common([&x, &y], shape)?;
    fn side(of: &OfOne) -> Option<Side<'_>> {
        match of.dim {
            Some(_) => Some(Side::Many(&of.values)),
            None => of.values.first().map(|value| Side::One(*value)),
        }
    }
    let (Column::Known(values), wrapped) = known(op, bits, side(&x)?, side(&y)?, Vec::new())? else { return None };
    Some((Column::by_place(dim, &values, bits == 1 || op.is_question(), shape)?, wrapped))
}

/// An operation on operands that are known; `None` where it is not defined in some lane. Each operation gets loops of
/// its own.
fn known(op: BinOp, bits: u8, x: Side<'_>, y: Side<'_>, room: Vec<i64>) -> Option<(Column, bool)> {
    macro_rules! each {
        ($($op:ident)*) => {
            match op {
                $(BinOp::$op => lanes(x, y, room, |x, y| (apply(BinOp::$op, bits, x, y), wraps(BinOp::$op, bits, x, y))),)*
            }
        };
    }
    each! {
        Add Sub Mul DivS DivU FloorDivS CeilDivS CeilDivU RemS RemU MinS MinU MaxS MaxU And Or Xor Shl ShrS ShrU
        Eq Ne Slt Sle Ult Ule
    }
}

#[inline(always)]
fn lanes(
    x: Side<'_>,
    y: Side<'_>,
    room: Vec<i64>,
    with: impl Fn(i64, i64) -> (Option<i64>, bool),
) -> Option<(Column, bool)> {
    let (mut undefined, mut wrapped) = (false, false);
    let mut each = |x: i64, y: i64| {
        let (value, cut) = with(x, y);
        undefined |= value.is_none();
        wrapped |= cut;
        value.unwrap_or(0)
    };
    let made = match (x, y) {
        (Side::Many(x), Side::Many(y)) => filled(room, x.iter().zip(y).map(|(x, y)| each(*x, *y))),
        (Side::Many(x), Side::One(y)) => filled(room, x.iter().map(|x| each(*x, y))),
        (Side::One(x), Side::Many(y)) => filled(room, y.iter().map(|y| each(x, *y))),
        (Side::One(x), Side::One(y)) => filled(room, std::iter::once(each(x, y))),
    };
    (!undefined).then_some((made, wrapped))
}

/// The low bits of each value, as signed numbers.
pub fn truncated(of: &Column, bits: u8, shape: &Rc<[i64]>, room: Vec<i64>) -> Column {
    match of {
        Column::Separable(of) if let Some(of) = of.truncated(bits) => Column::Separable(of.into()),
        Column::Part(_) => of.clone(),
        _ => of.map(room, shape, |value| wrap(value, bits)),
    }
}

/// Each value, of a width, as a number with its sign.
pub fn with_sign(of: &Column, bits: u8, shape: &Rc<[i64]>, room: Vec<i64>) -> Column {
    match of {
        Column::Separable(_) if bits > 1 => of.clone(),
        _ => of.map(room, shape, |value| if bits == 1 { -value } else { value }),
    }
}

/// Each value, of a width, as a number without a sign.
pub fn without_sign(of: &Column, bits: u8, shape: &Rc<[i64]>, room: Vec<i64>) -> Column {
    let mask = if bits >= 64 { -1 } else { (1i64 << bits) - 1 };
    match of {
        Column::Separable(of) if let Some(of) = of.masked(mask) => Column::Separable(of.into()),
        Column::Part(_) => of.clone(),
        _ => of.map(room, shape, |value| value & mask),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integer::BinOp::*;
    use base::rng::SplitMix64;
    use base::spans::Spans;

    const OPS: [BinOp; 23] = [
        Add, Sub, Mul, DivS, DivU, FloorDivS, CeilDivS, CeilDivU, RemS, RemU, MinS, MinU, MaxS, MaxU, And, Or, Xor,
        Shl, ShrS, Eq, Ne, Slt, Ule,
    ];

    /// A column of 32 bits, or of truths, that is not spelled out.
    fn column(rng: &mut SplitMix64, truths: bool, shape: &Rc<[i64]>) -> Column {
        let dim = rng.below(shape.len());
        let size = shape[dim];
        if truths {
            let values: Vec<i64> = (0..size).map(|_| rng.below(2) as i64).collect();
            return Column::by_place(dim, &values, true, shape).unwrap();
        }
        let number = |rng: &mut SplitMix64| rng.below(40) as i64 - 8;
        match rng.below(5) {
            0 => Column::One(Some(number(rng))),
            1 => Column::Separable(Separable::along(dim, shape).into()),
            2 => {
                let values: Vec<i64> = (0..size).map(|_| number(rng)).collect();
                Column::by_place(dim, &values, false, shape).unwrap()
            }
            _ => {
                let (a, b) = (column(rng, false, shape), column(rng, false, shape));
                let count = shape.iter().product::<i64>() as usize;
                Column::binary(BinOp::Add, 32, (&a, &b), (shape, count), Some(Vec::new())).unwrap().0
            }
        }
    }

    #[test]
    fn operations_give_what_they_give_lane_by_lane() {
        let shape: Rc<[i64]> = Rc::from([4, 6, 2]);
        let mut rng = SplitMix64::new(7);
        let mut kept = 0;
        for _ in 0..4000 {
            let op = OPS[rng.below(OPS.len())];
            let truths = matches!(op, BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Eq) && rng.below(2) == 0;
            let (a, b) = (column(&mut rng, truths, &shape), column(&mut rng, truths, &shape));
            let bits = if truths { 1 } else { 32 };
            let of = |a: &Column, b: &Column, room| Column::binary(op, bits, (a, b), (&shape, 48), room);
            let (made, wrapped) = of(&a, &b, Some(Vec::new())).unwrap();
            let (spelled, by_lane) = of(&a.spelled(), &b.spelled(), Some(Vec::new())).unwrap();
            if let Some((made, _)) = of(&a, &b, None) {
                assert!(!made.is_spelled(), "{op:?} {a:?} {b:?}");
            }
            kept += usize::from(matches!(made, Column::Separable(_) | Column::Part(_)));
            let all = |of: &Column| (0..48).map(|lane| of.at(lane)).collect::<Vec<_>>();
            assert_eq!(all(&made), all(&spelled), "{op:?} {a:?} {b:?}");
            assert_eq!(all(&made.spelled()), all(&made), "{made:?}");
            assert_eq!(wrapped, by_lane, "{op:?} {a:?} {b:?}");
        }
        assert!(kept > 1500, "{kept} results are of a form again");
    }

    #[test]
    fn spans_are_those_of_the_lanes() {
        let shape: Rc<[i64]> = Rc::from([4, 6, 2]);
        let mut rng = SplitMix64::new(11);
        for _ in 0..2000 {
            let (offset, mask) = (column(&mut rng, false, &shape), column(&mut rng, true, &shape));
            let (Column::Separable(of), Some(part)) = (&offset, mask.part(&shape)) else { continue };
            let lanes = (0..48).filter(|lane| mask.at(*lane) != Some(0));
            let all: Vec<(i64, u32)> = lanes.map(|lane| (of.at(lane), lane as u32)).collect();
            let (by_lane, by_bytes): (Spans, Spans) = (of.spans(&part, false), of.spans(&part, true));
            assert_eq!(by_lane.iter().collect::<Vec<_>>(), all);
            let mut sorted = (all, by_bytes.iter().collect::<Vec<_>>());
            sorted.0.sort_unstable();
            sorted.1.sort_unstable();
            assert_eq!(sorted.0, sorted.1);
        }
    }
}
