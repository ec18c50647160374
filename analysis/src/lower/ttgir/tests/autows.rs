//! Arefs and warp groups. What runs of them find is on `tests/pages/autows-aref.md`.

use super::{effects, kernel, left_out};
use crate::sync::{AbstractOf, Half, Stage};

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
            "op tma -=write:async:%p transaction [%r (full) count=0 bytes=32768]",
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
            "op tma -=write:async:%p transaction [%r (full) count=0 bytes=32768]",
            "async_copy_arrive %r (full) increments",
            "arrive %r (full) count=1",
            "wait %r (full) phase=%c0",
            "tensor_core_commit %r (empty)",
        ],
    );
}
