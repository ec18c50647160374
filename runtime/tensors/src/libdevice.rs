//! Functions of libdevice and ocml: those that an op of MLIR stands for, and the others.
//!
//! Deviations: those of floats are computed in double precision and rounded once; the last digits of the gamma
//! functions are those of a short series. Of the variants with a rounding mode only the nearest is here.

use super::arith;
use super::elementwise::common;
use super::evaluator::{Evaluator, OpSite};
use super::float_ops::{float1, float2, maximum, minimum, test2};
use super::integer::{BinaryIntOp, UnaryIntOp, int1, int2};
use super::math::{self, erf, erfc};
use super::tensor::{TensorValue, count};
use super::trap::Trap;
use crate::array::ElemType;
use crate::float_format::{Rounding, decode, encode};

/// Reads a call of a library's function.
pub(crate) fn compile(site: &OpSite<'_>) -> Result<Option<Evaluator>, Trap> {
    if site.name() != "tt.extern_elementwise" {
        return Ok(None);
    }
    let symbol = site.word("symbol").ok_or_else(|| site.trap("has no symbol"))?;
    let evaluator = library(symbol);
    evaluator.map(Some).ok_or_else(|| Trap::not_followed(format!("the function `{symbol}` is not followed")))
}

/// A function of libdevice (`__nv_expf`) or ocml (`__ocml_exp_f32`).
fn library(symbol: &str) -> Option<Evaluator> {
    let name = match symbol.strip_prefix("__ocml_") {
        Some(rest) => ["_f32", "_f64", "_f16"].iter().find_map(|width| rest.strip_suffix(width)).unwrap_or(rest),
        None => ["__nv_", "__triton_hip_"].iter().find_map(|prefix| symbol.strip_prefix(prefix)).unwrap_or(symbol),
    };
    if let Some(evaluator) = special(name).or_else(|| function(name)) {
        return Some(evaluator);
    }
    let name = name.strip_prefix("fast_").unwrap_or(name);
    // Names of `f32`'s functions end in `f`; so does `erf`.
    math::function(renamed(name)).or_else(|| math::function(renamed(name.strip_suffix('f')?)))
}

/// MLIR's name of a library's function.
fn renamed(name: &str) -> &str {
    match name {
        "fabs" => "absf",
        "rint" | "nearbyint" => "roundeven",
        "pow" => "powf",
        "div" | "divide" => "divf",
        name => name,
    }
}

/// Functions whose names end as others do.
fn special(name: &str) -> Option<Evaluator> {
    Some(match name {
        "fmaf" | "fma" | "fmaf_rn" | "fma_rn" => math::function("fma")?,
        "fmaxf" | "fmax" => Evaluator::two(|a, b| Ok(maximum(a, b, false))),
        "fminf" | "fmin" => Evaluator::two(|a, b| Ok(minimum(a, b, false))),
        "fast_dividef" | "fdiv_rn" | "ddiv_rn" => math::function("divf")?,
        "isinff" | "isinfd" => {
            Evaluator::one(|a| Ok(as_i32(&test2(a, a, |a, _| a.is_infinite(), |a, _| a.is_infinite()))))
        }
        "isnanf" | "isnand" => Evaluator::one(|a| Ok(as_i32(&test2(a, a, |a, _| a.is_nan(), |a, _| a.is_nan())))),
        "finitef" | "isfinited" => {
            Evaluator::one(|a| Ok(as_i32(&test2(a, a, |a, _| a.is_finite(), |a, _| a.is_finite()))))
        }
        "mulhi" => Evaluator::two(|a, b| Ok(int2(BinaryIntOp::MulHighS, a, b))),
        "umulhi" | "umul64hi" => Evaluator::two(|a, b| Ok(int2(BinaryIntOp::MulHighU, a, b))),
        "abs" | "llabs" | "iabs" => Evaluator::one(|a| Ok(int1(UnaryIntOp::Abs, a))),
        "clz" | "clzll" => Evaluator::one(|a| Ok(int1(UnaryIntOp::LeadingZeros, a).with_dtype(ElemType::I32))),
        "popc" | "popcll" => Evaluator::one(|a| Ok(int1(UnaryIntOp::Ones, a).with_dtype(ElemType::I32))),
        _ => return None,
    })
}

/// A truth value as the `i32` that libraries give.
fn as_i32(a: &TensorValue) -> TensorValue {
    a.with_dtype(ElemType::I32)
}

/// A function by its name without the library's prefix; those of `f32` end in `f`, where others of this name do not.
fn function(name: &str) -> Option<Evaluator> {
    let plain = name.strip_suffix('f').unwrap_or(name);
    if let Some(unary) = [name, plain].into_iter().find_map(unary) {
        return Some(Evaluator::one(move |a| Ok(float1(a, |x| unary(x.into()) as f32, unary))));
    }
    Some(match name {
        "ldexpf" | "ldexp" | "scalbnf" | "scalbn" => Evaluator::two(|a, b| Ok(scaled(a, b))),
        "nextafterf" | "nextafter" => Evaluator::two(|a, b| Ok(next_after(a, b))),
        "float_as_int" | "float_as_uint" => Evaluator::one(|a| Ok(a.with_dtype(ElemType::I32))),
        "int_as_float" | "uint_as_float" => Evaluator::one(|a| Ok(a.with_dtype(ElemType::F32))),
        "double_as_longlong" => Evaluator::one(|a| Ok(a.with_dtype(ElemType::I64))),
        "longlong_as_double" => Evaluator::one(|a| Ok(a.with_dtype(ElemType::F64))),
        "signbitf" | "signbitd" => Evaluator::one(|a| Ok(ints(a, ElemType::I32, |x| i64::from(x.is_sign_negative())))),
        "ilogbf" | "ilogb" => Evaluator::one(|a| Ok(ints(a, ElemType::I32, exponent))),
        "brev" | "brevll" => Evaluator::one(|a| {
            // All 64 bits are turned round: those of the type come to lie at the top.
            let unused = 64u32.saturating_sub(a.dtype().bits());
            Ok(of_bits(a, a.dtype(), |bits| bits.reverse_bits() >> unused))
        }),
        "ffs" | "ffsll" => Evaluator::one(|a| {
            Ok(of_bits(a, ElemType::I32, |bits| if bits == 0 { 0 } else { u64::from(bits.trailing_zeros()) + 1 }))
        }),
        "lrintf" | "lrint" | "llrintf" | "llrint" => {
            Evaluator::one(|a| Ok(ints(a, ElemType::I64, |x| x.round_ties_even() as i64)))
        }
        "lroundf" | "lround" | "llroundf" | "llround" => {
            Evaluator::one(|a| Ok(ints(a, ElemType::I64, |x| x.round() as i64)))
        }
        "mul64hi" => Evaluator::two(|a, b| Ok(int2(BinaryIntOp::MulHighS, a, b))),
        "remainderf" | "remainder" => {
            Evaluator::two(|a, b| Ok(float2(a, b, |a, b| remainder(a.into(), b.into()) as f32, remainder)))
        }
        "rhypotf" | "rhypot" => {
            Evaluator::two(|a, b| Ok(float2(a, b, |a, b| 1.0 / a.hypot(b), |a, b| 1.0 / a.hypot(b))))
        }
        "fadd_rn" | "dadd_rn" => return arith::float("addf"),
        "fsub_rn" | "dsub_rn" => return arith::float("subf"),
        "fmul_rn" | "dmul_rn" => return arith::float("mulf"),
        "fsqrt_rn" | "dsqrt_rn" => return math::function("sqrt"),
        "frcp_rn" | "drcp_rn" => return math::function("rcp"),
        "frsqrt_rn" => return math::function("rsqrt"),
        name => return cast(name),
    })
}

/// A function of one float that gives a float.
fn unary(name: &str) -> Option<fn(f64) -> f64> {
    Some(match name {
        "rcbrt" => |x| 1.0 / x.cbrt(),
        "erfinv" => inverse_erf,
        "erfcinv" => |x| inverse_erf(1.0 - x),
        "lgamma" => log_gamma,
        "tgamma" => gamma,
        "sinpi" => |x| (std::f64::consts::PI * (x % 2.0)).sin(),
        "cospi" => |x| (std::f64::consts::PI * (x % 2.0)).cos(),
        "normcdf" => |x| 0.5 * erfc(-x / std::f64::consts::SQRT_2),
        "normcdfinv" => |x| std::f64::consts::SQRT_2 * inverse_erf(2.0 * x - 1.0),
        "logb" => |x| {
            if x == 0.0 {
                f64::NEG_INFINITY
            } else if x.is_finite() {
                exponent(x) as f64
            } else {
                x.abs()
            }
        },
        "saturate" => |x| if x.is_nan() { 0.0 } else { x.clamp(0.0, 1.0) },
        _ => return None,
    })
}

/// `float2int_rn` and its like: a float as an integer that saturates; what is no number is 0.
fn cast(name: &str) -> Option<Evaluator> {
    let (types, rounding) = name.rsplit_once('_')?;
    let round: fn(f64) -> f64 = match rounding {
        "rn" => f64::round_ties_even,
        "rz" => f64::trunc,
        "ru" => f64::ceil,
        "rd" => f64::floor,
        _ => return None,
    };
    let to = types.strip_prefix("float2").or_else(|| types.strip_prefix("double2"))?;
    Some(match to {
        "int" => Evaluator::one(move |a| Ok(ints(a, ElemType::I32, |x| i64::from(round(x) as i32)))),
        "uint" => Evaluator::one(move |a| Ok(ints(a, ElemType::I32, |x| i64::from(round(x) as u32)))),
        "ll" => Evaluator::one(move |a| Ok(ints(a, ElemType::I64, |x| round(x) as i64))),
        "ull" => Evaluator::one(move |a| Ok(ints(a, ElemType::I64, |x| round(x) as u64 as i64))),
        _ => return None,
    })
}

/// Each float as an integer.
fn ints(a: &TensorValue, dtype: ElemType, of: impl Fn(f64) -> i64) -> TensorValue {
    let all = (0..a.len()).map(|at| of(decode(a.dtype(), a.bits(at))) as u64);
    TensorValue::from_bits(dtype, a.shape().clone(), all)
}

/// Each element as what its bits give.
fn of_bits(a: &TensorValue, dtype: ElemType, of: impl Fn(u64) -> u64) -> TensorValue {
    TensorValue::from_bits(dtype, a.shape().clone(), (0..a.len()).map(|at| of(a.bits(at))))
}

/// `a · 2^b`.
fn scaled(a: &TensorValue, b: &TensorValue) -> TensorValue {
    let shape = common(&[a, b]);
    let one = |at: usize| {
        let power = b.int_at(at).clamp(-4000, 4000) as i32;
        // In two steps, since neither half of it leaves what a double holds.
        let (half, value) = (power / 4, decode(a.dtype(), a.bits(at)));
        let quarter = 2f64.powi(half);
        encode(a.dtype(), value * quarter * quarter * quarter * 2f64.powi(power - 3 * half), Rounding::Nearest)
    };
    TensorValue::from_bits(a.dtype(), shape.clone(), (0..count(&shape)).map(one))
}

/// The number of the type that comes next to `a` on the way to `b`.
fn next_after(a: &TensorValue, b: &TensorValue) -> TensorValue {
    let (dtype, shape) = (a.dtype(), common(&[a, b]));
    let sign = 1u64 << (dtype.bits().max(1) - 1);
    let one = |at: usize| {
        let (from, to) = (decode(dtype, a.bits(at)), decode(dtype, b.bits(at)));
        let bits = a.bits(at);
        if from.is_nan() || to.is_nan() {
            return encode(dtype, f64::NAN, Rounding::Nearest);
        }
        match (from == to, from == 0.0) {
            (true, _) => b.bits(at),
            (false, true) => 1 | if to < 0.0 { sign } else { 0 },
            // Away from zero the magnitude grows, and it is what the lower bits count.
            (false, false) if (to > from) == (from > 0.0) => bits + 1,
            (false, false) => bits - 1,
        }
    };
    TensorValue::from_bits(dtype, shape.clone(), (0..count(&shape)).map(one))
}

/// What is left where `b` is taken from `a` as often as the quotient, rounded to the nearest, says.
fn remainder(a: f64, b: f64) -> f64 {
    if b.is_infinite() && a.is_finite() {
        return a;
    }
    // The remainder of twice the divisor tells which of the two multiples around is nearer, and which is even.
    let (rest, size) = ((a % (2.0 * b)).abs(), b.abs());
    let near = if rest <= size / 2.0 {
        rest
    } else if rest < size * 1.5 {
        rest - size
    } else {
        rest - 2.0 * size
    };
    if a.is_sign_negative() { -near } else { near }
}

/// The power of two that a number has, by the limits of C's `ilogb`.
fn exponent(x: f64) -> i64 {
    match x {
        x if x == 0.0 || x.is_nan() => i32::MIN.into(),
        x if x.is_infinite() => i32::MAX.into(),
        x => {
            let guess = x.abs().log2().floor();
            // The logarithm is rounded, the comparison is not.
            let above = 2f64.powf(guess) > x.abs();
            guess as i64 - i64::from(above)
        }
    }
}

/// The inverse of the error function: a rough formula, and Newton's steps from there.
fn inverse_erf(y: f64) -> f64 {
    if y.is_nan() || y.abs() > 1.0 {
        return f64::NAN;
    }
    if y.abs() == 1.0 {
        return y * f64::INFINITY;
    }
    let log = (1.0 - y * y).ln();
    let part = 2.0 / (std::f64::consts::PI * 0.147) + log / 2.0;
    let mut x = ((part * part - log / 0.147).sqrt() - part).max(0.0).sqrt().copysign(y);
    for _ in 0..4 {
        let slope = std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp();
        if slope > 0.0 {
            x -= (erf(x) - y) / slope;
        }
    }
    x
}

/// The logarithm of the gamma function's magnitude: Stirling's series, where it converges fast.
fn log_gamma(x: f64) -> f64 {
    if x.is_nan() || x.is_infinite() {
        return x.abs();
    }
    if x <= 0.0 && x.fract() == 0.0 {
        return f64::INFINITY;
    }
    if x < 0.5 {
        let pi = std::f64::consts::PI;
        return (pi / (pi * x).sin().abs()).ln() - log_gamma(1.0 - x);
    }
    // Γ(x + n) = x (x + 1) … (x + n - 1) Γ(x).
    let (mut shifted, mut product) = (x, 1.0f64);
    while shifted < 12.0 {
        product *= shifted;
        shifted += 1.0;
    }
    let inverse = 1.0 / (shifted * shifted);
    let series =
        1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse * (1.0 / 1680.0 - inverse / 1188.0)));
    (shifted - 0.5) * shifted.ln() - shifted + 0.5 * std::f64::consts::TAU.ln() + series / shifted - product.ln()
}

fn gamma(x: f64) -> f64 {
    if x == 0.0 {
        return f64::INFINITY.copysign(x);
    }
    if x < 0.0 && (x.fract() == 0.0 || x.is_infinite()) {
        return f64::NAN;
    }
    // Below zero the sign changes at each whole number.
    let negative = x < 0.0 && x.floor() % 2.0 != 0.0;
    let size = log_gamma(x).exp();
    if negative { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::float_format::{self, Rounding};
    use crate::tensor::Sizes;
    use crate::{Environment, RuntimeValue};

    fn floats(dtype: ElemType, shape: &[u64], values: impl IntoIterator<Item = f64>) -> RuntimeValue {
        let bits = values.into_iter().map(|value| float_format::encode(dtype, value, Rounding::Nearest));
        RuntimeValue::Tensor(TensorValue::from_bits(dtype, Sizes::from(shape), bits))
    }

    fn int_tensor(dtype: ElemType, shape: &[u64], values: impl IntoIterator<Item = i64>) -> RuntimeValue {
        let mask = if dtype == ElemType::I1 { 1 } else { -1 };
        RuntimeValue::Tensor(TensorValue::from_bits(
            dtype,
            Sizes::from(shape),
            values.into_iter().map(|value| (value & mask) as u64),
        ))
    }

    fn numbers(tensor: &TensorValue) -> Vec<f64> {
        (0..tensor.len()).map(|at| float_format::decode(tensor.dtype(), tensor.bits(at))).collect()
    }

    fn call(name: &str, operands: &[RuntimeValue]) -> TensorValue {
        let evaluator = function(name).unwrap_or_else(|| panic!("{name}"));
        let results = evaluator.run(operands, &mut Environment::default()).unwrap();
        results[0].as_tensor().unwrap().clone()
    }

    fn narrow(values: &[f64]) -> RuntimeValue {
        floats(ElemType::F32, &[values.len() as u64], values.iter().copied())
    }

    #[test]
    fn numbers_that_are_known() {
        let close = |name: &str, x: f64, want: f64| {
            let got = numbers(&call(name, &[floats(ElemType::F64, &[1], [x])]))[0];
            assert!((got - want).abs() <= 1e-12 * want.abs().max(1.0), "{name}({x}) = {got}, not {want}");
        };
        close("erfinv", 0.5, 0.476_936_276_204_469_9);
        close("lgamma", 0.5, 0.572_364_942_924_700_1);
        close("lgamma", 100.0, 359.134_205_369_575_4);
        close("tgamma", 5.0, 24.0);
        close("tgamma", -0.5, -3.544_907_701_811_032);
        close("normcdf", 0.0, 0.5);
        close("normcdfinv", 0.975, 1.959_963_984_540_054);
        close("sinpi", 0.5, 1.0);
        close("logb", 10.0, 3.0);
        let rest = |a: f64, b: f64| {
            numbers(&call("remainder", &[floats(ElemType::F64, &[1], [a]), floats(ElemType::F64, &[1], [b])]))[0]
        };
        assert_eq!((rest(5.0, 3.0), rest(-5.0, 3.0), rest(1.5, 1.0), rest(2.5, 1.0)), (-1.0, 1.0, -0.5, 0.5));
    }

    #[test]
    fn bits_and_whole_numbers() {
        assert_eq!(
            numbers(&call("ldexpf", &[narrow(&[1.5, -1.0]), int_tensor(ElemType::I32, &[2], [3, -1])])),
            [12.0, -0.5]
        );
        let next = call("nextafterf", &[narrow(&[1.0, 0.0, -1.0]), narrow(&[2.0, -1.0, 0.0])]);
        assert_eq!([next.bits(0), next.bits(1), next.bits(2)], [0x3f80_0001, 0x8000_0001, 0xbf7f_ffff]);
        assert_eq!(call("float_as_int", &[narrow(&[1.0])]).ints(), [0x3f80_0000]);
        assert_eq!(call("signbitf", &[narrow(&[-0.0, 1.0])]).ints(), [1, 0]);
        assert_eq!(call("ilogbf", &[narrow(&[8.0, 0.75])]).ints(), [3, -1]);
        assert_eq!(call("float2int_rn", &[narrow(&[2.5, -1e20, f64::NAN])]).ints(), [2, i64::from(i32::MIN), 0]);
        assert_eq!(call("float2int_ru", &[narrow(&[2.1])]).ints(), [3]);
        assert_eq!(call("llrintf", &[narrow(&[3.5])]).ints(), [4]);
        assert_eq!(call("brev", &[int_tensor(ElemType::I32, &[1], [1])]).bits(0), 0x8000_0000);
        assert_eq!(call("ffs", &[int_tensor(ElemType::I32, &[2], [8, 0])]).ints(), [4, 0]);
        assert_eq!(numbers(&call("saturatef", &[narrow(&[1.5, -1.0])])), [1.0, 0.0]);
    }
}
