//! Expressions in numbers, for all lanes at once.
//!
//! An expression is asked for again and again: by several accesses, in each round of a loop, by each program. What
//! its parts came to is kept, and computed again only where one of them has changed. The work that is counted is
//! what it would be without that, so that limits mean the same.

use std::rc::Rc;

use lanes::{Column, OfOne, Separable, truncated, with_sign, without_sign};

use rustc_hash::FxHashMap;

use super::setting::Setting;
use terms::{Node, Term, Terms, Variable, wrap};

/// What the leaves of expressions are at a moment of a run.
#[derive(Clone, Debug)]
pub(crate) struct Environment<'s> {
    pub(crate) setting: &'s Setting,
    pub(crate) place: [i64; 3],
    /// Rounds that each loop has begun.
    pub(crate) rounds: Vec<i64>,
    /// What sources gave.
    pub(crate) reads: FxHashMap<u32, Given>,
}

/// What a source gave.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub(crate) values: Column,
    /// How many there are along each dimension.
    pub(crate) shape: Box<[i64]>,
    /// Differs from that of all else that was given.
    version: u64,
}

/// What expressions came to so far, by the lanes over which they were evaluated.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    shapes: Vec<(Rc<[i64]>, Vec<Slot>)>,
    evaluation: u32,
    versions: Versions,
    /// Values that may still be spelled out lane by lane: a tensor may have as many lanes as a text says.
    pub(crate) left: u64,
}

/// Numbers for values: equal ones mean that the values are.
#[derive(Debug, Default)]
struct Versions(u64);

/// What one expression came to.
#[derive(Clone, Debug)]
struct Slot {
    /// The last evaluation that asked for it.
    evaluation: u32,
    /// 0 before it was computed.
    version: u64,
    /// Versions of the values that it was computed from.
    from: [u64; 3],
    value: Column,
    /// Whether it was cut off at its width.
    wrapped: bool,
}

impl Versions {
    fn next(&mut self) -> u64 {
        self.0 += 1;
        self.0
    }
}

impl Memo {
    /// What a source gives from now on.
    pub(crate) fn given(&mut self, values: Column, shape: Box<[i64]>) -> Given {
        Given { values, shape, version: self.versions.next() }
    }
}

/// Evaluates expressions over one set of lanes.
pub(crate) struct Evaluation<'e, 's> {
    terms: &'e Terms,
    environment: &'e Environment<'s>,
    lanes: Rc<[i64]>,
    count: usize,
    slots: &'e mut [Slot],
    versions: &'e mut Versions,
    evaluation: u32,
    /// Values that were asked for.
    pub(crate) work: u64,
    /// Values that may still be spelled out lane by lane.
    left: &'e mut u64,
    /// Whether more would have been needed, so that what it gives is of no use.
    pub(crate) exhausted: bool,
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
        let is_own = |shape: &[i64]| shape.len() == lanes.len() && shape.iter().zip(lanes).all(|(a, b)| a == b);
        let known = memo.shapes.iter().position(|(shape, _)| is_own(shape));
        let at = known.unwrap_or(memo.shapes.len());
        if known.is_none() {
            memo.shapes.push((lanes.into(), Vec::new()));
        }
        let (shape, slots) = &mut memo.shapes[at];
        if slots.len() < terms.len() {
            let empty = Slot { evaluation: 0, version: 0, from: [0; 3], value: Column::One(None), wrapped: false };
            slots.resize(terms.len(), empty);
        }
        Evaluation {
            terms,
            environment,
            lanes: shape.clone(),
            count: lanes.iter().fold(1, |count: i64, size| count.saturating_mul(*size)).max(0) as usize,
            slots,
            versions: &mut memo.versions,
            evaluation: memo.evaluation,
            work: 0,
            left: &mut memo.left,
            exhausted: false,
            wrapped: false,
        }
    }

    /// How many lanes there are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// How many there are along each dimension.
    pub(crate) fn lanes(&self) -> Rc<[i64]> {
        self.lanes.clone()
    }

    pub(crate) fn column(&mut self, term: Term) -> Column {
        self.visit(term);
        self.slot(term).value.clone()
    }

    fn slot(&self, term: Term) -> &Slot {
        &self.slots[term.0 as usize]
    }

    /// Sees to it that the value of an expression is that of this evaluation.
    fn visit(&mut self, term: Term) {
        if self.exhausted || self.slot(term).evaluation == self.evaluation {
            return;
        }
        self.work += 1;
        let (terms, bits) = (self.terms, self.terms.bits(term));
        match terms.node(term) {
            Node::Const(value) => self.set_one(term, Some(*value)),
            Node::Variable(Variable::Lane(dim), _) => {
                self.work += self.count as u64;
                if self.slot(term).version == 0 {
                    let values = self.numbers(usize::from(*dim));
                    self.set(term, [0; 3], values, false);
                }
            }
            Node::Variable(variable, _) => {
                let value = self.variable(*variable).map(|value| wrap(value, bits));
                self.set_one(term, value);
            }
            Node::Read(source, at, _) => self.read(term, *source, at, bits),
            Node::Binary(op, a, b) => {
                self.visit(*a);
                self.visit(*b);
                let of = terms.bits(*a);
                let many = self.slot(*a).value.is_many() || self.slot(*b).value.is_many();
                self.work += if many { self.count as u64 } else { 0 };
                self.derive(term, &[*a, *b], |this, room| {
                    let operands = (&this.slot(*a).value, &this.slot(*b).value);
                    Column::binary(*op, of, operands, (&this.lanes, this.count), this.can_spell().then_some(room))
                });
            }
            Node::Select(c, a, b) => self.select(term, *c, *a, *b),
            Node::Trunc(a) => self.map(term, *a, |of, shape, room| truncated(of, bits, shape, room)),
            Node::ExtS(a) => self.map(term, *a, |of, shape, room| with_sign(of, terms.bits(*a), shape, room)),
            Node::ExtU(a) => self.map(term, *a, |of, shape, room| without_sign(of, terms.bits(*a), shape, room)),
        }
        if self.exhausted {
            return;
        }
        let slot = &mut self.slots[term.0 as usize];
        slot.evaluation = self.evaluation;
        self.wrapped |= slot.wrapped;
    }

    /// Sets the value of an expression that has one for all lanes.
    fn set_one(&mut self, term: Term, value: Option<i64>) {
        let slot = &self.slots[term.0 as usize];
        if slot.version == 0 || slot.value != Column::One(value) {
            self.set(term, [0; 3], Column::One(value), false);
        }
    }

    fn set(&mut self, term: Term, from: [u64; 3], value: Column, wrapped: bool) {
        if value.is_spelled() {
            *self.left = self.left.saturating_sub(self.count as u64);
        }
        let slot = &mut self.slots[term.0 as usize];
        // The same number again is no change for what is computed from it.
        if slot.version == 0 || value.is_many() || slot.value != value {
            slot.version = self.versions.next();
        }
        (slot.from, slot.value, slot.wrapped) = (from, value, wrapped);
    }

    /// Whether the budget is enough to spell out one more column.
    fn can_spell(&self) -> bool {
        *self.left >= self.count as u64
    }

    /// Computes the value of an expression, given some memory for it, unless it is there for the same operands. There is
    /// none where it would have to be spelled out beyond the budget.
    fn derive(&mut self, term: Term, of: &[Term], compute: impl FnOnce(&Self, Vec<i64>) -> Option<(Column, bool)>) {
        if self.exhausted {
            return;
        }
        let mut from = [0; 3];
        for (from, of) in from.iter_mut().zip(of) {
            *from = self.slot(*of).version;
        }
        let slot = &mut self.slots[term.0 as usize];
        if slot.version != 0 && slot.from == from {
            return;
        }
        let room = slot.value.take_room();
        match compute(self, room) {
            Some((value, wrapped)) => self.set(term, from, value, wrapped),
            None => self.exhausted = true,
        }
    }

    fn map(&mut self, term: Term, of: Term, with: impl FnOnce(&Column, &Rc<[i64]>, Vec<i64>) -> Column) {
        self.visit(of);
        if self.slot(of).value.is_many() {
            self.work += self.count as u64;
        }
        self.derive(term, &[of], |this, room| {
            let of = &this.slot(of).value;
            (!of.is_spelled() || this.can_spell()).then(|| (with(of, &this.lanes, room), false))
        });
    }

    /// One of two values by a condition; only what the condition needs is asked for.
    fn select(&mut self, term: Term, condition: Term, yes: Term, no: Term) {
        self.visit(condition);
        let one = match &self.slot(condition).value {
            Column::One(value) => Some(*value),
            _ => None,
        };
        if let Some(Some(holds)) = one {
            let taken = if holds == 0 { no } else { yes };
            self.visit(taken);
            return self.derive(term, &[condition, taken], |this, _| Some((this.slot(taken).value.clone(), false)));
        }
        self.visit(yes);
        self.visit(no);
        let many = [condition, yes, no].into_iter().any(|of| self.slot(of).value.is_many());
        self.work += if many { self.count as u64 } else { 0 };
        self.derive(term, &[condition, yes, no], |this, _| {
            let [c, x, y] = [condition, yes, no].map(|of| &this.slot(of).value);
            if let Column::Separable(of) = c
                && let Some(holds) = of.same()
                && let Some(taken) = this.spread(if holds == 0 { y } else { x })
            {
                return Some((taken, false));
            }
            if let Some(made) = this.picked_by_place(c, x, y, this.terms.bits(term)) {
                return Some((made, false));
            }
            if many && !this.can_spell() {
                return None;
            }
            let [c, x, y] = [c, x, y].map(Column::spelled);
            let pick = |lane: usize| match c.at(lane) {
                Some(0) => y.at(lane),
                Some(_) => x.at(lane),
                None => x.at(lane).filter(|value| y.at(lane) == Some(*value)),
            };
            let made = if many { Column::of((0..this.count).map(pick).collect()) } else { Column::One(pick(0)) };
            Some((made, false))
        });
    }

    /// One of two values by a condition, where all three depend on one dimension together.
    fn picked_by_place(&self, c: &Column, x: &Column, y: &Column, bits: u8) -> Option<Column> {
        let [c, x, y] = [c.of_one()?, x.of_one()?, y.of_one()?];
        let dim = OfOne::common([&c, &x, &y], &self.lanes)?;
        let size = usize::try_from(*self.lanes.get(dim)?).ok()?;
        let pick = |place: usize| if c.at(place)? == 0 { y.at(place) } else { x.at(place) };
        let values: Vec<i64> = (0..size).map(pick).collect::<Option<_>>()?;
        Column::by_place(dim, &values, bits == 1, &self.lanes)
    }

    /// What a source gave at places that depend on one dimension together.
    fn read_by_place(&self, given: &Given, at: &[Term], bits: u8) -> Option<Column> {
        let at: Vec<OfOne> = at.iter().map(|place| self.slot(*place).value.of_one()).collect::<Option<_>>()?;
        let dim = OfOne::common(&at, &self.lanes)?;
        let size = usize::try_from(*self.lanes.get(dim)?).ok()?;
        let read = |place: usize| {
            let mut index = 0;
            for (at, size) in at.iter().zip(given.shape.iter()) {
                index = index * size + at.at(place)?;
            }
            given.values.at(usize::try_from(index).ok()?).map(|value| wrap(value, bits))
        };
        let values: Vec<i64> = (0..size).map(read).collect::<Option<_>>()?;
        Column::by_place(dim, &values, bits == 1, &self.lanes)
    }

    /// A value as one that each lane has for itself.
    fn spread(&self, of: &Column) -> Option<Column> {
        match of {
            Column::One(value) => value.map(|value| Column::Separable(Separable::flat(value, &self.lanes).into())),
            many => Some(many.clone()),
        }
    }

    /// The place of each lane along a dimension.
    fn numbers(&self, dim: usize) -> Column {
        match self.count {
            0 => Column::Known(Rc::default()),
            _ => Column::Separable(Separable::along(dim, &self.lanes).into()),
        }
    }

    fn variable(&self, variable: Variable) -> Option<i64> {
        let environment = self.environment;
        match variable {
            Variable::Program(axis) => environment.place.get(usize::from(axis)).copied(),
            Variable::Programs(axis) => environment.setting.grid.get(usize::from(axis)).copied(),
            Variable::Argument(_) | Variable::DescriptorSize(..) => environment.setting.values.get(&variable).copied(),
            Variable::Round(number) => environment.rounds.get(number as usize).copied(),
            Variable::Lane(_) => None,
        }
    }

    fn read(&mut self, term: Term, source: u32, at: &[Term], bits: u8) {
        let environment = self.environment;
        let Some(given) = environment.reads.get(&source) else { return self.set_one(term, None) };
        if let Column::One(value) = given.values {
            return self.set_one(term, value);
        }
        at.iter().for_each(|place| self.visit(*place));
        if self.exhausted {
            return;
        }
        let many = at.iter().any(|place| self.slot(*place).value.is_many());
        if many {
            self.work += self.count as u64;
        }
        // Places of more than two dimensions are few enough to be looked at again.
        let mut from = [given.version, 0, 0];
        for (from, place) in from.iter_mut().skip(1).zip(at) {
            *from = self.slot(*place).version;
        }
        let slot = self.slot(term);
        if slot.version != 0 && slot.from == from && at.len() < 3 {
            return;
        }
        let value = if many && self.is_in_place(at, &given.shape) {
            truncated(&given.values, bits, &self.lanes, Vec::new())
        } else if many && let Some(made) = self.read_by_place(given, at, bits) {
            made
        } else if many && !self.can_spell() {
            self.exhausted = true;
            return;
        } else {
            let values = given.values.spelled();
            let places: Vec<_> = at.iter().map(|place| self.slot(*place).value.spelled()).collect();
            let place = |lane: usize| {
                let mut index = 0;
                for (dim, place) in places.iter().enumerate() {
                    index = index * given.shape.get(dim).copied().unwrap_or(1) + place.at(lane)?;
                }
                values.at(usize::try_from(index).ok()?).map(|value| wrap(value, bits))
            };
            if many { Column::of((0..self.count).map(place).collect()) } else { Column::One(place(0)) }
        };
        self.set(term, from, value, false);
    }

    /// Whether each lane reads what the same lane gave.
    fn is_in_place(&self, at: &[Term], shape: &[i64]) -> bool {
        let is_own = |(dim, place): (usize, &Term)| matches!(self.terms.node(*place), Node::Variable(Variable::Lane(own), _) if usize::from(*own) == dim);
        *shape == *self.lanes && at.len() == shape.len() && at.iter().enumerate().all(is_own)
    }
}
