//! Global memory through pointers, atomics and descriptors.

use super::*;

/// A world with one allocation of words `0, 1, 2, …` of a type, and its address.
fn world(dtype: ElemType, count: u64) -> (Environment, RuntimeValue) {
    let mut world = Environment::default();
    let tensor = ints(dtype, &[count], 0..count as i64);
    let tensor = tensor.as_tensor().unwrap();
    let bits = (0..tensor.len()).flat_map(|at| tensor.bits(at).to_le_bytes().into_iter().take(dtype.bytes()));
    let address = world.global.allocate("x", bits.collect());
    (world, RuntimeValue::int(64, address as i64))
}

fn words(world: &Environment, address: &RuntimeValue) -> Vec<i32> {
    let bytes = world.global.contents(address.as_int().unwrap() as u64).unwrap();
    bytes.chunks_exact(4).map(|word| i32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

const POINTERS: &str = "%r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>\n\
                        %n = arith.muli %r, %step : tensor<8xi32>\n\
                        %b = tt.splat %p : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>\n\
                        %q = tt.addptr %b, %n : tensor<8x!tt.ptr<i32>>, tensor<8xi32>\n";

fn splat(value: i64) -> RuntimeValue {
    ints(ElemType::I32, &[8], [value; 8])
}

#[test]
fn loads_with_strides_masks_and_others() {
    let (mut world, address) = world(ElemType::I32, 64);
    let parameters = "%p: !tt.ptr<i32>, %step: tensor<8xi32>, %m: tensor<8xi1>, %o: tensor<8xi32>";
    let plain = Kernel::new(1, parameters, &format!("{POINTERS}%v = tt.load %q : tensor<8x!tt.ptr<i32>>"));
    let mask = Kernel::new(1, parameters, &format!("{POINTERS}%v = tt.load %q, %m : tensor<8x!tt.ptr<i32>>"));
    let other = Kernel::new(1, parameters, &format!("{POINTERS}%v = tt.load %q, %m, %o : tensor<8x!tt.ptr<i32>>"));
    let bits = ints(ElemType::I1, &[8], [1, 1, 0, 0, 1, 0, 1, 1]);
    for step in [0, 1, 3, 9] {
        let arguments = [address.clone(), splat(step), bits.clone(), splat(-5)];
        let mut get =
            |kernel: &Kernel| kernel.run_in(0, &arguments, &mut world).unwrap()[0].as_tensor().unwrap().ints();
        let expected = |none: i64| -> Vec<i64> {
            (0..8).zip([1, 1, 0, 0, 1, 0, 1, 1]).map(|(at, bit)| if bit == 1 { at * step } else { none }).collect()
        };
        assert_eq!(get(&plain), (0..8).map(|at| at * step).collect::<Vec<i64>>());
        assert_eq!(get(&mask), expected(0));
        assert_eq!(get(&other), expected(-5));
    }
}

#[test]
fn an_access_outside_names_the_argument_and_the_element() {
    let (mut world, address) = world(ElemType::I32, 10);
    let parameters = "%p: !tt.ptr<i32>, %step: tensor<8xi32>, %m: tensor<8xi1>";
    let load = Kernel::new(1, parameters, &format!("{POINTERS}%v = tt.load %q, %m : tensor<8x!tt.ptr<i32>>"));
    let store = Kernel::new(1, parameters, &format!("{POINTERS}tt.store %q, %r, %m : tensor<8x!tt.ptr<i32>>"));
    let all = ints(ElemType::I1, &[8], [1; 8]);
    let few = ints(ElemType::I1, &[8], [1, 1, 1, 1, 0, 0, 0, 0]);
    let arguments = |mask: &RuntimeValue, step| [address.clone(), splat(step), mask.clone()];
    let trap = load.run_in(0, &arguments(&all, 3), &mut world).unwrap_err();
    let Trap::OutOfBounds { fault, write: false, element: 4 } = trap else { panic!("{trap:?}") };
    assert_eq!(fault.near, Some(("x".into(), 48, 40)));
    assert!(load.run_in(0, &arguments(&few, 3), &mut world).is_ok());
    let trap = store.run_in(0, &arguments(&all, -1), &mut world).unwrap_err();
    let Trap::OutOfBounds { fault, write: true, element: 1 } = trap else { panic!("{trap:?}") };
    assert_eq!(fault.near, Some(("x".into(), -4, 40)));
    assert!(trap_text(&store, &arguments(&all, 2), &mut world).contains("at byte 40 of `x`, which has 40"));
}

fn trap_text(kernel: &Kernel, arguments: &[RuntimeValue], world: &mut Environment) -> String {
    kernel.run_in(0, arguments, world).unwrap_err().to_string()
}

#[test]
fn stores_land_in_memory() {
    let (mut world, address) = world(ElemType::I32, 32);
    let parameters = "%p: !tt.ptr<i32>, %step: tensor<8xi32>, %m: tensor<8xi1>, %v: tensor<8xi32>";
    let store = Kernel::new(1, parameters, &format!("{POINTERS}tt.store %q, %v, %m : tensor<8x!tt.ptr<i32>>"));
    let mask = ints(ElemType::I1, &[8], [1, 0, 1, 1, 1, 1, 1, 0]);
    store.run_in(0, &[address.clone(), splat(4), mask, ints(ElemType::I32, &[8], 100..108)], &mut world).unwrap();
    let expected: Vec<i32> =
        (0..32).map(|at| if at % 4 == 0 && at != 4 && at != 28 { 100 + at / 4 } else { at }).collect();
    assert_eq!(words(&world, &address), expected);
}

#[test]
fn halves_keep_their_bits_on_the_way() {
    let mut world = Environment::default();
    let address = world.global.allocate("h", vec![0; 16]);
    let body = "%r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>\n\
                %b = tt.splat %p : !tt.ptr<f16> -> tensor<8x!tt.ptr<f16>>\n\
                %q = tt.addptr %b, %r : tensor<8x!tt.ptr<f16>>, tensor<8xi32>\n\
                tt.store %q, %v : tensor<8x!tt.ptr<f16>>\n%w = tt.load %q : tensor<8x!tt.ptr<f16>>";
    let kernel = Kernel::new(1, "%p: !tt.ptr<f16>, %v: tensor<8xf16>", body);
    let v = floats(ElemType::F16, &[8], (0..8).map(|at| f64::from(at) * 0.25 - 1.0));
    let back = kernel.run_in(0, &[RuntimeValue::int(64, address as i64), v.clone()], &mut world).unwrap();
    assert_eq!(back, [v]);
}

#[test]
fn atomics_see_what_those_before_them_left() {
    for (kind, start, values, last) in [
        ("add", 10, [1i64, 2, 3, 4, 5, 6, 7, 8], 46),
        ("max", 5, [1, 9, 3, 4, 5, 6, 7, 8], 9),
        ("min", 5, [7, 9, 3, 4, -5, 6, 7, 8], -5),
        ("umax", 5, [7, 9, 3, 4, -5, 6, 7, 8], -5),
        ("umin", 5, [7, 9, 3, 4, -5, 6, 7, 8], 3),
        ("and", -1, [7, 15, 7, 7, 7, 3, 7, 7], 3),
        ("or", 0, [1, 2, 4, 8, 1, 1, 1, 1], 15),
        ("xor", 0, [1, 2, 4, 8, 1, 1, 1, 1], 15),
        ("exch", 3, [1, 2, 3, 4, 5, 6, 7, 8], 8),
    ] {
        let mut world = Environment::default();
        let address = world.global.allocate("x", (start as i32).to_le_bytes().to_vec());
        let body = format!(
            "%q = tt.splat %p : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>\n\
             %o = tt.atomic_rmw {kind}, acq_rel, gpu, %q, %v : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>) -> tensor<8xi32>"
        );
        let kernel = Kernel::new(1, "%p: !tt.ptr<i32>, %v: tensor<8xi32>", &body);
        let pointer = RuntimeValue::int(64, address as i64);
        let olds = kernel.run_in(0, &[pointer.clone(), ints(ElemType::I32, &[8], values)], &mut world).unwrap();
        assert_eq!(words(&world, &pointer), [last], "{kind}");
        let olds = olds[0].as_tensor().unwrap().ints();
        assert_eq!(olds[0], start, "{kind}");
        let step = |old: i64, value: i64| match kind {
            "add" => old + value,
            "max" => old.max(value),
            "min" => old.min(value),
            "umax" => (old as u32).max(value as u32) as i32 as i64,
            "umin" => (old as u32).min(value as u32) as i32 as i64,
            "and" => old & value,
            "or" => old | value,
            "xor" => old ^ value,
            _ => value,
        };
        for at in 1..8 {
            assert_eq!(olds[at], step(olds[at - 1], values[at - 1]), "{kind} {at}");
        }
    }
}

#[test]
fn float_sums_and_exchanges_under_a_condition() {
    let mut world = Environment::default();
    let address = world.global.allocate("x", 1.5f32.to_le_bytes().to_vec());
    let pointer = RuntimeValue::int(64, address as i64);
    let body = "%o = tt.atomic_rmw fadd, relaxed, gpu, %p, %v, %m : (!tt.ptr<f32>, f32, i1) -> f32";
    let add = Kernel::new(1, "%p: !tt.ptr<f32>, %v: f32, %m: i1", body);
    let run = |world: &mut Environment, mask| {
        let v = floats(ElemType::F32, &[], [2.25]);
        add.run_in(0, &[pointer.clone(), v, RuntimeValue::int(1, mask)], world).unwrap()[0].clone()
    };
    assert_eq!(run(&mut world, 1), floats(ElemType::F32, &[], [1.5]));
    run(&mut world, 0);
    assert_eq!(world.global.contents(address).unwrap(), 3.75f32.to_le_bytes());
    let body = "%o = tt.atomic_cas acq_rel, gpu, %p, %c, %v : (!tt.ptr<i32>, i32, i32) -> i32";
    let cas = Kernel::new(1, "%p: !tt.ptr<i32>, %c: i32, %v: i32", body);
    let held = i64::from(3.75f32.to_bits());
    for (compare, old, new) in [(1, held, held), (held, held, 7), (7, 7, 9)] {
        let next = if compare == 1 { 5 } else { new };
        let arguments = [pointer.clone(), RuntimeValue::int(32, compare), RuntimeValue::int(32, next)];
        assert_eq!(cas.run_in(0, &arguments, &mut world).unwrap()[0].as_int(), Some(old));
        assert_eq!(words(&world, &pointer), [new as i32]);
    }
}

const DESCRIPTOR: &str = "%d = tt.make_tensor_descriptor %p, [%h, %w], [%s, %one] : <i32>, <4x8xi32>\n";
const SIZES: &str = "%p: !tt.ptr<i32>, %h: i32, %w: i32, %s: i64, %one: i64, %x: i32, %y: i32";

/// A tensor of 6 rows of 10 columns, 16 words apart.
fn block(x: i64, y: i64) -> (Environment, Vec<RuntimeValue>) {
    let (world, address) = world(ElemType::I32, 96);
    let arguments = [6, 10].map(|size| RuntimeValue::int(32, size)).into_iter();
    let strides = [16, 1].map(|stride| RuntimeValue::int(64, stride));
    let at = [x, y].map(|at| RuntimeValue::int(32, at));
    (world, std::iter::once(address).chain(arguments).chain(strides).chain(at).collect())
}

#[test]
fn blocks_are_zero_outside_of_the_tensor() {
    for (x, y) in [(0, 0), (3, 0), (0, 5), (4, 7), (-2, -3), (5, 9), (6, 0), (0, 10), (-9, 2), (1, -20)] {
        let (mut world, arguments) = block(x, y);
        let body =
            format!("{DESCRIPTOR}%r = tt.descriptor_load %d[%x, %y] : !tt.tensordesc<4x8xi32> -> tensor<4x8xi32>");
        let result = Kernel::new(1, SIZES, &body).run_in(0, &arguments, &mut world).unwrap();
        let result = result[0].as_tensor().unwrap().ints();
        for i in 0..4 {
            for j in 0..8 {
                let (row, column) = (x + i, y + j);
                let inside = (0..6).contains(&row) && (0..10).contains(&column);
                assert_eq!(result[(i * 8 + j) as usize], if inside { row * 16 + column } else { 0 }, "{x} {y} {i} {j}");
            }
        }
    }
}

#[test]
fn blocks_are_not_written_outside_of_the_tensor() {
    for (op, f) in
        [("descriptor_store", (|_, new| new) as fn(i32, i32) -> i32), ("descriptor_reduce", |old, new| old + new)]
    {
        for (x, y) in [(0, 0), (4, 7), (-2, -3), (6, 0)] {
            let (mut world, mut arguments) = block(x, y);
            arguments.push(ints(ElemType::I32, &[4, 8], 1000..1032));
            let kind = if op == "descriptor_reduce" { "add, " } else { "" };
            let body = format!("{DESCRIPTOR}tt.{op} {kind}%d[%x, %y], %v : !tt.tensordesc<4x8xi32>, tensor<4x8xi32>");
            let parameters = format!("{SIZES}, %v: tensor<4x8xi32>");
            Kernel::new(1, &parameters, &body).run_in(0, &arguments, &mut world).unwrap();
            for (at, word) in words(&world, &arguments[0]).into_iter().enumerate() {
                let (row, column) = (at as i64 / 16, at as i64 % 16);
                let (i, j) = (row - x, column - y);
                let inside = row < 6 && column < 10 && (0..4).contains(&i) && (0..8).contains(&j);
                let expected = if inside { f(at as i32, (1000 + i * 8 + j) as i32) } else { at as i32 };
                assert_eq!(word, expected, "{op} {x} {y} {at}");
            }
        }
    }
}

#[test]
fn rows_are_gathered_and_scattered() {
    let (mut world, mut arguments) = block(0, 0);
    let make = "%d = tt.make_tensor_descriptor %p, [%h, %w], [%s, %one] : <i32>, <1x8xi32>\n";
    arguments.push(ints(ElemType::I32, &[4], [5, 0, 9, 2]));
    let parameters = format!("{SIZES}, %rows: tensor<4xi32>");
    let body = format!(
        "{make}%r = tt.descriptor_gather %d[%rows, %y] : (!tt.tensordesc<1x8xi32>, tensor<4xi32>, i32) -> tensor<4x8xi32>"
    );
    arguments[6] = RuntimeValue::int(32, 4);
    let got = Kernel::new(1, &parameters, &body).run_in(0, &arguments, &mut world).unwrap();
    let got = got[0].as_tensor().unwrap().ints();
    for (i, row) in [5i64, 0, 9, 2].into_iter().enumerate() {
        for j in 0..8 {
            let inside = row < 6 && j + 4 < 10;
            assert_eq!(got[i * 8 + j as usize], if inside { row * 16 + j + 4 } else { 0 });
        }
    }
    let body = format!(
        "{make}tt.descriptor_scatter %d[%rows, %y], %v : !tt.tensordesc<1x8xi32>, tensor<4xi32>, i32, tensor<4x8xi32>"
    );
    arguments.push(ints(ElemType::I32, &[4, 8], 500..532));
    Kernel::new(1, &format!("{parameters}, %v: tensor<4x8xi32>"), &body).run_in(0, &arguments, &mut world).unwrap();
    let now = words(&world, &arguments[0]);
    assert_eq!(now[5 * 16 + 4..5 * 16 + 11], [500, 501, 502, 503, 504, 505, 90]);
    assert_eq!(now[4..12], [508, 509, 510, 511, 512, 513, 10, 11]);
}

#[test]
fn assertions_and_prints() {
    let assert = "tt.assert %c, \"too large\" : tensor<4xi1>";
    let kernel = Kernel::new(1, "%c: tensor<4xi1>", assert);
    assert_eq!(kernel.run(&[ints(ElemType::I1, &[4], [1; 4])]), Ok(Vec::new()));
    assert_eq!(kernel.run(&[ints(ElemType::I1, &[4], [1, 1, 0, 1])]), Err(Trap::Assert("too large".into())));
    let print = "tt.print \" x: \" {hex = false, isSigned = array<i32: 1>} : %a : tensor<3xi32>";
    let mut world = Environment::default();
    Kernel::new(1, "%a: tensor<3xi32>", print).run_in(0, &[ints(ElemType::I32, &[3], -1..2)], &mut world).unwrap();
    assert_eq!(world.prints, ["program (0, 0, 0): x:  [-1, 0, 1]"]);
}

#[test]
fn what_is_not_followed_is_said() {
    let body = "%r = tt.elementwise_inline_asm \"lop3.b32 $0, $1, 1, 2, 3;\" {constraints = \"=r,r\", packed_element = 1 : i32, pure = true} %a : i32 -> i32";
    let trap = Kernel::new(1, "%a: i32", body).run(&[RuntimeValue::int(32, 1)]);
    assert!(matches!(trap, Err(Trap::NotFollowed(why)) if why.contains("lop3")));
    let body = "%r = tt.elementwise_inline_asm \"ex2.approx.ftz.f32 $0, $1;\" {constraints = \"=f,f\", packed_element = 1 : i32, pure = true} %a : f32 -> f32";
    assert_eq!(numbers(&eval("%a: f32", body, &[floats(ElemType::F32, &[], [3.0])])), [8.0]);
    let body = "%r = tt.elementwise_inline_asm \"cvt.rna.tf32.f32 $0, $1;\" {constraints = \"=r,r\", packed_element = 1 : i32, pure = true} %a : f32 -> f32";
    let halfway = 1.0 + 2f64.powi(-11);
    assert_eq!(numbers(&eval("%a: f32", body, &[floats(ElemType::F32, &[], [halfway])])), [1.0 + 2f64.powi(-10)]);
    let body = "%r = tt.elementwise_inline_asm \"nanosleep.u32 $1; mov.b32 $0, 7;\" {constraints = \"=r, r\", packed_element = 1 : i32, pure = false} %a : i32 -> i32";
    assert_eq!(Kernel::new(1, "%a: i32", body).run(&[RuntimeValue::int(32, 100)]), Ok(vec![RuntimeValue::int(32, 7)]));
}
