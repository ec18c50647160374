//! Element by element: loops over typed buffers, without a decision inside.

use super::float_format::{decode, encode, from_bf16, from_f16, to_bf16, to_f16};
use super::tensor::{Sizes, Tensor, Word, each};
use super::{Rounding, Trap};
use crate::array::ElemType;

/// One result an element.
pub fn map<A: Copy, R>(a: &[A], f: impl Fn(A) -> R) -> Vec<R> {
    a.iter().map(|a| f(*a)).collect()
}

/// One result a pair; a buffer of one element stands for as many as the other has.
pub fn zip<A: Copy, B: Copy, R>(a: &[A], b: &[B], f: impl Fn(A, B) -> R) -> Vec<R> {
    match (a, b) {
        ([a], b) => b.iter().map(|b| f(*a, *b)).collect(),
        (a, [b]) => a.iter().map(|a| f(*a, *b)).collect(),
        (a, b) => a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect(),
    }
}

/// One result of three.
pub fn zip3<A: Copy, B: Copy, C: Copy, R>(a: &[A], b: &[B], c: &[C], f: impl Fn(A, B, C) -> R) -> Vec<R> {
    match (a, b, c) {
        ([a], b, c) => zip(b, c, |b, c| f(*a, b, c)),
        (a, [b], c) => zip(a, c, |a, c| f(a, *b, c)),
        (a, b, [c]) => zip(a, b, |a, b| f(a, b, *c)),
        (a, b, c) => a.iter().zip(b).zip(c).map(|((a, b), c)| f(*a, *b, *c)).collect(),
    }
}

/// The shape of a result: a scalar goes with any tensor.
pub fn common(tensors: &[&Tensor]) -> Sizes {
    let longest = tensors.iter().max_by_key(|tensor| tensor.shape().len());
    longest.map_or_else(|| Sizes::from([]), |tensor| tensor.shape().clone())
}

/// The words of a tensor; none if they are of another width.
pub fn words<W: Word>(tensor: &Tensor) -> &[W] {
    tensor.words().unwrap_or(&[])
}

/// Floats of up to 32 bits as `f32`.
pub fn floats(tensor: &Tensor) -> Vec<f32> {
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
pub fn doubles(tensor: &Tensor) -> Vec<f64> {
    match tensor.dtype() {
        ElemType::F64 => map(words::<u64>(tensor), f64::from_bits),
        ElemType::F32 => map(words(tensor), |bits| f64::from(f32::from_bits(bits))),
        dtype => each!(tensor.data(), words => map(words, |bits| decode(dtype, bits.to_u64()))),
    }
}

/// `f32`s as floats of a type.
pub fn of_floats(dtype: ElemType, shape: Sizes, numbers: &[f32]) -> Tensor {
    match dtype {
        ElemType::F32 => Tensor::of(dtype, shape, map(numbers, f32::to_bits)),
        ElemType::F16 => Tensor::of(dtype, shape, map(numbers, to_f16)),
        ElemType::BF16 => Tensor::of(dtype, shape, map(numbers, to_bf16)),
        ElemType::F64 => Tensor::of(dtype, shape, map(numbers, |number| f64::from(number).to_bits())),
        _ => Tensor::of(dtype, shape, map(numbers, |number| encode(dtype, number.into(), Rounding::Nearest) as u8)),
    }
}

/// `f64`s as floats of a type.
pub fn of_doubles(dtype: ElemType, shape: Sizes, numbers: &[f64], rounding: Rounding) -> Tensor {
    match dtype {
        ElemType::F64 => Tensor::of(dtype, shape, map(numbers, f64::to_bits)),
        ElemType::F32 if rounding == Rounding::Nearest => {
            Tensor::of(dtype, shape, map(numbers, |number| (number as f32).to_bits()))
        }
        _ => Tensor::from_bits(dtype, shape, numbers.iter().map(|number| encode(dtype, *number, rounding))),
    }
}

/// A function of one float.
pub fn float1(a: &Tensor, narrow: impl Fn(f32) -> f32, wide: impl Fn(f64) -> f64) -> Tensor {
    let (dtype, shape) = (a.dtype(), a.shape().clone());
    match dtype {
        ElemType::F32 => Tensor::of(dtype, shape, map(words::<u32>(a), |a| narrow(f32::from_bits(a)).to_bits())),
        ElemType::F64 => Tensor::of(dtype, shape, map(words::<u64>(a), |a| wide(f64::from_bits(a)).to_bits())),
        ElemType::F16 => Tensor::of(dtype, shape, map(words(a), |a| to_f16(narrow(from_f16(a))))),
        ElemType::BF16 => Tensor::of(dtype, shape, map(words(a), |a| to_bf16(narrow(from_bf16(a))))),
        _ => of_floats(dtype, shape, &map(&floats(a), narrow)),
    }
}

/// A function of two floats.
pub fn float2(a: &Tensor, b: &Tensor, narrow: impl Fn(f32, f32) -> f32, wide: impl Fn(f64, f64) -> f64) -> Tensor {
    let (dtype, shape) = (a.dtype(), common(&[a, b]));
    match dtype {
        ElemType::F32 => {
            let f = |a, b| narrow(f32::from_bits(a), f32::from_bits(b)).to_bits();
            Tensor::of(dtype, shape, zip(words::<u32>(a), words::<u32>(b), f))
        }
        ElemType::F64 => {
            let f = |a, b| wide(f64::from_bits(a), f64::from_bits(b)).to_bits();
            Tensor::of(dtype, shape, zip(words::<u64>(a), words::<u64>(b), f))
        }
        ElemType::F16 => {
            let f = |a, b| to_f16(narrow(from_f16(a), from_f16(b)));
            Tensor::of(dtype, shape, zip(words(a), words(b), f))
        }
        ElemType::BF16 => {
            let f = |a, b| to_bf16(narrow(from_bf16(a), from_bf16(b)));
            Tensor::of(dtype, shape, zip(words(a), words(b), f))
        }
        _ => of_floats(dtype, shape, &zip(&floats(a), &floats(b), narrow)),
    }
}

/// A question about two floats; `f64` has every float of the other formats.
pub fn test2(a: &Tensor, b: &Tensor, narrow: impl Fn(f32, f32) -> bool, wide: impl Fn(f64, f64) -> bool) -> Tensor {
    let shape = common(&[a, b]);
    let bits = match a.dtype() {
        ElemType::F32 => {
            zip(words::<u32>(a), words::<u32>(b), |a, b| u8::from(narrow(f32::from_bits(a), f32::from_bits(b))))
        }
        ElemType::F64 => {
            zip(words::<u64>(a), words::<u64>(b), |a, b| u8::from(wide(f64::from_bits(a), f64::from_bits(b))))
        }
        _ => zip(&floats(a), &floats(b), |a, b| u8::from(narrow(a, b))),
    };
    Tensor::of(ElemType::I1, shape, bits)
}

/// One of two, by a truth value.
pub fn select(condition: &Tensor, a: &Tensor, b: &Tensor) -> Result<Tensor, Trap> {
    let shape = common(&[condition, a, b]);
    let Some(truths) = condition.words::<u8>() else {
        return Err(Trap::not_followed("a condition that is no truth value is not followed"));
    };
    if let [truth] = truths {
        let chosen = if *truth != 0 { a } else { b };
        return Ok(if chosen.shape().len() == shape.len() { chosen.clone() } else { chosen.with_shape(shape) });
    }
    Ok(each!(a.data(), left => {
        let right = words(b);
        Tensor::of(a.dtype(), shape, zip3(truths, left, right, |truth, a, b| if truth != 0 { a } else { b }))
    }))
}
