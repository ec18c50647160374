//! Operations that move elements, against index arithmetic.

use super::*;

/// `0, 1, 2, …` in a shape.
fn count(shape: &[u64]) -> RuntimeValue {
    ints(ElemType::I32, shape, 0..shape.iter().product::<u64>() as i64)
}

#[test]
fn ranges_and_splats() {
    let range = eval("", "%r = tt.make_range {end = 24 : i32, start = 16 : i32} : tensor<8xi32>", &[]);
    assert_eq!(range.ints(), (16..24).collect::<Vec<i64>>());
    let splat = eval("%a: i32", "%r = tt.splat %a : i32 -> tensor<2x3xi32>", &[RuntimeValue::int(32, 7)]);
    assert_eq!((splat.ints(), splat.is_splat()), (vec![7; 6], true));
    assert_eq!(splat.dense().ints(), [7; 6]);
    let body = "%s = tt.splat %a : i32 -> tensor<1xi32>\n%r = tt.unsplat %s : tensor<1xi32>";
    assert_eq!(eval("%a: i32", body, &[RuntimeValue::int(32, 7)]).ints(), [7]);
}

#[test]
fn a_column_and_a_row_are_spread() {
    let body = "%e = tt.expand_dims %a {axis = 1 : i32} : tensor<3xi32> -> tensor<3x1xi32>\n\
                %r = tt.broadcast %e : tensor<3x1xi32> -> tensor<3x4xi32>";
    let column = eval("%a: tensor<3xi32>", body, &[count(&[3])]);
    assert_eq!(column.ints(), [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
    let body = "%e = tt.expand_dims %a {axis = 0 : i32} : tensor<3xi32> -> tensor<1x3xi32>\n\
                %r = tt.broadcast %e : tensor<1x3xi32> -> tensor<2x3xi32>";
    assert_eq!(eval("%a: tensor<3xi32>", body, &[count(&[3])]).ints(), [0, 1, 2, 0, 1, 2]);
}

#[test]
fn a_transposition_of_three_dimensions() {
    let (x, y, z) = (2u64, 3u64, 4u64);
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let sizes = [x, y, z];
        let to = order.map(|dim| sizes[dim]);
        let body = format!(
            "%r = tt.trans %a {{order = array<i32: {}, {}, {}>}} : tensor<2x3x4xi32> -> tensor<{}x{}x{}xi32>",
            order[0], order[1], order[2], to[0], to[1], to[2]
        );
        let result = eval("%a: tensor<2x3x4xi32>", &body, &[count(&sizes)]).ints();
        for i in 0..to[0] {
            for j in 0..to[1] {
                for k in 0..to[2] {
                    let mut from = [0; 3];
                    for (dim, at) in order.iter().zip([i, j, k]) {
                        from[*dim] = at;
                    }
                    let expected = (from[0] * y + from[1]) * z + from[2];
                    assert_eq!(result[((i * to[1] + j) * to[2] + k) as usize], expected as i64);
                }
            }
        }
    }
}

#[test]
fn joins_splits_and_chains() {
    let two = [count(&[4]), ints(ElemType::I32, &[4], 10..14)];
    let parameters = "%a: tensor<4xi32>, %b: tensor<4xi32>";
    let join = "%j = tt.join %a, %b : tensor<4xi32> -> tensor<4x2xi32>";
    assert_eq!(eval(parameters, join, &two).ints(), [0, 10, 1, 11, 2, 12, 3, 13]);
    let split = Kernel::new(1, parameters, &format!("{join}\n%l, %r = tt.split %j : tensor<4x2xi32> -> tensor<4xi32>"));
    assert_eq!(split.run(&two).unwrap(), two);
    let chain = "%j = tt.cat %a, %b : tensor<4xi32> -> tensor<8xi32>";
    assert_eq!(eval(parameters, chain, &two).ints(), [0, 1, 2, 3, 10, 11, 12, 13]);
    let reshape = "%j = tt.reshape %a : tensor<4xi32> -> tensor<2x2xi32>";
    assert_eq!(&eval("%a: tensor<4xi32>", reshape, &two[..1]).shape()[..], [2, 2]);
}

#[test]
fn a_gather_along_each_axis() {
    let indices = ints(ElemType::I32, &[2, 3], [2, 0, 1, 1, 1, 0]);
    let take = |axis: usize, shape: &str, sizes: &[u64]| {
        let body = format!(
            "%r = tt.gather %a[%i] {{axis = {axis} : i32}} : (tensor<{shape}xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>"
        );
        eval(&format!("%a: tensor<{shape}xi32>, %i: tensor<2x3xi32>"), &body, &[count(sizes), indices.clone()]).ints()
    };
    assert_eq!(take(1, "2x4", &[2, 4]), [2, 0, 1, 5, 5, 4]);
    assert_eq!(take(0, "3x3", &[3, 3]), [6, 1, 5, 3, 4, 2]);
}

#[test]
fn a_histogram_counts_what_the_mask_lets_through() {
    let a = ints(ElemType::I32, &[8], [0, 1, 1, 3, 9, -1, 3, 3]);
    let body = "%r = tt.histogram %a : tensor<8xi32> -> tensor<4xi32>";
    assert_eq!(eval("%a: tensor<8xi32>", body, std::slice::from_ref(&a)).ints(), [1, 2, 0, 3]);
    let body = "%r = tt.histogram %a, %m : tensor<8xi32> -> tensor<4xi32>";
    let mask = ints(ElemType::I1, &[8], [1, 0, 1, 1, 1, 1, 0, 1]);
    assert_eq!(eval("%a: tensor<8xi32>, %m: tensor<8xi1>", body, &[a, mask]).ints(), [1, 1, 0, 2]);
}

#[test]
fn a_selection_by_element_and_by_one_value() {
    let (a, b) = (count(&[4]), ints(ElemType::I32, &[4], [-1; 4]));
    let body = "%r = arith.select %c, %a, %b : tensor<4xi1>, tensor<4xi32>";
    let mask = ints(ElemType::I1, &[4], [1, 0, 0, 1]);
    let parameters = "%c: tensor<4xi1>, %a: tensor<4xi32>, %b: tensor<4xi32>";
    assert_eq!(eval(parameters, body, &[mask, a.clone(), b.clone()]).ints(), [0, -1, -1, 3]);
    let body = "%r = arith.select %c, %a, %b : tensor<4xi32>";
    let parameters = "%c: i1, %a: tensor<4xi32>, %b: tensor<4xi32>";
    assert_eq!(eval(parameters, body, &[RuntimeValue::int(1, 0), a, b]).ints(), [-1; 4]);
}

/// A bitonic sort, as Triton's library writes it: reshapes, exchanges by `xor`, comparisons, selections.
#[test]
fn a_sort_out_of_splits_and_joins() {
    let values: Vec<i64> = vec![5, -3, 9, 0, 7, 7, -8, 2];
    let mut now = ints(ElemType::I32, &[8], values.clone());
    for stage in 1..=3u32 {
        for step in (0..stage).rev() {
            let distance = 1u64 << step;
            let outer = 8 / (2 * distance);
            let body = format!(
                "%v = tt.reshape %a : tensor<8xi32> -> tensor<{outer}x2x{distance}xi32>\n\
                 %t = tt.trans %v {{order = array<i32: 0, 2, 1>}} : tensor<{outer}x2x{distance}xi32> -> tensor<{outer}x{distance}x2xi32>\n\
                 %l, %h = tt.split %t : tensor<{outer}x{distance}x2xi32> -> tensor<{outer}x{distance}xi32>\n\
                 %up = arith.minsi %l, %h : tensor<{outer}x{distance}xi32>\n\
                 %down = arith.maxsi %l, %h : tensor<{outer}x{distance}xi32>\n\
                 %low = arith.select %flip, %down, %up : tensor<{outer}x{distance}xi1>, tensor<{outer}x{distance}xi32>\n\
                 %high = arith.select %flip, %up, %down : tensor<{outer}x{distance}xi1>, tensor<{outer}x{distance}xi32>\n\
                 %j = tt.join %low, %high : tensor<{outer}x{distance}xi32> -> tensor<{outer}x{distance}x2xi32>\n\
                 %b = tt.trans %j {{order = array<i32: 0, 2, 1>}} : tensor<{outer}x{distance}x2xi32> -> tensor<{outer}x2x{distance}xi32>\n\
                 %r = tt.reshape %b : tensor<{outer}x2x{distance}xi32> -> tensor<8xi32>"
            );
            let flip = (0..outer)
                .flat_map(|row| std::iter::repeat_n((((row * 2 * distance) >> stage) & 1) as i64, distance as usize));
            let flip = ints(ElemType::I1, &[outer, distance], flip.collect::<Vec<_>>());
            let parameters = format!("%a: tensor<8xi32>, %flip: tensor<{outer}x{distance}xi1>");
            now = RuntimeValue::Tensor(eval(&parameters, &body, &[now, flip]));
        }
    }
    let mut expected = values;
    expected.sort_unstable();
    assert_eq!(now.as_tensor().unwrap().ints(), expected);
}
