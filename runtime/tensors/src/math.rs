//! `math`, and Triton's own functions.
//!
//! Deviations: functions are those of the platform's library, within a unit or two in the last place; hardware's fast
//! variants differ there too. What is narrower than `f32` is computed in `f32`.

use super::cast::{convert, from_int};
use super::elementwise::common;
use super::evaluator::{Evaluator, OpSite, RuntimeValue, arg};
use super::float_ops::{float1, float2, fma, maximum, minimum, test2};
use super::integer::{BinaryIntOp, UnaryIntOp, int1, int2};
use super::tensor::{TensorValue, count};
use super::trap::Trap;
use crate::array::ElemType;
use crate::float_format::Rounding;

/// Reads a function.
pub(crate) fn compile(site: &OpSite<'_>) -> Result<Option<Evaluator>, Trap> {
    let name = site.name();
    if let Some(name) = name.strip_prefix("math.") {
        return Ok(function(name));
    }
    Ok(Some(match name {
        "tt.precise_sqrt" => Evaluator::one(|a| Ok(float1(a, f32::sqrt, f64::sqrt))),
        "tt.precise_divf" | "tt.approx_divf" => return Ok(function("divf")),
        "tt.mulhiui" => Evaluator::two(|a, b| Ok(int2(BinaryIntOp::MulHighU, a, b))),
        "tt.clampf" => {
            let nan = site.text("propagateNan").is_some_and(|text| text.contains("all") || text.starts_with("65535"));
            Evaluator::three(move |a, low, high| Ok(minimum(&maximum(a, low, nan), high, nan)))
        }
        _ => return Ok(None),
    }))
}

/// A function in both widths.
type UnaryFloatFn = (fn(f32) -> f32, fn(f64) -> f64);

fn unary(name: &str) -> Option<UnaryFloatFn> {
    Some(match name {
        "absf" => (f32::abs, f64::abs),
        "acos" => (f32::acos, f64::acos),
        "acosh" => (f32::acosh, f64::acosh),
        "asin" => (f32::asin, f64::asin),
        "asinh" => (f32::asinh, f64::asinh),
        "atan" => (f32::atan, f64::atan),
        "atanh" => (f32::atanh, f64::atanh),
        "cbrt" => (f32::cbrt, f64::cbrt),
        "ceil" => (f32::ceil, f64::ceil),
        "cos" => (f32::cos, f64::cos),
        "cosh" => (f32::cosh, f64::cosh),
        "erf" => (|x| erf(x.into()) as f32, erf),
        "erfc" => (|x| erfc(x.into()) as f32, erfc),
        "exp" => (f32::exp, f64::exp),
        "exp2" => (f32::exp2, f64::exp2),
        "exp10" => (|x| 10f64.powf(x.into()) as f32, |x| 10f64.powf(x)),
        "expm1" => (f32::exp_m1, f64::exp_m1),
        "floor" => (f32::floor, f64::floor),
        "log" => (f32::ln, f64::ln),
        "log10" => (f32::log10, f64::log10),
        "log1p" => (f32::ln_1p, f64::ln_1p),
        "log2" => (f32::log2, f64::log2),
        "round" => (f32::round, f64::round),
        "roundeven" => (f32::round_ties_even, f64::round_ties_even),
        "rsqrt" => (|x| (1.0 / f64::from(x).sqrt()) as f32, |x| 1.0 / x.sqrt()),
        "rcp" => (f32::recip, f64::recip),
        "sin" => (f32::sin, f64::sin),
        "sinh" => (f32::sinh, f64::sinh),
        "sqrt" => (f32::sqrt, f64::sqrt),
        "tan" => (f32::tan, f64::tan),
        "tanh" => (f32::tanh, f64::tanh),
        "trunc" => (f32::trunc, f64::trunc),
        _ => return None,
    })
}

/// A function of two floats in both widths.
type BinaryFloatFn = (fn(f32, f32) -> f32, fn(f64, f64) -> f64);

fn binary(name: &str) -> Option<BinaryFloatFn> {
    Some(match name {
        "atan2" => (f32::atan2, f64::atan2),
        "copysign" => (f32::copysign, f64::copysign),
        "powf" | "pow" => (f32::powf, f64::powf),
        "fmod" => (|a, b| a % b, |a, b| a % b),
        "divf" => (|a, b| a / b, |a, b| a / b),
        "hypot" => (f32::hypot, f64::hypot),
        "fdim" => (|a, b| if a > b { a - b } else { 0.0 }, |a, b| if a > b { a - b } else { 0.0 }),
        _ => return None,
    })
}

/// A question in both widths.
type FloatTest = (fn(f32) -> bool, fn(f64) -> bool);

fn float_test(name: &str) -> Option<FloatTest> {
    Some(match name {
        "isfinite" => (f32::is_finite, f64::is_finite),
        "isinf" => (f32::is_infinite, f64::is_infinite),
        "isnan" => (f32::is_nan, f64::is_nan),
        "isnormal" => (f32::is_normal, f64::is_normal),
        _ => return None,
    })
}

/// A function by its name behind `math.`.
pub(crate) fn function(name: &str) -> Option<Evaluator> {
    if let Some((narrow, wide)) = unary(name) {
        return Some(Evaluator::one(move |a| Ok(float1(a, narrow, wide))));
    }
    if let Some((narrow, wide)) = binary(name) {
        return Some(Evaluator::two(move |a, b| Ok(float2(a, b, narrow, wide))));
    }
    if let Some((narrow, wide)) = float_test(name) {
        return Some(Evaluator::one(move |a| Ok(test2(a, a, |a, _| narrow(a), |a, _| wide(a)))));
    }
    Some(match name {
        "absi" => Evaluator::one(|a| Ok(int1(UnaryIntOp::Abs, a))),
        "ctlz" => Evaluator::one(|a| Ok(int1(UnaryIntOp::LeadingZeros, a))),
        "cttz" => Evaluator::one(|a| Ok(int1(UnaryIntOp::TrailingZeros, a))),
        "ctpop" => Evaluator::one(|a| Ok(int1(UnaryIntOp::Ones, a))),
        "fma" => Evaluator::three(|a, b, c| Ok(fma(a, b, c))),
        "clampf" => Evaluator::three(|a, low, high| Ok(minimum(&maximum(a, low, true), high, true))),
        "ipowi" => Evaluator::two(|a, b| Ok(ipow(a, b))),
        "fpowi" => Evaluator::two(|a, b| {
            let power = from_int(b, ElemType::F64, true);
            let wide = float2(&convert(a, ElemType::F64, Rounding::Nearest), &power, f32::powf, f64::powf);
            Ok(convert(&wide, a.dtype(), Rounding::Nearest))
        }),
        "sincos" => Evaluator::new(|operands, _| {
            let a = arg(operands, 0)?;
            let (sin, cos) = (float1(a, f32::sin, f64::sin), float1(a, f32::cos, f64::cos));
            Ok(vec![RuntimeValue::Tensor(sin), RuntimeValue::Tensor(cos)])
        }),
        _ => return None,
    })
}

/// An integer to the power of another; a negative power of anything but 1 and -1 is 0.
fn ipow(a: &TensorValue, b: &TensorValue) -> TensorValue {
    let (dtype, shape) = (a.dtype(), common(&[a, b]));
    let power = |base: i64, mut exponent: i64| {
        if exponent < 0 {
            return match base {
                1 => 1,
                -1 => 1 - 2 * (exponent % 2).abs(),
                _ => 0,
            };
        }
        let (mut base, mut result) = (base, 1i64);
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = result.wrapping_mul(base);
            }
            base = base.wrapping_mul(base);
            exponent >>= 1;
        }
        result
    };
    let all = (0..count(&shape)).map(|at| power(a.int_at(at), b.int_at(at)) as u64);
    TensorValue::from_bits(dtype, shape, all)
}

/// The error function: its Taylor series near zero, a continued fraction of its complement elsewhere.
pub(crate) fn erf(x: f64) -> f64 {
    if x.abs() < 2.5 {
        return erf_series(x);
    }
    if x > 0.0 { 1.0 - erfc(x) } else { erfc(-x) - 1.0 }
}

pub(crate) fn erfc(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x < 0.0 {
        return 2.0 - erfc(-x);
    }
    if x < 1.0 {
        return 1.0 - erf_series(x);
    }
    if x > 27.3 {
        return 0.0;
    }
    // x + (1/2)/(x + (2/2)/(x + (3/2)/(x + …))), from the inside out.
    let fraction = (1..=200).rev().fold(x, |inner, k| x + f64::from(k) / 2.0 / inner);
    (-x * x).exp() / (fraction * std::f64::consts::PI.sqrt())
}

fn erf_series(x: f64) -> f64 {
    let (mut term, mut sum) = (x, x);
    for n in 1..80 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * std::f64::consts::FRAC_2_SQRT_PI
}
