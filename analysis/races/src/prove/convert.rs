//! Expressions as polynomials, and what is known of the expressions that are none.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::poly::{Monomial, Poly};
use super::range::Ranges;
use crate::program::{Carried, Program};
use terms::{BinOp, Node, Term, Terms, Variable};

/// Turns expressions into polynomials. Numbers of 32 bits and more are taken to be whole: that no address wraps is taken
/// for granted, save where what is known of a launch or a shift says that it does. What narrower integers cut off is cut
/// off.
#[derive(Debug, Default)]
pub(crate) struct Converter {
    memo: FxHashMap<Term, Poly>,
    /// Sources whose values are taken not to be negative, and for which of them that mattered.
    pub(crate) natural: FxHashSet<u32>,
    pub(crate) relied: RefCell<FxHashSet<u32>>,
    /// Sources of values that loops carry and that are not negative.
    carried: FxHashSet<u32>,
    /// By source, the axis of the grid of which it gives the number of a program.
    pub(crate) programs: FxHashMap<u32, u8>,
    /// By value that is read: the word that gives it, where the kernel never writes its tensor.
    pub(crate) words: FxHashMap<Term, Option<Rc<Word>>>,
    /// Between what numbers values lie.
    ranges: Ranges,
    /// By axis of the grid, how many programs the launch computes.
    counts: Vec<(u8, Count)>,
}

/// A word of a tensor that the kernel never writes.
#[derive(Debug)]
pub(crate) struct Word {
    pub(crate) argument: u32,
    /// Whether it is read at all.
    pub(crate) mask: Term,
    /// In bytes.
    pub(crate) offset: Poly,
    /// Bytes of a value.
    pub(crate) bytes: i128,
}

/// How many programs there are along an axis.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Count {
    /// So many.
    Exactly(Poly),
    /// No more than so many.
    AtMost(Poly),
}

/// A known relation: not negative, or 0.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Fact {
    pub(crate) poly: Poly,
    pub(crate) equal: bool,
}

impl Fact {
    pub(crate) fn at_least_zero(poly: Poly) -> Fact {
        Fact { poly, equal: false }
    }

    pub(crate) fn zero(poly: Poly) -> Fact {
        Fact { poly, equal: true }
    }

    /// `a <= b`.
    pub(crate) fn ordered(a: &Poly, b: &Poly) -> Fact {
        Fact::at_least_zero(b.minus(a))
    }
}

impl Converter {
    /// One that knows of a launch.
    pub(crate) fn of_launch(program: &Program, ranges: Ranges, counts: Vec<(u8, Count)>) -> Converter {
        let mut made = Converter { ranges, counts, ..Converter::default() };
        made.note_carried(program);
        made
    }

    /// Finds which values that loops carry are never negative: none is at first, and no round makes one of them so while
    /// none of them is.
    fn note_carried(&mut self, program: &Program) {
        let all = || program.loops.iter().flat_map(|of| &of.carried).filter(|carried| carried.lanes.is_empty());
        self.carried = all().map(|carried| carried.source).collect();
        loop {
            let stays = |carried: &&Carried| {
                let both = [carried.first, carried.next];
                both.into_iter().all(|term| self.is_natural(&program.terms, term))
            };
            let kept: FxHashSet<u32> = all().filter(stays).map(|carried| carried.source).collect();
            if kept.len() >= self.carried.len() {
                return;
            }
            self.carried = kept;
        }
    }

    /// Whether some number that was met does not fit into its integers, by what is known of the launch.
    pub(crate) fn overflows(&self) -> bool {
        self.ranges.overflows()
    }

    pub(crate) fn poly(&mut self, terms: &mut Terms, term: Term) -> Poly {
        if let Some(known) = self.memo.get(&term) {
            return known.clone();
        }
        let made = self.make(terms, term);
        self.memo.insert(term, made.clone());
        made
    }

    fn make(&mut self, terms: &mut Terms, term: Term) -> Poly {
        let atom = Poly::atom(term);
        if let Some(whole) = self.ranges.held(terms, term) {
            return self.poly(terms, whole);
        }
        match terms.node(term).clone() {
            Node::Const(value) => Poly::constant(value.into()),
            Node::Variable(variable, copy) => {
                // A variable has one atom in all widths.
                let one = terms.as_width(variable, copy);
                Poly::atom(one)
            }
            Node::Read(..) | Node::Select(..) => atom,
            Node::Trunc(_) | Node::ExtU(_) | Node::Binary(..) if !self.ranges.is_whole(terms, term) => atom,
            Node::Trunc(a) if terms.bits(term) > 1 => self.poly(terms, a),
            Node::Trunc(_) => atom,
            Node::ExtS(a) => {
                let inner = self.poly(terms, a);
                if terms.bits(a) == 1 { inner.scaled(-1) } else { inner }
            }
            Node::ExtU(a) => self.poly(terms, a),
            // Divisors are positive, and this one is no more than 1: groups of one tile.
            Node::Binary(BinOp::DivS | BinOp::DivU | BinOp::FloorDivS, a, b) if is_at_most_one(terms, b) => {
                self.poly(terms, a)
            }
            Node::Binary(BinOp::RemS | BinOp::RemU, _, b) if is_at_most_one(terms, b) => Poly::default(),
            Node::Binary(op, a, b) => {
                let (x, y) = (self.poly(terms, a), self.poly(terms, b));
                Self::binary(op, &x, &y).unwrap_or(atom)
            }
        }
    }

    fn binary(op: BinOp, x: &Poly, y: &Poly) -> Option<Poly> {
        let constant = y.as_constant();
        match op {
            BinOp::Add => Some(x.plus(y, 1)),
            BinOp::Sub => Some(x.minus(y)),
            BinOp::Mul => x.times(y),
            BinOp::Shl => Some(x.scaled(1i128.checked_shl(u32::try_from(constant?).ok()?)?)),
            BinOp::DivS | BinOp::DivU | BinOp::FloorDivS | BinOp::CeilDivS | BinOp::CeilDivU => x.exactly_by(constant?),
            BinOp::ShrS | BinOp::ShrU => x.exactly_by(1i128.checked_shl(u32::try_from(constant?).ok()?)?),
            BinOp::RemS | BinOp::RemU => {
                let divisor = constant.filter(|divisor| *divisor != 0)?;
                x.exactly_by(divisor).map(|_| Poly::default())
            }
            _ => None,
        }
    }

    /// What is known of an atom without looking at anything else.
    pub(crate) fn facts(
        &mut self,
        program: &mut Program,
        atom: Term,
        lanes: &dyn Fn(u8, u8) -> Option<i64>,
    ) -> Vec<Fact> {
        let this = Poly::atom(atom);
        let positive = || Fact::at_least_zero(this.clone());
        let node = program.terms.node(atom).clone();
        let mut facts = Vec::new();
        if let Some((least, most)) = self.cut(&program.terms, atom) {
            facts.push(Fact::ordered(&Poly::constant(least), &this));
            facts.push(Fact::ordered(&this, &Poly::constant(most)));
            return facts;
        }
        match node {
            Node::Variable(Variable::Program(axis), _) => {
                facts.push(positive());
                let programs = program.terms.variable(Variable::Programs(axis), 32);
                let programs = self.poly(&mut program.terms, programs);
                facts.push(Fact::ordered(&this.shifted(1), &programs));
            }
            Node::Read(source, ..) if self.programs.contains_key(&source) => {
                let axis = self.programs.get(&source).copied().unwrap_or(0);
                let programs = program.terms.variable(Variable::Programs(axis), 32);
                let programs = self.poly(&mut program.terms, programs);
                facts.push(positive());
                facts.push(Fact::ordered(&this.shifted(1), &programs));
            }
            Node::Read(source, ..) if self.carried.contains(&source) => facts.push(positive()),
            Node::Variable(Variable::Programs(axis), _) => {
                facts.push(Fact::at_least_zero(this.shifted(-1)));
                for (_, count) in self.counts.iter().filter(|(of, _)| *of == axis) {
                    facts.push(match count {
                        Count::Exactly(count) => Fact::zero(this.minus(count)),
                        Count::AtMost(most) => Fact::ordered(&this, most),
                    });
                }
            }
            Node::Variable(Variable::Lane(dim), copy) => {
                facts.push(positive());
                if let Some(size) = lanes(dim, copy) {
                    facts.push(Fact::ordered(&this, &Poly::constant(i128::from(size) - 1)));
                }
            }
            Node::Variable(Variable::Round(_) | Variable::Argument(_) | Variable::DescriptorSize(..), _) => {
                facts.push(positive());
            }
            Node::Binary(BinOp::Or | BinOp::Xor, ..) => {
                if let Some((least, most)) = self.ranges.of(&program.terms, atom) {
                    facts.push(Fact::ordered(&Poly::constant(least), &this));
                    facts.push(Fact::ordered(&this, &Poly::constant(most)));
                }
            }
            Node::Binary(op, a, b) => {
                let (x, y) = (self.poly(&mut program.terms, a), self.poly(&mut program.terms, b));
                self.of_operation(program, op, &this, (a, &x), (b, &y), &mut facts);
            }
            _ if program.terms.bits(atom) == 1 => {
                facts.push(positive());
                facts.push(Fact::ordered(&this, &Poly::constant(1)));
            }
            _ => {}
        }
        facts
    }

    /// Between what numbers a value lies that is cut off at its width; `None` of another one, and where nothing is known.
    fn cut(&mut self, terms: &Terms, atom: Term) -> Option<(i128, i128)> {
        let may_be = matches!(terms.node(atom), Node::Trunc(_) | Node::ExtU(_) | Node::Binary(..));
        if !may_be || self.ranges.is_whole(terms, atom) {
            return None;
        }
        Some(self.ranges.of(terms, atom).unwrap_or((i64::MIN.into(), i64::MAX.into())))
    }

    fn of_operation(
        &mut self,
        program: &mut Program,
        op: BinOp,
        this: &Poly,
        (a, x): (Term, &Poly),
        (b, y): (Term, &Poly),
        facts: &mut Vec<Fact>,
    ) {
        // Numerators are not negative and divisors are positive where sizes and ids make them: assumed with the
        // arguments.
        let by_floor = |facts: &mut Vec<Fact>, quotient: &Poly, divisor: &Poly| {
            if let Some(down) = quotient.times(divisor) {
                facts.push(Fact::ordered(&down, x));
                facts.push(Fact::ordered(&x.shifted(1), &down.plus(divisor, 1)));
            }
        };
        match op {
            BinOp::DivS | BinOp::DivU | BinOp::FloorDivS => {
                let natural = self.divides(&program.terms, x, y);
                if op != BinOp::FloorDivS && !natural {
                    return;
                }
                by_floor(facts, this, y);
                if natural {
                    facts.push(Fact::at_least_zero(this.clone()));
                }
            }
            BinOp::ShrS | BinOp::ShrU => {
                if let Some(by) = y.as_constant().and_then(|by| 1i128.checked_shl(u32::try_from(by).ok()?)) {
                    by_floor(facts, this, &Poly::constant(by));
                }
            }
            BinOp::CeilDivS | BinOp::CeilDivU => {
                if let Some(up) = this.times(y) {
                    facts.push(Fact::ordered(x, &up));
                    facts.push(Fact::ordered(&up.shifted(1), &x.plus(y, 1)));
                }
            }
            BinOp::RemS | BinOp::RemU => {
                let signed = op == BinOp::RemS && !self.divides(&program.terms, x, y);
                facts.push(Fact::ordered(&this.shifted(1), y));
                if signed {
                    facts.push(Fact::at_least_zero(this.plus(y, 1).shifted(-1)));
                    return;
                }
                facts.push(Fact::at_least_zero(this.clone()));
                // What is divided is quotient times divisor plus remainder.
                let division = if op == BinOp::RemS { BinOp::DivS } else { BinOp::DivU };
                let quotient = program.terms.binary(division, a, b);
                let quotient = self.poly(&mut program.terms, quotient);
                if let Some(whole) = quotient.times(y) {
                    facts.push(Fact::zero(x.minus(&whole).minus(this)));
                }
            }
            BinOp::And => {
                for mask in [x, y] {
                    if let Some(mask) = mask.as_constant().filter(|mask| *mask >= 0) {
                        facts.push(Fact::at_least_zero(this.clone()));
                        facts.push(Fact::ordered(this, &Poly::constant(mask)));
                    }
                }
            }
            BinOp::MinS | BinOp::MinU => {
                facts.push(Fact::ordered(this, x));
                facts.push(Fact::ordered(this, y));
            }
            BinOp::MaxS | BinOp::MaxU => {
                facts.push(Fact::ordered(x, this));
                facts.push(Fact::ordered(y, this));
            }
            BinOp::Eq | BinOp::Ne | BinOp::Slt | BinOp::Sle | BinOp::Ult | BinOp::Ule => {
                facts.push(Fact::at_least_zero(this.clone()));
                facts.push(Fact::ordered(this, &Poly::constant(1)));
            }
            _ => {}
        }
    }

    /// Whether a sum has no negative part: ids, lanes, rounds and sizes are not negative. What is subtracted from it may
    /// be no more than there are programs: `tiles + num_programs - 1`.
    fn not_negative(&self, terms: &Terms, poly: &Poly) -> bool {
        let positive = |monomial: &Monomial| {
            let is_count = |atom: &Term| matches!(terms.node(*atom), Node::Variable(Variable::Programs(_), _));
            monomial.len() == 1 && monomial.iter().all(is_count)
        };
        let least = poly.terms().filter(|(monomial, _)| positive(monomial)).map(|(_, coefficient)| coefficient);
        let least = least.fold(poly.offset(), i128::saturating_add);
        least >= 0
            && poly
                .terms()
                .filter(|(monomial, _)| !monomial.is_empty())
                .all(|(monomial, coefficient)| coefficient >= 0 && self.natural_product(terms, monomial))
    }

    /// Whether a numerator has no negative part. Its divisor is 1 at least, so `size + divisor - 1` has none.
    fn divides(&self, terms: &Terms, numerator: &Poly, divisor: &Poly) -> bool {
        self.not_negative(terms, numerator)
            || (self.not_negative(terms, divisor) && self.not_negative(terms, &numerator.minus(divisor).shifted(1)))
    }

    /// Whether no factor is negative, by what they are.
    pub(crate) fn natural_product(&self, terms: &Terms, factors: &Monomial) -> bool {
        factors.iter().all(|atom| self.is_natural(terms, *atom))
    }

    /// Whether an atom is not negative by what it is.
    fn is_natural(&self, terms: &Terms, atom: Term) -> bool {
        match terms.node(atom) {
            Node::Variable(..) => true,
            Node::Const(value) => *value >= 0,
            Node::Binary(BinOp::MinS | BinOp::Mul | BinOp::Add, a, b) => {
                self.is_natural(terms, *a) && self.is_natural(terms, *b)
            }
            Node::Binary(BinOp::DivS | BinOp::FloorDivS, a, b) => {
                let parts = || self.memo.get(a).zip(self.memo.get(b));
                let sum = || parts().is_some_and(|(sum, divisor)| self.divides(terms, sum, divisor));
                (self.is_natural(terms, *a) || sum()) && self.is_natural(terms, *b)
            }
            Node::Binary(BinOp::MaxS, a, b) => self.is_natural(terms, *a) || self.is_natural(terms, *b),
            Node::Binary(BinOp::CeilDivS | BinOp::RemS, a, _) => self.is_natural(terms, *a),
            Node::Binary(op, ..) => {
                matches!(op, BinOp::RemU | BinOp::DivU | BinOp::MinU | BinOp::MaxU) || op.is_question()
            }
            Node::Select(_, a, b) => self.is_natural(terms, *a) && self.is_natural(terms, *b),
            Node::ExtS(a) => self.is_natural(terms, *a),
            Node::Trunc(a) => terms.bits(atom) >= 32 && self.is_natural(terms, *a),
            Node::ExtU(_) => true,
            Node::Read(source, ..) if self.programs.contains_key(source) || self.carried.contains(source) => true,
            Node::Read(source, ..) => {
                let natural = self.natural.contains(source);
                if natural {
                    self.relied.borrow_mut().insert(*source);
                }
                natural
            }
        }
    }
}

/// Whether a number is the lesser of 1 and another one.
fn is_at_most_one(terms: &Terms, of: Term) -> bool {
    match *terms.node(of) {
        Node::Binary(BinOp::MinS | BinOp::MinU, a, b) => [a, b].into_iter().any(|side| terms.constant(side) == Some(1)),
        _ => false,
    }
}
