//! Between which numbers an expression of one program lies, under a launch.

use rustc_hash::FxHashMap;

use crate::program::Program;
use crate::prove::Poly;
use crate::run::Setting;
use terms::{BinOp, Node, Term, Variable};

/// Least and greatest value.
type Interval = Option<(i128, i128)>;

pub(crate) struct Intervals<'p> {
    program: &'p Program,
    setting: &'p Setting,
    lanes: &'p [i64],
    memo: FxHashMap<Term, Interval>,
}

impl<'p> Intervals<'p> {
    /// For the lanes of an access.
    pub(crate) fn new(program: &'p Program, setting: &'p Setting, lanes: &'p [i64]) -> Intervals<'p> {
        Intervals { program, setting, lanes, memo: FxHashMap::default() }
    }

    pub(crate) fn poly(&mut self, poly: &Poly) -> Interval {
        let (mut least, mut most) = (0i128, 0i128);
        for (monomial, coefficient) in poly.terms() {
            let mut product = (coefficient, coefficient);
            for atom in monomial {
                product = times(product, self.term(*atom)?)?;
            }
            least = least.checked_add(product.0)?;
            most = most.checked_add(product.1)?;
        }
        Some((least, most))
    }

    pub(crate) fn term(&mut self, term: Term) -> Interval {
        if let Some(known) = self.memo.get(&term) {
            return *known;
        }
        self.memo.insert(term, None);
        let made = self.make(term);
        self.memo.insert(term, made);
        made
    }

    fn make(&mut self, term: Term) -> Interval {
        let terms = &self.program.terms;
        match terms.node(term).clone() {
            Node::Const(value) => Some((value.into(), value.into())),
            Node::Variable(variable, _) => match variable {
                Variable::Program(axis) => {
                    Some((0, i128::from(self.setting.grid.get(usize::from(axis)).copied().unwrap_or(1)).max(1) - 1))
                }
                Variable::Programs(axis) => {
                    let count = i128::from(self.setting.grid.get(usize::from(axis)).copied().unwrap_or(1)).max(1);
                    Some((count, count))
                }
                Variable::Lane(dim) => {
                    Some((0, i128::from(self.lanes.get(usize::from(dim)).copied().unwrap_or(1)).max(1) - 1))
                }
                Variable::Argument(_) | Variable::DescriptorSize(..) => {
                    let value = i128::from(*self.setting.values.get(&variable)?);
                    Some((value, value))
                }
                Variable::Round(number) => {
                    let trips = self.program.loops.get(number as usize)?.trips?;
                    let (_, most) = self.term(trips)?;
                    Some((0, (most - 1).max(0)))
                }
            },
            // What is assumed of data is for the data to fulfil.
            Node::Read(..) => Some((0, 1)),
            Node::Select(_, a, b) => {
                let (x, y) = (self.term(a)?, self.term(b)?);
                Some((x.0.min(y.0), x.1.max(y.1)))
            }
            Node::Trunc(a) | Node::ExtS(a) | Node::ExtU(a) => self.term(a),
            Node::Binary(op, a, b) => {
                if op.is_question() {
                    return Some((0, 1));
                }
                let y = self.term(b)?;
                match op {
                    BinOp::RemS | BinOp::RemU => return Some((0, (y.1 - 1).max(0))),
                    BinOp::MinS | BinOp::MinU => {
                        // An operand without bounds still leaves the other's upper one.
                        return match self.term(a) {
                            Some(x) => Some((x.0.min(y.0), x.1.min(y.1))),
                            None => Some((0, y.1)),
                        };
                    }
                    _ => {}
                }
                let x = self.term(a)?;
                match op {
                    BinOp::Add => Some((x.0 + y.0, x.1 + y.1)),
                    BinOp::Sub => Some((x.0 - y.1, x.1 - y.0)),
                    BinOp::Mul => times(x, y),
                    BinOp::DivS | BinOp::DivU | BinOp::FloorDivS | BinOp::CeilDivS | BinOp::CeilDivU => {
                        let (low, high) = (y.0.max(1), y.1.max(1));
                        let up = i128::from(matches!(op, BinOp::CeilDivS | BinOp::CeilDivU));
                        let all = [x.0 / low, x.0 / high, x.1 / low + up, x.1 / high + up];
                        Some((*all.iter().min()?, *all.iter().max()?))
                    }
                    BinOp::MaxS | BinOp::MaxU => Some((x.0.max(y.0), x.1.max(y.1))),
                    BinOp::And if x.0 >= 0 && y.0 >= 0 => Some((0, x.1.min(y.1))),
                    BinOp::Or | BinOp::Xor if x.0 >= 0 && y.0 >= 0 => {
                        let bits = 128 - (x.1 | y.1).leading_zeros();
                        Some((0, (1i128 << bits.min(100)) - 1))
                    }
                    _ => None,
                }
            }
        }
    }
}

fn times(x: (i128, i128), y: (i128, i128)) -> Interval {
    let all = [x.0.checked_mul(y.0)?, x.0.checked_mul(y.1)?, x.1.checked_mul(y.0)?, x.1.checked_mul(y.1)?];
    Some((*all.iter().min()?, *all.iter().max()?))
}
