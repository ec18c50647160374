//! Arithmetic of floats, element by element. What is narrower than `f32` is computed in `f32` and rounded once.

use super::elementwise::{common, map, words, zip, zip3};
use super::integer::{BinaryIntOp, int2};
use super::tensor::{Sizes, TensorValue, Word, each};
use super::trap::Trap;
use crate::array::ElemType;
use crate::float_format::{Rounding, decode, encode, from_bf16, from_f16, to_bf16, to_f16};

/// A format with fast conversions to the type that its arithmetic is done in.
trait FloatFormat {
    type Bits: Word;
    type Number;
    fn number(bits: Self::Bits) -> Self::Number;
    fn bits(number: Self::Number) -> Self::Bits;
}

macro_rules! float_format {
    ($name:ident: $bits:ty => $number:ty, $decode:path, $encode:path) => {
        struct $name;

        impl FloatFormat for $name {
            type Bits = $bits;
            type Number = $number;

            #[inline]
            fn number(bits: $bits) -> $number {
                $decode(bits)
            }

            #[inline]
            fn bits(number: $number) -> $bits {
                $encode(number)
            }
        }
    };
}

float_format!(F16: u16 => f32, from_f16, to_f16);
float_format!(Bf16: u16 => f32, from_bf16, to_bf16);
float_format!(F32: u32 => f32, f32::from_bits, f32::to_bits);
float_format!(F64: u64 => f64, f64::from_bits, f64::to_bits);

/// Floats of up to 32 bits as `f32`.
pub(crate) fn floats(tensor: &TensorValue) -> Vec<f32> {
    match tensor.dtype() {
        ElemType::F32 => map(words::<u32>(tensor), f32::from_bits),
        ElemType::F16 => map(words(tensor), from_f16),
        ElemType::BF16 => map(words(tensor), from_bf16),
        ElemType::F64 => map(words(tensor), |bits| f64::from_bits(bits) as f32),
        dtype => {
            let table: Vec<f32> = (0..256).map(|bits| decode(dtype, bits) as f32).collect();
            map(words::<u8>(tensor), |bits| table.get(usize::from(bits)).copied().unwrap_or(f32::NAN))
        }
    }
}

/// Floats of any format as `f64`.
pub(crate) fn doubles(tensor: &TensorValue) -> Vec<f64> {
    match tensor.dtype() {
        ElemType::F64 => map(words::<u64>(tensor), f64::from_bits),
        ElemType::F32 => map(words(tensor), |bits| f64::from(f32::from_bits(bits))),
        dtype => each!(tensor.data(), words => map(words, |bits| decode(dtype, bits.to_u64()))),
    }
}

/// `f32`s as floats of a type.
pub(crate) fn of_floats(dtype: ElemType, shape: Sizes, numbers: &[f32]) -> TensorValue {
    match dtype {
        ElemType::F32 => TensorValue::of(dtype, shape, map(numbers, f32::to_bits)),
        ElemType::F16 => TensorValue::of(dtype, shape, map(numbers, to_f16)),
        ElemType::BF16 => TensorValue::of(dtype, shape, map(numbers, to_bf16)),
        ElemType::F64 => TensorValue::of(dtype, shape, map(numbers, |number| f64::from(number).to_bits())),
        _ => {
            TensorValue::of(dtype, shape, map(numbers, |number| encode(dtype, number.into(), Rounding::Nearest) as u8))
        }
    }
}

/// `f64`s as floats of a type.
pub(crate) fn of_doubles(dtype: ElemType, shape: Sizes, numbers: &[f64], rounding: Rounding) -> TensorValue {
    match dtype {
        ElemType::F64 => TensorValue::of(dtype, shape, map(numbers, f64::to_bits)),
        ElemType::F32 if rounding == Rounding::Nearest => {
            TensorValue::of(dtype, shape, map(numbers, |number| (number as f32).to_bits()))
        }
        _ => TensorValue::from_bits(dtype, shape, numbers.iter().map(|number| encode(dtype, *number, rounding))),
    }
}

fn apply1<F: FloatFormat>(a: &TensorValue, f: impl Fn(F::Number) -> F::Number) -> TensorValue {
    TensorValue::of(a.dtype(), a.shape().clone(), map(words(a), |a| F::bits(f(F::number(a)))))
}

/// A function of one float.
pub(crate) fn float1(a: &TensorValue, narrow: impl Fn(f32) -> f32, wide: impl Fn(f64) -> f64) -> TensorValue {
    match a.dtype() {
        ElemType::F32 => apply1::<F32>(a, narrow),
        ElemType::F64 => apply1::<F64>(a, wide),
        ElemType::F16 => apply1::<F16>(a, narrow),
        ElemType::BF16 => apply1::<Bf16>(a, narrow),
        dtype => of_floats(dtype, a.shape().clone(), &map(&floats(a), narrow)),
    }
}

fn apply2<F: FloatFormat>(
    a: &TensorValue,
    b: &TensorValue,
    f: impl Fn(F::Number, F::Number) -> F::Number,
) -> TensorValue {
    let words = zip(words(a), words(b), |a, b| F::bits(f(F::number(a), F::number(b))));
    TensorValue::of(a.dtype(), common(&[a, b]), words)
}

/// A function of two floats.
pub(crate) fn float2(
    a: &TensorValue,
    b: &TensorValue,
    narrow: impl Fn(f32, f32) -> f32,
    wide: impl Fn(f64, f64) -> f64,
) -> TensorValue {
    match a.dtype() {
        ElemType::F32 => apply2::<F32>(a, b, narrow),
        ElemType::F64 => apply2::<F64>(a, b, wide),
        ElemType::F16 => apply2::<F16>(a, b, narrow),
        ElemType::BF16 => apply2::<Bf16>(a, b, narrow),
        dtype => of_floats(dtype, common(&[a, b]), &zip(&floats(a), &floats(b), narrow)),
    }
}

/// A predicate of two floats; `f64` has every float of the other formats.
pub(crate) fn test2(
    a: &TensorValue,
    b: &TensorValue,
    narrow: impl Fn(f32, f32) -> bool,
    wide: impl Fn(f64, f64) -> bool,
) -> TensorValue {
    let bits = match a.dtype() {
        ElemType::F64 => {
            zip(words::<u64>(a), words::<u64>(b), |a, b| u8::from(wide(f64::from_bits(a), f64::from_bits(b))))
        }
        ElemType::F32 => {
            zip(words::<u32>(a), words::<u32>(b), |a, b| u8::from(narrow(f32::from_bits(a), f32::from_bits(b))))
        }
        _ => zip(&floats(a), &floats(b), |a, b| u8::from(narrow(a, b))),
    };
    TensorValue::of(ElemType::I1, common(&[a, b]), bits)
}

/// The one of two floats that `$first` prefers to the other; of a NaN and a number the NaN with `$nan`, else the number.
macro_rules! preferred {
    ($nan:ident, $number:ty, |$a:ident, $b:ident| $first:expr) => {
        |$a: $number, $b: $number| {
            if $first {
                $a
            } else if $a.is_nan() || $b.is_nan() {
                if $a.is_nan() == $nan { $a } else { $b }
            } else {
                $b
            }
        }
    };
}

/// The larger float; a positive zero is larger than a negative one. With `nan`, a NaN comes through, else a number does.
pub(crate) fn maximum(a: &TensorValue, b: &TensorValue, nan: bool) -> TensorValue {
    let narrow = preferred!(nan, f32, |a, b| a > b || a == b && b.is_sign_negative());
    float2(a, b, narrow, preferred!(nan, f64, |a, b| a > b || a == b && b.is_sign_negative()))
}

/// The smaller float, as [`maximum`].
pub(crate) fn minimum(a: &TensorValue, b: &TensorValue, nan: bool) -> TensorValue {
    let narrow = preferred!(nan, f32, |a, b| a < b || a == b && a.is_sign_negative());
    float2(a, b, narrow, preferred!(nan, f64, |a, b| a < b || a == b && a.is_sign_negative()))
}

/// The other sign, of NaN too.
pub(crate) fn negate(a: &TensorValue) -> Result<TensorValue, Trap> {
    if a.dtype() == ElemType::F8E8M0 {
        return Err(Trap::not_followed("the negation of an exponent is not followed"));
    }
    let int = a.dtype().int_of_width();
    let sign = TensorValue::splat(int, [].into(), 1u64 << (a.dtype().bits() - 1));
    Ok(int2(BinaryIntOp::Xor, &a.with_dtype(int), &sign).with_dtype(a.dtype()))
}

/// A product and a sum, rounded once.
pub(crate) fn fma(a: &TensorValue, b: &TensorValue, c: &TensorValue) -> TensorValue {
    let (dtype, shape) = (a.dtype(), common(&[a, b, c]));
    match dtype {
        ElemType::F32 => {
            let f = |a, b, c| f32::from_bits(a).mul_add(f32::from_bits(b), f32::from_bits(c)).to_bits();
            TensorValue::of(dtype, shape, zip3(words::<u32>(a), words::<u32>(b), words::<u32>(c), f))
        }
        ElemType::F64 => {
            let f = |a, b, c| f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c)).to_bits();
            TensorValue::of(dtype, shape, zip3(words::<u64>(a), words::<u64>(b), words::<u64>(c), f))
        }
        ElemType::F16 | ElemType::BF16 => {
            let number = |bits: u16| decode(dtype, bits.into());
            let f =
                |a, b, c| encode(dtype, sum_rounded_to_odd(number(a) * number(b), number(c)), Rounding::Nearest) as u16;
            TensorValue::of(dtype, shape, zip3(words(a), words(b), words(c), f))
        }
        _ => of_floats(dtype, shape, &zip3(&floats(a), &floats(b), &floats(c), f32::mul_add)),
    }
}

/// A sum whose last bit is set where something was lost, so that rounding it again is as rounding once.
fn sum_rounded_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let part = sum - a;
    let lost = (a - (sum - part)) + (b - part);
    if !sum.is_finite() || lost == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    // Towards what was lost, onto the odd neighbour.
    let away = (lost > 0.0) == (sum > 0.0);
    f64::from_bits(if away { sum.to_bits() + 1 } else { sum.to_bits() - 1 })
}
