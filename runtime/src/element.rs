//! Numbers as elements of a type hold them: what is filled in, read from a file or compared.
//!
//! Floats are those of [`float`], rounded to the nearest; integers saturate and lose their fraction.

use tensors::array::{Array, ElemType};
use tensors::float_format::{self, Rounding};

/// The bits of a number in the low bits of the result.
pub fn encode(dtype: ElemType, value: f64) -> u64 {
    match dtype {
        ElemType::I1 => u64::from(value != 0.0),
        ElemType::I8 => saturated(value, i8::MIN.into(), u8::MAX.into()) & 0xff,
        ElemType::I16 => saturated(value, i16::MIN.into(), u16::MAX.into()) & 0xffff,
        ElemType::I32 => saturated(value, i32::MIN.into(), u32::MAX.into()) & 0xffff_ffff,
        ElemType::I64 if value >= 9_223_372_036_854_775_808.0 => value as u64,
        ElemType::I64 => value as i64 as u64,
        // Conversions of the hardware saturate; an infinity that somebody writes down is one.
        ElemType::F8E5M2 if value.is_infinite() => 0x7c | u64::from(value.is_sign_negative()) << 7,
        _ => float_format::encode(dtype, value, Rounding::Nearest),
    }
}

fn saturated(value: f64, low: f64, high: f64) -> u64 {
    value.clamp(low, high) as i64 as u64
}

/// The number that these bits are; integers have a sign.
pub fn decode(dtype: ElemType, bits: u64) -> f64 {
    match dtype {
        ElemType::I1 => f64::from(u8::from(bits & 1 == 1)),
        ElemType::I8 => f64::from(bits as i8),
        ElemType::I16 => f64::from(bits as i16),
        ElemType::I32 => f64::from(bits as i32),
        ElemType::I64 => bits as i64 as f64,
        _ => float_format::decode(dtype, bits),
    }
}

/// How many whole numbers from 0 on the type holds with none left out.
pub fn exact_integers(dtype: ElemType) -> u64 {
    match dtype {
        ElemType::F4E2M1 => 4,
        ElemType::F8E8M0 => 2,
        _ => match float_format::fraction(dtype) {
            Some(fraction) => 1 << (fraction + 1),
            None => 1 << dtype.bits().saturating_sub(1).max(1),
        },
    }
}

/// The bits of each element.
pub fn bits(array: &Array) -> impl Iterator<Item = u64> + '_ {
    array.bytes.chunks_exact(array.dtype.bytes().max(1)).map(from_le)
}

/// The elements as numbers.
pub fn numbers(array: &Array) -> impl Iterator<Item = f64> + '_ {
    bits(array).map(|bits| decode(array.dtype, bits))
}

/// Up to 8 little-endian bytes.
pub fn from_le(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOATS: [ElemType; 10] = [
        ElemType::F4E2M1,
        ElemType::F8E4M3FN,
        ElemType::F8E5M2,
        ElemType::F8E4M3FNUZ,
        ElemType::F8E5M2FNUZ,
        ElemType::F8E4M3B11FNUZ,
        ElemType::F16,
        ElemType::BF16,
        ElemType::F32,
        ElemType::F64,
    ];

    #[test]
    fn every_number_of_a_small_type_is_itself() {
        for dtype in FLOATS.into_iter().filter(|dtype| dtype.bits() <= 16) {
            for bits in 0..1u64 << dtype.bits() {
                let value = decode(dtype, bits);
                if !value.is_nan() {
                    assert_eq!(encode(dtype, value), bits, "{dtype:?} {bits:#x} = {value}");
                }
            }
        }
    }

    #[test]
    fn known_numbers() {
        let known = [
            (ElemType::F16, 1.0, 0x3c00),
            (ElemType::F16, 65504.0, 0x7bff),
            (ElemType::F16, 65520.0, 0x7c00),
            (ElemType::F16, 5.960_464_477_539_063e-8, 1),
            (ElemType::BF16, 1.0, 0x3f80),
            (ElemType::BF16, -3.140_625, 0xc049),
            (ElemType::F8E4M3FN, 448.0, 0x7e),
            (ElemType::F8E4M3FN, 1e9, 0x7e),
            (ElemType::F8E5M2, 57344.0, 0x7b),
            (ElemType::F8E5M2, 1e9, 0x7b),
            (ElemType::F8E5M2, f64::INFINITY, 0x7c),
            (ElemType::F8E4M3FNUZ, 240.0, 0x7f),
            (ElemType::F8E4M3FNUZ, -0.0, 0),
            (ElemType::F4E2M1, 6.0, 7),
            (ElemType::F8E8M0, 1.0, 127),
            (ElemType::I8, -1.0, 0xff),
            (ElemType::I8, 300.0, 0xff),
            (ElemType::I64, -2.0, u64::MAX - 1),
        ];
        for (dtype, value, bits) in known {
            assert_eq!(encode(dtype, value), bits, "{dtype:?} {value}");
        }
    }

    #[test]
    fn halves_go_to_the_even_one() {
        assert_eq!(encode(ElemType::F16, 2049.0), encode(ElemType::F16, 2048.0));
        assert_eq!(encode(ElemType::F16, 2051.0), encode(ElemType::F16, 2052.0));
        assert_eq!(encode(ElemType::BF16, 257.0), encode(ElemType::BF16, 256.0));
        assert_eq!(encode(ElemType::F4E2M1, 5.0), encode(ElemType::F4E2M1, 4.0));
    }

    #[test]
    fn what_counts_as_exact_is() {
        for dtype in FLOATS.into_iter().filter(|dtype| dtype.bits() <= 16) {
            for whole in 0..exact_integers(dtype) {
                assert_eq!(decode(dtype, encode(dtype, whole as f64)), whole as f64, "{dtype:?} {whole}");
            }
        }
    }
}
