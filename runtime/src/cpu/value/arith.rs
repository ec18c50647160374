//! `arith`: constants, integers, floats, comparisons.

use super::constant;
use super::elementwise::{float2, select, test2};
use super::evaluator::{Evaluator, OpSite, arg};
use super::float_format::power;
use super::integer::{BinaryIntOp, IntPredicate, add_carry, compare, int2};
use super::{Tensor, Trap, Value};
use crate::array::ElemType;

/// Reads an operation of `arith` that is no conversion.
pub fn compile(site: &OpSite<'_>) -> Result<Option<Evaluator>, Trap> {
    let Some(name) = site.name().strip_prefix("arith.") else { return Ok(None) };
    if let Some(op) = integer(name) {
        return Ok(Some(Evaluator::two(move |a, b| Ok(int2(op, a, b)))));
    }
    if let Some(compile) = float(name) {
        return Ok(Some(compile));
    }
    Ok(Some(match name {
        "constant" => Evaluator::constant(constant::read(site)?),
        "cmpi" => {
            let op = site.text("predicate").and_then(IntPredicate::named);
            let op = op.ok_or_else(|| site.miss("has no predicate"))?;
            Evaluator::two(move |a, b| Ok(compare(op, a, b)))
        }
        "cmpf" => {
            let test = site.text("predicate").and_then(predicate).ok_or_else(|| site.miss("has no predicate"))?;
            Evaluator::two(move |a, b| Ok(compare_floats(test, a, b)))
        }
        "select" => Evaluator::three(select),
        "addui_extended" => Evaluator::new(|operands, _| {
            let (sum, carry) = add_carry(arg(operands, 0)?, arg(operands, 1)?);
            Ok(vec![Value::Tensor(sum), Value::Tensor(carry)])
        }),
        "mulsi_extended" => wide(BinaryIntOp::MulHighS),
        "mului_extended" => wide(BinaryIntOp::MulHighU),
        "flush_denormals" => Evaluator::one(|a| Ok(super::elementwise::float1(a, flush, flush_wide))),
        _ => return Ok(None),
    }))
}

fn flush(a: f32) -> f32 {
    if a.abs() < f32::MIN_POSITIVE { a * 0.0 } else { a }
}

fn flush_wide(a: f64) -> f64 {
    if a.abs() < power(-1022) { a * 0.0 } else { a }
}

/// Both halves of a product.
fn wide(high: BinaryIntOp) -> Evaluator {
    Evaluator::new(move |operands, _| {
        let (a, b) = (arg(operands, 0)?, arg(operands, 1)?);
        Ok(vec![Value::Tensor(int2(BinaryIntOp::Mul, a, b)), Value::Tensor(int2(high, a, b))])
    })
}

fn integer(name: &str) -> Option<BinaryIntOp> {
    use BinaryIntOp::*;
    Some(match name {
        "addi" => Add,
        "subi" => Sub,
        "muli" => Mul,
        "divsi" => DivS,
        "divui" => DivU,
        "ceildivsi" => CeilDivS,
        "ceildivui" => CeilDivU,
        "floordivsi" => FloorDivS,
        "remsi" => RemS,
        "remui" => RemU,
        "andi" => And,
        "ori" => Or,
        "xori" => Xor,
        "shli" => Shl,
        "shrsi" => ShrS,
        "shrui" => ShrU,
        "maxsi" => MaxS,
        "maxui" => MaxU,
        "minsi" => MinS,
        "minui" => MinU,
        _ => return None,
    })
}

/// A function of floats, in both widths that arithmetic is done in.
macro_rules! both {
    ($f:expr) => {
        Evaluator::two(|a, b| Ok(float2(a, b, $f, $f)))
    };
}

fn float(name: &str) -> Option<Evaluator> {
    Some(match name {
        "addf" => both!(|a, b| a + b),
        "subf" => both!(|a, b| a - b),
        "mulf" => both!(|a, b| a * b),
        "divf" => both!(|a, b| a / b),
        "remf" => both!(|a, b| a % b),
        "maxnumf" => Evaluator::two(|a, b| Ok(maximum(a, b, false))),
        "minnumf" => Evaluator::two(|a, b| Ok(minimum(a, b, false))),
        "maximumf" => Evaluator::two(|a, b| Ok(maximum(a, b, true))),
        "minimumf" => Evaluator::two(|a, b| Ok(minimum(a, b, true))),
        "negf" => Evaluator::one(negate),
        _ => return None,
    })
}

/// The larger one; a positive zero is larger than a negative one. With `nan`, a NaN comes through, else a number does.
pub fn maximum(a: &Tensor, b: &Tensor, nan: bool) -> Tensor {
    macro_rules! max {
        () => {
            |a, b| {
                if a > b || (a == b && b.is_sign_negative()) {
                    a
                } else if a.is_nan() || b.is_nan() {
                    if a.is_nan() == nan { a } else { b }
                } else {
                    b
                }
            }
        };
    }
    // `a` and `b` NaN in turn: with `nan` the NaN is taken, without it the other one.
    float2(a, b, max!(), max!())
}

/// The smaller one, as [`maximum`].
pub fn minimum(a: &Tensor, b: &Tensor, nan: bool) -> Tensor {
    macro_rules! min {
        () => {
            |a, b| {
                if a < b || (a == b && a.is_sign_negative()) {
                    a
                } else if a.is_nan() || b.is_nan() {
                    if a.is_nan() == nan { a } else { b }
                } else {
                    b
                }
            }
        };
    }
    float2(a, b, min!(), min!())
}

/// The other sign, of NaN too.
pub fn negate(a: &Tensor) -> Result<Tensor, Trap> {
    let sign = match a.dtype() {
        ElemType::F8E8M0 => return Err(Trap::not_followed("the negation of an exponent is not followed")),
        dtype => 1u64 << (dtype.bits() - 1),
    };
    let bits = Tensor::splat(int_of(a.dtype()), [].into(), sign);
    Ok(int2(BinaryIntOp::Xor, &a.with_dtype(int_of(a.dtype())), &bits).with_dtype(a.dtype()))
}

/// The integer type of as many bits.
pub fn int_of(dtype: ElemType) -> ElemType {
    match dtype.bits() {
        1 => ElemType::I1,
        16 => ElemType::I16,
        32 => ElemType::I32,
        64 => ElemType::I64,
        _ => ElemType::I8,
    }
}

/// What a comparison of floats asks: whether less, equal, greater or unordered counts.
#[derive(Clone, Copy)]
struct FloatPredicate {
    less: bool,
    equal: bool,
    greater: bool,
    unordered: bool,
}

fn predicate(text: &str) -> Option<FloatPredicate> {
    const NAMES: [&str; 16] = [
        "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno",
        "true",
    ];
    let text = text.split(':').next().unwrap_or(text).trim();
    let name = match text.parse::<usize>() {
        Ok(at) => NAMES.get(at)?,
        Err(_) => NAMES.iter().find(|name| **name == text)?,
    };
    let test = |less, equal, greater, unordered| FloatPredicate { less, equal, greater, unordered };
    Some(match *name {
        "false" => test(false, false, false, false),
        "true" => test(true, true, true, true),
        "ord" => test(true, true, true, false),
        "uno" => test(false, false, false, true),
        name => {
            let (first, rest) = name.split_at(1);
            let (less, equal, greater) = match rest {
                "eq" => (false, true, false),
                "gt" => (false, false, true),
                "ge" => (false, true, true),
                "lt" => (true, false, false),
                "le" => (true, true, false),
                _ => (true, false, true),
            };
            test(less, equal, greater, first == "u")
        }
    })
}

fn compare_floats(test: FloatPredicate, a: &Tensor, b: &Tensor) -> Tensor {
    macro_rules! answer {
        () => {
            |a, b| {
                (test.less && a < b)
                    || (test.equal && a == b)
                    || (test.greater && a > b)
                    || (test.unordered && (a.is_nan() || b.is_nan()))
            }
        };
    }
    test2(a, b, answer!(), answer!())
}
