//! What was decided of symbols so far, on one path.
//!
//! A fact is an interval and a rest. Decisions are facts: the front thread's is found by the
//! threads behind it when they come to the same question, so all of them agree.

use super::value::{Sum, Symbol};
use std::collections::BTreeMap;

/// A bound that says nothing.
pub(super) const NO_LOW: i64 = i64::MIN / 4;
/// A bound that says nothing.
pub(super) const NO_HIGH: i64 = i64::MAX / 4;

/// Where a number lies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Fact {
    /// The smallest value it may have.
    pub low: i64,
    /// The largest value that is possible.
    pub high: i64,
    /// It is `rest` modulo this; 1 where nothing is known.
    pub modulus: i64,
    /// What the value is modulo `modulus`.
    pub rest: i64,
}

impl Default for Fact {
    fn default() -> Fact {
        Fact { low: NO_LOW, high: NO_HIGH, modulus: 1, rest: 0 }
    }
}

impl Fact {
    /// Numbers from `low` to `high`.
    pub(super) fn between(low: i64, high: i64) -> Fact {
        Fact { low, high, ..Fact::default() }
    }

    /// Both; `None` where they cannot both hold.
    pub(super) fn and(&self, other: &Fact) -> Option<Fact> {
        let (fine, coarse) = if self.modulus >= other.modulus { (self, other) } else { (other, self) };
        let (mut modulus, mut rest) = (fine.modulus, fine.rest);
        if fine.modulus % coarse.modulus == 0 {
            if fine.rest.rem_euclid(coarse.modulus) != coarse.rest {
                return None;
            }
        } else {
            // Moduli of which none divides the other: the common one, found by trying.
            modulus = fine.modulus.checked_mul(coarse.modulus / gcd(fine.modulus, coarse.modulus))?;
            rest = (0..coarse.modulus)
                .map(|times| fine.rest + times * fine.modulus)
                .find(|value| value.rem_euclid(coarse.modulus) == coarse.rest)?
                .rem_euclid(modulus);
        }
        let (mut low, mut high) = (self.low.max(other.low), self.high.min(other.high));
        if modulus > 1 {
            if low > NO_LOW {
                low += (rest - low).rem_euclid(modulus);
            }
            if high < NO_HIGH {
                high -= (high - rest).rem_euclid(modulus);
            }
        }
        (low <= high).then_some(Fact { low, high, modulus, rest })
    }

    /// The only number it can be.
    pub(super) fn exact(&self) -> Option<i64> {
        (self.low == self.high).then_some(self.low)
    }

    /// The number modulo `modulus`.
    pub(super) fn rest(&self, modulus: i64) -> Option<i64> {
        match self.exact() {
            Some(value) => Some(value.rem_euclid(modulus)),
            None => (self.modulus % modulus == 0).then(|| self.rest.rem_euclid(modulus)),
        }
    }
}

/// Greatest common divisor of numbers that are not negative.
pub(super) fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Facts by symbol.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Facts(pub BTreeMap<Symbol, Fact>);

impl Facts {
    /// What is known of a symbol itself.
    pub(super) fn get(&self, symbol: Symbol) -> Fact {
        self.0.get(&symbol).copied().unwrap_or_default()
    }

    /// Adds a fact; false where it contradicts what is known.
    pub(super) fn add(&mut self, symbol: Symbol, fact: &Fact) -> bool {
        match self.get(symbol).and(fact) {
            Some(joined) => {
                self.0.insert(symbol, joined);
                true
            }
            None => false,
        }
    }
}

/// Where a sum lies; `look` gives what is known of each of its symbols.
pub(super) fn range(sum: &Sum, mut look: impl FnMut(Symbol) -> Fact) -> (i64, i64) {
    let (mut low, mut high) = (sum.add, sum.add);
    for &(symbol, factor) in &sum.terms {
        let fact = look(symbol);
        let (from, to) = if factor > 0 { (fact.low, fact.high) } else { (fact.high, fact.low) };
        let scaled = |bound: i64, nothing: bool, otherwise: i64| {
            if nothing { otherwise } else { bound.saturating_mul(factor).clamp(NO_LOW, NO_HIGH) }
        };
        let open = |bound: i64| bound <= NO_LOW || bound >= NO_HIGH;
        let (from, to) = (scaled(from, open(from), NO_LOW), scaled(to, open(to), NO_HIGH));
        low = if low <= NO_LOW || from <= NO_LOW { NO_LOW } else { low.saturating_add(from).max(NO_LOW) };
        high = if high >= NO_HIGH || to >= NO_HIGH { NO_HIGH } else { high.saturating_add(to).min(NO_HIGH) };
    }
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_join_intervals_and_rests() {
        let (four, six) =
            (Fact { modulus: 4, rest: 1, ..Fact::default() }, Fact { modulus: 6, rest: 3, ..Fact::default() });
        assert_eq!(four.and(&six).map(|both| (both.modulus, both.rest)), Some((12, 9)));
        let even = Fact { modulus: 2, rest: 0, ..Fact::default() };
        let third = Fact { modulus: 3, rest: 1, ..Fact::default() };
        let both = even.and(&third).and_then(|both| both.and(&Fact::between(5, 11)));
        assert_eq!(both.and_then(|both| both.exact()), Some(10));
        assert_eq!(even.and(&Fact::between(7, 7)), None);
    }
}
