//! Products of matrices.
//!
//! Floats are multiplied exactly and added in `f32`, in the order of K; `f64` and integers in their own type.
//! Deviations: tensor cores add several products at once and cut the sums' last bits off; an accumulator of 16 bits is
//! rounded once, at the end; `tf32` drops the bits that it does not have, its variants of several products are `f32`.

use super::elementwise::{map, words};
use super::evaluator::{Evaluator, OpSite, RuntimeValue, arg};
use super::float_ops::{doubles, floats, of_doubles, of_floats};
use super::tensor::{Sizes, TensorValue, Word, each, extend};
use super::trap::Trap;
use super::upcast;
use crate::array::ElemType;
use crate::float_format::Rounding;

/// How floats of 32 bits enter a product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Precision {
    /// As `tf32`: ten bits of fraction. Products of operands in memory are made so whatever is asked for.
    Tf32,
    /// As they are.
    Ieee,
}

impl Precision {
    /// By the name or the number of `inputPrecision` of `tt.dot`; MLIR leaves out `ieee`, which is the default.
    pub fn named(text: Option<&str>) -> Precision {
        match text.map(|text| text.split(':').next().unwrap_or(text).trim()) {
            Some("tf32" | "0") => Precision::Tf32,
            None | Some(_) => Precision::Ieee,
        }
    }
}

/// Reads a product.
pub fn compile(site: &OpSite<'_>) -> Result<Option<Evaluator>, Trap> {
    let name = site.name();
    if !matches!(name, "tt.dot" | "tt.dot_scaled") {
        return Ok(None);
    }
    let (a, b, d) = (site.operand(0)?, site.operand(1)?, site.result(0)?);
    let rank = d.shape().len();
    if rank < 2 {
        return Err(site.trap("of vectors is not followed"));
    }
    let same = |left: (&super::tile::TileType, usize), right: (&super::tile::TileType, usize)| {
        left.0.tile.covers(left.1) && right.0.tile.covers(right.1)
            || left.0.tile.offset.get(left.1) == right.0.tile.offset.get(right.1)
                && left.0.shape().get(left.1) == right.0.shape().get(right.1)
    };
    let fits = a.tile.covers(rank - 1)
        && b.tile.covers(rank - 2)
        && same((&a, rank - 2), (&d, rank - 2))
        && same((&b, rank - 1), (&d, rank - 1));
    if !fits {
        return Ok(Some(Evaluator::exchange()));
    }
    if name == "tt.dot" {
        let precision = Precision::named(site.text("inputPrecision"));
        return Ok(Some(Evaluator::new(move |operands, _| {
            let (a, b, c) = (arg(operands, 0)?, arg(operands, 1)?, arg(operands, 2)?);
            Ok(vec![RuntimeValue::Tensor(dot(a, b, Some(c), d.dtype, precision)?)])
        })));
    }
    let kind = |name| site.word(name).or_else(|| site.text(name)).and_then(upcast::ElementEncoding::named);
    let (Some(a_kind), Some(b_kind)) = (kind("a_elem_type"), kind("b_elem_type")) else {
        return Err(site.trap("of these elements is not followed"));
    };
    let packed = |name| site.int(name).is_none_or(|packed| packed != 0);
    let (a_packed, b_packed) = (packed("lhs_k_pack"), packed("rhs_k_pack"));
    let (a_scale, b_scale) = (site.group("a_scale"), site.group("b_scale"));
    Ok(Some(Evaluator::new(move |operands, _| {
        let scale = |at: Option<usize>| at.map(|at| arg(operands, at)).transpose();
        let a = upcast::upcast(arg(operands, 0)?, a_kind, scale(a_scale)?, upcast::OperandSide::Left, a_packed)?;
        let b = upcast::upcast(arg(operands, 1)?, b_kind, scale(b_scale)?, upcast::OperandSide::Right, b_packed)?;
        Ok(vec![RuntimeValue::Tensor(dot(&a, &b, Some(arg(operands, 2)?), d.dtype, Precision::Ieee)?)])
    })))
}

/// The sizes of a product of `[…, M, K]` and `[…, K, N]`.
struct Extents {
    batch: usize,
    m: usize,
    n: usize,
    k: usize,
    shape: Sizes,
}

fn extents(a: &TensorValue, b: &TensorValue) -> Option<Extents> {
    let (left, right) = (a.shape(), b.shape());
    let [batch @ .., m, k] = &left[..] else { return None };
    let [other @ .., same, n] = &right[..] else { return None };
    if batch != other || k != same {
        return None;
    }
    let shape = batch.iter().copied().chain([*m, *n]).collect();
    let batch = batch.iter().product::<u64>() as usize;
    Some(Extents { batch, m: *m as usize, n: *n as usize, k: *k as usize, shape })
}

/// `a · b`, plus `c` where there is one, as `dtype`. Fails where the sizes do not go together.
pub fn dot(
    a: &TensorValue,
    b: &TensorValue,
    c: Option<&TensorValue>,
    dtype: ElemType,
    precision: Precision,
) -> Result<TensorValue, Trap> {
    let of =
        extents(a, b).ok_or_else(|| Trap::not_followed("a product of matrices that do not fit is not followed"))?;
    if c.is_some_and(|c| c.len() != of.batch * of.m * of.n) {
        return Err(Trap::not_followed("an accumulator of another size is not followed"));
    }
    let (a, b) = (a.dense(), b.dense());
    let c = c.map(TensorValue::dense);
    if a.dtype().is_int() {
        return Ok(integers(&of, &a, &b, c.as_ref(), dtype));
    }
    if a.dtype() == ElemType::F64 {
        let start = c.map_or_else(Vec::new, |c| doubles(&c));
        let sum = product(&of, &doubles(&a), &doubles(&b), start);
        return Ok(of_doubles(dtype, of.shape, &sum, Rounding::Nearest));
    }
    let widen = |tensor: &TensorValue| match (tensor.dtype(), precision) {
        (ElemType::F32, Precision::Tf32) => map(words::<u32>(tensor), |bits| f32::from_bits(bits & !0x1fff)),
        _ => floats(tensor),
    };
    let start = c.map_or_else(Vec::new, |c| floats(&c));
    let sum = product(&of, &widen(&a), &widen(&b), start);
    Ok(of_floats(dtype, of.shape, &sum))
}

fn integers(of: &Extents, a: &TensorValue, b: &TensorValue, c: Option<&TensorValue>, dtype: ElemType) -> TensorValue {
    let widen = |tensor: &TensorValue| -> Vec<WrappingI32> {
        each!(tensor.data(), words => {
            map(words, |word| WrappingI32(extend(tensor.dtype(), Word::to_u64(word)) as i32))
        })
    };
    let sum = product(of, &widen(a), &widen(b), c.map_or_else(Vec::new, widen));
    TensorValue::from_bits(dtype, of.shape.clone(), sum.iter().map(|sum| i64::from(sum.0) as u64))
}

/// An integer that wraps.
#[derive(Clone, Copy, Default)]
struct WrappingI32(i32);

impl std::ops::Mul for WrappingI32 {
    type Output = WrappingI32;

    #[inline]
    fn mul(self, other: WrappingI32) -> WrappingI32 {
        WrappingI32(self.0.wrapping_mul(other.0))
    }
}

impl std::ops::Add for WrappingI32 {
    type Output = WrappingI32;

    #[inline]
    fn add(self, other: WrappingI32) -> WrappingI32 {
        WrappingI32(self.0.wrapping_add(other.0))
    }
}

/// Adds the products of all batches to `sum`, which starts at zero where it is empty. Four rows of `b` at a time go
/// along a row of the sum, so that the compiler can take several columns at once.
fn product<T>(of: &Extents, a: &[T], b: &[T], mut sum: Vec<T>) -> Vec<T>
where
    T: Copy + Default + std::ops::Mul<Output = T> + std::ops::Add<Output = T>,
{
    let (m, n, k) = (of.m, of.n, of.k);
    sum.resize(of.batch * m * n, T::default());
    if m * n * k == 0 {
        return sum;
    }
    let batches = a.chunks_exact(m * k).zip(b.chunks_exact(k * n)).zip(sum.chunks_exact_mut(m * n));
    for ((a, b), sum) in batches {
        for (a, sum) in a.chunks_exact(k).zip(sum.chunks_exact_mut(n)) {
            let (quads, rest) = a.as_chunks::<4>();
            let mut rows = b.chunks_exact(n);
            for quad in quads {
                if let (Some(b0), Some(b1), Some(b2), Some(b3)) = (rows.next(), rows.next(), rows.next(), rows.next()) {
                    add_four_rows(sum, quad, [b0, b1, b2, b3]);
                }
            }
            for (a, row) in rest.iter().zip(rows) {
                for (sum, b) in sum.iter_mut().zip(row) {
                    *sum = *sum + *a * *b;
                }
            }
        }
    }
    sum
}

#[inline]
fn add_four_rows<T>(sum: &mut [T], a: &[T; 4], b: [&[T]; 4])
where
    T: Copy + std::ops::Mul<Output = T> + std::ops::Add<Output = T>,
{
    let [b0, b1, b2, b3] = b;
    for ((((sum, b0), b1), b2), b3) in sum.iter_mut().zip(b0).zip(b1).zip(b2).zip(b3) {
        *sum = *sum + a[0] * *b0 + a[1] * *b1 + a[2] * *b2 + a[3] * *b3;
    }
}
