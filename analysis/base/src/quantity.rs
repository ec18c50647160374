//! Whole numbers that a program computes from sizes which nobody gives: `cdiv(n, 64)`, `2 * h`.

use std::sync::Arc;

/// How a number is made of two others.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Operation {
    Add,
    Sub,
    Mul,
    FloorDiv,
    Mod,
    CeilDiv,
    Min,
    Max,
    /// The least power of two that is not below the first one; the second counts for nothing.
    PowerOfTwo,
}

/// A whole number that is not known, as far as it hangs together with others.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Quantity {
    /// This one.
    Known(i64),
    /// What has no formula, by a number: those of one number are the same.
    Unknown {
        /// Its number.
        id: u32,
        /// What it is a size of, where it may be any number whatever the other sizes of that are.
        of: Option<u32>,
    },
    /// It is computed from two others.
    Made(Operation, Arc<(Quantity, Quantity)>),
    /// Elements between neighbours of a tensor that may lie in any way: what they are where it lies densely, in the
    /// order of its sizes. Nothing follows from that but that there is such a tensor.
    Stride {
        /// Its number: those of one number are the same.
        id: u32,
        /// What it is of a dense tensor.
        dense: Arc<Quantity>,
    },
}

impl Quantity {
    /// What it is where those without a formula have these values; `None` where it is no number then.
    pub fn value(&self, of: &dyn Fn(u32) -> Option<i64>) -> Option<i64> {
        let (op, parts) = match self {
            Quantity::Known(value) => return Some(*value),
            Quantity::Unknown { id, .. } => return of(*id),
            Quantity::Made(op, parts) => (op, parts),
            Quantity::Stride { dense, .. } => return dense.value(of),
        };
        let (a, b) = (parts.0.value(of)?, parts.1.value(of)?);
        match op {
            Operation::Add => a.checked_add(b),
            Operation::Sub => a.checked_sub(b),
            Operation::Mul => a.checked_mul(b),
            Operation::FloorDiv => (b > 0).then(|| a.div_euclid(b)),
            Operation::Mod => (b > 0).then(|| a.rem_euclid(b)),
            Operation::CeilDiv => (b > 0).then(|| a.div_euclid(b) + i64::from(a.rem_euclid(b) != 0)),
            Operation::Min => Some(a.min(b)),
            Operation::Max => Some(a.max(b)),
            Operation::PowerOfTwo => {
                u64::try_from(a).ok()?.checked_next_power_of_two().and_then(|power| i64::try_from(power).ok())
            }
        }
    }

    /// Whether it is no more than another one whatever numbers are, none of them negative.
    pub fn is_at_most(&self, other: &Quantity) -> bool {
        let natural = |part: &Quantity| !matches!(part, Quantity::Known(value) if *value < 0);
        let positive = |part: &Quantity| matches!(part, Quantity::Known(value) if *value > 0);
        match (self, other) {
            (Quantity::Known(one), Quantity::Known(other)) => one <= other,
            _ if self == other => true,
            (_, Quantity::Made(op, parts)) => {
                let within = |of: &dyn Fn(&Quantity) -> bool| {
                    (self.is_at_most(&parts.0) && of(&parts.1)) || (self.is_at_most(&parts.1) && of(&parts.0))
                };
                match op {
                    Operation::Add => within(&natural),
                    Operation::Mul => within(&positive),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// Calls `see` with each number without a formula, and what it is a size of.
    pub fn unknowns(&self, see: &mut dyn FnMut(u32, Option<u32>)) {
        match self {
            Quantity::Known(_) => {}
            Quantity::Unknown { id, of } => see(*id, *of),
            Quantity::Made(_, parts) => {
                parts.0.unknowns(see);
                parts.1.unknowns(see);
            }
            Quantity::Stride { dense, .. } => dense.unknowns(see),
        }
    }

    /// Of what it is the product.
    pub fn factors<'q>(&'q self, all: &mut Vec<&'q Quantity>) {
        match self {
            Quantity::Made(Operation::Mul, parts) => {
                parts.0.factors(all);
                parts.1.factors(all);
            }
            other => all.push(other),
        }
    }

    /// Calls `see` with each number that is divided into blocks, rounded up, and how long these are.
    pub fn whole_blocks(&self, see: &mut dyn FnMut(u32, i64)) {
        let Quantity::Made(op, parts) = self else { return };
        match (op, &parts.0, &parts.1) {
            (Operation::CeilDiv, Quantity::Unknown { id, .. }, Quantity::Known(block)) if *block > 0 => {
                see(*id, *block)
            }
            (_, one, other) => {
                one.whole_blocks(see);
                other.whole_blocks(see);
            }
        }
    }

    /// Whether a product of sizes, which is a stride or how many elements there are, has a quotient in it that is 0: it is of
    /// an empty tensor, which nobody works on.
    pub fn is_empty(&self, of: &dyn Fn(u32) -> Option<i64>) -> bool {
        let factors = match self {
            Quantity::Made(Operation::Mul, factors) => factors,
            Quantity::Stride { dense, .. } => return dense.is_empty(of),
            _ => return false,
        };
        [&factors.0, &factors.1].into_iter().any(|factor| match factor {
            Quantity::Made(Operation::FloorDiv, _) => factor.value(of) == Some(0),
            factor => factor.is_empty(of),
        })
    }

    /// The numbers up to one from which a constant is computed that never falls where they rise: the least and the greatest.
    pub fn numbers_of(&self, value: i64, scanned: i64) -> Option<(i64, i64)> {
        let at = |number: i64| self.value(&|_| Some(number));
        // The first from which it is no less than something.
        let first = |least: i64| -> Option<i64> {
            let (mut low, mut high) = (0, scanned);
            if at(high)? < least {
                return None;
            }
            while low < high {
                let middle = low + (high - low) / 2;
                if at(middle)? >= least { high = middle } else { low = middle + 1 }
            }
            Some(low)
        };
        let (low, behind) = (first(value)?, first(value.checked_add(1)?)?);
        (at(low)? == value && low < behind).then(|| (low.max(1), behind - 1)).filter(|(low, high)| low <= high)
    }

    /// Whether it mentions a number without a formula.
    pub fn mentions(&self, number: u32) -> bool {
        let mut found = false;
        self.unknowns(&mut |id, _| found |= id == number);
        found
    }

    /// Whether it never falls where the numbers in it, none of them negative, rise.
    pub fn rises(&self) -> bool {
        let (op, parts) = match self {
            Quantity::Known(value) => return *value >= 0,
            Quantity::Unknown { .. } => return true,
            Quantity::Made(op, parts) => (op, parts),
            Quantity::Stride { dense, .. } => return dense.rises(),
        };
        let known = matches!(parts.1, Quantity::Known(_));
        match op {
            Operation::Add | Operation::Mul | Operation::Min | Operation::Max => parts.0.rises() && parts.1.rises(),
            Operation::PowerOfTwo => parts.0.rises(),
            Operation::Sub | Operation::FloorDiv | Operation::CeilDiv => parts.0.rises() && known,
            Operation::Mod => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(op: Operation, a: Quantity, b: Quantity) -> Quantity {
        Quantity::Made(op, Arc::new((a, b)))
    }

    #[test]
    fn a_block_that_covers_a_row() {
        let n = Quantity::Unknown { id: 3, of: None };
        let power = made(Operation::PowerOfTwo, n.clone(), Quantity::Known(0));
        let block = made(Operation::Max, power, Quantity::Known(16));
        let at = |n: i64| block.value(&|id| (id == 3).then_some(n));
        assert_eq!([1, 16, 17, 100, 128].map(at), [16, 16, 32, 128, 128].map(Some));
        assert!(block.rises() && block.mentions(3) && !block.mentions(0));
        let tiles = made(Operation::CeilDiv, n.clone(), Quantity::Known(64));
        assert_eq!([0, 1, 64, 65].map(|n| tiles.value(&|_| Some(n))), [0, 1, 1, 2].map(Some));
        assert!(tiles.rises() && !made(Operation::Sub, Quantity::Known(4), n).rises());
        assert_eq!(made(Operation::Mod, Quantity::Known(4), Quantity::Known(0)).value(&|_| None), None);
    }

    #[test]
    fn rows_under_a_block() {
        let block = |op, with| made(op, Quantity::Unknown { id: 0, of: Some(0) }, Quantity::Known(with));
        let range = |block: Quantity, value| block.numbers_of(value, 1 << 20);
        assert_eq!(range(block(Operation::PowerOfTwo, 0), 128), Some((65, 128)));
        assert_eq!(range(block(Operation::PowerOfTwo, 0), 100), None);
        assert_eq!(range(block(Operation::CeilDiv, 64), 2), Some((65, 128)));
        assert_eq!(range(block(Operation::Max, 16), 16), Some((1, 16)));
        assert_eq!(range(block(Operation::Min, 16), 16), None);
    }

    #[test]
    fn a_stride_is_that_of_some_tensor_and_equal_to_no_other() {
        let stride = |id| Quantity::Stride { id, dense: Quantity::Unknown { id: 0, of: Some(0) }.into() };
        assert_eq!(stride(1).value(&|_| Some(64)), Some(64));
        assert!(stride(1) == stride(1) && stride(1) != stride(2));
        assert!(stride(1).mentions(0) && !stride(1).mentions(1) && stride(1).rises());
    }
}
