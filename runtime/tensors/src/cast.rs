//! Conversions between types.
//!
//! Deviations: a float that an integer type does not hold becomes its nearest number, NaN becomes 0, as on NVIDIA's
//! hardware; conversions to eight bits saturate. Missed: stochastic rounding (`rbits`).

use super::elementwise::{map, words};
use super::evaluator::{Evaluator, OpSite};
use super::float_ops::{doubles, floats, of_doubles, of_floats};
use super::tensor::{TensorValue, Word, each, extend, with_word};
use super::trap::Trap;
use crate::array::ElemType;
use crate::float_format::{Rounding, round_to_odd};

/// Reads a conversion.
pub(crate) fn compile(site: &OpSite<'_>) -> Result<Option<Evaluator>, Trap> {
    let name = site.name();
    let known = matches!(
        name,
        "arith.extsi"
            | "arith.extui"
            | "arith.trunci"
            | "arith.index_cast"
            | "arith.index_castui"
            | "arith.bitcast"
            | "arith.fptosi"
            | "arith.fptoui"
            | "arith.sitofp"
            | "arith.uitofp"
            | "arith.extf"
            | "arith.truncf"
            | "arith.convertf"
            | "tt.fp_to_fp"
            | "tt.bitcast"
            | "tt.int_to_ptr"
            | "tt.ptr_to_int"
    );
    if !known {
        return Ok(None);
    }
    let to = site.result(0)?.dtype;
    Ok(Some(match name {
        "arith.extsi" | "arith.index_cast" => Evaluator::one(move |a| Ok(extend_to(a, to))),
        "arith.extui" | "arith.trunci" | "arith.index_castui" => Evaluator::one(move |a| Ok(resize(a, to))),
        "tt.int_to_ptr" | "tt.ptr_to_int" => Evaluator::one(move |a| Ok(resize(a, to))),
        "arith.bitcast" | "tt.bitcast" => {
            if site.operand(0)?.dtype.bits() != to.bits() {
                return Err(site.trap("between widths is not followed"));
            }
            Evaluator::one(move |a| Ok(a.with_dtype(to)))
        }
        "arith.fptosi" => Evaluator::one(move |a| Ok(to_int(a, to, true))),
        "arith.fptoui" => Evaluator::one(move |a| Ok(to_int(a, to, false))),
        "arith.sitofp" => Evaluator::one(move |a| Ok(from_int(a, to, true))),
        "arith.uitofp" => Evaluator::one(move |a| Ok(from_int(a, to, false))),
        _ => {
            if site.group("rbits").is_some() {
                return Err(site.trap("with random bits is not followed"));
            }
            let rounding = rounding(site)?;
            Evaluator::one(move |a| Ok(convert(a, to, rounding)))
        }
    }))
}

fn rounding(site: &OpSite<'_>) -> Result<Rounding, Trap> {
    let text = site.text("rounding").or_else(|| site.text("roundingmode"));
    match text.map(|text| text.split(':').next().unwrap_or(text).trim().trim_matches('"')) {
        None | Some("rtne" | "to_nearest_even" | "1") => Ok(Rounding::Nearest),
        Some("rtz" | "toward_zero" | "0") => Ok(Rounding::Zero),
        Some(other) => Err(site.trap(&format!("with the rounding `{other}` is not followed"))),
    }
}

/// Sign extension; a truth value is 0 or -1.
fn extend_to(a: &TensorValue, to: ElemType) -> TensorValue {
    let from = a.dtype();
    let one = from == ElemType::I1;
    with_word!(to, W => {
        let words = each!(a.data(), words => map(words, |word| {
            let value = extend(from, word.to_u64());
            W::from_u64(if one { value.wrapping_neg() } else { value } as u64)
        }));
        TensorValue::of(to, a.shape().clone(), words)
    })
}

/// Zero extension and truncation.
fn resize(a: &TensorValue, to: ElemType) -> TensorValue {
    let mask = if to == ElemType::I1 { 1 } else { u64::MAX };
    with_word!(to, W => {
        let words = each!(a.data(), words => map(words, |word| W::from_u64(word.to_u64() & mask)));
        TensorValue::of(to, a.shape().clone(), words)
    })
}

/// A float to an integer, towards zero.
pub(crate) fn to_int(a: &TensorValue, to: ElemType, signed: bool) -> TensorValue {
    let shape = a.shape().clone();
    let numbers = doubles(a);
    macro_rules! saturate {
        ($signed:ty, $unsigned:ty) => {{
            let words = match signed {
                true => map(&numbers, |number| number as $signed as $unsigned),
                false => map(&numbers, |number| number as $unsigned),
            };
            TensorValue::of(to, shape, words)
        }};
    }
    match to {
        ElemType::I1 => TensorValue::of(to, shape, map(&numbers, |number| (number as i64 & 1) as u8)),
        ElemType::I8 => saturate!(i8, u8),
        ElemType::I16 => saturate!(i16, u16),
        ElemType::I32 => saturate!(i32, u32),
        _ => saturate!(i64, u64),
    }
}

/// An integer to a float, to the nearest.
pub(crate) fn from_int(a: &TensorValue, to: ElemType, signed: bool) -> TensorValue {
    let (from, shape) = (a.dtype(), a.shape().clone());
    let value = move |bits: u64| match (from, signed) {
        (ElemType::I1, true) => -((bits & 1) as i128),
        (_, true) => i128::from(extend(from, bits)),
        (_, false) => i128::from(bits),
    };
    if to == ElemType::F32 && from.bits() <= 32 {
        let numbers = each!(a.data(), words => map(words, |word| {
            let value = if signed && from != ElemType::I1 { extend(from, word.to_u64()) } else { word.to_u64() as i64 };
            (if signed && from == ElemType::I1 { -(value as f32) } else { value as f32 }).to_bits()
        }));
        return TensorValue::of(to, shape, numbers);
    }
    let numbers: Vec<f64> = match to {
        ElemType::F64 => each!(a.data(), words => map(words, |word| value(word.to_u64()) as f64)),
        _ => each!(a.data(), words => map(words, |word| round_to_odd(value(word.to_u64())))),
    };
    of_doubles(to, shape, &numbers, Rounding::Nearest)
}

/// A float to another format.
pub(crate) fn convert(a: &TensorValue, to: ElemType, rounding: Rounding) -> TensorValue {
    let shape = a.shape().clone();
    let (from, nearest) = (a.dtype(), rounding == Rounding::Nearest);
    if from == to {
        return a.clone();
    }
    match (from, to) {
        (ElemType::F32, ElemType::F16 | ElemType::BF16) if nearest => {
            let numbers = words::<u32>(a);
            if to == ElemType::F16 {
                TensorValue::of(to, shape, map(numbers, |bits| crate::float_format::to_f16(f32::from_bits(bits))))
            } else {
                TensorValue::of(to, shape, map(numbers, |bits| crate::float_format::to_bf16(f32::from_bits(bits))))
            }
        }
        (ElemType::F64, _) => of_doubles(to, shape, &doubles(a), rounding),
        // Wider formats have every number of these.
        (_, ElemType::F32 | ElemType::F64) => of_floats(to, shape, &floats(a)),
        (
            ElemType::F8E4M3FN | ElemType::F8E5M2 | ElemType::F8E4M3FNUZ | ElemType::F8E5M2FNUZ,
            ElemType::F16 | ElemType::BF16,
        ) => of_floats(to, shape, &floats(a)),
        _ => of_doubles(to, shape, &doubles(a), rounding),
    }
}
