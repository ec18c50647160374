//! Tensors that are cut among the CTAs of a cluster.

use super::*;
use tensors::tile;

const ROWS: &str = "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>";
const COLUMNS: &str = "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1]]}>";

fn tile_of(ctas: u16, ty: &str, cta: u16) -> (Vec<u64>, Vec<u64>, bool, bool) {
    let kernel = Kernel::new(ctas, &format!("%a: {ty}"), "");
    let tile = tile::read(&kernel.tree, entry(&kernel.tree)[0], cta).unwrap().tile;
    (tile.shape.to_vec(), tile.offset.to_vec(), tile.leader, tile.shared)
}

#[test]
fn tiles_of_every_spelling() {
    let rows = format!("tensor<128x64xf16, {ROWS}>");
    assert_eq!(tile_of(2, &rows, 0), (vec![64, 64], vec![0, 0], true, false));
    assert_eq!(tile_of(2, &rows, 1), (vec![64, 64], vec![64, 0], true, false));
    let linear = "tensor<256x8xf32, #ttg.linear<{register = [[0, 1], [0, 2], [0, 4]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = [[128, 0]]}>>";
    assert_eq!(tile_of(2, linear, 1), (vec![128, 8], vec![128, 0], true, false));
    let slice = format!("tensor<128xi32, #ttg.slice<{{dim = 1, parent = {ROWS}}}>>");
    assert_eq!(tile_of(2, &slice, 1), (vec![64], vec![64], true, false));
    let other = format!("tensor<64xi32, #ttg.slice<{{dim = 0, parent = {ROWS}}}>>");
    assert_eq!(tile_of(2, &other, 1), (vec![64], vec![0], false, true));
    let four = "!ttg.memdesc<3x128x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[1, 0], [0, 1]]}>, #ttg.shared_memory, mutable>";
    assert_eq!(tile_of(4, four, 3), (vec![3, 64, 32], vec![0, 64, 32], true, false));
    let old = "tensor<128x64xf16, #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0], CTAsPerCGA = [2, 2], CTASplitNum = [2, 1], CTAOrder = [1, 0]}>>";
    assert_eq!(tile_of(4, old, 1), (vec![64, 64], vec![0, 0], false, true));
    assert_eq!(tile_of(4, old, 2), (vec![64, 64], vec![64, 0], true, true));
    let operand = format!("tensor<128x64xf16, #ttg.dot_op<{{opIdx = 0, parent = {COLUMNS}, kWidth = 2}}>>");
    assert_eq!(tile_of(2, &operand, 1), (vec![128, 64], vec![0, 0], false, true));
    assert_eq!(tile_of(2, "i32", 1), (vec![], vec![], false, true));
    assert_eq!(tile_of(2, &rows, tile::WHOLE), (vec![128, 64], vec![0, 0], true, false));
}

#[test]
fn a_range_starts_where_the_tile_does() {
    let body = format!(
        "%r = tt.make_range {{end = 24 : i32, start = 8 : i32}} : tensor<16xi32, #ttg.slice<{{dim = 1, parent = {ROWS}}}>>"
    );
    let kernel = Kernel::new(2, "", &body);
    let run = |cta| kernel.run_in(cta, &[], &mut Environment::default()).unwrap()[0].as_tensor().unwrap().ints();
    assert_eq!(run(0), (8..16).collect::<Vec<i64>>());
    assert_eq!(run(1), (16..24).collect::<Vec<i64>>());
}

#[test]
fn a_list_of_constants_is_cut() {
    let body = format!("%r = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32, {COLUMNS}>");
    let kernel = Kernel::new(2, "", &body);
    let run = |cta| kernel.run_in(cta, &[], &mut Environment::default()).unwrap()[0].as_tensor().unwrap().ints();
    assert_eq!((run(0), run(1)), (vec![1, 3], vec![2, 4]));
}

/// A whole tensor of `0, 1, 2, …` of 4 rows and 8 columns under a layout.
fn whole(layout: &str) -> String {
    format!(
        "%i = tt.make_range {{end = 4 : i32, start = 0 : i32}} : tensor<4xi32, #ttg.slice<{{dim = 1, parent = {layout}}}>>\n\
         %j = tt.make_range {{end = 8 : i32, start = 0 : i32}} : tensor<8xi32, #ttg.slice<{{dim = 0, parent = {layout}}}>>\n\
         %ie = tt.expand_dims %i {{axis = 1 : i32}} : tensor<4xi32, #ttg.slice<{{dim = 1, parent = {layout}}}>> -> tensor<4x1xi32, {layout}>\n\
         %je = tt.expand_dims %j {{axis = 0 : i32}} : tensor<8xi32, #ttg.slice<{{dim = 0, parent = {layout}}}>> -> tensor<1x8xi32, {layout}>\n\
         %eight = arith.constant dense<8> : tensor<4x1xi32, {layout}>\n\
         %im = arith.muli %ie, %eight : tensor<4x1xi32, {layout}>\n\
         %ib = tt.broadcast %im : tensor<4x1xi32, {layout}> -> tensor<4x8xi32, {layout}>\n\
         %jb = tt.broadcast %je : tensor<1x8xi32, {layout}> -> tensor<4x8xi32, {layout}>\n\
         %a = arith.addi %ib, %jb : tensor<4x8xi32, {layout}>\n"
    )
}

fn both(body: &str) -> [Vec<i64>; 2] {
    let kernel = Kernel::new(2, "", body);
    [0, 1].map(|cta| kernel.run_in(cta, &[], &mut Environment::default()).unwrap()[0].as_tensor().unwrap().ints())
}

#[test]
fn a_reduction_along_the_cut_needs_the_cluster() {
    let sum = |layout: &str, axis: usize, size: u64| {
        let to = format!("tensor<{size}xi32, #ttg.slice<{{dim = {axis}, parent = {layout}}}>>");
        both(&format!(
            "{}%r = \"tt.reduce\"(%a) <{{axis = {axis} : i32}}> ({{\n^bb0(%x: i32, %y: i32):\n%s = arith.addi %x, %y : i32\n\
             tt.reduce.return %s : i32\n}}) : (tensor<4x8xi32, {layout}>) -> {to}",
            whole(layout)
        ))
    };
    let rows: Vec<i64> = (0..4).map(|i| (0..8).map(|j| i * 8 + j).sum()).collect();
    assert_eq!(sum(ROWS, 1, 4), [rows[..2].to_vec(), rows[2..].to_vec()]);
    assert_eq!(sum(COLUMNS, 1, 4), [rows.clone(), rows]);
}

#[test]
fn a_layout_cut_another_way_needs_the_cluster() {
    let body =
        format!("{}%r = ttg.convert_layout %a : tensor<4x8xi32, {ROWS}> -> tensor<4x8xi32, {COLUMNS}>", whole(ROWS));
    let column = |from: i64| (0..4).flat_map(move |i| (from..from + 4).map(move |j| i * 8 + j)).collect::<Vec<i64>>();
    assert_eq!(both(&body), [column(0), column(4)]);
}

#[test]
fn one_cta_does_an_atomic_for_those_that_share_it() {
    let body = "%o = tt.atomic_rmw add, acq_rel, gpu, %p, %v : (!tt.ptr<i32>, i32) -> i32";
    let kernel = Kernel::new(2, "%p: !tt.ptr<i32>, %v: i32", body);
    let mut world = Environment::default();
    let address = world.global.allocate("x", vec![0; 4]);
    let old = kernel.run_in(1, &[RuntimeValue::int(64, address as i64), RuntimeValue::int(32, 3)], &mut world).unwrap();
    assert_eq!(old[0].as_int(), Some(0));
    assert_eq!(world.global.contents(address).unwrap(), [3, 0, 0, 0]);
}
