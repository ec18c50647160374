//! Arefs, semaphores, storage that is shared, tiles. What runs of them find is on the pages
//! `tests/pages/autows-*.md`.

use super::{effects, kernel, left_out};
use kernel::{AbstractOf, Half, Stage};

const RING: &str = "
    %buf = ttg.local_alloc : () -> !ttg.memdesc<1x128x128xf16, #s, #smem, mutable>
    %r = nvws.aref.create %buf : <[!ttg.memdesc<1x128x128xf16, #s, #smem, mutable>]>
";

const MADE: [&str; 5] =
    ["alloc $buf", "alloc $r (full)", "init %r (full) count=1", "alloc $r (empty)", "init %r (empty) count=1"];

/// Checks what follows the barriers; outside of partitions they count one arrival.
#[track_caller]
fn check(ops: &str, expected: &[&str]) {
    let lowered =
        kernel(&format!("{RING}{}", ops.replace("RING", "<[!ttg.memdesc<1x128x128xf16, #s, #smem, mutable>]>")));
    let effects = effects(&lowered);
    assert_eq!(left_out(&lowered), Vec::<String>::new());
    assert_eq!(effects[..5], MADE);
    assert_eq!(effects[5..], *expected, "\n{ops}");
    let halves: Vec<Half> = lowered.map.abstracts.iter().map(|barrier| barrier.half).collect();
    assert_eq!(halves, [Half::Full, Half::Empty]);
    assert!(lowered.map.abstracts.iter().all(|barrier| barrier.of == AbstractOf::Aref));
    assert_eq!(lowered.map.stage, Stage::Tokens);
}

#[test]
fn a_put_and_a_get() {
    check(
        "%p, %t = nvws.aref.put.enter %r : RING -> !tile, !ttg.async.token
         nvws.descriptor_load %desc[%n, %n] 32768 %p : !tt.tensordesc<128x128xf16, #s>, i32, i32, !tile
         nvws.aref.put.exit %r, %t [#nvws.async_op<tma_load>] : RING, !ttg.async.token
         %g, %u = nvws.aref.get.enter %r : RING -> !tile, !ttg.async.token
         %v1 = nvws.aref.buffer %r, %u : RING, !ttg.async.token -> !tile
         %0 = ttg.local_load %v1 : !tile -> tensor<128x128xf16, #r>
         nvws.aref.get.exit %r, %u [#nvws.async_op<none>] : RING, !ttg.async.token",
        &[
            "wait %r (empty) phase=%8",
            "expect %r (full) bytes=32768",
            "op tma -=write:generic:%p transaction [%r (full) count=0 bytes=32768]",
            "wait %r (full) phase=%13",
            "op base -=read:generic:%v1 in_order",
            "proxy_fence",
            "arrive %r (empty) count=1",
        ],
    );
}

#[test]
fn exits_arrive_in_their_ways() {
    check(
        "%p, %t = nvws.aref.put.enter %r[%c0, %c1] : RING -> !tile, !ttg.async.token
         nvws.descriptor_gather %desc[%rows, %n] 32768 %p : !tt.tensordesc<128x128xf16, #s>, tensor<128xi32, #ttg.slice<{dim = 0, parent = #r}>>, i32, !tile
         nvws.aref.put.exit %r[%c0], %t [#nvws.async_op<tma_load>, #nvws.async_op<cp_async>] : RING, !ttg.async.token
         %g, %u = nvws.aref.get.enter %r[%c0, %c0] : RING -> !tile, !ttg.async.token
         nvws.aref.get.exit %r[%c0], %u [#nvws.async_op<tc5mma>] : RING, !ttg.async.token",
        &[
            "wait %r (empty) phase=%c1",
            "expect %r (full) bytes=32768",
            "op tma -=write:generic:%p transaction [%r (full) count=0 bytes=32768]",
            "async_copy_arrive %r (full) increments",
            "arrive %r (full) count=1",
            "wait %r (full) phase=%c0",
            "tensor_core_commit %r (empty)",
        ],
    );
}

#[test]
fn a_semaphore_lets_its_first_acquire_through_where_it_is_released() {
    let lowered = kernel(
        &"
    %buf = ttg.local_alloc : () -> !ttg.memdesc<1x128x128xf16, #s, #smem, mutable>
    %e = nvws.semaphore.create %buf released = 1 {pending_count = 1 : i32} : TYPE
    %f = nvws.semaphore.create %buf false : TYPE
    %t = nvws.semaphore.acquire %e : TYPE -> !ttg.async.token
    %p = nvws.semaphore.buffer %e, %t : TYPE, !ttg.async.token -> !tile
    nvws.descriptor_load %desc[%n, %n] 32768 %p : !tt.tensordesc<128x128xf16, #s>, i32, i32, !tile
    nvws.semaphore.release %f, %t [#nvws.async_op<tma_load>] : TYPE, !ttg.async.token
    %u = nvws.semaphore.acquire %f[%c0, %c0] : TYPE -> !ttg.async.token
    %q = nvws.semaphore.buffer %f[%c0], %u : TYPE, !ttg.async.token -> !tile
    %0 = ttg.local_load %q : !tile -> tensor<128x128xf16, #r>
    nvws.semaphore.release %e[%c0], %u [#nvws.async_op<none>] {arrive_count = 1 : i32} : TYPE, !ttg.async.token
"
        .replace("TYPE", "<[!ttg.memdesc<1x128x128xf16, #s, #smem, mutable>]>"),
    );
    assert_eq!(left_out(&lowered), Vec::<String>::new());
    assert_eq!(
        effects(&lowered),
        [
            "alloc $buf",
            "alloc $e",
            "init %e count=1",
            "alloc $f",
            "init %f count=1",
            "wait %e phase=%9",
            "expect %f bytes=32768",
            "op tma -=write:generic:%p transaction [%f count=0 bytes=32768]",
            "wait %f phase=%c0",
            "op base -=read:generic:%q in_order",
            "proxy_fence",
            "arrive %e count=1",
        ]
    );
}

#[test]
fn storage_is_one_buffer_and_its_members_are_windows() {
    let lowered = kernel(
        "
    %spec = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>
    %x = tlx.storage_alias_local_alloc %spec : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x128x128xf16, #s, #smem, mutable>
    %y = tlx.storage_alias_local_alloc %spec : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<2x128x128xf16, #s, #smem, mutable>
    %g = tlx.reuse_group(%x, %y) group_kind = distinct : (!ttg.memdesc<2x128x128xf16, #s, #smem, mutable>, !ttg.memdesc<2x128x128xf16, #s, #smem, mutable>) -> !tlx.reuse_group<distinct>
    tlx.set_buffer_overlap(%spec, %g) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<distinct>) -> ()
    %i = ttg.memdesc_index %y[%c1] : !ttg.memdesc<2x128x128xf16, #s, #smem, mutable> -> !tile
    %l = tlx.require_layout %i : !tile -> !tile
    %0 = ttg.local_load %l : !tile -> tensor<128x128xf16, #r>
    %1 = tlx.local_alias %i : !tile -> !ttg.memdesc<256x64xf16, #s, #smem, mutable>
    %2 = ttg.local_load %1 : !ttg.memdesc<256x64xf16, #s, #smem, mutable> -> tensor<256x64xf16, #r>
",
    );
    assert_eq!(left_out(&lowered), Vec::<String>::new());
    // Four slots of 32 kB, in turn of one and of the other.
    assert_eq!(lowered.kernel.buffers[0].bits, 4 * 32768 * 8);
    let windows: Vec<String> =
        super::printed(&lowered).into_iter().filter(|line| line.contains("index") || line.contains("shift")).collect();
    assert_eq!(
        windows,
        ["%y:s1 = shift %y bits=262144", "%i:s2 = index %y at=%c1 stride=524288 count=2", "%1:s3 = shift %i bits=0"]
    );
    assert_eq!(
        effects(&lowered),
        ["alloc $spec", "op base -=read:generic:%i in_order", "op base -=read:generic:%1 in_order"]
    );
}

#[test]
fn a_tile_after_the_other() {
    let lowered = kernel(
        "
    %a = ttg.local_alloc : () -> !tile
    %b = ttg.local_alloc : () -> !tile
    ttng.subtiled_region per_tile(%a, %b : !tile, !tile) shared(%v : tensor<128x128xf16, #r>) {numTiles = 2 : i32} tile(%x: !tile, %y: tensor<128x128xf16, #r>, %i: i32) {
      ttg.local_store %y, %x : tensor<128x128xf16, #r> -> !tile
      ttng.subtiled_region_yield
    }
",
    );
    assert_eq!(left_out(&lowered), Vec::<String>::new());
    assert_eq!(
        effects(&lowered),
        ["alloc $a", "alloc $b", "op base -=write:generic:%a in_order", "op base -=write:generic:%b in_order"]
    );
}

#[test]
fn a_task_does_not_ask_for_the_views_of_another() {
    let lowered = kernel(
        &format!(
            "{RING}
    scf.for %i = %c0 to %n step %c1 : i32 {{
      %p, %t = nvws.aref.put.enter %r {{ttg.partition = array<i32: 0>}} : TYPE -> !tile, !ttg.async.token
      ttg.local_store %v, %p {{ttg.partition = array<i32: 0>}} : tensor<128x128xf16, #r> -> !tile
      nvws.aref.put.exit %r, %t [#nvws.async_op<none>] {{ttg.partition = array<i32: 0>}} : TYPE, !ttg.async.token
      %g, %u = nvws.aref.get.enter %r {{ttg.partition = array<i32: 1>}} : TYPE -> !tile, !ttg.async.token
      %w1 = ttg.memdesc_trans %g {{order = array<i32: 1, 0>, ttg.partition = array<i32: 1>}} : !tile -> !tile
      %0 = ttg.local_load %w1 {{ttg.partition = array<i32: 1>}} : !tile -> tensor<128x128xf16, #r>
      nvws.aref.get.exit %r, %u [#nvws.async_op<none>] {{ttg.partition = array<i32: 1>}} : TYPE, !ttg.async.token
    }} {{ttg.partition = array<i32: 0, 1>, ttg.warp_specialize.tag = 0 : i32}}
"
        )
        .replace("TYPE", "<[!ttg.memdesc<1x128x128xf16, #s, #smem, mutable>]>"),
    );
    assert_eq!(left_out(&lowered), Vec::<String>::new());
    assert_eq!(lowered.map.stage, Stage::Tagged);
}
