use super::{parse, print};
use crate::{EffectKind, Terminator};

const RING: &str = "\
kernel ctas=1 entry=b0
partition warps=4
partition warps=1
buffer $0 shared bits=65536 slot=32768
buffer $1 shared bits=128 slot=64 start=65536 barriers
shape s0 element=16 dims=2:32768,32:1024,64:16
shape s1 element=64 dims=1:64
shape s2 element=16 dims=32:1024,64:16 inexact
input i0 argument 3 width=32 divisor=16
input i1 memory width=32 divisor=1
block b0()
  %0:s0 = base $0
  @0 alloc $0
  %1 = const 0
  %2:s1 = index %0 at=%1 stride=64 count=2
  @1 init %2 count=1
  @2 fork b1(%1) 1:b3(%2)
block b1(%3)
  %4 = cmp slt w32 %3 %1
  %5:s2 = shift %0 bits=128
  @3 op tensor_core A=read:async:%5 Acc=write:tensor:%5:clears frontier [%2 count=1 bytes=0 if %4] [%2 count=1 bytes=0] if %4
  @4 op tma -=write:async:%5 transaction [%2 count=0 bytes=4096]
  @5 op base -=write:generic:%5 commit async_copy
  @6 wait %2 phase=%1
  @7 op base -=read:generic:%5 in_order
  @8 wait_group tma_store pending=1
  branch %4 b1(%3) b2()
block b2()
  @2 join b4()
block b3(%6:s1)
  %7 = input i0
  %8 = load i1 %7
  %9 = add w32 %7 %8
  %10 = select %9 %7 %8
  %11 = ext_s w32 w64 %10
  @9 arrive %6 count=2 to=1:0,3:2 if %11
  @10 async_copy_arrive %6 increments
  @11 cluster_arrive relaxed
  @11 cluster_wait
  @18 named_arrive %7 threads=%8
  @18 named_wait %7
  %12:s1 = remote %6 cta=%7
  @19 op clc -=write:async:%12:ctas=3:3 transaction [%6 count=0 bytes=16 to=3:3] leaders=3
  %13 = @20 clc_load -=read:generic:%12
  %14 = @21 read_phase %6
  @22 op tma -=write:generic:%12 in_turn
  @22 op tma -=read:generic:%12 in_turn [%6 count=4 bytes=0]
  @12 proxy_fence
  @13 unmodelled
  @14 exit
block b4()
  @15 return
loop l0 @16 head=b1 counted=%3,%1,%1,%1
loop l1 @17 head=b1 parent=l0
";

#[test]
fn every_form_round_trips() {
    let lowered = parse(RING).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(print(&lowered.kernel), RING);
    let again = parse(&print(&lowered.kernel)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.kernel, lowered.kernel);
}

#[test]
fn a_text_by_hand_uses_names_and_leaves_sites_out() {
    let text = "
kernel ctas=1
buffer $full shared bits=64 barriers
shape bar element=64 dims=1:64
block start
  %zero = const 0 // comment
  %full:bar = base $full
  alloc $full
  init %full count=1
  wait %full phase=%zero
  return
";
    let lowered = parse(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(lowered.kernel.effects.len(), 3);
    assert!(matches!(lowered.kernel.effects[2].kind, EffectKind::Wait { .. }));
    assert!(matches!(lowered.kernel.blocks[0].terminator, Terminator::Return(_)));
    let site = lowered.map.site(lowered.kernel.effects[2].site);
    assert_eq!(site.range.of(text), "wait %full phase=%zero");
    assert_eq!(
        site.operands.iter().map(|(role, range)| (role.as_str(), range.of(text))).collect::<Vec<_>>(),
        [("barrier", "%full")]
    );
}

#[test]
fn errors_have_a_line_and_a_place() {
    let error = |text: &str| parse(text).err().map(|error| error.to_string()).unwrap_or_default();
    assert_eq!(error("kernel ctas=1\nblock b0\n  init %x count=1\n  return\n"), "line 3: no such var: `x`");
    assert_eq!(error("block b0\n  jump b1\n"), "line 2: no such block: `b1`");
    assert_eq!(error("block b0\n  %a = const 1\n"), "line 2: the last block has no end");
    assert_eq!(error("block b0\n  %a = conts 1\n  return\n"), "line 2: unknown operation `conts`");
    assert_eq!(error("block b0(%a)\n  jump b0\n"), "line 2: a jump to block 0 has 0 of 1 arguments");
    assert_eq!(error(""), "line 1: the last block has no end");
    assert_eq!(error("block b0 ;\n"), "line 1: unexpected character");
}
