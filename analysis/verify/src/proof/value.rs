//! What a variable is in a run whose inputs are left open.

use kernel::{InputId, Pure, Var};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A number that a run does not know: an input, or a function of inputs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct Symbol(pub u32);

/// A sum of symbols with factors, and a constant: exact where nothing wraps.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub(super) struct Sum {
    /// The constant that is added.
    pub add: i64,
    /// Symbols with their factors, by symbol, no factor 0.
    pub terms: SmallVec<[(Symbol, i64); 2]>,
}

impl Sum {
    /// The sum of no symbols.
    pub(super) fn constant(add: i64) -> Sum {
        Sum { add, terms: SmallVec::new() }
    }

    /// The sum of one symbol.
    pub(super) fn symbol(symbol: Symbol) -> Sum {
        Sum { add: 0, terms: smallvec::smallvec![(symbol, 1)] }
    }

    /// `self + factor * other`; `None` where numbers get out of hand.
    pub(super) fn plus(&self, other: &Sum, factor: i64) -> Option<Sum> {
        let mut sum = Sum::constant(self.add.checked_add(other.add.checked_mul(factor)?)?);
        let (mut a, mut b) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let (symbol, value) = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if x.0 == y.0 => (x.0, x.1.checked_add(y.1.checked_mul(factor)?)?),
                (Some(x), Some(y)) if x.0 < y.0 => (x.0, x.1),
                (Some(x), None) => (x.0, x.1),
                (_, Some(y)) => (y.0, y.1.checked_mul(factor)?),
                (None, None) => return Some(sum),
            };
            a.next_if(|x| x.0 == symbol);
            b.next_if(|y| y.0 == symbol);
            if value != 0 {
                sum.terms.push((symbol, value));
            }
        }
    }

    /// How many times `unit` this is, where it is a whole number of times.
    pub(super) fn times(&self, unit: &Sum) -> Option<i64> {
        let factor = match (unit.terms.first(), self.terms.first()) {
            (Some(&(symbol, by)), Some(&(other, value))) if symbol == other && value % by == 0 => value / by,
            (Some(_), None) => 0,
            (None, _) if unit.add != 0 && self.add % unit.add == 0 => self.add / unit.add,
            _ => return None,
        };
        self.plus(unit, factor.checked_neg()?).filter(|rest| *rest == Sum::default()).map(|_| factor)
    }
}

/// What is known of a variable.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Value {
    /// A constant or a sum of symbols.
    Sum(Sum),
    /// A number that is not negative, up to multiples of a modulus.
    Rest {
        /// The modulus, at least 1.
        modulus: i64,
        /// The number modulo it.
        rest: i64,
    },
    /// Nothing is known of it.
    Unknown,
}

impl Value {
    /// A number that is known.
    pub(super) fn constant(value: i64) -> Value {
        Value::Sum(Sum::constant(value))
    }

    /// Its value where it is a constant.
    pub(super) fn known(&self) -> Option<i64> {
        match self {
            Value::Sum(sum) if sum.terms.is_empty() => Some(sum.add),
            _ => None,
        }
    }
}

/// What a symbol stands for. Equal origins are equal numbers in every run of the kernel.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum SymbolOrigin {
    /// An input of the kernel.
    Input(InputId),
    /// An operation on sums; its operands in order.
    Function(Pure<()>, SmallVec<[Sum; 3]>),
    /// Iterations of a loop with these bounds: lower, upper, step.
    Trips(Sum, Sum, Sum),
    /// A loop without symbols, or an open-ended one: places among its iterations, no number.
    LoopPosition(Sum, Sum, Sum),
    /// The counter of a loop with this driver, in the iteration at hand; of one that is driven by its trip count, how far
    /// it is from its first value.
    Counter(Symbol),
    /// Which of several loops with this driver, one after the other: no number either.
    Turn(Symbol),
    /// Another symbol as it is noticed in certain iterations of the loops around. For an input
    /// that differs from one execution to the next each is a number of its own.
    At(Symbol, IterationKey),
}

/// Iterations of loops, outermost first: the symbol that drives a loop, and how far it is.
pub(super) type IterationKey = SmallVec<[(Symbol, i64); 2]>;

/// All symbols that were met.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    origins: Vec<SymbolOrigin>,
    varies: Vec<bool>,
    known: FxHashMap<SymbolOrigin, Symbol>,
}

impl Symbols {
    /// The symbol of an origin.
    pub(super) fn of(&mut self, origin: SymbolOrigin) -> Symbol {
        if let Some(&symbol) = self.known.get(&origin) {
            return symbol;
        }
        let symbol = Symbol(self.origins.len() as u32);
        let any = |sums: &[Sum]| sums.iter().flat_map(|sum| &sum.terms).any(|&(symbol, _)| self.varies(symbol));
        let varies = match &origin {
            SymbolOrigin::Counter(_) => true,
            SymbolOrigin::Function(_, sums) => any(sums),
            SymbolOrigin::Trips(lower, upper, step) => {
                [lower, upper, step].into_iter().any(|sum| any(std::slice::from_ref(sum)))
            }
            SymbolOrigin::Input(_) | SymbolOrigin::LoopPosition(..) | SymbolOrigin::Turn(_) | SymbolOrigin::At(..) => {
                false
            }
        };
        self.varies.push(varies);
        self.origins.push(origin.clone());
        self.known.insert(origin, symbol);
        symbol
    }

    /// Whether a symbol is another number in each iteration of some loop. Facts are then known of
    /// it only as it is in one iteration.
    pub(super) fn varies(&self, symbol: Symbol) -> bool {
        self.varies.get(symbol.0 as usize).copied().unwrap_or(true)
    }

    /// Where a symbol comes from.
    pub(super) fn origin(&self, symbol: Symbol) -> Option<&SymbolOrigin> {
        self.origins.get(symbol.0 as usize)
    }

    /// The result of an operation as a symbol; `None` where an operand is no sum.
    pub(super) fn function(&mut self, pure: &Pure<Var>, operands: impl Iterator<Item = Value>) -> Option<Symbol> {
        let mut sums = SmallVec::new();
        for operand in operands {
            let Value::Sum(sum) = operand else { return None };
            sums.push(sum);
        }
        Some(self.of(SymbolOrigin::Function(pure.map(|_| ()), sums)))
    }
}

/// Counter and bounds.
#[derive(Debug)]
pub(super) struct Counted {
    /// The variable that counts.
    pub counter: Var,
    /// The counter's first value.
    pub lower: Sum,
    /// The value that the counter stays below.
    pub upper: Sum,
    /// What the counter grows by in each iteration.
    pub step: Sum,
}

/// What says how often a loop runs.
#[derive(Clone, Debug)]
pub(super) enum Driver {
    /// The upper bound is a multiple of a symbol and a constant; the counter is a number.
    Bound {
        /// The symbol that is decided.
        symbol: Symbol,
        /// How many times it.
        factor: i64,
        /// The constant that is added to the multiple.
        add: i64,
    },
    /// A symbol for the trip count; the counter is a sum.
    Trips(Symbol),
    /// Numbers, or the program itself: a place without a decision.
    Free(Symbol),
}

impl Driver {
    /// The symbol whose decision ends the loop.
    pub(super) fn symbol(&self) -> Symbol {
        match *self {
            Driver::Bound { symbol, .. } | Driver::Trips(symbol) | Driver::Free(symbol) => symbol,
        }
    }

    /// Whether a decision drives the loop.
    pub(super) fn decides(&self) -> bool {
        !matches!(self, Driver::Free(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_add_up_and_divide() {
        let (a, b) = (Sum::symbol(Symbol(0)), Sum::symbol(Symbol(1)));
        let counter = a.plus(&b, 3);
        let counter = counter.unwrap_or_default();
        assert_eq!(counter.plus(&a, -1).and_then(|rest| rest.times(&b)), Some(3));
        assert_eq!(counter.times(&b), None);
        assert_eq!(counter.plus(&counter, -1), Some(Sum::default()));
        assert_eq!(Sum::constant(6).times(&Sum::constant(2)), Some(3));
        assert_eq!(Sum::constant(7).times(&Sum::constant(2)), None);
        assert_eq!(Sum::default().times(&b), Some(0));
    }
}
