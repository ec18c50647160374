//! What is assumed of strides, at single places of launches as the host makes them: some programs, lanes and rounds.
//!
//! An interval tells how far a sum may go at most. Of one whose parts depend on each other, such as a quotient and a
//! remainder of one number, no program need go so far; at a place that some program comes to its value is known.

use rustc_hash::FxHashMap;

use crate::limits::choose::PLACES;
use crate::program::Program;
use crate::prove::{Poly, Spread};
use crate::run::Setting;
use terms::{Node, Term, Variable, apply};

/// A program, a lane and a round of each loop.
struct Place<'p> {
    program: &'p Program,
    setting: &'p Setting,
    /// The access of which it is a lane.
    access: u32,
    number: [i64; 3],
    /// Whether it is the last lane and round, or the first.
    last: [bool; 2],
    /// The round of all loops, if it is neither.
    round: Option<i64>,
    memo: FxHashMap<Term, Option<i64>>,
}

impl Place<'_> {
    fn term(&mut self, term: Term) -> Option<i64> {
        if let Some(known) = self.memo.get(&term) {
            return *known;
        }
        let made = self.make(term);
        self.memo.insert(term, made);
        made
    }

    fn make(&mut self, term: Term) -> Option<i64> {
        let terms = &self.program.terms;
        match *terms.node(term) {
            Node::Const(value) => Some(value),
            Node::Variable(variable, _) => self.variable(variable),
            Node::Read(..) => None,
            Node::Trunc(a) if terms.bits(term) == 1 => Some(self.term(a)? & 1),
            Node::Trunc(a) | Node::ExtS(a) | Node::ExtU(a) => self.term(a),
            Node::Select(condition, a, b) => {
                if self.term(condition)? != 0 {
                    self.term(a)
                } else {
                    self.term(b)
                }
            }
            Node::Binary(op, a, b) => {
                let (x, y) = (self.term(a)?, self.term(b)?);
                apply(op, terms.bits(a), x, y)
            }
        }
    }

    fn variable(&mut self, variable: Variable) -> Option<i64> {
        let end = |count: i64, last: bool| if last { count - 1 } else { 0 };
        match variable {
            Variable::Program(axis) => self.number.get(usize::from(axis)).copied(),
            Variable::Programs(axis) => self.setting.grid.get(usize::from(axis)).copied(),
            Variable::Argument(_) | Variable::DescriptorSize(..) => self.setting.values.get(&variable).copied(),
            Variable::Lane(dim) => {
                let lanes = &self.program.accesses[self.access as usize].lanes;
                Some(end(lanes.get(usize::from(dim)).copied().unwrap_or(1).max(1), self.last[0]))
            }
            Variable::Round(_) if self.round.is_some() => self.round,
            Variable::Round(number) => {
                let trips = self.program.loops.get(number as usize)?.trips?;
                let trips = self.term(trips).filter(|trips| *trips > 0)?;
                Some(end(trips, self.last[1]))
            }
        }
    }

    fn poly(&mut self, poly: &Poly) -> Option<i128> {
        let mut sum = 0i128;
        for (monomial, coefficient) in poly.terms() {
            let mut product = coefficient;
            for atom in monomial {
                product = product.checked_mul(self.term(*atom)?.into())?;
            }
            sum = sum.checked_add(product)?;
        }
        Some(sum)
    }

    /// Whether its access is executed here, and what is assumed does not hold.
    fn fails(&mut self, spread: &Spread) -> bool {
        let access = &self.program.accesses[spread.access as usize];
        let executed =
            [access.path, access.mask].into_iter().all(|term| self.term(term).is_some_and(|holds| holds != 0));
        let (true, Some(span), Some(stride)) = (executed, self.poly(&spread.span), self.poly(&spread.stride)) else {
            return false;
        };
        span < 0 || span >= stride
    }
}

/// Whether what is assumed does not hold in a launch, at a place that some program comes to.
pub(crate) fn fails_in(program: &Program, setting: &Setting, spread: &Spread) -> bool {
    let along = |count: i64| -> Vec<i64> {
        let mut all: Vec<i64> = (0..count.min(PLACES)).collect();
        all.extend([count / 2, count - 2, count - 1].into_iter().filter(|at| *at >= PLACES));
        all
    };
    let [x, y, z] = setting.grid.map(along);
    let numbers = z.iter().flat_map(|z| y.iter().flat_map(|y| x.iter().map(|x| [*x, *y, *z])));
    numbers.flat_map(|number| [[false; 2], [true, false], [false, true], [true; 2]].map(|last| (number, last))).any(
        |(number, last)| {
            let memo = FxHashMap::default();
            Place { program, setting, access: spread.access, number, last, round: None, memo }.fails(spread)
        },
    )
}

/// Whether the first program goes on into a round of a loop, counted from 0; `None` where that is not known.
pub(crate) fn goes_on(program: &Program, setting: &Setting, number: u32, round: i64) -> Option<bool> {
    let condition = program.loops.get(number as usize)?.condition;
    let memo = FxHashMap::default();
    let mut place = Place { program, setting, access: 0, number: [0; 3], last: [false; 2], round: Some(round), memo };
    place.term(condition).map(|holds| holds != 0)
}
