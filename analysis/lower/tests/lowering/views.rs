//! Windows: where a view starts and what it covers.

use super::{effects, kernel, left_out, module, printed};
use kernel::{Dim, Shape, VarKind};

/// The shape of the view that the kernel's last access touches, and the lines that make it.
fn last(ops: &str) -> (Shape, Vec<String>) {
    let lowered = kernel(ops);
    assert_eq!(left_out(&lowered), Vec::<String>::new());
    let mut accesses = lowered.kernel.effects.iter().filter_map(|effect| match &effect.kind {
        kernel::EffectKind::Operation { accesses, .. } => accesses.last(),
        _ => None,
    });
    let view = accesses.next_back().map(|access| access.view);
    let shape = view.and_then(|view| lowered.kernel.shape(view).cloned());
    let lines = printed(&lowered).into_iter().filter(|line| line.contains(" = index ") || line.contains(" = shift "));
    let lines = lines.map(|line| line.split_once(" = ").map(|(_, op)| op.to_owned()).unwrap_or_default()).collect();
    (shape.unwrap_or_else(|| panic!("no access")), lines)
}

fn dims(pairs: &[(u64, u64)]) -> Vec<Dim> {
    pairs.iter().map(|&(size, stride)| Dim { size, stride }).collect()
}

#[test]
fn an_index_drops_the_leading_dimension() {
    let ops = "%a = ttg.local_alloc : () -> !ttg.memdesc<3x64x32xf16, #s, #smem, mutable>
         %i = ttg.memdesc_index %a[%n] : !ttg.memdesc<3x64x32xf16, #s, #smem, mutable> -> !ttg.memdesc<64x32xf16, #s, #smem, mutable>
         %0 = ttg.local_load %i : !ttg.memdesc<64x32xf16, #s, #smem, mutable> -> tensor<64x32xf16, #r>";
    let (shape, lines) = last(ops);
    assert_eq!(lines, ["index %a at=%n stride=32768 count=3"]);
    assert_eq!(shape.dims, dims(&[(64, 512), (32, 16)]));
    let lowered = kernel(ops);
    assert_eq!((lowered.kernel.buffers[0].bits, lowered.kernel.buffers[0].slot_bits), (98304, 32768));
}

#[test]
fn places_are_counted_in_slots_of_the_allocation() {
    let slots = |ops: &str| kernel(ops).kernel.buffers[0].slot_bits;
    let base = "%a = ttg.local_alloc : () -> !ttg.memdesc<2x64x32xf32, #s, #smem, mutable>
         %view = ttg.memdesc_reinterpret %a : !ttg.memdesc<2x64x32xf32, #s, #smem, mutable> -> !ttg.memdesc<2x64x32xf16, #s, #smem, mutable>";
    let own = "%i = ttg.memdesc_index %a[%n] : !ttg.memdesc<2x64x32xf32, #s, #smem, mutable> -> !ttg.memdesc<64x32xf32, #s, #smem, mutable>
         %0 = ttg.local_load %i : !ttg.memdesc<64x32xf32, #s, #smem, mutable> -> tensor<64x32xf32, #r>";
    let half = "%j = ttg.memdesc_index %view[%n] : !ttg.memdesc<2x64x32xf16, #s, #smem, mutable> -> !ttg.memdesc<64x32xf16, #s, #smem, mutable>
         %1 = ttg.local_load %j : !ttg.memdesc<64x32xf16, #s, #smem, mutable> -> tensor<64x32xf16, #r>";
    assert_eq!(slots(&format!("{base}\n{own}\n{half}")), 65536);
    assert_eq!(slots(&format!("{base}\n{half}\n{own}")), 65536);
    // Where nothing else counts any, those of the reinterpretation do.
    assert_eq!(slots(&format!("{base}\n{half}")), 32768);
}

#[test]
fn slices_keep_the_strides_of_what_they_cut() {
    let (shape, lines) = last(
        "%a = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #s, #smem, mutable>
         %i = ttg.memdesc_subslice %a[32, 16] : !ttg.memdesc<64x32xf16, #s, #smem, mutable> -> !ttg.memdesc<32x16xf16, #s, #smem, mutable, 64x32>
         %t = ttg.memdesc_trans %i {order = array<i32: 1, 0>} : !ttg.memdesc<32x16xf16, #s, #smem, mutable, 64x32> -> !ttg.memdesc<16x32xf16, #s, #smem, mutable, 32x64>
         %0 = ttg.local_load %t : !ttg.memdesc<16x32xf16, #s, #smem, mutable, 32x64> -> tensor<16x32xf16, #r>",
    );
    assert_eq!(lines, ["shift %a bits=16640", "shift %i bits=0"]);
    assert_eq!(shape.dims, dims(&[(16, 16), (32, 512)]));
    assert!(shape.exact);
}

#[test]
fn a_subview_is_a_slot_or_a_part() {
    let (shape, lines) = last(
        "%a = ttg.local_alloc : () -> !ttg.memdesc<2x64x32xf16, #s, #smem, mutable>
         %i = ttg.memdesc_subview %a[%n, %c0, %c0] : !ttg.memdesc<2x64x32xf16, #s, #smem, mutable> -> !ttg.memdesc<64x32xf16, #s, #smem, mutable, 2x64x32>
         %k = arith.constant 16 : i32
         %t = ttg.memdesc_subview %i[%c0, %k] : !ttg.memdesc<64x32xf16, #s, #smem, mutable, 2x64x32> -> !ttg.memdesc<64x16xf16, #s, #smem, mutable, 2x64x32>
         %0 = ttg.local_load %t : !ttg.memdesc<64x16xf16, #s, #smem, mutable, 2x64x32> -> tensor<64x16xf16, #r>",
    );
    assert_eq!(lines, ["index %a at=%n stride=32768 count=2", "shift %i bits=256"]);
    assert_eq!((shape.dims, shape.exact), (dims(&[(64, 512), (16, 16)]), true));
}

#[test]
fn a_reshape_is_exact_where_strides_can_say_it() {
    let reshape = |cut: &str, alloc: &str, to: &str| {
        last(&format!(
            "%a = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #s, #smem, mutable>
             %i = ttg.memdesc_subslice %a[0, 0] : !ttg.memdesc<64x32xf16, #s, #smem, mutable> -> !ttg.memdesc<{cut}xf16, #s, #smem, mutable{alloc}>
             %t = ttg.memdesc_reshape %i : !ttg.memdesc<{cut}xf16, #s, #smem, mutable{alloc}> -> !ttg.memdesc<{to}xf16, #s, #smem, mutable>
             %0 = ttg.local_load %t : !ttg.memdesc<{to}xf16, #s, #smem, mutable> -> tensor<{to}xf16, #r>"
        ))
        .0
    };
    let whole = reshape("64x32", "", "4x16x32");
    assert_eq!((whole.dims, whole.exact), (dims(&[(4, 8192), (16, 512), (32, 16)]), true));
    let rows = reshape("64x16", ", 64x32", "8x8x16");
    assert_eq!((rows.dims, rows.exact), (dims(&[(8, 4096), (8, 512), (16, 16)]), true));
    let mixed = reshape("64x16", ", 64x32", "1024");
    assert_eq!((mixed.dims, mixed.exact), (dims(&[(2032, 16)]), false));
}

#[test]
fn windows_of_a_reinterpretation_are_inexact_unless_whole() {
    let text = |slice: &str| {
        format!(
            "%a = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #s, #smem, mutable>
             %i = ttg.memdesc_reinterpret %a : !ttg.memdesc<64x32xf16, #s, #smem, mutable> -> !ttg.memdesc<64x16xf32, #s, #smem, mutable>
             %t = ttg.memdesc_subslice %i[0, 0] : !ttg.memdesc<64x16xf32, #s, #smem, mutable> -> !ttg.memdesc<{slice}xf32, #s, #smem, mutable, 64x16>
             %0 = ttg.local_load %t : !ttg.memdesc<{slice}xf32, #s, #smem, mutable, 64x16> -> tensor<{slice}xf32, #r>"
        )
    };
    assert!(last(&text("32x16")).0.exact);
    assert!(!last(&text("64x8")).0.exact);
}

#[test]
fn tensor_memory_counts_columns() {
    let load = |ty: &str, enc: &str| {
        last(&format!(
            "%a = ttng.tmem_alloc : () -> !ttg.memdesc<{ty}, #ttng.tensor_memory_encoding<{enc}>, #ttng.tensor_memory, mutable>
             %0 = ttng.tmem_load %a : !ttg.memdesc<{ty}, #ttng.tensor_memory_encoding<{enc}>, #ttng.tensor_memory, mutable> -> tensor<{ty}, #r>"
        ))
        .0
    };
    let wide = load("128x256xf32", "blockM = 128, blockN = 128, colStride = 1");
    assert_eq!((wide.dims.clone(), wide.extent()), (dims(&[(1, 4096), (2, 4096), (128, 32)]), 256 * 32));
    assert_eq!(load("128x128xf16", "blockM = 128, blockN = 128, colStride = 1").extent(), 64 * 32);
    assert_eq!(load("128x128xf16", "blockM = 128, blockN = 128, colStride = 2").extent(), 128 * 32 - 16 + 16);
    let tall = load("256x128xf32", "blockM = 128, blockN = 64, colStride = 1");
    assert_eq!(tall.dims, dims(&[(2, 2048), (2, 4096), (64, 32)]));
}

#[test]
fn tensor_memory_is_sliced_by_columns() {
    let (shape, lines) = last(
        "%a = ttng.tmem_alloc : () -> !ttg.memdesc<2x128x128xf32, #t, #ttng.tensor_memory, mutable>
         %i = ttg.memdesc_index %a[%n] : !ttg.memdesc<2x128x128xf32, #t, #ttng.tensor_memory, mutable> -> !acc
         %s = ttng.tmem_subslice %i {N = 32 : i32} : !acc -> !ttg.memdesc<128x64xf32, #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>, #ttng.tensor_memory, mutable, 128x128>
         %r = ttg.memdesc_reinterpret %s : !ttg.memdesc<128x64xf32, #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>, #ttng.tensor_memory, mutable, 128x128> -> !ttg.memdesc<128x64xf16, #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>, #ttng.tensor_memory, mutable>
         %0 = ttng.tmem_load %r : !ttg.memdesc<128x64xf16, #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>, #ttng.tensor_memory, mutable> -> tensor<128x64xf16, #r>",
    );
    assert_eq!(lines, ["index %a at=%n stride=4096 count=2", "shift %i bits=1024", "shift %s bits=0"]);
    assert_eq!((shape.dims.clone(), shape.exact), (dims(&[(1, 1024), (1, 1024), (64, 16)]), true));
}

#[test]
fn tensor_memory_is_sliced_by_rows_in_whole_tiles() {
    let slice = |attrs: &str| {
        last(&format!(
            "%a = ttng.tmem_alloc : () -> !ttg.memdesc<256x128xf32, #t, #ttng.tensor_memory, mutable>
             %s = ttng.tmem_subslice %a {{{attrs}}} : !ttg.memdesc<256x128xf32, #t, #ttng.tensor_memory, mutable> -> !acc
             %0 = ttng.tmem_load %s : !acc -> tensor<128x128xf32, #r>"
        ))
    };
    let (shape, lines) = slice("dim = 0 : i32, offset = 128 : i32");
    assert_eq!(lines, ["shift %a bits=4096"]);
    assert_eq!((shape.dims, shape.exact), (dims(&[(1, 4096), (1, 8192), (128, 32)]), true));
    let (shape, lines) = slice("dim = 0 : i32, offset = 0 : i32");
    assert_eq!((lines, shape.exact), (vec!["shift %a bits=0".to_owned()], true));
}

#[test]
fn offsets_place_buffers() {
    let lowered = kernel(
        "%a = ttg.local_alloc {allocation.offset = 64 : i32} : () -> !ttg.memdesc<32xf32, #b, #smem, mutable>
         %t = ttng.tmem_alloc {tensor_memory_col_offset = 16 : i32, tensor_memory_row_offset = 0 : i32} : () -> !acc
         %u = ttng.tmem_alloc : () -> !acc",
    );
    let starts: Vec<Option<u64>> = lowered.kernel.buffers.iter().map(|buffer| buffer.start).collect();
    assert_eq!(starts, [Some(512), Some(512), None]);
}

#[test]
fn memdescs_are_chosen_carried_and_captured() {
    let lowered = kernel(
        "%a = ttg.local_alloc : () -> !tile
         %b = ttg.local_alloc : () -> !tile
         %s = arith.select %c, %a, %b : !tile
         ttg.local_store %v, %s : tensor<128x128xf16, #r> -> !tile
         %l:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (!tile, !tile) : i32 {
           ttg.local_store %v, %x : tensor<128x128xf16, #r> -> !tile
           scf.yield %y, %x : !tile, !tile
         }
         ttg.local_store %v, %l#0 : tensor<128x128xf16, #r> -> !tile",
    );
    assert_eq!(left_out(&lowered), Vec::<String>::new());
    assert_eq!(
        effects(&lowered)[2..],
        [
            "op base -=write:generic:%s in_order",
            "op base -=write:generic:%x in_order",
            "op base -=write:generic:%x in_order"
        ]
    );
    let views = lowered.kernel.vars.iter().filter(|var| matches!(var.kind, VarKind::View(_))).count();
    assert_eq!(views, 5);
}

#[test]
fn a_memdesc_that_changes_its_shape_on_the_way_is_not_followed() {
    let lowered = kernel(
        "%a = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #s, #smem, mutable>
         %i = ttg.memdesc_subslice %a[0, 0] : !ttg.memdesc<64x32xf16, #s, #smem, mutable> -> !ttg.memdesc<32x32xf16, #s, #smem, mutable>
         %t = ttg.memdesc_subslice %a[0, 0] : !ttg.memdesc<64x32xf16, #s, #smem, mutable> -> !ttg.memdesc<32x16xf16, #s, #smem, mutable>
         %l = scf.for %k = %c0 to %n step %c1 iter_args(%x = %i) -> (!ttg.memdesc<32x32xf16, #s, #smem, mutable>) : i32 {
           %0 = ttg.local_load %x : !ttg.memdesc<32x32xf16, #s, #smem, mutable> -> tensor<32x32xf16, #r>
           %y = ttg.memdesc_reinterpret %t : !ttg.memdesc<32x16xf16, #s, #smem, mutable> -> !ttg.memdesc<32x32xf16, #s, #smem, mutable>
           scf.yield %y : !ttg.memdesc<32x32xf16, #s, #smem, mutable>
         }",
    );
    assert_eq!(left_out(&lowered).len(), 1, "{:?}", left_out(&lowered));
}

#[test]
fn barriers_are_noted_where_a_barrier_op_reaches() {
    let lowered = module(
        "tt.func public @k() {
           %a = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, #b, #smem, mutable>
           %x = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, #b, #smem, mutable>
           %c1 = arith.constant 1 : i32
           %i = ttg.memdesc_index %a[%c1] : !ttg.memdesc<2x1xi64, #b, #smem, mutable> -> !bar
           ttng.init_barrier %i, 1 : !bar
           tt.return
         }",
    );
    assert_eq!(lowered.kernel.buffers.iter().map(|buffer| buffer.barriers).collect::<Vec<_>>(), [true, false]);
    assert_eq!(lowered.kernel.buffers[0].slot_bits, 64);
}

#[test]
fn what_is_needed_no_more_lends_its_memory() {
    let starts =
        |ops: &str| -> Vec<Option<u64>> { kernel(ops).kernel.buffers.iter().map(|buffer| buffer.start).collect() };
    let alloc = |name: &str| format!("%{name} = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #s, #smem, mutable>\n");
    let load = |name: &str| {
        format!(
            "%l{name} = ttg.local_load %{name} : !ttg.memdesc<64x32xf16, #s, #smem, mutable> -> tensor<64x32xf16, #r>\n"
        )
    };
    let lines = |names: &[&dyn Fn() -> String]| names.iter().map(|line| line()).collect::<String>();
    let (a, b) = ("a", "b");
    // One after the other.
    let apart = lines(&[&|| alloc(a), &|| load(a), &|| alloc(b), &|| load(b)]);
    assert_eq!(starts(&apart), [Some(0), Some(0)]);
    // Both at once.
    let together = lines(&[&|| alloc(a), &|| alloc(b), &|| load(a), &|| load(b)]);
    assert_eq!(starts(&together), [None, None]);
    // The first is named again when the second has been made.
    let kept = apart.clone() + "ttg.local_dealloc %a : !ttg.memdesc<64x32xf16, #s, #smem, mutable>\n";
    assert_eq!(starts(&kept), [None, None]);
    // A third fits where the first was, beside the second.
    let third = lines(&[&|| alloc(a), &|| alloc(b), &|| load(a), &|| alloc("third"), &|| load(b), &|| load("third")]);
    assert_eq!(starts(&third), [Some(0), None, Some(0)]);
}
