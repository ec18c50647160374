//! Numbers as elements of a type hold them: what is filled in, read from a file or compared.
//!
//! Rounded to the nearest, ties to even. What is too large becomes infinite where the type has an infinity and
//! the largest number where it has none; integers saturate and lose their fraction.

use crate::array::{Array, DType};

/// A small float format.
struct Format {
    exponent: u32,
    mantissa: u32,
    bias: i32,
    /// Magnitude bits of infinity, of a type that has one.
    infinity: Option<u64>,
    /// Magnitude bits of the largest number.
    largest: u64,
    /// All bits of NaN; a type without takes its largest number.
    nan: Option<u64>,
    /// Whether there is a zero with a sign.
    signed_zero: bool,
}

impl Format {
    const fn ieee(exponent: u32, mantissa: u32) -> Format {
        let infinity = ((1 << exponent) - 1) << mantissa;
        Format {
            exponent,
            mantissa,
            bias: (1 << (exponent - 1)) - 1,
            infinity: Some(infinity),
            largest: infinity - 1,
            nan: Some(infinity | 1 << (mantissa - 1)),
            signed_zero: true,
        }
    }

    const fn fnuz(exponent: u32, mantissa: u32, bias: i32) -> Format {
        let nan = Some(1 << (exponent + mantissa));
        let largest = (1 << (exponent + mantissa)) - 1;
        Format { exponent, mantissa, bias, infinity: None, largest, nan, signed_zero: false }
    }

    fn of(dtype: DType) -> Option<Format> {
        Some(match dtype {
            DType::F16 => Format::ieee(5, 10),
            DType::BF16 => Format::ieee(8, 7),
            DType::F8E5M2 => Format::ieee(5, 2),
            DType::F8E4M3FN => {
                Format { infinity: None, largest: 0x7e, nan: Some(0x7f), signed_zero: true, ..Format::fnuz(4, 3, 7) }
            }
            DType::F8E4M3FNUZ => Format::fnuz(4, 3, 8),
            DType::F8E5M2FNUZ => Format::fnuz(5, 2, 16),
            DType::F8E4M3B11FNUZ => Format::fnuz(4, 3, 11),
            DType::F4E2M1 => Format { nan: None, signed_zero: true, ..Format::fnuz(2, 1, 1) },
            _ => return None,
        })
    }

    fn encode(&self, value: f64) -> u64 {
        let sign = u64::from(value.is_sign_negative()) << (self.exponent + self.mantissa);
        if value.is_nan() {
            return self.nan.unwrap_or(self.largest);
        }
        let magnitude =
            if value.is_infinite() { self.infinity.unwrap_or(self.largest) } else { self.magnitude(value.abs()) };
        if magnitude == 0 && !self.signed_zero { 0 } else { sign | magnitude }
    }

    fn magnitude(&self, value: f64) -> u64 {
        if value == 0.0 {
            return 0;
        }
        let lowest = 1 - self.bias;
        let exponent = (((value.to_bits() >> 52) & 0x7ff) as i32 - 1023).max(lowest);
        let quanta = (value * power(self.mantissa as i32 - exponent)).round_ties_even() as u64;
        let bits = (((exponent - lowest) as u64) << self.mantissa) + quanta;
        match self.infinity {
            Some(infinity) => bits.min(infinity),
            None => bits.min(self.largest),
        }
    }

    fn decode(&self, bits: u64) -> f64 {
        let width = self.exponent + self.mantissa;
        let magnitude = bits & ((1 << width) - 1);
        let not_a_number = match self.infinity {
            Some(infinity) => magnitude > infinity,
            None => self.nan.is_some_and(|nan| if self.signed_zero { magnitude == nan } else { bits == nan }),
        };
        if not_a_number {
            return f64::NAN;
        }
        let exponent = (magnitude >> self.mantissa) as i32;
        let fraction = magnitude & ((1 << self.mantissa) - 1);
        let value = if self.infinity == Some(magnitude) {
            f64::INFINITY
        } else if exponent == 0 {
            fraction as f64 * power(1 - self.bias - self.mantissa as i32)
        } else {
            (fraction | 1 << self.mantissa) as f64 * power(exponent - self.bias - self.mantissa as i32)
        };
        if bits >> width & 1 == 1 { -value } else { value }
    }
}

/// 2 to this power, from -1022 to 1023.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023).clamp(1, 2046) as u64) << 52)
}

/// The bits of a number in the low bits of the result.
pub fn encode(dtype: DType, value: f64) -> u64 {
    if let Some(format) = Format::of(dtype) {
        return format.encode(value);
    }
    match dtype {
        DType::F32 => u64::from((value as f32).to_bits()),
        DType::F64 => value.to_bits(),
        // An exponent alone: the nearest power of two.
        DType::F8E8M0 if value.is_nan() => 0xff,
        DType::F8E8M0 => (value.abs().log2().round() + 127.0).clamp(0.0, 254.0) as u64,
        DType::I1 => u64::from(value != 0.0),
        DType::I8 => saturated(value, i8::MIN.into(), u8::MAX.into()) & 0xff,
        DType::I16 => saturated(value, i16::MIN.into(), u16::MAX.into()) & 0xffff,
        DType::I32 => saturated(value, i32::MIN.into(), u32::MAX.into()) & 0xffff_ffff,
        _ if value >= 9_223_372_036_854_775_808.0 => value as u64,
        _ => value as i64 as u64,
    }
}

fn saturated(value: f64, low: f64, high: f64) -> u64 {
    value.clamp(low, high) as i64 as u64
}

/// The number that these bits are; integers have a sign.
pub fn decode(dtype: DType, bits: u64) -> f64 {
    if let Some(format) = Format::of(dtype) {
        return format.decode(bits);
    }
    match dtype {
        DType::F32 => f32::from_bits(bits as u32).into(),
        DType::F64 => f64::from_bits(bits),
        DType::F8E8M0 if bits & 0xff == 0xff => f64::NAN,
        DType::F8E8M0 => 2f64.powi((bits & 0xff) as i32 - 127),
        DType::I1 => f64::from(u8::from(bits & 1 == 1)),
        DType::I8 => f64::from(bits as i8),
        DType::I16 => f64::from(bits as i16),
        DType::I32 => f64::from(bits as i32),
        _ => bits as i64 as f64,
    }
}

/// How many whole numbers from 0 on the type holds with none left out.
pub fn exact(dtype: DType) -> u64 {
    match dtype {
        DType::F4E2M1 => 4,
        DType::F8E8M0 => 2,
        DType::F32 => 1 << 24,
        DType::F64 => 1 << 53,
        _ => match Format::of(dtype) {
            Some(format) => 1 << (format.mantissa + 1),
            None => 1 << dtype.bits().saturating_sub(1).max(1),
        },
    }
}

/// The bits of each element.
pub fn bits(array: &Array) -> impl Iterator<Item = u64> + '_ {
    array.bytes.chunks_exact(array.dtype.bytes().max(1)).map(little)
}

/// The elements as numbers.
pub fn numbers(array: &Array) -> impl Iterator<Item = f64> + '_ {
    bits(array).map(|bits| decode(array.dtype, bits))
}

/// Up to 8 little-endian bytes.
pub fn little(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOATS: [DType; 10] = [
        DType::F4E2M1,
        DType::F8E4M3FN,
        DType::F8E5M2,
        DType::F8E4M3FNUZ,
        DType::F8E5M2FNUZ,
        DType::F8E4M3B11FNUZ,
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::F64,
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
            (DType::F16, 1.0, 0x3c00),
            (DType::F16, 65504.0, 0x7bff),
            (DType::F16, 65520.0, 0x7c00),
            (DType::F16, 5.960_464_477_539_063e-8, 1),
            (DType::BF16, 1.0, 0x3f80),
            (DType::BF16, -3.140_625, 0xc049),
            (DType::F8E4M3FN, 448.0, 0x7e),
            (DType::F8E4M3FN, 1e9, 0x7e),
            (DType::F8E5M2, 57344.0, 0x7b),
            (DType::F8E5M2, 1e9, 0x7c),
            (DType::F8E4M3FNUZ, 240.0, 0x7f),
            (DType::F8E4M3FNUZ, -0.0, 0),
            (DType::F4E2M1, 6.0, 7),
            (DType::F8E8M0, 1.0, 127),
            (DType::I8, -1.0, 0xff),
            (DType::I8, 300.0, 0xff),
            (DType::I64, -2.0, u64::MAX - 1),
        ];
        for (dtype, value, bits) in known {
            assert_eq!(encode(dtype, value), bits, "{dtype:?} {value}");
        }
    }

    #[test]
    fn halves_go_to_the_even_one() {
        assert_eq!(encode(DType::F16, 2049.0), encode(DType::F16, 2048.0));
        assert_eq!(encode(DType::F16, 2051.0), encode(DType::F16, 2052.0));
        assert_eq!(encode(DType::BF16, 257.0), encode(DType::BF16, 256.0));
        assert_eq!(encode(DType::F4E2M1, 5.0), encode(DType::F4E2M1, 4.0));
    }

    #[test]
    fn what_counts_as_exact_is() {
        for dtype in FLOATS.into_iter().filter(|dtype| dtype.bits() <= 16) {
            for whole in 0..exact(dtype) {
                assert_eq!(decode(dtype, encode(dtype, whole as f64)), whole as f64, "{dtype:?} {whole}");
            }
        }
    }
}
