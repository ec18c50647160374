//! Products of matrices in registers.

use std::rc::Rc;

use super::shapes::{extent_of, opaque, tensor};
use crate::operand;
use crate::values::arg;
use dialects::Tt;
use python::emit::Op;
use python::interp::{Eval, Interp};
use python::library::{Bound, NOTHING, Part, Row};
use python::target::Target;
use python::value::{DType, Tensor, Value};

/// The last two in facebookexperimental's release alone.
const DOT: &str = "input, other, acc=None, input_precision=None, allow_tf32=None, max_num_imprecise_acc=None, out_dtype=None, \
     attrs=None, two_ctas=False";
const SCALED: &str = "lhs, lhs_scale, lhs_format, rhs, rhs_scale, rhs_format, acc=None, fast_math=False, \
     lhs_k_pack=True, rhs_k_pack=True, out_dtype=None";

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("gl.dot_fma", "a, b, acc", 4, |interp, bound| {
            let (a, b, acc) = (tensor(interp, bound, 0)?, tensor(interp, bound, 1)?, tensor(interp, bound, 2)?);
            Ok(Value::Tensor(multiplied(interp, &a, &b, &acc, "ieee")))
        }),
        Row::new("tl.dot", DOT, 4, dot),
        Row::new("tl.dot_scaled", SCALED, 4, scaled),
    ],
    ..NOTHING
};

/// Emits a product that is added to `acc`, whose type and shape the result has.
pub fn multiplied<'a>(
    interp: &mut Interp<'a>,
    a: &Tensor<'a>,
    b: &Tensor<'a>,
    acc: &Tensor<'a>,
    precision: &str,
) -> Tensor<'a> {
    let [left, right, sum] = [a, b, acc].map(|part| interp.ssa(part));
    let op =
        Op::new(Tt::Dot).operand("a", left).operand("b", right).operand("c", sum).attr("inputPrecision", precision);
    interp.register_op(op, "d", acc.dtype, &extent_of(acc))
}

/// Rows of the first and columns of the second, behind the batch where there is one.
fn product(a: &[i64], b: &[i64]) -> Option<Vec<i64>> {
    match (a, b) {
        ([m, k], [l, n]) if k == l => Some(vec![*m, *n]),
        ([batch, m, k], [other, l, n]) if k == l && batch == other => Some(vec![*batch, *m, *n]),
        _ => None,
    }
}

fn dot<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    if operand::given(bound, "two_ctas").is_some_and(|value| interp.truth(value) != Some(false)) {
        return interp.unknown("a product of two CTAs is not followed");
    }
    let (a, b) = (tensor(interp, bound, 0)?, tensor(interp, bound, 1)?);
    let Some(shape) = product(&a.shape, &b.shape) else {
        return interp.raise(format!("a product of {:?} and {:?} is no product of matrices", a.shape, b.shape));
    };
    let acc = match operand::given(bound, "acc").cloned() {
        Some(acc) => operand::tensor(interp, &acc, "acc")?,
        None => {
            let dtype = match operand::given(bound, "out_dtype") {
                Some(dtype) => operand::dtype(interp, dtype, "out_dtype")?,
                None => DType::Fp32,
            };
            let dtype = match a.dtype {
                DType::Fp64 => DType::Fp64,
                DType::Fp32 | DType::Bf16 => DType::Fp32,
                _ if a.dtype.is_int() => DType::Int32,
                _ => dtype,
            };
            interp.filled(&Value::Int(0), dtype, &(Rc::from(shape.as_slice()), Rc::new(Value::None)))?
        }
    };
    if *acc.shape != *shape {
        return interp.raise(format!("the accumulator has shape {:?}, and the product {shape:?}", acc.shape));
    }
    let exact = matches!(operand::given(bound, "allow_tf32"), Some(Value::Bool(false)));
    let precision = match operand::given(bound, "input_precision") {
        Some(Value::Str(text)) => text.to_lowercase(),
        _ if exact || !matches!(interp.target, Target::Cuda(_)) => "ieee".to_owned(),
        _ => "tf32".to_owned(),
    };
    Ok(Value::Tensor(multiplied(interp, &a, &b, &acc, &precision)))
}

/// A product of small floats with scales by block, whose shape is that of the accumulator; elements of four bits lie
/// two in a byte.
fn scaled<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Eval<'a> {
    let (a, b) = (tensor(interp, bound, 0)?, tensor(interp, bound, 3)?);
    if let Some(acc) = operand::given(bound, "acc").cloned() {
        let acc = operand::tensor(interp, &acc, "acc")?;
        return Ok(opaque(interp, acc.dtype, &acc.shape, (*acc.layout).clone()));
    }
    let small = |at: usize| matches!(arg(bound, at), Value::Str(text) if &*text == "e2m1");
    let outer = |interp: &Interp<'a>, name: &str, at: usize| {
        operand::flag(interp, bound.get(name), true, name).map(|packed| if small(at) && !packed { 2 } else { 1 })
    };
    let (tall, wide) = (outer(interp, "lhs_k_pack", 2)?, outer(interp, "rhs_k_pack", 5)?);
    let (Some((rows, batch)), Some(columns)) =
        (a.shape.split_last().and_then(|(_, rest)| rest.split_last()), b.shape.last())
    else {
        return interp.raise("a product of scalars is no product of matrices");
    };
    let shape: Vec<i64> = batch.iter().copied().chain([rows * tall, columns * wide]).collect();
    Ok(opaque(interp, DType::Fp32, &shape, Value::None))
}
