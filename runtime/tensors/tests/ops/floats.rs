//! Formats of floats: every bit pattern, and rounding against a search for the nearest number.

use super::*;
use tensors::float_format::Rounding;
use tensors::float_format::{decode, encode, from_bf16, from_f16, to_bf16, to_f16};

const NARROW: [(ElemType, u64); 8] = [
    (ElemType::F16, 1 << 16),
    (ElemType::BF16, 1 << 16),
    (ElemType::F8E4M3FN, 1 << 8),
    (ElemType::F8E5M2, 1 << 8),
    (ElemType::F8E4M3FNUZ, 1 << 8),
    (ElemType::F8E5M2FNUZ, 1 << 8),
    (ElemType::F8E4M3B11FNUZ, 1 << 8),
    (ElemType::F4E2M1, 1 << 4),
];

#[test]
fn every_pattern_comes_back() {
    for (dtype, count) in NARROW {
        for bits in 0..count {
            let number = decode(dtype, bits);
            if number.is_nan() || (number.is_infinite() && dtype.bits() == 8) {
                continue;
            }
            for rounding in [Rounding::Nearest, Rounding::Zero] {
                assert_eq!(encode(dtype, number, rounding), bits, "{dtype:?} {bits:#x} {number}");
            }
        }
    }
}

#[test]
fn the_fast_ways_agree_with_the_general_one() {
    for bits in 0..=u16::MAX {
        let (half, brain) = (decode(ElemType::F16, bits.into()), decode(ElemType::BF16, bits.into()));
        assert!(f64::from(from_f16(bits)) == half || half.is_nan() && from_f16(bits).is_nan(), "{bits:#x}");
        assert!(f64::from(from_bf16(bits)) == brain || brain.is_nan() && from_bf16(bits).is_nan(), "{bits:#x}");
        assert_eq!(from_f16(bits).is_sign_negative(), bits & 0x8000 != 0);
    }
    let check = |number: f32| {
        let (half, brain) = (to_f16(number), to_bf16(number));
        if number.is_nan() {
            assert!(from_f16(half).is_nan() && from_bf16(brain).is_nan());
            return;
        }
        assert_eq!(u64::from(half), encode(ElemType::F16, number.into(), Rounding::Nearest), "{number:e}");
        assert_eq!(u64::from(brain), encode(ElemType::BF16, number.into(), Rounding::Nearest), "{number:e}");
    };
    // Every exponent, with fractions at and beside every tie of both formats.
    for high in 0..=u16::MAX {
        for low in [0, 1, 0x0fff, 0x1000, 0x1001, 0x2000, 0x3000, 0x7fff, 0x8000, 0x8001, 0xffff] {
            check(f32::from_bits(u32::from(high) << 16 | low));
        }
    }
    let mut random = SplitMix64::new(1);
    for _ in 0..300_000 {
        check(f32::from_bits(random.next_u64() as u32));
    }
}

/// The nearest number of a format by looking at all of them; of two as near, the one with an even last bit.
fn nearest(dtype: ElemType, all: &[(u64, f64)], number: f64) -> u64 {
    let best = all.iter().copied().min_by(|(a, x), (b, y)| {
        let (x, y) = ((x - number).abs(), (y - number).abs());
        x.total_cmp(&y).then((a & 1).cmp(&(b & 1)))
    });
    let bits = best.map_or(0, |best| best.0);
    let zero = decode(dtype, bits) == 0.0;
    if zero && number.is_sign_negative() && dtype.bits() < 16 && encode(dtype, -0.0, Rounding::Nearest) != 0 {
        return encode(dtype, -0.0, Rounding::Nearest);
    }
    bits
}

#[test]
fn narrow_floats_round_to_the_nearest() {
    for (dtype, count) in NARROW.into_iter().filter(|(dtype, _)| dtype.bits() <= 8) {
        let all: Vec<(u64, f64)> = (0..count).map(|bits| (bits, decode(dtype, bits))).collect();
        let finite: Vec<(u64, f64)> = all.iter().copied().filter(|(_, number)| number.is_finite()).collect();
        let positive: Vec<(u64, f64)> = finite.iter().copied().filter(|(_, n)| n.is_sign_positive()).collect();
        let mut probes = Vec::new();
        for pair in positive.windows(2) {
            let middle = (pair[0].1 + pair[1].1) / 2.0;
            for near in [middle, middle * (1.0 + 1e-12), middle * (1.0 - 1e-12), pair[0].1, pair[1].1] {
                probes.extend([near, -near]);
            }
        }
        let most = positive.iter().map(|(_, number)| *number).fold(0.0, f64::max);
        probes.extend([most * 1.01, most * 100.0, -most * 3.0]);
        for number in probes {
            let side: Vec<(u64, f64)> = if number < 0.0 {
                finite.iter().copied().filter(|(_, n)| *n <= 0.0).collect()
            } else {
                positive.clone()
            };
            let expected = nearest(dtype, &side, number);
            let got = encode(dtype, number, Rounding::Nearest);
            assert_eq!(decode(dtype, got), decode(dtype, expected), "{dtype:?} {number:e}");
            let cut = decode(dtype, encode(dtype, number, Rounding::Zero));
            assert!(cut.abs() <= number.abs() && cut * number >= 0.0, "{dtype:?} {number:e}");
            assert!(side.iter().all(|(_, n)| n.abs() <= cut.abs() || n.abs() > number.abs()), "{dtype:?} {number:e}");
        }
    }
}

#[test]
fn known_numbers() {
    assert_eq!(decode(ElemType::F8E4M3FN, 0x7e), 448.0);
    assert!(decode(ElemType::F8E4M3FN, 0x7f).is_nan());
    assert_eq!(decode(ElemType::F8E5M2, 0x7b), 57344.0);
    assert_eq!(decode(ElemType::F8E4M3FNUZ, 0x7f), 240.0);
    assert_eq!(decode(ElemType::F8E5M2FNUZ, 0x7f), 57344.0);
    assert!(decode(ElemType::F8E4M3FNUZ, 0x80).is_nan());
    assert_eq!(decode(ElemType::F8E8M0, 127), 1.0);
    assert_eq!(decode(ElemType::F8E8M0, 0), 2f64.powi(-127));
    let four: Vec<f64> = (0..8).map(|bits| decode(ElemType::F4E2M1, bits)).collect();
    assert_eq!(four, [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]);
    assert_eq!(decode(ElemType::F16, 1), 2f64.powi(-24));
    assert_eq!(encode(ElemType::F16, 65520.0, Rounding::Nearest), 0x7c00);
    assert_eq!(encode(ElemType::F16, 65519.0, Rounding::Nearest), 0x7bff);
    assert_eq!(encode(ElemType::F16, 1e9, Rounding::Zero), 0x7bff);
    assert_eq!(encode(ElemType::F8E4M3FN, 1e9, Rounding::Nearest), 0x7e);
    assert_eq!(encode(ElemType::F8E5M2, f64::NEG_INFINITY, Rounding::Nearest), 0xfb);
    assert_eq!(encode(ElemType::F8E4M3FN, f64::NAN, Rounding::Nearest), 0x7f);
    assert_eq!(encode(ElemType::F32, 1.0 + 2f64.powi(-24), Rounding::Nearest), 0x3f80_0000);
    assert_eq!(encode(ElemType::F32, 1.0 + 3.0 * 2f64.powi(-24), Rounding::Nearest), 0x3f80_0002);
}

#[test]
fn doubles_round_to_floats_as_the_processor_does() {
    let mut random = SplitMix64::new(2);
    for _ in 0..200_000 {
        let number = f64::from_bits(random.next_u64());
        if !number.is_nan() {
            assert_eq!(
                encode(ElemType::F32, number, Rounding::Nearest),
                u64::from((number as f32).to_bits()),
                "{number:e}"
            );
        }
        let number = f64::from(f32::from_bits(random.next_u64() as u32)) * (1.0 + super::unit(&mut random) * 1e-8);
        if !number.is_nan() {
            assert_eq!(
                encode(ElemType::F32, number, Rounding::Nearest),
                u64::from((number as f32).to_bits()),
                "{number:e}"
            );
        }
    }
}

#[test]
fn arithmetic_of_halves_is_rounded_once() {
    let mut random = SplitMix64::new(5);
    for (dtype, name) in [(ElemType::F16, "f16"), (ElemType::BF16, "bf16")] {
        let n = 20_000u64;
        let bits: Vec<(u64, u64)> = (0..n).map(|_| (random.next_u64() & 0xffff, random.next_u64() & 0xffff)).collect();
        let a = RuntimeValue::Tensor(TensorValue::from_bits(dtype, [n].into(), bits.iter().map(|pair| pair.0)));
        let b = RuntimeValue::Tensor(TensorValue::from_bits(dtype, [n].into(), bits.iter().map(|pair| pair.1)));
        for (op, f) in [
            ("addf", (|a, b| a + b) as fn(f64, f64) -> f64),
            ("subf", |a, b| a - b),
            ("mulf", |a, b| a * b),
            ("divf", |a, b| a / b),
        ] {
            let ty = format!("tensor<{n}x{name}>");
            let body = format!("%r = arith.{op} %a, %b : {ty}");
            let result = eval(&format!("%a: {ty}, %b: {ty}"), &body, &[a.clone(), b.clone()]);
            for (at, &(a, b)) in bits.iter().enumerate() {
                // A sum, product or quotient of these in `f64` is exact or far enough from a tie.
                let expected = encode(dtype, f(decode(dtype, a), decode(dtype, b)), Rounding::Nearest);
                let got = result.bits(at);
                let both = (decode(dtype, got), decode(dtype, expected));
                assert!(got == expected || both.0.is_nan() && both.1.is_nan(), "{op} {name} {a:#x} {b:#x}: {both:?}");
            }
        }
    }
}

#[test]
fn conversions_of_ops() {
    let convert = |from: &str, to: &str, dtype, value, extra: &str| {
        let body = format!("%r = tt.fp_to_fp %a{extra} : {from} -> {to}");
        numbers(&eval(&format!("%a: {from}"), &body, &[floats(dtype, &[], [value])]))[0]
    };
    assert_eq!(convert("f32", "f8E4M3FN", ElemType::F32, 1000.0, ", rounding = rtne"), 448.0);
    assert_eq!(convert("f32", "bf16", ElemType::F32, 1.0 + 1.9 / 256.0, ", rounding = rtz"), 1.0);
    assert_eq!(convert("f32", "bf16", ElemType::F32, 1.0 + 1.9 / 256.0, ", rounding = rtne"), 1.0078125);
    assert_eq!(convert("f8E5M2", "f16", ElemType::F8E5M2, 57344.0, ""), 57344.0);
    let ints_of = |from: &str, dtype, value| {
        let body = format!("%r = arith.fptosi %a : {from} to i32");
        eval(&format!("%a: {from}"), &body, &[floats(dtype, &[], [value])]).int_at(0)
    };
    assert_eq!(ints_of("f32", ElemType::F32, -2.9), -2);
    assert_eq!(ints_of("f32", ElemType::F32, 1e20), i64::from(i32::MAX));
    assert_eq!(ints_of("f32", ElemType::F32, f64::NAN), 0);
    let body = "%r = arith.uitofp %a : i1 to f32";
    assert_eq!(numbers(&eval("%a: i1", body, &[RuntimeValue::int(1, 1)]))[0], 1.0);
    let body = "%r = arith.sitofp %a : i1 to f32";
    assert_eq!(numbers(&eval("%a: i1", body, &[RuntimeValue::int(1, 1)]))[0], -1.0);
}

#[test]
fn integers_become_the_nearest_float() {
    let mut random = SplitMix64::new(9);
    for _ in 0..2000 {
        let value = random.next_u64() as i64 >> (random.next_u64() % 63);
        let number = |to: &str, op: &str| {
            let body = format!("%r = arith.{op} %a : i64 to {to}");
            eval("%a: i64", &body, &[RuntimeValue::int(64, value)])
        };
        assert_eq!(number("f32", "sitofp").bits(0), u64::from((value as f32).to_bits()));
        assert_eq!(number("f32", "uitofp").bits(0), u64::from((value as u64 as f32).to_bits()));
        assert_eq!(number("f64", "sitofp").bits(0), (value as f64).to_bits());
        let brain = decode(ElemType::BF16, number("bf16", "sitofp").bits(0));
        let near = |bits: u64| (decode(ElemType::BF16, bits) as i128 - i128::from(value)).abs();
        let bits = number("bf16", "sitofp").bits(0);
        assert!(
            near(bits) <= near(bits + 1) && (bits & 0x7fff == 0 || near(bits) <= near(bits - 1)),
            "{value} {brain}"
        );
    }
    // A tie that a detour through `f64` would make even.
    let value = (1 << 62) + (1 << 54) + 1;
    let body = "%r = arith.sitofp %a : i64 to bf16";
    let brain = decode(ElemType::BF16, eval("%a: i64", body, &[RuntimeValue::int(64, value)]).bits(0));
    assert_eq!(brain, ((1i64 << 62) + (1 << 55)) as f64);
}

#[test]
fn functions_are_near_known_values() {
    let of = |name: &str, value: f64| {
        let body = format!("%r = math.{name} %a : f64");
        numbers(&eval("%a: f64", &body, &[floats(ElemType::F64, &[], [value])]))[0]
    };
    for (name, value, expected) in [
        ("erf", 0.5, 0.520_499_877_813_046_5),
        ("erf", 2.0, 0.995_322_265_018_952_7),
        ("erf", -3.0, -0.999_977_909_503_001_4),
        ("erfc", 1.0, 0.157_299_207_050_285_13),
        ("erfc", 4.0, 1.541_725_790_028_002e-8),
        ("exp2", 0.5, std::f64::consts::SQRT_2),
        ("rsqrt", 4.0, 0.5),
        ("log2", 8.0, 3.0),
        ("roundeven", 2.5, 2.0),
    ] {
        let got = of(name, value);
        assert!((got - expected).abs() <= 1e-12 * expected.abs(), "{name}({value}) = {got}, not {expected}");
    }
    let body = "%r = tt.extern_elementwise %a {libname = \"\", libpath = \"\", pure = true, symbol = \"__nv_tanhf\"} : (f32) -> f32";
    let got = numbers(&eval("%a: f32", body, &[floats(ElemType::F32, &[], [0.5])]))[0];
    assert!((got - 0.5f64.tanh()).abs() < 1e-6);
}

#[test]
fn a_fused_product_of_halves_is_rounded_once() {
    let mut random = SplitMix64::new(11);
    let n = 20_000u64;
    let bits: Vec<[u64; 3]> =
        (0..n).map(|_| [random.next_u64(), random.next_u64(), random.next_u64()].map(|b| b & 0xffff)).collect();
    let part = |which: usize| {
        RuntimeValue::Tensor(TensorValue::from_bits(ElemType::F16, [n].into(), bits.iter().map(|b| b[which])))
    };
    let ty = format!("tensor<{n}xf16>");
    let parameters = format!("%a: {ty}, %b: {ty}, %c: {ty}");
    let result = eval(&parameters, &format!("%r = math.fma %a, %b, %c : {ty}"), &[part(0), part(1), part(2)]);
    for (at, bits) in bits.iter().enumerate() {
        let [a, b, c] = bits.map(|bits| decode(ElemType::F16, bits));
        if !(a.is_finite() && b.is_finite() && c.is_finite()) {
            continue;
        }
        // In units of 2^-48 all of it is an integer of less than 100 bits.
        let unit = 2f64.powi(48);
        let (product, addend) = ((a * b * unit) as i128, (c * unit) as i128);
        let exact = product + addend;
        let got = decode(ElemType::F16, result.bits(at));
        let distance = |bits: u64| ((decode(ElemType::F16, bits) * unit) as i128 - exact).abs();
        let got_bits = result.bits(at);
        if got.is_infinite() {
            assert!(exact.abs() >= (65520.0 * unit) as i128);
        } else {
            let up = if got_bits & 0x7fff < 0x7bff { distance(got_bits + 1) } else { i128::MAX };
            let down = if got_bits & 0x7fff > 0 { distance(got_bits - 1) } else { i128::MAX };
            let mine = distance(got_bits);
            assert!(mine <= up && mine <= down, "{a} {b} {c}: {got}");
            assert!((mine < up && mine < down) || got_bits & 1 == 0, "a tie that is not even: {a} {b} {c}: {got}");
        }
    }
}
