//! Expressions in numbers, for all lanes at once.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::setting::Setting;
use crate::term::{Node, Symbol, Term, Terms, apply, wrap, wraps};

/// A value of every lane: `None` where it is not known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Column {
    One(Option<i64>),
    Many(Rc<[Option<i64>]>),
}

impl Column {
    pub(crate) fn at(&self, lane: usize) -> Option<i64> {
        match self {
            Column::One(value) => *value,
            Column::Many(values) => values.get(lane).copied().flatten(),
        }
    }
}

/// What the leaves of expressions are at a moment of a run.
#[derive(Clone, Debug)]
pub(crate) struct Environment<'s> {
    pub(crate) setting: &'s Setting,
    pub(crate) place: [i64; 3],
    /// Rounds that each loop has begun.
    pub(crate) rounds: Vec<i64>,
    /// What sources gave, and along which dimensions.
    pub(crate) reads: FxHashMap<u32, (Column, Box<[i64]>)>,
}

/// What expressions came to in one evaluation: room that is used again for the next.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    /// By term: the evaluation it is of, and its value.
    slots: Vec<(u32, Column)>,
    evaluation: u32,
}

/// Evaluates expressions over one set of lanes.
pub(crate) struct Evaluation<'e, 's> {
    pub(crate) terms: &'e Terms,
    pub(crate) environment: &'e Environment<'s>,
    pub(crate) lanes: &'e [i64],
    memo: &'e mut Memo,
    /// Values that were computed.
    pub(crate) work: u64,
    /// Whether a sum, a difference or a product was cut off at its width.
    pub(crate) wrapped: bool,
}

impl<'e, 's> Evaluation<'e, 's> {
    pub(crate) fn new(
        terms: &'e Terms,
        environment: &'e Environment<'s>,
        memo: &'e mut Memo,
        lanes: &'e [i64],
    ) -> Evaluation<'e, 's> {
        memo.evaluation += 1;
        if memo.slots.len() < terms.len() {
            memo.slots.resize(terms.len(), (0, Column::One(None)));
        }
        Evaluation { terms, environment, lanes, memo, work: 0, wrapped: false }
    }

    /// How many lanes there are.
    pub(crate) fn count(&self) -> usize {
        self.lanes.iter().product::<i64>().max(0) as usize
    }

    pub(crate) fn column(&mut self, term: Term) -> Column {
        let slot = &self.memo.slots[term.0 as usize];
        if slot.0 == self.memo.evaluation {
            return slot.1.clone();
        }
        self.work += 1;
        let bits = self.terms.bits(term);
        let made = match self.terms.node(term).clone() {
            Node::Const(value) => Column::One(Some(value)),
            Node::Symbol(symbol, _) => self.symbol(symbol, bits),
            Node::Read(source, at, _) => self.read(source, &at, bits),
            Node::Binary(op, a, b) => {
                let of = self.terms.bits(a);
                let (x, y) = (self.column(a), self.column(b));
                let mut wrapped = false;
                // A truth value may be known by one side alone.
                let decide = |x: Option<i64>, y: Option<i64>| match (x, y) {
                    (Some(x), Some(y)) => {
                        wrapped |= wraps(op, of, x, y);
                        apply(op, of, x, y)
                    }
                    (Some(0), None) | (None, Some(0)) if op == crate::term::BinOp::And => Some(0),
                    (Some(1), None) | (None, Some(1)) if op == crate::term::BinOp::Or && of == 1 => Some(1),
                    _ => None,
                };
                let made = self.zip(&x, &y, decide);
                self.wrapped |= wrapped;
                made
            }
            Node::Select(c, a, b) => match self.column(c) {
                Column::One(Some(0)) => self.column(b),
                Column::One(Some(_)) => self.column(a),
                Column::One(None) => {
                    let (x, y) = (self.column(a), self.column(b));
                    self.zip(&x, &y, |x, y| if x == y { x } else { None })
                }
                Column::Many(conditions) => {
                    let (x, y) = (self.column(a), self.column(b));
                    self.work += conditions.len() as u64;
                    let pick = |(lane, condition): (usize, &Option<i64>)| match condition {
                        Some(0) => y.at(lane),
                        Some(_) => x.at(lane),
                        None => x.at(lane).filter(|value| y.at(lane) == Some(*value)),
                    };
                    Column::Many(conditions.iter().enumerate().map(pick).collect())
                }
            },
            Node::Trunc(a) => {
                let x = self.column(a);
                self.map(&x, |value| wrap(value, bits))
            }
            Node::ExtS(a) => {
                let (x, of) = (self.column(a), self.terms.bits(a));
                self.map(&x, |value| if of == 1 { -value } else { value })
            }
            Node::ExtU(a) => {
                let (x, of) = (self.column(a), self.terms.bits(a));
                self.map(&x, |value| if of >= 64 { value } else { value & ((1i64 << of) - 1) })
            }
        };
        self.memo.slots[term.0 as usize] = (self.memo.evaluation, made.clone());
        made
    }

    fn map(&mut self, of: &Column, with: impl Fn(i64) -> i64) -> Column {
        match of {
            Column::One(value) => Column::One(value.map(with)),
            Column::Many(values) => {
                self.work += values.len() as u64;
                Column::Many(values.iter().map(|value| value.map(&with)).collect())
            }
        }
    }

    fn zip(&mut self, x: &Column, y: &Column, mut with: impl FnMut(Option<i64>, Option<i64>) -> Option<i64>) -> Column {
        match (x, y) {
            (Column::One(x), Column::One(y)) => Column::One(with(*x, *y)),
            _ => {
                let count = self.count();
                self.work += count as u64;
                Column::Many((0..count).map(|lane| with(x.at(lane), y.at(lane))).collect())
            }
        }
    }

    fn symbol(&mut self, symbol: Symbol, bits: u8) -> Column {
        let known = |value: Option<i64>| Column::One(value.map(|value| wrap(value, bits)));
        match symbol {
            Symbol::Program(axis) => known(self.environment.place.get(usize::from(axis)).copied()),
            Symbol::Programs(axis) => known(self.environment.setting.grid.get(usize::from(axis)).copied()),
            Symbol::Argument(_) | Symbol::DescriptorSize(..) => {
                known(self.environment.setting.values.get(&symbol).copied())
            }
            Symbol::Round(number) => known(self.environment.rounds.get(number as usize).copied()),
            Symbol::Lane(dim) => {
                let below: i64 = self.lanes.get(usize::from(dim) + 1..).unwrap_or(&[]).iter().product();
                let size = self.lanes.get(usize::from(dim)).copied().unwrap_or(1).max(1);
                let count = self.count();
                self.work += count as u64;
                Column::Many((0..count as i64).map(|lane| Some(lane / below.max(1) % size)).collect())
            }
        }
    }

    fn read(&mut self, source: u32, at: &[Term], bits: u8) -> Column {
        let Some((values, shape)) = self.environment.reads.get(&source) else { return Column::One(None) };
        let Column::Many(all) = values else { return values.clone() };
        let columns: Vec<Column> = at.iter().map(|term| self.column(*term)).collect();
        let place = |lane: usize| {
            let mut place = 0;
            for (dim, column) in columns.iter().enumerate() {
                place = place * shape.get(dim).copied().unwrap_or(1) + column.at(lane)?;
            }
            all.get(usize::try_from(place).ok()?).copied().flatten().map(|value| wrap(value, bits))
        };
        if columns.iter().all(|column| matches!(column, Column::One(_))) {
            return Column::One(place(0));
        }
        let count = self.count();
        self.work += count as u64;
        Column::Many((0..count).map(place).collect())
    }
}
