//! Constants: numbers, truth values, `dense<…>` with one element, all of them, or their bytes in hexadecimal.

use super::evaluator::{OpSite, RuntimeValue};
use super::tensor::{Sizes, TensorValue, count};
use super::tile::slice;
use super::trap::Trap;
use crate::array::ElemType;
use crate::float_format::{Rounding, encode};

/// The value of `arith.constant`.
pub(crate) fn read(site: &OpSite<'_>) -> Result<RuntimeValue, Trap> {
    let ty = site.result(0)?;
    let text = site.text("value").ok_or_else(|| site.trap("has no value"))?;
    let whole = tensor(text, ty.dtype, &ty.tile.whole).ok_or_else(|| site.trap("has a value that is not followed"))?;
    Ok(RuntimeValue::Tensor(if whole.is_splat() {
        whole.with_shape(ty.shape().clone())
    } else {
        slice(&whole, &ty.tile)
    }))
}

fn tensor(text: &str, dtype: ElemType, shape: &Sizes) -> Option<TensorValue> {
    let Some(inner) = text.strip_prefix("dense<") else {
        return Some(TensorValue::splat(dtype, shape.clone(), element(number(text), dtype)?));
    };
    let inner = inner.get(..inner.find('>')?)?.trim();
    if let Some(hex) = inner.strip_prefix("\"0x") {
        return bytes(hex.strip_suffix('"')?, dtype, shape);
    }
    if !inner.starts_with('[') {
        return Some(TensorValue::splat(dtype, shape.clone(), element(inner, dtype)?));
    }
    let words = inner.split([',', '[', ']']).map(str::trim).filter(|word| !word.is_empty());
    let bits: Vec<u64> = words.map(|word| element(word, dtype)).collect::<Option<_>>()?;
    (bits.len() == count(shape)).then(|| TensorValue::from_bits(dtype, shape.clone(), bits.into_iter()))
}

/// A literal without the type behind it.
fn number(text: &str) -> &str {
    text.split(':').next().unwrap_or(text).trim()
}

/// The bits of an element.
fn element(text: &str, dtype: ElemType) -> Option<u64> {
    match text {
        "true" => return Some(1),
        "false" => return Some(0),
        _ => {}
    }
    let (minus, size) = match text.strip_prefix('-') {
        Some(size) => (true, size),
        None => (false, text),
    };
    // Of a float, hexadecimal digits are its bits.
    if let Some(hex) = size.strip_prefix("0x") {
        let bits = u64::from_str_radix(hex, 16).ok()?;
        return Some(if minus { bits.wrapping_neg() } else { bits });
    }
    if dtype.is_int() {
        let value: i128 = text.parse().ok()?;
        let bits = value as u64;
        return Some(if dtype == ElemType::I1 { bits & 1 } else { bits });
    }
    // Straight to `f32`: twice rounded may be wrong in the last place.
    if dtype == ElemType::F32 {
        return Some(u64::from(text.parse::<f32>().ok()?.to_bits()));
    }
    Some(encode(dtype, text.parse().ok()?, Rounding::Nearest))
}

/// Elements from their bytes, little-endian; of truth values eight to a byte.
fn bytes(hex: &str, dtype: ElemType, shape: &Sizes) -> Option<TensorValue> {
    let digit = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
    let bytes: Vec<u8> = (0..hex.len() / 2).map(|at| digit(at * 2)).collect::<Option<_>>()?;
    let len = count(shape);
    if dtype == ElemType::I1 {
        let bit = |at: usize| Some(u64::from(bytes.get(at / 8)? >> (at % 8) & 1));
        let bits: Vec<u64> = (0..len).map(bit).collect::<Option<_>>()?;
        return Some(TensorValue::from_bits(dtype, shape.clone(), bits.into_iter()));
    }
    let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    let bits: Vec<u64> = bytes.chunks(dtype.bytes()).map(word).collect();
    match bits.len() {
        1 => Some(TensorValue::splat(dtype, shape.clone(), *bits.first()?)),
        all if all == len => Some(TensorValue::from_bits(dtype, shape.clone(), bits.into_iter())),
        _ => None,
    }
}
