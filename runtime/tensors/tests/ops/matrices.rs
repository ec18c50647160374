//! Products of matrices, against three loops.

use super::*;
use tensors::dot::{Precision, dot};
use tensors::float_format::Rounding;
use tensors::float_format::{decode, encode};
use tensors::upcast::{ElementEncoding, OperandSide, upcast};

/// A matrix of random numbers of a type.
fn random(dtype: ElemType, shape: &[u64], seed: u64) -> TensorValue {
    let mut random = SplitMix64::new(seed);
    let len = shape.iter().product::<u64>();
    let bits = (0..len).map(|_| match dtype.is_int() {
        true => random.next_u64(),
        false => encode(dtype, super::unit(&mut random) * 4.0, Rounding::Nearest),
    });
    TensorValue::from_bits(dtype, Sizes::from(shape), bits.collect::<Vec<_>>().into_iter())
}

#[test]
fn products_of_floats() {
    let (batch, m, n, k) = (2u64, 5u64, 7u64, 13u64);
    for dtype in [ElemType::F16, ElemType::BF16, ElemType::F8E4M3FN, ElemType::F8E5M2, ElemType::F32, ElemType::F64] {
        let (a, b) = (random(dtype, &[batch, m, k], 1), random(dtype, &[batch, k, n], 2));
        let out = if dtype == ElemType::F64 { ElemType::F64 } else { ElemType::F32 };
        let c = random(out, &[batch, m, n], 3);
        let result = numbers(&dot(&a, &b, Some(&c), out, Precision::Ieee).unwrap());
        let (a, b, c) = (numbers(&a), numbers(&b), numbers(&c));
        for g in 0..batch {
            for i in 0..m {
                for j in 0..n {
                    let at = ((g * m + i) * n + j) as usize;
                    let product = |p: u64| a[((g * m + i) * k + p) as usize] * b[((g * k + p) * n + j) as usize];
                    let expected = c[at] + (0..k).map(product).sum::<f64>();
                    let error = if dtype == ElemType::F64 { 1e-13 } else { 2e-5 };
                    assert!((result[at] - expected).abs() < error, "{dtype:?}: {} {expected}", result[at]);
                }
            }
        }
    }
}

#[test]
fn products_of_bytes_wrap_in_32_bits() {
    let (a, b) = (random(ElemType::I8, &[4, 6], 1), random(ElemType::I8, &[6, 3], 2));
    let c = random(ElemType::I32, &[4, 3], 3);
    let result = dot(&a, &b, Some(&c), ElemType::I32, Precision::Ieee).unwrap().ints();
    for i in 0..4 {
        for j in 0..3 {
            let sum: i64 = (0..6).map(|p| a.int_at(i * 6 + p) * b.int_at(p * 3 + j)).sum();
            assert_eq!(result[i * 3 + j], i64::from((sum + c.int_at(i * 3 + j)) as i32));
        }
    }
}

#[test]
fn tf32_drops_bits() {
    let one = TensorValue::splat(ElemType::F32, [1, 1].into(), u64::from(1.0f32.to_bits()));
    let fine = TensorValue::splat(ElemType::F32, [1, 1].into(), u64::from(1.000_01f32.to_bits()));
    let result = |precision| numbers(&dot(&one, &fine, None, ElemType::F32, precision).unwrap())[0];
    assert_eq!(result(Precision::Tf32), 1.0);
    assert_eq!(result(Precision::Ieee), f64::from(1.000_01f32));
}

#[test]
fn a_product_in_the_text() {
    let body = "%d = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<2x4xf16> * tensor<4x2xf16> -> tensor<2x2xf32>";
    let a = floats(ElemType::F16, &[2, 4], (1..9).map(f64::from));
    let b = floats(ElemType::F16, &[4, 2], (1..9).map(f64::from));
    let c = floats(ElemType::F32, &[2, 2], [100.0; 4]);
    let result = eval("%a: tensor<2x4xf16>, %b: tensor<4x2xf16>, %c: tensor<2x2xf32>", body, &[a, b, c]);
    assert_eq!(numbers(&result), [150.0, 160.0, 214.0, 240.0]);
}

#[test]
fn a_product_without_a_precision_is_exact() {
    let result = |precision: &str| {
        let body = format!("%d = tt.dot %a, %a, %a{precision} : tensor<1x1xf32> * tensor<1x1xf32> -> tensor<1x1xf32>");
        numbers(&eval("%a: tensor<1x1xf32>", &body, &[floats(ElemType::F32, &[1, 1], [1.0 + 2f64.powi(-12)])]))[0]
    };
    let exact = 2.0 + 3.0 * 2f64.powi(-12);
    assert_eq!((result(""), result(", inputPrecision = ieee")), (exact, exact));
    assert_eq!(result(", inputPrecision = tf32"), 2.0 + 2f64.powi(-12));
}

#[test]
fn sizes_that_do_not_fit_are_said() {
    let (a, b) = (random(ElemType::F16, &[2, 3], 1), random(ElemType::F16, &[4, 2], 2));
    assert!(dot(&a, &b, None, ElemType::F32, Precision::Ieee).is_err());
}

#[test]
fn scales_multiply_runs_along_k() {
    let (m, n, k) = (4usize, 3usize, 64usize);
    let a = random(ElemType::F8E4M3FN, &[m as u64, k as u64], 5);
    let b = random(ElemType::I8, &[k as u64 / 2, n as u64], 6);
    let a_scale = ints(ElemType::I8, &[m as u64, 2], (0..m as i64 * 2).map(|at| 120 + at));
    let b_scale = ints(ElemType::I8, &[n as u64, 2], (0..n as i64 * 2).map(|at| 130 - at));
    let body = "%d = tt.dot_scaled %a scale %as, %b scale %bs, %c lhs = e4m3 rhs = e2m1 {fastMath = false} : \
                tensor<4x64xf8E4M3FN>, tensor<4x2xi8> * tensor<32x3xi8>, tensor<3x2xi8> -> tensor<4x3xf32>";
    let c = floats(ElemType::F32, &[4, 3], [0.0; 12]);
    let arguments =
        [RuntimeValue::Tensor(a.clone()), a_scale.clone(), RuntimeValue::Tensor(b.clone()), b_scale.clone(), c];
    let parameters =
        "%a: tensor<4x64xf8E4M3FN>, %as: tensor<4x2xi8>, %b: tensor<32x3xi8>, %bs: tensor<3x2xi8>, %c: tensor<4x3xf32>";
    let result = numbers(&eval(parameters, body, &arguments));
    let scale = |value: &RuntimeValue, at: usize| 2f64.powi(value.as_tensor().unwrap().bits(at) as i32 - 127);
    for i in 0..m {
        for j in 0..n {
            let mut sum = 0.0;
            for p in 0..k {
                let left = decode(ElemType::F8E4M3FN, a.bits(i * k + p)) * scale(&a_scale, i * 2 + p / 32);
                let byte = b.bits(p / 2 * n + j);
                let half = if p % 2 == 0 { byte & 15 } else { byte >> 4 };
                sum += left * decode(ElemType::F4E2M1, half) * scale(&b_scale, j * 2 + p / 32);
            }
            let got = result[i * n + j];
            assert!((got - sum).abs() <= 1e-5 * sum.abs().max(1.0), "{i} {j}: {got} {sum}");
        }
    }
}

#[test]
fn scales_that_are_floats_and_packing_along_m() {
    let packed = ints(ElemType::I8, &[1, 16], (0..16).map(|at| at | (15 - at) << 4));
    let scale = floats(ElemType::F8E4M3FN, &[2, 1], [0.5, 2.0]);
    let wide = upcast(packed.as_tensor().unwrap(), ElementEncoding::E2M1, scale.as_tensor(), OperandSide::Left, false)
        .unwrap();
    assert_eq!(&wide.shape()[..], [2, 16]);
    let wide = numbers(&wide);
    for at in 0..16 {
        assert_eq!(wide[at], decode(ElemType::F4E2M1, at as u64) * 0.5);
        assert_eq!(wide[16 + at], decode(ElemType::F4E2M1, 15 - at as u64) * 2.0);
    }
}

#[test]
fn packed_floats_of_four_bits() {
    let body = "%r = ttg.fp4_to_fp %a {axis = 0 : i32} : tensor<2x2xi8> -> tensor<4x2xf16>";
    let result = eval("%a: tensor<2x2xi8>", body, &[ints(ElemType::I8, &[2, 2], [0x21, 0x43, 0x65, -1])]);
    assert_eq!(numbers(&result), [0.5, 1.5, 1.0, 2.0, 3.0, -6.0, 4.0, -6.0]);
}
