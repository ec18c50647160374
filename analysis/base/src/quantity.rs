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
    fn a_stride_is_that_of_some_tensor_and_equal_to_no_other() {
        let stride = |id| Quantity::Stride { id, dense: Quantity::Unknown { id: 0, of: Some(0) }.into() };
        assert_eq!(stride(1).value(&|_| Some(64)), Some(64));
        assert!(stride(1) == stride(1) && stride(1) != stride(2));
        assert!(stride(1).mentions(0) && !stride(1).mentions(1) && stride(1).rises());
    }
}
