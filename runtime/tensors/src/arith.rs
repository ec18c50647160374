//! `arith`: constants, integers, floats, comparisons.

use super::constant;
use super::elementwise::select;
use super::evaluator::{Evaluator, OpSite, RuntimeValue, arg};
use super::float_ops::{float1, float2, maximum, minimum, negate, test2};
use super::integer::{BinaryIntOp, IntPredicate, add_carry, compare, int2};
use super::tensor::TensorValue;
use super::trap::Trap;
use crate::float_format::power_of_two;

/// Reads an operation of `arith` that is no conversion.
pub(crate) fn compile(site: &OpSite<'_>) -> Result<Option<Evaluator>, Trap> {
    let Some(name) = site.name().strip_prefix("arith.") else { return Ok(None) };
    if let Some(evaluator) = integer(name).or_else(|| float(name)) {
        return Ok(Some(evaluator));
    }
    Ok(Some(match name {
        "constant" => Evaluator::constant(constant::read(site)?),
        "cmpi" => {
            let op = site.text("predicate").and_then(IntPredicate::named);
            let op = op.ok_or_else(|| site.trap("has no predicate"))?;
            Evaluator::two(move |a, b| Ok(compare(op, a, b)))
        }
        "cmpf" => {
            let test = site.text("predicate").and_then(predicate).ok_or_else(|| site.trap("has no predicate"))?;
            Evaluator::two(move |a, b| Ok(compare_floats(test, a, b)))
        }
        "select" => Evaluator::three(select),
        "addui_extended" => Evaluator::new(|operands, _| {
            let (sum, carry) = add_carry(arg(operands, 0)?, arg(operands, 1)?);
            Ok(vec![RuntimeValue::Tensor(sum), RuntimeValue::Tensor(carry)])
        }),
        "mulsi_extended" => wide(BinaryIntOp::MulHighS),
        "mului_extended" => wide(BinaryIntOp::MulHighU),
        "flush_denormals" => Evaluator::one(|a| Ok(float1(a, flush, flush_wide))),
        _ => return Ok(None),
    }))
}

fn flush(a: f32) -> f32 {
    if a.abs() < f32::MIN_POSITIVE { a * 0.0 } else { a }
}

fn flush_wide(a: f64) -> f64 {
    if a.abs() < power_of_two(-1022) { a * 0.0 } else { a }
}

/// Both halves of a product.
fn wide(high: BinaryIntOp) -> Evaluator {
    Evaluator::new(move |operands, _| {
        let (a, b) = (arg(operands, 0)?, arg(operands, 1)?);
        Ok(vec![RuntimeValue::Tensor(int2(BinaryIntOp::Mul, a, b)), RuntimeValue::Tensor(int2(high, a, b))])
    })
}

/// An op on two integers, by its name behind `arith.`.
pub(crate) fn integer(name: &str) -> Option<Evaluator> {
    use BinaryIntOp::*;
    let op = match name {
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
    };
    Some(Evaluator::two(move |a, b| Ok(int2(op, a, b))))
}

/// A function of floats, in both widths that arithmetic is done in.
macro_rules! both {
    ($f:expr) => {
        Evaluator::two(|a, b| Ok(float2(a, b, $f, $f)))
    };
}

/// An op on one or two floats, by its name behind `arith.`.
pub(crate) fn float(name: &str) -> Option<Evaluator> {
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

fn compare_floats(test: FloatPredicate, a: &TensorValue, b: &TensorValue) -> TensorValue {
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
