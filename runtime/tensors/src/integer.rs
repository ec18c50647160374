//! Integers at MLIR's widths: they wrap, and whether they have a sign is a matter of the operation.
//!
//! Deviations: what is undefined in LLVM gives what NVIDIA's hardware gives. A quotient by zero has all bits set, a rest
//! by zero is the dividend, the smallest number by -1 wraps, a shift past the width moves every bit out.

use super::elementwise::{common, map, words, zip};
use super::tensor::{TensorValue, Word, with_word};
use crate::array::ElemType;

/// An operation on two integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub(crate) enum BinaryIntOp {
    Add,
    Sub,
    Mul,
    DivS,
    DivU,
    CeilDivS,
    CeilDivU,
    FloorDivS,
    RemS,
    RemU,
    And,
    Or,
    Xor,
    Shl,
    ShrS,
    ShrU,
    MaxS,
    MaxU,
    MinS,
    MinU,
    /// The high half of the product.
    MulHighS,
    /// The high half of the product of unsigned numbers.
    MulHighU,
}

/// A comparison of two integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub(crate) enum IntPredicate {
    Eq,
    Ne,
    Slt,
    Sle,
    Sgt,
    Sge,
    Ult,
    Ule,
    Ugt,
    Uge,
}

impl IntPredicate {
    /// By MLIR's name or number.
    pub(crate) fn named(text: &str) -> Option<IntPredicate> {
        use IntPredicate::*;
        let text = text.split(':').next().unwrap_or(text).trim();
        const ALL: [(&str, IntPredicate); 10] = [
            ("eq", Eq),
            ("ne", Ne),
            ("slt", Slt),
            ("sle", Sle),
            ("sgt", Sgt),
            ("sge", Sge),
            ("ult", Ult),
            ("ule", Ule),
            ("ugt", Ugt),
            ("uge", Uge),
        ];
        let at = text.parse::<usize>().ok();
        let by_name = ALL.iter().find(|(name, _)| *name == text);
        by_name.or_else(|| ALL.get(at?)).map(|(_, compare)| *compare)
    }
}

/// A word with arithmetic.
pub(crate) trait IntWord: Word {
    /// The operation, as a function that loops can be built around.
    fn apply(op: BinaryIntOp, a: &[Self], b: &[Self]) -> Vec<Self>;
    /// The comparison of two buffers, one byte a result.
    fn compare(op: IntPredicate, a: &[Self], b: &[Self]) -> Vec<u8>;
    /// Leading zeros, set bits, trailing zeros, absolute value.
    fn count(op: UnaryIntOp, a: Self) -> Self;
}

/// An operation on one integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub(crate) enum UnaryIntOp {
    Abs,
    LeadingZeros,
    TrailingZeros,
    Ones,
}

macro_rules! number {
    ($u:ty, $i:ty, $wide_u:ty, $wide_i:ty) => {
        impl IntWord for $u {
            fn apply(op: BinaryIntOp, a: &[$u], b: &[$u]) -> Vec<$u> {
                use BinaryIntOp::*;
                const BITS: u32 = <$u>::BITS;
                let signed = |f: fn($i, $i) -> $i| zip(a, b, move |a, b| f(a as $i, b as $i) as $u);
                match op {
                    Add => zip(a, b, <$u>::wrapping_add),
                    Sub => zip(a, b, <$u>::wrapping_sub),
                    Mul => zip(a, b, <$u>::wrapping_mul),
                    And => zip(a, b, |a, b| a & b),
                    Or => zip(a, b, |a, b| a | b),
                    Xor => zip(a, b, |a, b| a ^ b),
                    MaxS => zip(a, b, |a, b| (a as $i).max(b as $i) as $u),
                    MinS => zip(a, b, |a, b| (a as $i).min(b as $i) as $u),
                    MaxU => zip(a, b, |a, b| a.max(b)),
                    MinU => zip(a, b, |a, b| a.min(b)),
                    Shl => zip(a, b, |a, b| if (b as u64) < BITS as u64 { a << b } else { 0 }),
                    ShrU => zip(a, b, |a, b| if (b as u64) < BITS as u64 { a >> b } else { 0 }),
                    ShrS => zip(a, b, |a, b| ((a as $i) >> (b as u64).min(BITS as u64 - 1)) as $u),
                    DivU => zip(a, b, |a, b| a.checked_div(b).unwrap_or(<$u>::MAX)),
                    RemU => zip(a, b, |a, b| a.checked_rem(b).unwrap_or(a)),
                    CeilDivU => zip(a, b, |a, b| match a.checked_div(b) {
                        Some(quotient) => quotient + (a % b != 0) as $u,
                        None => <$u>::MAX,
                    }),
                    DivS => signed(|a, b| if b == 0 { -1 } else { a.wrapping_div(b) }),
                    RemS => signed(|a, b| if b == 0 { a } else { a.wrapping_rem(b) }),
                    CeilDivS => signed(|a, b| match b {
                        0 => -1,
                        _ => {
                            let rest = a.wrapping_rem(b);
                            let more = rest != 0 && (rest < 0) == (b < 0);
                            a.wrapping_div(b).wrapping_add(more as $i)
                        }
                    }),
                    FloorDivS => signed(|a, b| match b {
                        0 => -1,
                        _ => {
                            let rest = a.wrapping_rem(b);
                            let less = rest != 0 && (rest < 0) != (b < 0);
                            a.wrapping_div(b).wrapping_sub(less as $i)
                        }
                    }),
                    MulHighU => zip(a, b, |a, b| ((a as $wide_u * b as $wide_u) >> BITS) as $u),
                    MulHighS => zip(a, b, |a, b| ((a as $i as $wide_i * b as $i as $wide_i) >> BITS) as $u),
                }
            }

            fn compare(op: IntPredicate, a: &[$u], b: &[$u]) -> Vec<u8> {
                use IntPredicate::*;
                match op {
                    Eq => zip(a, b, |a, b| (a == b) as u8),
                    Ne => zip(a, b, |a, b| (a != b) as u8),
                    Slt => zip(a, b, |a, b| ((a as $i) < b as $i) as u8),
                    Sle => zip(a, b, |a, b| (a as $i <= b as $i) as u8),
                    Sgt => zip(a, b, |a, b| (a as $i > b as $i) as u8),
                    Sge => zip(a, b, |a, b| (a as $i >= b as $i) as u8),
                    Ult => zip(a, b, |a, b| (a < b) as u8),
                    Ule => zip(a, b, |a, b| (a <= b) as u8),
                    Ugt => zip(a, b, |a, b| (a > b) as u8),
                    Uge => zip(a, b, |a, b| (a >= b) as u8),
                }
            }

            fn count(op: UnaryIntOp, a: $u) -> $u {
                match op {
                    UnaryIntOp::Abs => (a as $i).wrapping_abs() as $u,
                    UnaryIntOp::LeadingZeros => a.leading_zeros() as $u,
                    UnaryIntOp::TrailingZeros => a.trailing_zeros() as $u,
                    UnaryIntOp::Ones => a.count_ones() as $u,
                }
            }
        }
    };
}

number!(u8, i8, u16, i16);
number!(u16, i16, u32, i32);
number!(u32, i32, u64, i64);
number!(u64, i64, u128, i128);

/// An operation on two integers of one type.
pub(crate) fn int2(op: BinaryIntOp, a: &TensorValue, b: &TensorValue) -> TensorValue {
    let (dtype, shape) = (a.dtype(), common(&[a, b]));
    if dtype == ElemType::I1 {
        return TensorValue::of(dtype, shape, zip(words::<u8>(a), words::<u8>(b), |a, b| bit2(op, a & 1, b & 1)));
    }
    with_word!(dtype, W => TensorValue::of(dtype, shape, W::apply(op, words::<W>(a), words::<W>(b))))
}

/// An operation on two integers of one bit; a set bit is -1 where there are signs.
fn bit2(op: BinaryIntOp, a: u8, b: u8) -> u8 {
    use BinaryIntOp::*;
    match op {
        Add | Sub | Xor => a ^ b,
        Mul | And | MaxS | MinU => a & b,
        Or | MinS | MaxU => a | b,
        // A divisor that is not zero is 1, or -1, which wraps to the same.
        DivS | DivU | CeilDivS | CeilDivU | FloorDivS => a | (b ^ 1),
        RemS | RemU => a & (b ^ 1),
        Shl | ShrU => a & (b ^ 1),
        ShrS => a,
        MulHighU => 0,
        // (-1)(-1) is 1, whose second bit is 0.
        MulHighS => 0,
    }
}

/// A comparison of two integers of one type.
pub(crate) fn compare(op: IntPredicate, a: &TensorValue, b: &TensorValue) -> TensorValue {
    use IntPredicate::*;
    let shape = common(&[a, b]);
    let op = match (a.dtype(), op) {
        // With a sign, a set bit is -1.
        (ElemType::I1, Slt) => Ugt,
        (ElemType::I1, Sle) => Uge,
        (ElemType::I1, Sgt) => Ult,
        (ElemType::I1, Sge) => Ule,
        (_, op) => op,
    };
    let bits = with_word!(a.dtype(), W => W::compare(op, words::<W>(a), words::<W>(b)));
    TensorValue::of(ElemType::I1, shape, bits)
}

/// An operation on one integer.
pub(crate) fn int1(op: UnaryIntOp, a: &TensorValue) -> TensorValue {
    let (dtype, shape) = (a.dtype(), a.shape().clone());
    if dtype == ElemType::I1 {
        let bit = |a: u8| match op {
            UnaryIntOp::LeadingZeros | UnaryIntOp::TrailingZeros => a ^ 1,
            UnaryIntOp::Abs | UnaryIntOp::Ones => a,
        };
        return TensorValue::of(dtype, shape, map(words::<u8>(a), bit));
    }
    with_word!(dtype, W => TensorValue::of(dtype, shape, map(words::<W>(a), |a| W::count(op, a))))
}

/// The sum and the carry of two unsigned integers.
pub(crate) fn add_carry(a: &TensorValue, b: &TensorValue) -> (TensorValue, TensorValue) {
    let sum = int2(BinaryIntOp::Add, a, b);
    let carry =
        if a.dtype() == ElemType::I1 { int2(BinaryIntOp::And, a, b) } else { compare(IntPredicate::Ult, &sum, a) };
    (sum, carry)
}
