//! Reductions and scans, against loops.

use super::*;

fn reduce(axis: usize, from: &str, to: &str, element: &str, op: &str) -> String {
    format!(
        "%r = \"tt.reduce\"(%a) <{{axis = {axis} : i32}}> ({{\n^bb0(%x: {element}, %y: {element}):\n\
         %s = {op} %x, %y : {element}\ntt.reduce.return %s : {element}\n}}) : (tensor<{from}x{element}>) -> {to}"
    )
}

#[test]
fn sums_along_each_axis() {
    let (x, y, z) = (4usize, 5usize, 8usize);
    let mut random = SplitMix64::new(4);
    let values: Vec<i64> = (0..x * y * z).map(|_| (random.next_u64() % 1000) as i64 - 500).collect();
    let a = ints(ElemType::I32, &[4, 5, 8], values.clone());
    let at = |i: usize, j: usize, k: usize| values[(i * y + j) * z + k];
    let sum = |axis, to: &str| {
        let body = reduce(axis, "4x5x8", &format!("tensor<{to}xi32>"), "i32", "arith.addi");
        eval("%a: tensor<4x5x8xi32>", &body, std::slice::from_ref(&a)).ints()
    };
    let first: Vec<i64> = (0..y * z).map(|p| (0..x).map(|i| at(i, p / z, p % z)).sum()).collect();
    let second: Vec<i64> = (0..x * z).map(|p| (0..y).map(|j| at(p / z, j, p % z)).sum()).collect();
    let third: Vec<i64> = (0..x * y).map(|p| (0..z).map(|k| at(p / y, p % y, k)).sum()).collect();
    assert_eq!(sum(0, "5x8"), first);
    assert_eq!(sum(1, "4x8"), second);
    assert_eq!(sum(2, "4x5"), third);
}

#[test]
fn a_maximum_to_a_scalar() {
    let a = floats(ElemType::F32, &[16], (0..16).map(|at| f64::from((at * 7) % 16)));
    let body = reduce(0, "16", "f32", "f32", "arith.maxnumf");
    let result = eval("%a: tensor<16xf32>", &body, &[a]);
    assert_eq!((numbers(&result), result.shape().len()), (vec![15.0], 0));
}

#[test]
fn an_argmax_takes_the_first_of_equals() {
    let body = "%r:2 = \"tt.reduce\"(%a, %i) <{axis = 1 : i32}> ({\n\
                ^bb0(%x: f32, %n: i32, %y: f32, %m: i32):\n\
                %same = arith.cmpf oeq, %x, %y : f32\n\
                %before = arith.cmpi slt, %n, %m : i32\n\
                %tie = arith.andi %same, %before : i1\n\
                %more = arith.cmpf ogt, %x, %y : f32\n\
                %left = arith.ori %more, %tie : i1\n\
                %v = arith.select %left, %x, %y : f32\n\
                %k = arith.select %left, %n, %m : i32\n\
                tt.reduce.return %v, %k : f32, i32\n\
                }) : (tensor<2x8xf32>, tensor<2x8xi32>) -> (tensor<2xf32>, tensor<2xi32>)";
    let values = [1.0, 9.0, 3.0, 9.0, 0.0, 2.0, 9.0, 1.0, -5.0, -4.0, -9.0, -4.0, -7.0, -4.0, -8.0, -6.0];
    let a = floats(ElemType::F32, &[2, 8], values);
    let i = ints(ElemType::I32, &[2, 8], (0..16).map(|at| at % 8));
    let kernel = Kernel::new(1, "%a: tensor<2x8xf32>, %i: tensor<2x8xi32>", body);
    let results = kernel.run(&[a, i]).unwrap();
    assert_eq!(numbers(results[0].as_tensor().unwrap()), [9.0, -4.0]);
    assert_eq!(results[1].as_tensor().unwrap().ints(), [1, 1]);
}

#[test]
fn a_region_may_branch_and_take_constants_from_outside() {
    let body = "%limit = arith.constant 100 : i32\n\
                %r = \"tt.reduce\"(%a) <{axis = 0 : i32}> ({\n\
                ^bb0(%x: i32, %y: i32):\n\
                %s = arith.addi %x, %y : i32\n\
                %over = arith.cmpi sgt, %s, %limit : i32\n\
                %c = scf.if %over -> (i32) {\n scf.yield %limit : i32\n} else {\n scf.yield %s : i32\n}\n\
                tt.reduce.return %c : i32\n}) : (tensor<8xi32>) -> i32";
    let run = |values: [i64; 8]| eval("%a: tensor<8xi32>", body, &[ints(ElemType::I32, &[8], values)]).ints();
    assert_eq!(run([1, 2, 3, 4, 5, 6, 7, 8]), [36]);
    assert_eq!(run([40, 40, 40, 0, 0, 0, 0, 1]), [100]);
}

#[test]
fn a_value_from_outside_that_is_no_constant_is_said() {
    let body = "%r = \"tt.reduce\"(%a) <{axis = 0 : i32}> ({\n^bb0(%x: i32, %y: i32):\n\
                %s = arith.addi %x, %b : i32\ntt.reduce.return %s : i32\n}) : (tensor<8xi32>) -> i32";
    let kernel = Kernel::new(1, "%a: tensor<8xi32>, %b: i32", body);
    let trap = kernel.run(&[ints(ElemType::I32, &[8], 0..8), RuntimeValue::int(32, 1)]);
    assert!(matches!(trap, Err(Trap::NotFollowed(why)) if why.contains("%b")));
}

fn scan(axis: usize, reverse: bool, shape: &str, op: &str) -> String {
    format!(
        "%r = \"tt.scan\"(%a) <{{axis = {axis} : i32, reverse = {reverse}}}> ({{\n^bb0(%x: i32, %y: i32):\n\
         {op}\ntt.scan.return %s : i32\n}}) : (tensor<{shape}xi32>) -> tensor<{shape}xi32>"
    )
}

#[test]
fn prefixes_forwards_and_backwards() {
    let values: Vec<i64> = (0..4 * 6).map(|at| (at * at * 31) % 17 - 8).collect();
    let a = ints(ElemType::I32, &[4, 6], values.clone());
    let add = "%s = arith.addi %x, %y : i32";
    let run =
        |axis, reverse| eval("%a: tensor<4x6xi32>", &scan(axis, reverse, "4x6", add), std::slice::from_ref(&a)).ints();
    for i in 0..4 {
        for j in 0..6 {
            let at = i * 6 + j;
            let row = |range: std::ops::Range<usize>| range.map(|j| values[i * 6 + j]).sum::<i64>();
            let column = |range: std::ops::Range<usize>| range.map(|i| values[i * 6 + j]).sum::<i64>();
            assert_eq!(run(1, false)[at], row(0..j + 1));
            assert_eq!(run(1, true)[at], row(j..6));
            assert_eq!(run(0, false)[at], column(0..i + 1));
            assert_eq!(run(0, true)[at], column(i..4));
        }
    }
}

#[test]
fn a_scan_keeps_the_order_of_its_operands() {
    // Composition of maps x -> p x + q, two numbers in one, does not commute.
    let op = "%c16 = arith.constant 16 : i32\n%mask = arith.constant 15 : i32\n\
              %p1 = arith.shrui %x, %c16 : i32\n%q1 = arith.andi %x, %mask : i32\n\
              %p2 = arith.shrui %y, %c16 : i32\n%q2 = arith.andi %y, %mask : i32\n\
              %p = arith.muli %p1, %p2 : i32\n%pm = arith.andi %p, %mask : i32\n\
              %t = arith.muli %p2, %q1 : i32\n%q = arith.addi %t, %q2 : i32\n%qm = arith.andi %q, %mask : i32\n\
              %ps = arith.shli %pm, %c16 : i32\n%s = arith.ori %ps, %qm : i32";
    let values: Vec<i64> = (0..16).map(|at| (((at * 5 + 3) % 16) << 16) | ((at * 7 + 1) % 16)).collect();
    let result =
        eval("%a: tensor<16xi32>", &scan(0, false, "16", op), &[ints(ElemType::I32, &[16], values.clone())]).ints();
    let mut now = values[0];
    for (at, next) in values.iter().enumerate() {
        if at > 0 {
            let (p1, q1, p2, q2) = (now >> 16, now & 15, next >> 16, next & 15);
            now = (((p1 * p2) & 15) << 16) | ((p2 * q1 + q2) & 15);
        }
        assert_eq!(result[at], now, "{at}");
    }
}

#[test]
fn a_map_of_elements() {
    let body = "%r = \"tt.map_elementwise\"(%a) <{pack = 1 : i32}> ({\n^bb0(%x: i32):\n\
                %s = arith.muli %x, %x : i32\ntt.map_elementwise.return %s : i32\n}) : (tensor<4xi32>) -> tensor<4xi32>";
    assert_eq!(eval("%a: tensor<4xi32>", body, &[ints(ElemType::I32, &[4], 1..5)]).ints(), [1, 4, 9, 16]);
}
