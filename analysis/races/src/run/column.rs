//! Values of all lanes at once.

use std::borrow::Cow;
use std::rc::Rc;

use super::line::{Line, Made, Part, both, lines};
use crate::term::{BinOp, apply, wrap, wraps};

/// A value of every lane.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Column {
    /// One for all of them: `None` where it is not known.
    One(Option<i64>),
    /// They grow evenly.
    Line(Rc<Line>),
    /// 1 in some lanes, 0 in the others.
    Part(Rc<Part>),
    /// All of them are known.
    Known(Rc<Vec<i64>>),
    /// Some are not known.
    Partly(Rc<Vec<Option<i64>>>),
}

impl Column {
    /// The values of lanes.
    pub(crate) fn of(values: Vec<Option<i64>>) -> Column {
        match values.iter().copied().collect::<Option<Vec<i64>>>() {
            Some(known) => Column::Known(known.into()),
            None => Column::Partly(values.into()),
        }
    }

    pub(crate) fn at(&self, lane: usize) -> Option<i64> {
        match self {
            Column::One(value) => *value,
            Column::Line(line) => Some(line.at(lane)),
            Column::Part(part) => Some(i64::from(part.holds(lane))),
            Column::Known(values) => values.get(lane).copied(),
            Column::Partly(values) => values.get(lane).copied().flatten(),
        }
    }

    /// Whether it has a value of its own for each lane.
    pub(crate) fn is_many(&self) -> bool {
        !matches!(self, Column::One(_))
    }

    /// The same lane by lane.
    pub(crate) fn spelled(&self) -> Cow<'_, Column> {
        match self {
            Column::Line(line) => Cow::Owned(Column::Known(line.values(Vec::new()).into())),
            Column::Part(part) => Cow::Owned(Column::Known(part.values(Vec::new()).into())),
            _ => Cow::Borrowed(self),
        }
    }

    /// As a line over lanes of this shape.
    fn line(&self, shape: &Rc<[i64]>) -> Option<Cow<'_, Line>> {
        match self {
            Column::One(value) => value.map(|value| Cow::Owned(Line::flat(value, shape))),
            Column::Line(line) => Some(Cow::Borrowed(&**line)),
            _ => None,
        }
    }

    fn condition(&self, shape: &Rc<[i64]>) -> Option<Made> {
        match self {
            Column::Part(part) => Some(Made::Part((**part).clone())),
            _ => self.line(shape).map(|line| Made::Line(line.into_owned())),
        }
    }

    /// Which lanes take part, where they are a box.
    pub(crate) fn part(&self, shape: &Rc<[i64]>) -> Option<Cow<'_, Part>> {
        match self {
            Column::Part(part) => Some(Cow::Borrowed(&**part)),
            _ => (self.line(shape)?.same()? != 0).then(|| Cow::Owned(Part::whole(shape))),
        }
    }

    /// The memory of a column that is not needed any more, if nobody else needs it.
    pub(crate) fn take_room(&mut self) -> Vec<i64> {
        match self {
            Column::Known(values) => Rc::get_mut(values).map(std::mem::take).unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    /// The same function of the value of each lane; `room` is memory for the answer.
    pub(crate) fn map(&self, room: Vec<i64>, with: impl Fn(i64) -> i64) -> Column {
        match self {
            Column::One(value) => Column::One(value.map(with)),
            Column::Line(_) | Column::Part(_) => self.spelled().map(room, with),
            Column::Known(values) => filled(room, values.iter().map(|value| with(*value))),
            Column::Partly(values) => Column::of(values.iter().map(|value| value.map(&with)).collect()),
        }
    }

    /// An operation on numbers of a width in each of the lanes of a shape, and whether it was cut off at the width in
    /// any.
    pub(crate) fn binary(
        op: BinOp,
        bits: u8,
        (x, y): (&Column, &Column),
        (shape, count): (&Rc<[i64]>, usize),
        room: Vec<i64>,
    ) -> (Column, bool) {
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
            return (Column::One(made), wrapped);
        }
        if let Some(made) = evenly(op, bits, (x, y), shape).filter(|_| count > 0) {
            return (made, false);
        }
        let (x, y) = (&*x.spelled(), &*y.spelled());
        if let (Some(x), Some(y)) = (Side::new(x, count), Side::new(y, count))
            && let Some(made) = known(op, bits, x, y, room)
        {
            return made;
        }
        let values = (0..count).map(|lane| decide(x.at(lane), y.at(lane))).collect();
        (Column::of(values), wrapped)
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

/// An operation on columns of which at least one is a line or a part, where the result is one too.
fn evenly(op: BinOp, bits: u8, (x, y): (&Column, &Column), shape: &Rc<[i64]>) -> Option<Column> {
    let made = if op == BinOp::And && bits == 1 {
        both(&x.condition(shape)?, &y.condition(shape)?)?
    } else {
        lines(op, bits, &*x.line(shape)?, &*y.line(shape)?)?
    };
    Some(match made {
        Made::Line(line) => Column::Line(line.into()),
        Made::Part(part) => Column::Part(part.into()),
    })
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
pub(crate) fn truncated(of: &Column, bits: u8, room: Vec<i64>) -> Column {
    match of {
        Column::Line(line) if let Some(line) = line.truncated(bits) => Column::Line(line.into()),
        Column::Part(_) => of.clone(),
        _ => of.map(room, |value| wrap(value, bits)),
    }
}

/// Each value, of a width, as a number with its sign.
pub(crate) fn with_sign(of: &Column, bits: u8, room: Vec<i64>) -> Column {
    match of {
        Column::Line(_) if bits > 1 => of.clone(),
        _ => of.map(room, |value| if bits == 1 { -value } else { value }),
    }
}

/// Each value, of a width, as a number without a sign.
pub(crate) fn without_sign(of: &Column, bits: u8, room: Vec<i64>) -> Column {
    let mask = if bits >= 64 { -1 } else { (1i64 << bits) - 1 };
    match of {
        Column::Line(line) if let Some(line) = line.masked(mask) => Column::Line(line.into()),
        Column::Part(_) => of.clone(),
        _ => of.map(room, |value| value & mask),
    }
}
