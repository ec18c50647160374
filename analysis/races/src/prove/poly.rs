//! Polynomials with integer coefficients over expressions that are none.

use std::cmp::Ordering;

use base::linear::gcd;
use smallvec::SmallVec;

use crate::limits::proofs::MONOMIALS;
use terms::Term;

/// A product of expressions, ascending; empty for 1.
pub(crate) type Monomial = SmallVec<[Term; 3]>;

/// A sum of monomials, ascending, with coefficients that are not 0.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Poly(Vec<(Monomial, i128)>);

impl Poly {
    pub(crate) fn constant(value: i128) -> Poly {
        Poly::of(Monomial::new(), value)
    }

    pub(crate) fn atom(term: Term) -> Poly {
        Poly::of(SmallVec::from_slice(&[term]), 1)
    }

    /// One monomial with its coefficient.
    pub(crate) fn of(monomial: Monomial, coefficient: i128) -> Poly {
        Poly(if coefficient == 0 { Vec::new() } else { vec![(monomial, coefficient)] })
    }

    /// The sum of monomials in any order.
    pub(crate) fn sum(mut parts: Vec<(Monomial, i128)>) -> Poly {
        parts.sort_by(|a, b| a.0.cmp(&b.0));
        // A coefficient that does not fit makes the sum useless, not wrong: it is never reached by real addresses.
        parts.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1.saturating_add(next.1);
            }
            same
        });
        parts.retain(|(_, coefficient)| *coefficient != 0);
        Poly(parts)
    }

    /// The monomials, ascending, with their coefficients.
    pub(crate) fn terms(&self) -> impl DoubleEndedIterator<Item = (&Monomial, i128)> + ExactSizeIterator {
        self.0.iter().map(|(monomial, coefficient)| (monomial, *coefficient))
    }

    pub(crate) fn as_constant(&self) -> Option<i128> {
        match self.0.as_slice() {
            [] => Some(0),
            [(monomial, coefficient)] if monomial.is_empty() => Some(*coefficient),
            _ => None,
        }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// The part without atoms.
    pub(crate) fn offset(&self) -> i128 {
        // The empty monomial is the least.
        self.0.first().filter(|(monomial, _)| monomial.is_empty()).map_or(0, |(_, coefficient)| *coefficient)
    }

    /// The coefficient of a monomial, where it is there.
    pub(crate) fn coefficient(&self, monomial: &Monomial) -> Option<i128> {
        let at = self.0.binary_search_by(|(other, _)| other.cmp(monomial)).ok()?;
        Some(self.0[at].1)
    }

    pub(crate) fn plus(&self, other: &Poly, times: i128) -> Poly {
        let mut sum = Vec::with_capacity(self.0.len() + other.0.len());
        let (mut mine, mut others) = (self.0.iter().peekable(), other.0.iter().peekable());
        loop {
            let order = match (mine.peek(), others.peek()) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(a), Some(b)) => a.0.cmp(&b.0),
            };
            let a = if order.is_le() { mine.next() } else { None };
            let b = if order.is_ge() { others.next() } else { None };
            let coefficient = a.map_or(0, |a| a.1).saturating_add(b.map_or(0, |b| b.1.saturating_mul(times)));
            if let Some((monomial, _)) = a.or(b).filter(|_| coefficient != 0) {
                sum.push((monomial.clone(), coefficient));
            }
        }
        Poly(sum)
    }

    pub(crate) fn minus(&self, other: &Poly) -> Poly {
        self.plus(other, -1)
    }

    pub(crate) fn scaled(&self, by: i128) -> Poly {
        if by == 0 {
            return Poly::default();
        }
        Poly(self.0.iter().map(|(monomial, coefficient)| (monomial.clone(), coefficient.saturating_mul(by))).collect())
    }

    pub(crate) fn shifted(&self, by: i128) -> Poly {
        self.plus(&Poly::constant(1), by)
    }

    /// The product; `None` where it would be large.
    pub(crate) fn times(&self, other: &Poly) -> Option<Poly> {
        if self.0.len() * other.0.len() > MONOMIALS {
            return None;
        }
        let mut product = Vec::with_capacity(self.0.len() * other.0.len());
        for (a, x) in &self.0 {
            for (b, y) in &other.0 {
                let mut both: Monomial = a.iter().chain(b.iter()).copied().collect();
                both.sort();
                product.push((both, x.checked_mul(*y)?));
            }
        }
        Some(Poly::sum(product))
    }

    /// The quotient by a number that divides all coefficients.
    pub(crate) fn exactly_by(&self, divisor: i128) -> Option<Poly> {
        if divisor == 0 || self.0.iter().any(|(_, coefficient)| coefficient % divisor != 0) {
            return None;
        }
        Some(Poly(self.0.iter().map(|(monomial, coefficient)| (monomial.clone(), coefficient / divisor)).collect()))
    }

    /// Greatest common divisor of the coefficients of atoms; 0 where there is none.
    pub(crate) fn content(&self) -> i128 {
        let atoms = self.0.iter().filter(|(monomial, _)| !monomial.is_empty());
        atoms.fold(0, |all, (_, coefficient)| gcd(all, *coefficient))
    }

    pub(crate) fn atoms(&self) -> impl Iterator<Item = Term> + '_ {
        self.0.iter().flat_map(|(monomial, _)| monomial.iter().copied())
    }

    pub(crate) fn mentions(&self, atom: Term) -> bool {
        self.atoms().any(|other| other == atom)
    }

    /// With an atom replaced by a polynomial; `None` where that would be large.
    pub(crate) fn substitute(&self, atom: Term, by: &Poly) -> Option<Poly> {
        if !self.mentions(atom) {
            return Some(self.clone());
        }
        let mut sum = Vec::new();
        for (monomial, coefficient) in &self.0 {
            let rest: Monomial = monomial.iter().copied().filter(|other| *other != atom).collect();
            let power = monomial.len() - rest.len();
            let mut product = Poly::of(rest, *coefficient);
            for _ in 0..power {
                product = product.times(by)?;
            }
            sum.extend(product.0);
        }
        let sum = Poly::sum(sum);
        (sum.0.len() <= MONOMIALS).then_some(sum)
    }
}
