//! Between what numbers the value of an expression lies, as far as it is known, so that what is cut off at its width is
//! told from what is not.

use rustc_hash::FxHashMap;

use crate::program::Program;
use terms::{BinOp, Node, Term, Terms, Variable};

/// Least and greatest value; `None` where there is no bound.
type Range = Option<(i128, i128)>;

/// Integers of as many bits hold addresses and sizes; what narrower ones cut off is as a rule meant.
const ADDRESS: u8 = 32;

/// From so many places on a shift to the left moves a number out of its integer, and does not multiply it by the size of
/// something.
const FAR: i64 = 16;

/// What is known of the leaves of expressions, and so of these.
#[derive(Debug, Default)]
pub(crate) struct Ranges {
    known: FxHashMap<Variable, i64>,
    /// The most lanes that any access has along a dimension.
    lanes: Vec<i64>,
    memo: FxHashMap<Term, Range>,
    /// Whether a number that is wide enough for addresses does not fit, by what is known.
    overflows: bool,
}

/// The numbers that a signed integer of so many bits holds.
fn signed(bits: u8) -> (i128, i128) {
    match bits {
        0 | 1 => (0, 1),
        bits => {
            let half = 1i128 << (bits.min(64) - 1);
            (-half, half - 1)
        }
    }
}

impl Ranges {
    /// For the accesses of a kernel, under what a launch gives.
    pub(crate) fn new(program: &Program, known: &FxHashMap<Variable, i64>) -> Ranges {
        let mut lanes: Vec<i64> = Vec::new();
        for access in &program.accesses {
            lanes.resize(lanes.len().max(access.lanes.len()), 1);
            lanes.iter_mut().zip(&access.lanes).for_each(|(most, own)| *most = (*most).max(*own));
        }
        Ranges { known: known.clone(), lanes, ..Ranges::default() }
    }

    /// Whether the number that an operation makes, were integers unbounded, is what its integers hold: certainly where
    /// they are narrow, and where they are wide unless what is known says otherwise.
    pub(super) fn is_whole(&mut self, terms: &Terms, term: Term) -> bool {
        let bits = terms.bits(term);
        let fits = |range: (i128, i128)| {
            let holds = signed(bits);
            holds.0 <= range.0 && range.1 <= holds.1
        };
        match *terms.node(term) {
            Node::Trunc(a) => self.of(terms, a).map_or(bits >= ADDRESS, fits),
            // As a number without a sign it is another one where it is negative.
            Node::ExtU(a) => {
                let bits = terms.bits(a);
                let natural = |range: (i128, i128)| range.0 >= 0;
                bits == 1
                    || bits >= ADDRESS
                    || self.held(terms, term).is_some()
                    || self.of(terms, a).is_some_and(natural)
            }
            Node::Binary(BinOp::Shl, _, by) if self.unbounded(terms, term).is_none() => {
                let by = terms.constant(by).unwrap_or(0);
                bits >= ADDRESS && by < FAR.max(i64::from(bits) - 32)
            }
            Node::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Shl, ..) => {
                let whole = self.unbounded(terms, term).map_or(bits >= ADDRESS, fits);
                self.overflows |= !whole && bits >= ADDRESS;
                whole
            }
            _ => true,
        }
    }

    /// Whether a number that is wide enough for addresses does not fit, by what is known of the launch.
    pub(super) fn overflows(&self) -> bool {
        self.overflows
    }

    /// What a number is that was cut off at fewer bits and is taken without a sign, where those bits hold it.
    pub(super) fn held(&mut self, terms: &Terms, term: Term) -> Option<Term> {
        let Node::ExtU(cut) = *terms.node(term) else { return None };
        let Node::Trunc(whole) = *terms.node(cut) else { return None };
        let range = self.of(terms, whole)?;
        (range.0 >= 0 && range.1 < 1i128 << terms.bits(cut).min(64)).then_some(whole)
    }

    /// The range of the value that an expression has.
    pub(super) fn of(&mut self, terms: &Terms, term: Term) -> Range {
        if let Some(known) = self.memo.get(&term) {
            return *known;
        }
        let bits = terms.bits(term);
        let holds = signed(bits);
        let exact = self.unbounded(terms, term).filter(|range| holds.0 <= range.0 && range.1 <= holds.1);
        let made = exact.or((bits < ADDRESS).then_some(holds));
        self.memo.insert(term, made);
        made
    }

    /// The same, were integers unbounded.
    fn unbounded(&mut self, terms: &Terms, term: Term) -> Range {
        match *terms.node(term) {
            Node::Const(value) => Some((value.into(), value.into())),
            Node::Variable(variable, _) => self.of_symbol(variable),
            Node::Read(..) => None,
            Node::Select(_, a, b) => {
                let (x, y) = (self.of(terms, a)?, self.of(terms, b)?);
                Some((x.0.min(y.0), x.1.max(y.1)))
            }
            Node::Trunc(a) => self.of(terms, a),
            Node::ExtS(a) if terms.bits(a) == 1 => Some((-1, 0)),
            Node::ExtS(a) => self.of(terms, a),
            Node::ExtU(a) => {
                let whole = self.held(terms, term).unwrap_or(a);
                let held = self.of(terms, whole).filter(|range| range.0 >= 0);
                held.or(Some((0, (1i128 << terms.bits(a).min(64)) - 1)))
            }
            Node::Binary(op, a, b) => {
                let (x, y) = (self.of(terms, a), self.of(terms, b));
                of_operation(op, x, y)
            }
        }
    }

    fn of_symbol(&self, variable: Variable) -> Range {
        let known = |variable: &Variable| self.known.get(variable).map(|value| i128::from(*value));
        match variable {
            Variable::Program(axis) => known(&Variable::Programs(axis)).map(|count| (0, count.max(1) - 1)),
            Variable::Programs(_) | Variable::Argument(_) | Variable::DescriptorSize(..) => {
                known(&variable).map(|value| (value, value))
            }
            Variable::Lane(dim) => self.lanes.get(usize::from(dim)).map(|lanes| (0, i128::from(*lanes).max(1) - 1)),
            Variable::Round(_) => None,
        }
    }
}

fn of_operation(op: BinOp, x: Range, y: Range) -> Range {
    if op.is_question() {
        return Some((0, 1));
    }
    // What bounds the outcome by itself.
    match (op, x, y) {
        (BinOp::And, Some(mask), _) | (BinOp::And, _, Some(mask)) if mask.0 >= 0 => return Some((0, mask.1)),
        (BinOp::RemS | BinOp::RemU, _, Some(divisor)) if divisor.0 > 0 => {
            let least = if op == BinOp::RemU || x.is_some_and(|x| x.0 >= 0) { 0 } else { 1 - divisor.1 };
            return Some((least, divisor.1 - 1));
        }
        _ => {}
    }
    let (x, y) = (x?, y?);
    let corners = |of: fn(i128, i128) -> Option<i128>| {
        let all = [of(x.0, y.0)?, of(x.0, y.1)?, of(x.1, y.0)?, of(x.1, y.1)?];
        Some((*all.iter().min()?, *all.iter().max()?))
    };
    match op {
        BinOp::Add => Some((x.0 + y.0, x.1 + y.1)),
        BinOp::Sub => Some((x.0 - y.1, x.1 - y.0)),
        BinOp::Mul => corners(i128::checked_mul),
        BinOp::Shl if y.0 >= 0 && y.1 < 64 => {
            corners(|a, by| a.checked_mul(1i128.checked_shl(u32::try_from(by).ok()?)?))
        }
        BinOp::ShrS | BinOp::ShrU if x.0 >= 0 && y.0 >= 0 => {
            corners(|a, by| Some(a.checked_shr(u32::try_from(by).ok()?).unwrap_or(0)))
        }
        BinOp::DivS | BinOp::DivU | BinOp::FloorDivS if y.0 > 0 => corners(|a, b| a.checked_div_euclid(b)),
        BinOp::CeilDivS | BinOp::CeilDivU if y.0 > 0 => {
            corners(|a, b| a.checked_div_euclid(b)).map(|(least, most)| (least, most + 1))
        }
        BinOp::MinS => Some((x.0.min(y.0), x.1.min(y.1))),
        BinOp::MaxS => Some((x.0.max(y.0), x.1.max(y.1))),
        BinOp::MinU if x.0 >= 0 && y.0 >= 0 => Some((x.0.min(y.0), x.1.min(y.1))),
        BinOp::MaxU if x.0 >= 0 && y.0 >= 0 => Some((x.0.max(y.0), x.1.max(y.1))),
        BinOp::Or | BinOp::Xor if x.0 >= 0 && y.0 >= 0 => {
            let bits = 128 - (x.1 | y.1).leading_zeros();
            Some((0, (1i128 << bits.min(100)) - 1))
        }
        _ => None,
    }
}
