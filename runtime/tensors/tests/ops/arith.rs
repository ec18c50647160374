//! Integers at every width, and floats.

use super::*;

/// What MLIR says of an operation, on numbers of any size.
fn reference(name: &str, width: u32, a: i64, b: i64) -> Option<i64> {
    let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
    let (ua, ub) = (i128::from(a as u64 & mask), i128::from(b as u64 & mask));
    let half = 1i128 << (width - 1);
    let sign = |value: i128| if value >= half { value - 2 * half } else { value };
    let (sa, sb) = (sign(ua), sign(ub));
    let floor = |a: i128, b: i128| if a % b != 0 && (a < 0) != (b < 0) { a / b - 1 } else { a / b };
    let shift = ub < i128::from(width);
    let value = match name {
        "addi" => ua + ub,
        "subi" => ua - ub,
        "muli" => sa * sb,
        "divsi" if sb != 0 => sa / sb,
        "divui" if ub != 0 => ua / ub,
        "remsi" if sb != 0 => sa % sb,
        "remui" if ub != 0 => ua % ub,
        "floordivsi" if sb != 0 => floor(sa, sb),
        "ceildivsi" if sb != 0 => -floor(-sa, sb),
        "ceildivui" if ub != 0 => -floor(-ua, ub),
        "andi" => ua & ub,
        "ori" => ua | ub,
        "xori" => ua ^ ub,
        "shli" if shift => ua << ub,
        "shrsi" if shift => sa >> ub,
        "shrui" if shift => ua >> ub,
        "maxsi" => sa.max(sb),
        "minsi" => sa.min(sb),
        "maxui" => ua.max(ub),
        "minui" => ua.min(ub),
        _ => return None,
    };
    let bits = value as u64 & mask;
    Some(if width == 1 { bits as i64 } else { sign(i128::from(bits)) as i64 })
}

const TYPES: [(ElemType, u32); 5] =
    [(ElemType::I1, 1), (ElemType::I8, 8), (ElemType::I16, 16), (ElemType::I32, 32), (ElemType::I64, 64)];

/// Pairs worth a look at a width: all of a byte, else the edges and others.
fn pairs(width: u32) -> Vec<(i64, i64)> {
    if width <= 8 {
        let half = 1i64 << (width - 1);
        return (-half..half).flat_map(|a| (-half..half).map(move |b| (a, b))).collect();
    }
    let mut random = SplitMix64::new(u64::from(width));
    let (most, least) = (i64::MAX >> (64 - width), i64::MIN >> (64 - width));
    let mut some = vec![0, 1, -1, 2, -2, 7, i64::from(width) - 1, i64::from(width), most, most - 1, least, least + 1];
    some.extend((0..30).map(|_| random.next_u64() as i64 >> (64 - width)));
    some.extend((0..30).map(|_| random.next_u64() as i64 >> (random.next_u64() % 62)));
    let wrap = |value: i64| value << (64 - width) >> (64 - width);
    some.iter().flat_map(|a| some.iter().map(move |b| (wrap(*a), wrap(*b)))).collect()
}

#[test]
fn integers_wrap_and_divide_as_mlir_says() {
    let names = [
        "addi",
        "subi",
        "muli",
        "divsi",
        "divui",
        "remsi",
        "remui",
        "floordivsi",
        "ceildivsi",
        "ceildivui",
        "andi",
        "ori",
        "xori",
        "shli",
        "shrsi",
        "shrui",
        "maxsi",
        "minsi",
        "maxui",
        "minui",
    ];
    for (dtype, width) in TYPES {
        let pairs = pairs(width);
        let n = pairs.len() as u64;
        let a = ints(dtype, &[n], pairs.iter().map(|pair| pair.0));
        let b = ints(dtype, &[n], pairs.iter().map(|pair| pair.1));
        for name in names {
            let ty = format!("tensor<{n}xi{width}>");
            let body = format!("%r = arith.{name} %a, %b : {ty}");
            let result = eval(&format!("%a: {ty}, %b: {ty}"), &body, &[a.clone(), b.clone()]);
            for (at, &(a, b)) in pairs.iter().enumerate() {
                let Some(expected) = reference(name, width, a, b) else { continue };
                // The smallest number by -1 does not fit.
                assert_eq!(result.int_at(at), expected, "{name} i{width} {a} {b}");
            }
        }
    }
}

/// A comparison of two numbers, signed and unsigned.
type Holds = fn(i64, i64, u64, u64) -> bool;

#[test]
fn integers_compare_by_sign_or_without() {
    for (dtype, width) in TYPES {
        let pairs = pairs(width);
        let n = pairs.len() as u64;
        let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
        let a = ints(dtype, &[n], pairs.iter().map(|pair| pair.0));
        let b = ints(dtype, &[n], pairs.iter().map(|pair| pair.1));
        let tests: [(&str, Holds); 10] = [
            ("eq", |a, b, _, _| a == b),
            ("ne", |a, b, _, _| a != b),
            ("slt", |a, b, _, _| a < b),
            ("sle", |a, b, _, _| a <= b),
            ("sgt", |a, b, _, _| a > b),
            ("sge", |a, b, _, _| a >= b),
            ("ult", |_, _, a, b| a < b),
            ("ule", |_, _, a, b| a <= b),
            ("ugt", |_, _, a, b| a > b),
            ("uge", |_, _, a, b| a >= b),
        ];
        for (name, holds) in tests {
            let ty = format!("tensor<{n}xi{width}>");
            let body = format!("%r = arith.cmpi {name}, %a, %b : {ty}");
            let result = eval(&format!("%a: {ty}, %b: {ty}"), &body, &[a.clone(), b.clone()]);
            assert_eq!(result.dtype(), ElemType::I1);
            for (at, &(a, b)) in pairs.iter().enumerate() {
                let expected = holds(a, b, a as u64 & mask, b as u64 & mask);
                assert_eq!(result.int_at(at) != 0, expected, "{name} i{width} {a} {b}");
            }
        }
    }
}

#[test]
fn what_is_undefined_is_what_hardware_gives() {
    let one = |name: &str, a, b| {
        let body = format!("%r = arith.{name} %a, %b : i32");
        eval("%a: i32, %b: i32", &body, &[RuntimeValue::int(32, a), RuntimeValue::int(32, b)]).int_at(0)
    };
    assert_eq!(one("divsi", 7, 0), -1);
    assert_eq!(one("remui", 7, 0), 7);
    assert_eq!(one("divsi", i64::from(i32::MIN), -1), i64::from(i32::MIN));
    assert_eq!(one("shli", 1, 32), 0);
    assert_eq!(one("shrsi", -8, 99), -1);
}

#[test]
fn extensions_truncations_and_products_of_twice_the_width() {
    let cast = |body: &str, from: &str, value: RuntimeValue| eval(&format!("%a: {from}"), body, &[value]).int_at(0);
    assert_eq!(cast("%r = arith.extsi %a : i1 to i32", "i1", RuntimeValue::int(1, 1)), -1);
    assert_eq!(cast("%r = arith.extui %a : i1 to i32", "i1", RuntimeValue::int(1, 1)), 1);
    assert_eq!(cast("%r = arith.extui %a : i8 to i32", "i8", RuntimeValue::int(8, -1)), 255);
    assert_eq!(cast("%r = arith.extsi %a : i8 to i64", "i8", RuntimeValue::int(8, -1)), -1);
    assert_eq!(cast("%r = arith.trunci %a : i32 to i8", "i32", RuntimeValue::int(32, 511)), -1);
    assert_eq!(cast("%r = arith.trunci %a : i32 to i1", "i32", RuntimeValue::int(32, 2)), 0);
    let mut random = SplitMix64::new(3);
    for _ in 0..200 {
        let (a, b) = (random.next_u64() as i64, random.next_u64() as i64);
        let both = [RuntimeValue::int(64, a), RuntimeValue::int(64, b)];
        let kernel = Kernel::new(1, "%a: i64, %b: i64", "%l, %h = arith.mulsi_extended %a, %b : i64");
        let results = kernel.run(&both).unwrap();
        let product = i128::from(a) * i128::from(b);
        assert_eq!(results[0].as_int().unwrap(), product as i64);
        assert_eq!(results[1].as_int().unwrap(), (product >> 64) as i64);
        let high = eval("%a: i64, %b: i64", "%r = tt.mulhiui %a, %b : i64", &both).int_at(0);
        assert_eq!(high, ((u128::from(a as u64) * u128::from(b as u64)) >> 64) as i64);
        let kernel = Kernel::new(1, "%a: i64, %b: i64", "%s, %c = arith.addui_extended %a, %b : i64, i1");
        let results = kernel.run(&both).unwrap();
        assert_eq!(results[0].as_int().unwrap(), a.wrapping_add(b));
        assert_eq!(results[1].as_int().unwrap() != 0, (a as u64).checked_add(b as u64).is_none());
    }
}

#[test]
fn floats_compare_ordered_and_unordered() {
    let some = [0.0, -0.0, 1.0, -1.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let all: Vec<(f64, f64)> = some.iter().flat_map(|a| some.iter().map(move |b| (*a, *b))).collect();
    let n = all.len() as u64;
    for (dtype, name) in
        [(ElemType::F32, "f32"), (ElemType::F64, "f64"), (ElemType::F16, "f16"), (ElemType::BF16, "bf16")]
    {
        let a = floats(dtype, &[n], all.iter().map(|pair| pair.0));
        let b = floats(dtype, &[n], all.iter().map(|pair| pair.1));
        for (test, unordered, holds) in [
            ("oeq", false, (|a, b| a == b) as fn(f64, f64) -> bool),
            ("ogt", false, |a, b| a > b),
            ("oge", false, |a, b| a >= b),
            ("olt", false, |a, b| a < b),
            ("ole", false, |a, b| a <= b),
            ("one", false, |a, b| a != b),
            ("ord", false, |_, _| true),
            ("ueq", true, |a, b| a == b),
            ("ugt", true, |a, b| a > b),
            ("uge", true, |a, b| a >= b),
            ("ult", true, |a, b| a < b),
            ("ule", true, |a, b| a <= b),
            ("une", true, |a, b| a != b),
            ("uno", true, |_, _| false),
        ] {
            let ty = format!("tensor<{n}x{name}>");
            let body = format!("%r = arith.cmpf {test}, %a, %b : {ty}");
            let result = eval(&format!("%a: {ty}, %b: {ty}"), &body, &[a.clone(), b.clone()]);
            for (at, &(a, b)) in all.iter().enumerate() {
                let expected = if a.is_nan() || b.is_nan() { unordered } else { holds(a, b) };
                assert_eq!(result.int_at(at) != 0, expected, "{test} {a} {b}");
            }
        }
    }
}

#[test]
fn maxima_keep_numbers_or_nan() {
    let max = |name: &str, a: f64, b: f64| {
        let body = format!("%r = arith.{name} %a, %b : f32");
        let scalar = |value| floats(ElemType::F32, &[], [value]);
        numbers(&eval("%a: f32, %b: f32", &body, &[scalar(a), scalar(b)]))[0]
    };
    assert_eq!(max("maxnumf", f64::NAN, 1.0), 1.0);
    assert_eq!(max("maxnumf", 1.0, f64::NAN), 1.0);
    assert!(max("maximumf", f64::NAN, 1.0).is_nan());
    assert!(max("maximumf", 1.0, f64::NAN).is_nan());
    assert!(max("minimumf", 1.0, f64::NAN).is_nan());
    assert_eq!(max("minnumf", f64::NAN, -1.0), -1.0);
    assert!(max("maximumf", -0.0, 0.0).is_sign_positive());
    assert!(max("maximumf", 0.0, -0.0).is_sign_positive());
    assert!(max("minimumf", 0.0, -0.0).is_sign_negative());
    assert!(max("minimumf", -0.0, 0.0).is_sign_negative());
    assert_eq!(max("maximumf", -3.0, 2.0), 2.0);
}

#[test]
fn a_clamp_lets_nan_through_or_not() {
    let clamp = |nan: &str, value: f64| {
        let body = format!("%r = tt.clampf %a, %l, %h, propagateNan = {nan} : f32");
        let scalar = |value| floats(ElemType::F32, &[], [value]);
        numbers(&eval("%a: f32, %l: f32, %h: f32", &body, &[scalar(value), scalar(-1.0), scalar(2.0)]))[0]
    };
    assert_eq!(clamp("none", 5.0), 2.0);
    assert_eq!(clamp("none", -5.0), -1.0);
    assert_eq!(clamp("none", f64::NAN), -1.0);
    assert!(clamp("all", f64::NAN).is_nan());
}

#[test]
fn constants_of_every_form() {
    let read = |body: &str| eval("", body, &[]);
    assert_eq!(read("%c = arith.constant true").ints(), [1]);
    assert_eq!(read("%c = arith.constant -7 : i32").ints(), [-7]);
    assert_eq!(read("%c = arith.constant dense<[1, 2, -3]> : tensor<3xi32>").ints(), [1, 2, -3]);
    assert_eq!(read("%c = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>").ints(), [1, 2, 3, 4]);
    assert_eq!(numbers(&read("%c = arith.constant 1.280000e+02 : f32")), [128.0]);
    assert_eq!(numbers(&read("%c = arith.constant dense<0xFF800000> : tensor<2xf32>")), [f64::NEG_INFINITY; 2]);
    assert_eq!(numbers(&read("%c = arith.constant dense<0x7C00> : tensor<2xf16>")), [f64::INFINITY; 2]);
    assert_eq!(numbers(&read("%c = arith.constant dense<1.5> : tensor<2xbf16>")), [1.5; 2]);
    assert_eq!(read("%c = arith.constant dense<\"0x0100000002000000\"> : tensor<2xi32>").ints(), [1, 2]);
    assert_eq!(read("%c = arith.constant dense<[true, false]> : tensor<2xi1>").ints(), [1, 0]);
}
