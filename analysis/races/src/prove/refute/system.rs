//! Linear constraints.

use base::linear::{Linear, Simplex};
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::limits::proofs::PIVOTS;
use crate::prove::convert::Fact;
use crate::prove::poly::{Monomial, Poly};

/// Linear constraints over monomials.
pub(super) struct System {
    numbers: FxHashMap<Monomial, u32>,
    pub(super) simplex: Simplex,
}

impl System {
    pub(super) fn new<'p>(facts: &'p [Fact], zeros: impl IntoIterator<Item = &'p Poly>) -> System {
        let numbers = FxHashMap::with_capacity_and_hasher(facts.len(), FxBuildHasher);
        let mut system = System { numbers, simplex: Simplex::new(PIVOTS, facts.len()) };
        let facts = facts.iter().map(|fact| (&fact.poly, fact.equal));
        for (poly, equal) in facts.chain(zeros.into_iter().map(|poly| (poly, true))) {
            let row = system.row(poly, equal);
            system.simplex.assert(row);
        }
        system
    }

    pub(super) fn row(&mut self, poly: &Poly, equal: bool) -> Linear {
        let mut sum = Vec::new();
        for (monomial, coefficient) in poly.terms().filter(|(monomial, _)| !monomial.is_empty()) {
            let number = match self.numbers.get(monomial) {
                Some(number) => *number,
                None => {
                    let number = self.simplex.variable();
                    self.numbers.insert(monomial.clone(), number);
                    number
                }
            };
            sum.push((number, coefficient));
        }
        sum.sort_unstable();
        Linear { sum, constant: poly.offset(), equal }
    }
}
