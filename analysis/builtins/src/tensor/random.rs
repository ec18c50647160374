//! Random numbers: Philox, as ops on unsigned integers of 32 bits.
//!
//! Missed: seeds and offsets are taken as integers.

use ruff_python_ast::{CmpOp, Operator};

use super::arith::{choose, unary};
use super::shapes::{extent_of, tensor};
use crate::operand;
use crate::values::arg;
use dialects::{Math, Tt};
use python::emit::Op;
use python::interp::{Eval, Interp, Stop};
use python::library::{Bound, NOTHING, Part, Row};
use python::value::{DType, Tensor, Value};

const PARAMS: &str = "seed, offset, n_rounds=10";

pub(super) const PART: Part = Part {
    rows: &[
        Row::new("tl.randint", PARAMS, 4, |interp, bound| {
            let [first, ..] = words(interp, bound)?;
            Ok(Value::Tensor(first))
        }),
        Row::new("tl.randint4x", PARAMS, 4, |interp, bound| Ok(tuple(words(interp, bound)?))),
        Row::new("tl.rand", PARAMS, 4, |interp, bound| {
            let [first, ..] = words(interp, bound)?;
            uniform(interp, &first)
        }),
        Row::new("tl.rand4x", "seed, offsets, n_rounds=10", 4, |interp, bound| {
            let mut all = Vec::new();
            for word in words(interp, bound)? {
                all.push(uniform(interp, &word)?);
            }
            Ok(Value::Tuple(all.into()))
        }),
        Row::new("tl.randn", PARAMS, 4, |interp, bound| {
            let [a, b, ..] = words(interp, bound)?;
            let (a, b) = (uniform(interp, &a)?, uniform(interp, &b)?);
            Ok(normal(interp, &a, &b)?.0)
        }),
        Row::new("tl.randn4x", PARAMS, 4, |interp, bound| {
            let mut all = Vec::new();
            let [a, b, c, d] = words(interp, bound)?;
            for (a, b) in [(a, b), (c, d)] {
                let (a, b) = (uniform(interp, &a)?, uniform(interp, &b)?);
                let (a, b) = normal(interp, &a, &b)?;
                all.extend([a, b]);
            }
            Ok(Value::Tuple(all.into()))
        }),
        Row::new("tl.philox", "seed, c0, c1, c2, c3, n_rounds=10", 4, |interp, bound| {
            Ok(tuple(counted(interp, bound)?))
        }),
        Row::new("tl.uint_to_uniform_float", "x", 4, |interp, bound| {
            let x = tensor(interp, bound, 0)?;
            uniform(interp, &x)
        }),
        Row::new("tl.pair_uniform_to_normal", "u1, u2", 4, |interp, bound| {
            let (a, b) = normal(interp, &arg(bound, 0), &arg(bound, 1))?;
            Ok(Value::Tuple([a, b].into()))
        }),
    ],
    ..NOTHING
};

fn tuple(words: [Tensor<'_>; 4]) -> Value<'_> {
    Value::Tuple(words.into_iter().map(Value::Tensor).collect())
}

fn computed<'a>(value: Value<'a>, interp: &Interp<'a>) -> Result<Tensor<'a>, Stop> {
    match value {
        Value::Tensor(tensor) => Ok(tensor),
        _ => interp.unknown("a random number is no tensor"),
    }
}

fn high<'a>(interp: &mut Interp<'a>, a: &Tensor<'a>, b: &Tensor<'a>) -> Tensor<'a> {
    let b = interp.shaped(b, &extent_of(a));
    let (x, y) = (interp.ssa(a), interp.ssa(&b));
    interp.register_op(Op::new(Tt::Mulhiui).operand("x", x).operand("y", y), "result", a.dtype, &extent_of(a))
}

/// How many rounds are asked for.
fn rounds<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Result<i64, Stop> {
    match bound.get("n_rounds") {
        Some(rounds) => operand::int(interp, rounds, "n_rounds"),
        None => Ok(10),
    }
}

/// The upper half of words of 64 bits.
fn upper<'a>(interp: &mut Interp<'a>, of: &Tensor<'a>) -> Result<Tensor<'a>, Stop> {
    let upper = interp.binary(Operator::RShift, &Value::Tensor(of.clone()), &Value::Int(32))?;
    let upper = computed(upper, interp)?;
    interp.cast(&upper, DType::UInt32)
}

/// Four words for each offset.
fn words<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Result<[Tensor<'a>; 4], Stop> {
    let (seed, offset) = (tensor(interp, bound, 0)?, tensor(interp, bound, 1)?);
    let rounds = rounds(interp, bound)?;
    let seed = interp.cast(&seed, DType::UInt64)?;
    let keys = [interp.cast(&seed, DType::UInt32)?, upper(interp, &seed)?];
    let low = interp.cast(&offset, DType::UInt32)?;
    let zero = interp.zero(&low);
    let second = if offset.dtype.bits() > 32 { upper(interp, &offset)? } else { zero.clone() };
    mixed(interp, keys, [low, second, zero.clone(), zero], rounds)
}

/// Four words for each four counters, which are integers of 32 or 64 bits.
fn counted<'a>(interp: &mut Interp<'a>, bound: &Bound<'a>) -> Result<[Tensor<'a>; 4], Stop> {
    let rounds = rounds(interp, bound)?;
    let seed = tensor(interp, bound, 0)?;
    let seed = interp.cast(&seed, DType::UInt64)?;
    let counters = [tensor(interp, bound, 1)?, tensor(interp, bound, 2)?, tensor(interp, bound, 3)?];
    let [c0, c1, c2] = counters;
    let c3 = tensor(interp, bound, 4)?;
    let wide = c0.dtype.bits() == 64;
    let word = if wide { DType::UInt64 } else { DType::UInt32 };
    let keys = if wide {
        let zero = interp.zero(&seed);
        [seed, zero]
    } else {
        [interp.cast(&seed, DType::UInt32)?, upper(interp, &seed)?]
    };
    let mut all = Vec::with_capacity(4);
    for counter in [c0, c1, c2, c3] {
        if counter.dtype.bits() != word.bits() || !counter.dtype.is_int() {
            return interp.raise(format!("counters are integers of {} bits", word.bits()));
        }
        all.push(interp.bits(&counter, word));
    }
    match <[Tensor<'a>; 4]>::try_from(all) {
        Ok(counters) => mixed(interp, keys, counters, rounds),
        Err(_) => interp.unknown("there are four counters"),
    }
}

/// Words after some rounds of Philox, of counters and keys of one width.
fn mixed<'a>(
    interp: &mut Interp<'a>,
    mut keys: [Tensor<'a>; 2],
    mut c: [Tensor<'a>; 4],
    rounds: i64,
) -> Result<[Tensor<'a>; 4], Stop> {
    let word = c[0].dtype;
    let (factors, steps): ([u64; 2], [u64; 2]) = if word.bits() == 64 {
        ([0xD2E7_470E_E14C_6C93, 0xCA5A_8263_9512_1157], [0x9E37_79B9_7F4A_7C15, 0xBB67_AE85_84CA_A73B])
    } else {
        ([0xD251_1F53, 0xCD9E_8D57], [0x9E37_79B9, 0xBB67_AE85])
    };
    let factors = factors.map(|factor| interp.constant(factor.into(), word));
    for _ in 0..rounds.clamp(0, 64) {
        let op = |interp: &mut Interp<'a>, op: Operator, a: &Tensor<'a>, b: &Tensor<'a>| {
            let made = interp.binary(op, &Value::Tensor(a.clone()), &Value::Tensor(b.clone()))?;
            computed(made, interp)
        };
        let (upper_b, upper_a) = (high(interp, &c[2], &factors[1]), high(interp, &c[0], &factors[0]));
        let first = op(interp, Operator::BitXor, &upper_b, &c[1])?;
        let first = op(interp, Operator::BitXor, &first, &keys[0])?;
        let third = op(interp, Operator::BitXor, &upper_a, &c[3])?;
        let third = op(interp, Operator::BitXor, &third, &keys[1])?;
        let second = op(interp, Operator::Mult, &c[2], &factors[1])?;
        let fourth = op(interp, Operator::Mult, &c[0], &factors[0])?;
        c = [first, second, third, fourth];
        for (key, step) in keys.iter_mut().zip(steps) {
            let step = interp.constant(step.into(), word);
            *key = op(interp, Operator::Add, key, &step)?;
        }
    }
    Ok(c)
}

/// A float from 0 to below 1 of a random word.
fn uniform<'a>(interp: &mut Interp<'a>, word: &Tensor<'a>) -> Eval<'a> {
    let (signed, scale) = if word.dtype.bits() > 32 {
        (DType::Int64, 1.084_202_043_240_533_7e-19)
    } else {
        (DType::Int32, 4.656_612_734_2e-10)
    };
    let word = Value::Tensor(interp.bits(word, signed));
    let negative = interp.compare(CmpOp::Lt, &word, &Value::Int(0))?;
    let negative = computed(negative, interp)?;
    let inverted = interp.binary(Operator::BitXor, &word, &Value::Int(-1))?;
    let size = choose(interp, &negative, &inverted, &word)?;
    interp.binary(Operator::Mult, &size, &Value::Float(scale))
}

/// Two normally distributed numbers of two uniformly distributed ones.
fn normal<'a>(interp: &mut Interp<'a>, a: &Value<'a>, b: &Value<'a>) -> Result<(Value<'a>, Value<'a>), Stop> {
    let a = super::arith::extreme(interp, &Value::Float(1.0e-7), a, true)?;
    let angle = interp.binary(Operator::Mult, &Value::Float(std::f64::consts::TAU), b)?;
    let logarithm = unary(interp, Math::Log, &computed(a, interp)?);
    let squared = interp.binary(Operator::Mult, &Value::Float(-2.0), &Value::Tensor(logarithm))?;
    let radius = Value::Tensor(unary(interp, Math::Sqrt, &computed(squared, interp)?));
    let angle = computed(angle, interp)?;
    let (x, y) = (unary(interp, Math::Cos, &angle), unary(interp, Math::Sin, &angle));
    let x = interp.binary(Operator::Mult, &radius, &Value::Tensor(x))?;
    let y = interp.binary(Operator::Mult, &radius, &Value::Tensor(y))?;
    Ok((x, y))
}
