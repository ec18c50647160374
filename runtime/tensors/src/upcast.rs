//! Microscaling formats: narrow floats, two to a byte where they have four bits, times a scale for each run along K.

use super::cast::convert;
use super::evaluator::{Evaluator, OpSite};
use super::float_ops::{float2, floats};
use super::tensor::{TensorValue, Word, count, each, strides};
use super::trap::Trap;
use crate::array::ElemType;
use crate::float_format::Rounding;
use crate::float_format::decode;

/// What the elements of an operand are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ElementEncoding {
    /// Two of four bits in a byte, the lower half first.
    E2M1,
    /// Floats of this type.
    Float(ElemType),
}

impl ElementEncoding {
    /// By Triton's name.
    pub fn named(text: &str) -> Option<ElementEncoding> {
        let text = text.split(':').next().unwrap_or(text).trim();
        Some(match text {
            "e2m1" => ElementEncoding::E2M1,
            "e4m3" => ElementEncoding::Float(ElemType::F8E4M3FN),
            "e5m2" => ElementEncoding::Float(ElemType::F8E5M2),
            "bf16" => ElementEncoding::Float(ElemType::BF16),
            "fp16" => ElementEncoding::Float(ElemType::F16),
            _ => return None,
        })
    }
}

/// Which operand of a product it is: K is the last dimension of the left one, the one before of the right one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandSide {
    /// `[M, K]`, scales `[M, K / run]`.
    Left,
    /// `[K, N]`, scales `[N, K / run]`.
    Right,
}

/// Reads a conversion of packed or scaled floats.
pub fn compile(site: &OpSite<'_>) -> Result<Option<Evaluator>, Trap> {
    let scaled = match site.name() {
        "ttg.fp4_to_fp" => false,
        "amdg.scaled_upcast_fp4" | "amdg.scaled_upcast_fp8" => true,
        _ => return Ok(None),
    };
    let ty = site.result(0)?;
    if scaled {
        let axis = if site.name().ends_with("fp4") { Some(site.axis(ty.shape().len())?) } else { None };
        return Ok(Some(Evaluator::two(move |a, scale| {
            let wide = match axis {
                Some(axis) => unpack(a, axis),
                None => convert(a, ElemType::F32, Rounding::Nearest),
            };
            Ok(scale_product(&wide, scale, ty.dtype).with_shape(ty.shape().clone()))
        })));
    }
    let axis = site.axis(ty.shape().len())?;
    Ok(Some(Evaluator::one(move |a| {
        let wide = unpack(a, axis);
        Ok(convert(&wide, ty.dtype, Rounding::Nearest).with_shape(ty.shape().clone()))
    })))
}

/// Floats times a scale each, rounded once; scales that are integers are exponents.
fn scale_product(a: &TensorValue, scale: &TensorValue, dtype: ElemType) -> TensorValue {
    let scale = if scale.dtype().is_int() { scale.with_dtype(ElemType::F8E8M0) } else { scale.clone() };
    let product = float2(
        &convert(a, ElemType::F64, Rounding::Nearest),
        &convert(&scale, ElemType::F64, Rounding::Nearest),
        |a, b| a * b,
        |a, b| a * b,
    );
    convert(&product, dtype, Rounding::Nearest)
}

/// Bytes as two floats each, side by side along an axis.
fn unpack(a: &TensorValue, axis: usize) -> TensorValue {
    let table: Vec<u64> = (0..16).map(|bits| u64::from((decode(ElemType::F4E2M1, bits) as f32).to_bits())).collect();
    let shape: Vec<u64> = a.shape().iter().enumerate().map(|(dim, n)| if dim == axis { n * 2 } else { *n }).collect();
    let inner = strides(a.shape()).get(axis).copied().unwrap_or(1) as usize;
    let bits = (0..count(&shape)).map(|at| {
        let (row, column) = (at / inner, at % inner);
        let byte = a.bits(row / 2 * inner + column);
        let half = if row % 2 == 0 { byte & 15 } else { byte >> 4 & 15 };
        table.get(half as usize).copied().unwrap_or(0)
    });
    TensorValue::from_bits(ElemType::F32, shape.into(), bits)
}

/// An operand as `f32`, its scales multiplied in. Scales of eight bits are exponents, unless they are floats. Fails
/// where the scales do not fit the operand.
pub fn upcast(
    a: &TensorValue,
    kind: ElementEncoding,
    scale: Option<&TensorValue>,
    side: OperandSide,
    packed_k: bool,
) -> Result<TensorValue, Trap> {
    let rank = a.shape().len();
    let miss = || Trap::not_followed("an operand and its scales do not fit");
    let (Some(last), Some(before)) = (rank.checked_sub(1), rank.checked_sub(2)) else { return Err(miss()) };
    let (k, other) = if side == OperandSide::Left { (last, before) } else { (before, last) };
    let wide = match kind {
        ElementEncoding::E2M1 => unpack(a, if packed_k { k } else { other }),
        ElementEncoding::Float(dtype) if dtype.bits() == a.dtype().bits() => {
            convert(&a.with_dtype(dtype), ElemType::F32, Rounding::Nearest)
        }
        ElementEncoding::Float(_) => return Err(miss()),
    };
    let Some(scale) = scale else { return Ok(wide) };
    let (rows, depth) = (wide.shape()[other], wide.shape()[k]);
    let [.., own, runs] = scale.shape()[..] else { return Err(miss()) };
    let run = depth.checked_div(runs).filter(|run| *run > 0 && own == rows && run * runs == depth).ok_or_else(miss)?;
    let exponents = if scale.dtype().is_int() { ElemType::F8E8M0 } else { scale.dtype() };
    let scales: Vec<f32> = each!(scale.dense().data(), words => {
        words.iter().map(|word| decode(exponents, word.to_u64()) as f32).collect()
    });
    let numbers = floats(&wide.dense());
    let (rows, depth, run) = (rows as usize, depth as usize, run as usize);
    let scaled = numbers.iter().enumerate().map(|(at, number)| {
        let (batch, within) = (at / (rows * depth), at % (rows * depth));
        let (row, k) = match side {
            OperandSide::Left => (within / depth, within % depth),
            OperandSide::Right => (within % rows, within / rows),
        };
        let scale = scales.get((batch * rows + row) * (depth / run) + k / run);
        (number * scale.copied().unwrap_or(1.0)).to_bits()
    });
    Ok(TensorValue::of(ElemType::F32, wide.shape().clone(), scaled.collect::<Vec<u32>>()))
}
