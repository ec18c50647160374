//! Floating-point formats: their bits as numbers and back, correctly rounded.
//!
//! Arithmetic on a format narrower than `f32` is done in `f32` (in `f64` where that is not enough) and rounded once:
//! both have more than twice the bits, so that sums, products, quotients and roots come out correctly rounded.

use crate::array::ElemType;

/// How a number that a format does not have is brought to one that it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Rounding {
    /// To the nearest, ties to even.
    #[default]
    Nearest,
    /// Towards zero, as C truncates.
    Zero,
}

/// A binary format with a sign.
#[derive(Clone, Copy, Debug)]
struct Format {
    /// Bits of the fraction.
    fraction: u32,
    /// Bits of the exponent.
    exponent: u32,
    bias: i32,
    /// The bits of the largest finite number.
    most: u64,
    special: Special,
}

/// What a format has beside numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Special {
    /// Infinities and NaNs, as in IEEE 754.
    Ieee,
    /// A NaN where all bits but the sign are set.
    NanAtEnd,
    /// A NaN in the place of the negative zero.
    NanAtMinusZero,
    /// No infinity and no NaN.
    None,
}

fn format(dtype: ElemType) -> Option<Format> {
    let (exponent, fraction, bias, most, special) = match dtype {
        ElemType::F64 => (11, 52, 1023, 0x7fef_ffff_ffff_ffff, Special::Ieee),
        ElemType::F32 => (8, 23, 127, 0x7f7f_ffff, Special::Ieee),
        ElemType::BF16 => (8, 7, 127, 0x7f7f, Special::Ieee),
        ElemType::F16 => (5, 10, 15, 0x7bff, Special::Ieee),
        ElemType::F8E5M2 => (5, 2, 15, 0x7b, Special::Ieee),
        ElemType::F8E4M3FN => (4, 3, 7, 0x7e, Special::NanAtEnd),
        ElemType::F8E4M3FNUZ => (4, 3, 8, 0x7f, Special::NanAtMinusZero),
        ElemType::F8E5M2FNUZ => (5, 2, 16, 0x7f, Special::NanAtMinusZero),
        ElemType::F8E4M3B11FNUZ => (4, 3, 11, 0x7f, Special::NanAtMinusZero),
        ElemType::F4E2M1 => (2, 1, 1, 0x7, Special::None),
        _ => return None,
    };
    Some(Format { fraction, exponent, bias, most, special })
}

/// Bits of the fraction of a format; `None` for a type that is no float with a fraction.
pub fn fraction(dtype: ElemType) -> Option<u32> {
    format(dtype).map(|format| format.fraction)
}

/// The bits of a NaN of a type; of one that has none, all ones.
pub fn nan(dtype: ElemType) -> u64 {
    match dtype {
        ElemType::F64 => f64::NAN.to_bits(),
        ElemType::F32 => u64::from(f32::NAN.to_bits()),
        ElemType::BF16 => 0x7fc0,
        ElemType::F16 => 0x7e00,
        ElemType::F8E4M3FN | ElemType::F8E5M2 => 0x7f,
        ElemType::F8E4M3FNUZ | ElemType::F8E5M2FNUZ | ElemType::F8E4M3B11FNUZ => 0x80,
        _ => u64::MAX,
    }
}

/// The number that the bits of a float of any format are; NaN for a type that is no float.
pub fn decode(dtype: ElemType, bits: u64) -> f64 {
    match dtype {
        ElemType::F64 => return f64::from_bits(bits),
        ElemType::F32 => return f64::from(f32::from_bits(bits as u32)),
        ElemType::F8E8M0 if bits & 0xff == 0xff => return f64::NAN,
        ElemType::F8E8M0 => return power_of_two((bits & 0xff) as i32 - 127),
        _ => {}
    }
    let Some(format) = format(dtype) else { return f64::NAN };
    let sign = 1u64 << (format.exponent + format.fraction);
    let size = bits & (sign - 1);
    let minus = bits & sign != 0;
    let is_nan = match format.special {
        Special::NanAtEnd => size == sign - 1,
        Special::NanAtMinusZero => minus && size == 0,
        Special::Ieee | Special::None => false,
    };
    if is_nan {
        return f64::NAN;
    }
    let exponent = (size >> format.fraction) as i32;
    let fraction = size & ((1 << format.fraction) - 1);
    let number = if format.special == Special::Ieee && exponent == (1 << format.exponent) - 1 {
        if fraction == 0 { f64::INFINITY } else { f64::NAN }
    } else {
        let hidden = if exponent == 0 { 0 } else { 1 << format.fraction };
        (fraction | hidden) as f64 * power_of_two(exponent.max(1) - format.bias - format.fraction as i32)
    };
    if minus { -number } else { number }
}

/// A power of two, from 2^-1074 to 2^1023.
pub fn power_of_two(exponent: i32) -> f64 {
    match exponent {
        ..-1074 => 0.0,
        -1074..-1022 => f64::from_bits(1 << (exponent + 1074)),
        -1022..=1023 => f64::from_bits(((exponent + 1023) as u64) << 52),
        _ => f64::INFINITY,
    }
}

/// The bits of a number in a format. Eight bits and fewer saturate, as the hardware's conversions do; wider formats
/// become infinite. Zero for a type that is no float.
pub fn encode(dtype: ElemType, number: f64, rounding: Rounding) -> u64 {
    match dtype {
        ElemType::F64 => return number.to_bits(),
        ElemType::F8E8M0 => return scale(number),
        _ => {}
    }
    let Some(format) = format(dtype) else { return 0 };
    if number.is_nan() {
        return nan(dtype);
    }
    let sign = 1u64 << (format.exponent + format.fraction);
    let minus = if number.is_sign_negative() { sign } else { 0 };
    let size = match magnitude(&format, number.abs(), rounding) {
        size if size <= format.most => size,
        _ if dtype.bits() <= 8 => format.most,
        _ if rounding == Rounding::Zero && number.is_finite() => format.most,
        _ => format.most + 1,
    };
    if size == 0 && format.special == Special::NanAtMinusZero { 0 } else { size | minus }
}

/// Exponent and fraction of a number that is not negative, past the largest one where it is.
fn magnitude(format: &Format, number: f64, rounding: Rounding) -> u64 {
    if number.is_infinite() {
        return u64::MAX;
    }
    if number == 0.0 {
        return 0;
    }
    let bits = number.to_bits();
    let field = (bits >> 52) as i32;
    let (mut significand, mut exponent) = (bits & ((1 << 52) - 1), field - 1023);
    if field == 0 {
        let lead = significand.leading_zeros() as i32 - 11;
        significand <<= lead;
        exponent = -1022 - lead;
    } else {
        significand |= 1 << 52;
    }
    let least = 1 - format.bias;
    let shift = 52 - format.fraction + (least - exponent).max(0) as u32;
    let (kept, rest, half) = match shift {
        0 => (significand, 0, 1),
        1..=63 => (significand >> shift, significand & ((1 << shift) - 1), 1 << (shift - 1)),
        _ => (0, 1, 2),
    };
    let up = rounding == Rounding::Nearest && (rest > half || rest == half && kept & 1 == 1);
    (((exponent.max(least) - least) as u64) << format.fraction).saturating_add(kept + u64::from(up))
}

/// The bits of the power of two next to a number, towards zero.
fn scale(number: f64) -> u64 {
    if number.is_nan() || number < 0.0 {
        return 0xff;
    }
    let exponent = ((number.to_bits() >> 52) as i64) - 1023;
    (exponent + 127).clamp(0, 254) as u64
}

/// A half as a float.
#[inline]
pub fn from_f16(half: u16) -> f32 {
    let size = u32::from(half & 0x7fff) << 13;
    // The exponent is moved by a multiplication, which also makes subnormal halves normal.
    let number = f32::from_bits(size) * f32::from_bits((254 - 15) << 23);
    let special = if half & 0x7c00 == 0x7c00 { 0x7f80_0000 } else { 0 };
    f32::from_bits(number.to_bits() | special | u32::from(half & 0x8000) << 16)
}

/// A float as the nearest half.
#[inline]
pub fn to_f16(number: f32) -> u16 {
    let bits = number.to_bits();
    let (sign, size) = (bits >> 16 & 0x8000, bits & 0x7fff_ffff);
    // In one place: an addition that leaves the bits of a subnormal half at the bottom, rounded.
    let small = (f32::from_bits(size) + f32::from_bits((127 - 15 + 23 - 10 + 1) << 23)).to_bits() & 0x3fff_ffff;
    let small = small.wrapping_sub(((127 - 15 + 23 - 10 + 1) << 23) & 0x3fff_ffff);
    let normal =
        size.wrapping_add((15u32.wrapping_sub(127) << 23).wrapping_add(0xfff)).wrapping_add(size >> 13 & 1) >> 13;
    let large = if size > 0x7f80_0000 { 0x7e00 } else { 0x7c00 };
    let half = if size >= (127 + 16) << 23 {
        large
    } else if size < (127 - 14) << 23 {
        small
    } else {
        normal
    };
    (half | sign) as u16
}

/// A bfloat16 as a float.
#[inline]
pub fn from_bf16(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// A float as the nearest bfloat16.
#[inline]
pub fn to_bf16(number: f32) -> u16 {
    let bits = number.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    let nan = bits & 0x7fff_ffff > 0x7f80_0000;
    (if nan { 0x7fc0 | bits >> 16 & 0x8000 } else { rounded }) as u16
}

/// What an integer becomes in a wider float before it is rounded to a narrow one: the nearest number towards zero, its
/// last bit set where something was lost, so that the second rounding comes out as a single one would.
pub fn round_to_odd(value: i128) -> f64 {
    let size = value.unsigned_abs();
    let extra = 64u32.saturating_sub(size.leading_zeros().saturating_sub(64)).saturating_sub(53);
    let lost = size & ((1 << extra) - 1) != 0;
    let number = ((size >> extra | u128::from(lost)) << extra) as f64;
    if value < 0 { -number } else { number }
}
