//! Kernels of different tiles that are one generic kernel, and others that are not.

use super::Generic;
use crate::{Reach, decide};
use base::{Cancel, Limits};
use kernel::Kernel;
use kernel::text::{parse, print};
use machine::TxCount;

/// Two tiles a slot, each brought by a copy of its own, in a loop from 0 to the first argument.
#[derive(Clone, Copy)]
struct Tiles {
    a: u64,
    b: u64,
    expect: u64,
    step: i64,
    /// From which value of the counter on a release is awaited.
    full: i64,
    /// The comparison of the counter with its bound.
    compare: &'static str,
    /// What is read of the slot of the first buffer.
    read: u64,
}

const SMALL: Tiles = Tiles { a: 1024, b: 2048, expect: 3072, step: 64, full: 128, compare: "slt", read: 1024 };

fn kernel(tiles: Tiles) -> Kernel {
    let Tiles { a, b, expect, step, full, compare, read } = tiles;
    let (abits, bbits, rbits) = (a * 8, b * 8, read * 8);
    let (awhole, bwhole) = (2 * abits, 2 * bbits);
    let text = format!(
        "kernel ctas=1 entry=b0
partition warps=4
partition warps=1
buffer $a shared bits={awhole} slot={abits}
buffer $b shared bits={bwhole} slot={bbits}
buffer $full shared bits=128 slot=64 barriers
buffer $empty shared bits=128 slot=64 barriers
shape aall element=16 dims=2:{abits},{aside}:16
shape aone element=16 dims={aside}:16
shape aread element=16 dims={rside}:16
shape ball element=16 dims=2:{bbits},{bside}:16
shape bone element=16 dims={bside}:16
shape sbars element=64 dims=2:64
shape sbar element=64 dims=1:64
input i0 argument 0 width=32 divisor=16
block b0()
  %a:aall = base $a
  %b:ball = base $b
  %full:sbars = base $full
  %empty:sbars = base $empty
  %n = input i0
  %zero = const 0
  %s0 = const 0
  %s1 = const 1
  %f0:sbar = index %full at=%s0 stride=64 count=2
  %e0:sbar = index %empty at=%s0 stride=64 count=2
  init %f0 count=1
  init %e0 count=1
  %f1:sbar = index %full at=%s1 stride=64 count=2
  %e1:sbar = index %empty at=%s1 stride=64 count=2
  init %f1 count=1
  init %e1 count=1
  %t0 = const 0
  %u0 = const 0
  @100 fork bc(%zero,%t0) 1:bp(%zero,%u0)
block bc(%i,%t)
  %more = cmp {compare} w32 %i %n
  branch %more bcb() bce()
block bcb()
  %cone = const 1
  %cstep = const {step}
  %ctwo = const 2
  %cslot = rem_s w32 %t %ctwo
  %cround = div_s w32 %t %ctwo
  %cphase = and w32 %cround %cone
  %cfull:sbar = index %full at=%cslot stride=64 count=2
  %cempty:sbar = index %empty at=%cslot stride=64 count=2
  %ca:aread = index %a at=%cslot stride={abits} count=2
  %cb:bone = index %b at=%cslot stride={bbits} count=2
  wait %cfull phase=%cphase
  op base -=read:generic:%ca in_order
  op base -=read:generic:%cb in_order
  proxy_fence
  arrive %cempty count=1
  %i1 = add w32 %i %cstep
  %t1 = add w32 %t %cone
  jump bc(%i1,%t1)
block bce()
  @101 join bend()
block bend()
  @102 return
block bp(%j,%u)
  %pmore = cmp {compare} w32 %j %n
  branch %pmore bpb() bpe()
block bpb()
  %pone = const 1
  %pstep = const {step}
  %ptwo = const 2
  %pslot = rem_s w32 %u %ptwo
  %pround = div_s w32 %u %ptwo
  %pround1 = add w32 %pround %pone
  %pphase = and w32 %pround1 %pone
  %pfull:sbar = index %full at=%pslot stride=64 count=2
  %pempty:sbar = index %empty at=%pslot stride=64 count=2
  %pa:aone = index %a at=%pslot stride={abits} count=2
  %pb:bone = index %b at=%pslot stride={bbits} count=2
  %pfirst = const {full}
  %again = cmp sge w32 %j %pfirst
  branch %again bpw() bpc()
block bpw()
  wait %pempty phase=%pphase
  jump bpc()
block bpc()
  expect %pfull bytes={expect}
  op tma -=write:async:%pa transaction [%pfull count=0 bytes={a}]
  op tma -=write:async:%pb transaction [%pfull count=0 bytes={b}]
  %j1 = add w32 %j %pstep
  %u1 = add w32 %u %pone
  jump bp(%j1,%u1)
block bpe()
  @103 exit
loop l0 @104 head=bc counted=%i,%zero,%n,%cstep
loop l1 @105 head=bp counted=%j,%zero,%n,%pstep
",
        aside = a / 2,
        bside = b / 2,
        rside = rbits / 16,
    );
    parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")).kernel
}

fn generic(tiles: Tiles) -> (String, TxCount) {
    let generic = Generic::new(&kernel(tiles));
    (print(&generic.kernel), generic.tx)
}

fn is_proved(tiles: Tiles) -> bool {
    let outcome =
        decide(&kernel(tiles), &Limits::default(), &Cancel::never()).unwrap_or_else(|_| panic!("nobody cancels"));
    matches!(outcome.reach, Reach::Closed(_))
}

#[test]
fn tiles_of_other_sizes_are_one_generic_kernel() {
    let (small, tx) = generic(SMALL);
    assert_eq!(tx, TxCount::Units { most: 8 });
    let large = Tiles { a: 8192, b: 4096, expect: 12288, step: 128, full: 256, compare: "slt", read: 8192 };
    let square = Tiles { b: 1024, expect: 2048, ..SMALL };
    for tiles in [large, square] {
        assert_eq!(generic(tiles).0, small);
        assert!(is_proved(tiles));
    }
    assert!(is_proved(SMALL));
}

#[test]
fn what_a_rule_tells_apart_stays_apart() {
    let (small, _) = generic(SMALL);
    let others = [
        ("a wait that starts one turn later", Tiles { full: 192, ..SMALL }),
        ("a counter that meets its bound between two steps", Tiles { full: 96, ..SMALL }),
        ("a bound that belongs to the loop", Tiles { compare: "sle", ..SMALL }),
        ("a window of half a tile", Tiles { read: 512, ..SMALL }),
        ("bytes that nothing brings", Tiles { expect: 4096, ..SMALL }),
    ];
    for (what, tiles) in others {
        assert_ne!(generic(tiles).0, small, "{what}");
    }
}

#[test]
fn a_kernel_that_hangs_or_races_has_no_proof() {
    assert!(!is_proved(Tiles { expect: 4096, ..SMALL }));
    assert!(!is_proved(Tiles { full: 192, ..SMALL }));
    // Twice the first copy is as many bytes as one of each.
    assert!(is_proved(Tiles { b: 1024, expect: 2048, ..SMALL }));
}

#[test]
fn an_inclusive_bound_keeps_its_unit() {
    // `i <= n` is not `i / 64 <= ceil(n / 64)`.
    let (inclusive, _) = generic(Tiles { compare: "sle", ..SMALL });
    assert!(inclusive.contains("const 64"), "{inclusive}");
}

/// A loop whose trip count is the rounded quotient of an argument.
fn quotient(add: i64, by: i64, also: &str) -> String {
    let text = format!(
        "kernel ctas=1 entry=b0
partition warps=4
buffer $a shared bits=64 slot=64
shape s element=16 dims=4:16
input i0 argument 0 width=32 divisor=1
block b0()
  %a:s = base $a
  %n = input i0
  %add = const {add}
  %by = const {by}
  %sum = add w32 %n %add
  %trips = div_s w32 %sum %by
  %zero = const 0
  %one = const 1
  alloc $a
  jump bc(%zero)
block bc(%i)
  %more = cmp slt w32 %i %trips
  branch %more bcb() bend()
block bcb()
  op base -=write:generic:%a in_order
  %i1 = add w32 %i %one
  jump bc(%i1)
block bend()
  {also}
  @102 return
loop l0 @104 head=bc counted=%i,%zero,%trips,%one
"
    );
    let kernel = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")).kernel;
    print(&Generic::new(&kernel).kernel)
}

#[test]
fn a_trip_count_of_which_nothing_else_is_used_is_a_number_of_its_own() {
    assert_eq!(quotient(63, 64, ""), quotient(127, 128, ""));
    assert_ne!(quotient(63, 64, "%x = mul w32 %n %by"), quotient(127, 128, "%x = mul w32 %n %by"));
}
