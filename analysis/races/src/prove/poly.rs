//! Polynomials with integer coefficients over expressions that are none.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use crate::term::Term;

/// A product of expressions, ascending; empty for 1.
pub(crate) type Monomial = SmallVec<[Term; 3]>;

/// A sum of monomials with coefficients that are not 0.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Poly(pub(crate) BTreeMap<Monomial, i128>);

/// More monomials than this are not worked with.
const MONOMIALS: usize = 200;

impl Poly {
    pub(crate) fn constant(value: i128) -> Poly {
        let mut poly = Poly::default();
        poly.put(Monomial::new(), value);
        poly
    }

    pub(crate) fn atom(term: Term) -> Poly {
        let mut poly = Poly::default();
        poly.put(SmallVec::from_slice(&[term]), 1);
        poly
    }

    fn put(&mut self, monomial: Monomial, by: i128) {
        let entry = self.0.entry(monomial).or_insert(0);
        // A coefficient that does not fit makes the sum useless, not wrong: it is never reached by real addresses.
        *entry = entry.saturating_add(by);
        if *entry == 0 {
            self.0.retain(|_, coefficient| *coefficient != 0);
        }
    }

    pub(crate) fn as_constant(&self) -> Option<i128> {
        match self.0.len() {
            0 => Some(0),
            1 => self.0.get(&Monomial::new()).copied(),
            _ => None,
        }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// The part without atoms.
    pub(crate) fn offset(&self) -> i128 {
        self.0.get(&Monomial::new()).copied().unwrap_or(0)
    }

    pub(crate) fn plus(&self, other: &Poly, times: i128) -> Poly {
        let mut sum = self.clone();
        for (monomial, coefficient) in &other.0 {
            sum.put(monomial.clone(), coefficient.saturating_mul(times));
        }
        sum
    }

    pub(crate) fn minus(&self, other: &Poly) -> Poly {
        self.plus(other, -1)
    }

    pub(crate) fn scaled(&self, by: i128) -> Poly {
        Poly::default().plus(self, by)
    }

    pub(crate) fn shifted(&self, by: i128) -> Poly {
        self.plus(&Poly::constant(1), by)
    }

    /// The product; `None` where it would be large.
    pub(crate) fn times(&self, other: &Poly) -> Option<Poly> {
        if self.0.len() * other.0.len() > MONOMIALS {
            return None;
        }
        let mut product = Poly::default();
        for (a, x) in &self.0 {
            for (b, y) in &other.0 {
                let mut both: Monomial = a.iter().chain(b.iter()).copied().collect();
                both.sort();
                product.put(both, x.checked_mul(*y)?);
            }
        }
        Some(product)
    }

    /// The quotient by a number that divides all coefficients.
    pub(crate) fn exactly_by(&self, divisor: i128) -> Option<Poly> {
        if divisor == 0 || self.0.values().any(|coefficient| coefficient % divisor != 0) {
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
        self.0.keys().flat_map(|monomial| monomial.iter().copied())
    }

    pub(crate) fn mentions(&self, atom: Term) -> bool {
        self.atoms().any(|other| other == atom)
    }

    /// With an atom replaced by a polynomial; `None` where that would be large.
    pub(crate) fn substitute(&self, atom: Term, by: &Poly) -> Option<Poly> {
        if !self.mentions(atom) {
            return Some(self.clone());
        }
        let mut sum = Poly::default();
        for (monomial, coefficient) in &self.0 {
            let rest: Monomial = monomial.iter().copied().filter(|other| *other != atom).collect();
            let mut product = Poly::default();
            product.put(rest.clone(), *coefficient);
            for _ in 0..monomial.len() - rest.len() {
                product = product.times(by)?;
            }
            sum = sum.plus(&product, 1);
        }
        (sum.0.len() <= MONOMIALS).then_some(sum)
    }
}

/// Greatest common divisor, not negative.
pub(crate) fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(1)
}
