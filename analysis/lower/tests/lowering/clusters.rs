//! Which CTAs each op concerns, and the ops of clusters. Sets are printed as the bits of the CTA's
//! number that do not count and, of these, the bits that run through both values.

use super::{effects, left_out, module_in};

/// Four CTAs; `!row` has one barrier for each pair and `!all` one for all, `!half` is cut in two
/// along its rows and held by pairs.
fn head(pairs: bool) -> String {
    format!(
        r##"
#s = #ttg.nvmma_shared<{{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[1, 0], [2, 0]]}}>
#h = #ttg.nvmma_shared<{{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[0, 0], [1, 0]]}}>
#b = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1], [2]]}}>
#p = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[0], [1]]}}>
#z = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[0], [0]]}}>
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1, CGALayout = [[1, 0], [2, 0]]>
#smem = #ttg.shared_memory
!bar = !ttg.memdesc<4xi64, #b, #smem, mutable>
!row = !ttg.memdesc<2xi64, #p, #smem, mutable>
!all = !ttg.memdesc<1xi64, #z, #smem, mutable>
!tile = !ttg.memdesc<512x64xf16, #s, #smem, mutable>
!half = !ttg.memdesc<256x64xf16, #h, #smem, mutable>
!acc = !ttg.memdesc<512x128xf32, #t, #ttng.tensor_memory, mutable>
module attributes {{"ttg.num-ctas" = 4 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32, "ttng.two-ctas" = {pairs}}} {{
"##
    )
}

const ENTRY: &str = "
  tt.func public @kernel(%n: i32, %c: i1, %desc: !tt.tensordesc<512x64xf16, #s>, %half: !tt.tensordesc<256x64xf16, #h>) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %tile = ttg.local_alloc : () -> !tile
    %a = ttg.local_alloc : () -> !half
    %bar = ttg.local_alloc : () -> !bar
    %row = ttg.local_alloc : () -> !row
    %all = ttg.local_alloc : () -> !all
    %acc = ttng.tmem_alloc : () -> !acc
";

#[track_caller]
fn check_in(head: &str, ops: &str, expected: &[&str]) {
    let lowered = module_in(head, &format!("{ENTRY}{ops}\n    tt.return\n  }}"));
    let effects: Vec<String> = effects(&lowered).into_iter().filter(|effect| !effect.starts_with("alloc")).collect();
    assert_eq!(effects, *expected, "\n{ops}");
    assert_eq!(left_out(&lowered), Vec::<String>::new());
}

#[track_caller]
fn check(ops: &str, expected: &[&str]) {
    check_in(&head(false), ops, expected);
}

#[test]
fn a_barrier_for_many_ctas_lives_in_their_first() {
    let meets = ["cluster_arrive relaxed", "cluster_wait"];
    check("ttng.init_barrier %bar, 1 : !bar", &["init %bar count=1"]);
    check("ttng.init_barrier %row, 1 : !row", &["init %row count=2 leaders=1", meets[0], meets[1]]);
    check("ttng.init_barrier %all, 3 : !all", &["init %all count=12 leaders=3", meets[0], meets[1]]);
    check("ttng.wait_barrier %row, %n : !row", &["wait %row phase=%n leaders=1"]);
    check("ttng.inval_barrier %all : !all", &["invalidate %all leaders=3"]);
    check("ttng.arrive_barrier %row, 2, %c : !row", &["arrive %row count=2 to=1:0 if %c"]);
    check("ttng.barrier_expect %all, 64, %true : !all", &["expect %all bytes=64 to=3:0"]);
    check("ttng.async_copy_mbarrier_arrive %row : !row", &["async_copy_arrive %row increments to=1:0"]);
}

#[test]
fn an_arrival_may_be_sent_elsewhere() {
    check("ttng.arrive_barrier %bar, 1 {ctaMask = 2 : i32} : !bar", &["arrive %bar count=1 to=2:2"]);
    check("ttng.arrive_barrier %bar, 1 {fromCTA = 1 : i32} : !bar", &["arrive %bar count=1 to=2:2 leaders=2"]);
    check("ttng.arrive_barrier %bar, 1 {fromCTA = 3 : i32} : !bar", &["arrive %bar count=1"]);
}

#[test]
fn a_tma_copy_brings_each_ctas_part() {
    let load = |from: &str, target: &str, to: &str, barrier: &str, attrs: &str| {
        let ty = if from == "%desc" { "512x64xf16, #s" } else { "256x64xf16, #h" };
        format!(
            "ttng.async_tma_copy_global_to_local {from}[%c0, %c0] {target}, %{barrier}, %true {attrs}: !tt.tensordesc<{ty}>, !{barrier} -> !{to}"
        )
    };
    let plain = |at: &str| format!("op tma -=write:async:%tile transaction [%{at} count=0 bytes=16384");
    check(&load("%desc", "%tile", "tile", "bar", ""), &[&format!("{}]", plain("bar"))]);
    check(&load("%desc", "%tile", "tile", "row", ""), &[&format!("{} to=1:0]", plain("row"))]);
    // Pairs hold the same half, which their first CTA fetches for both.
    let half = "op tma -=write:async:%a:ctas=1:1 transaction";
    check(
        &load("%half", "%a", "half", "bar", "{multicast} "),
        &[&format!("{half} [%bar count=0 bytes=16384 to=1:1] leaders=1")],
    );
    check(
        &load("%half", "%a", "half", "row", "{multicast} "),
        &[&format!("{half} [%row count=0 bytes=32768 to=1:0] leaders=1")],
    );
    check(
        &load("%half", "%a", "half", "all", "{multicast} "),
        &[&format!("{half} [%all count=0 bytes=32768 to=3:0] leaders=1")],
    );
    check(
        "ttng.async_tma_copy_local_to_global %half[%c0, %c0] %a : !tt.tensordesc<256x64xf16, #h>, !half",
        &["op tma -=read:async:%a commit tma_store implicit leaders=1"],
    );
}

#[test]
fn tensor_cores_of_a_pair_are_one() {
    let reads = "A=read:async:%tile:ctas=1:1 B=read:async:%a:ctas=1:1 Acc=read:tensor:%acc:ctas=1:1 Acc=write:tensor:%acc:ctas=1:1";
    let mma = |attrs: &str| {
        format!("ttng.tc_gen5_mma %tile, %a, %acc, %true, %true, %bar[%true] {{{attrs}}} : !tile, !half, !acc, !bar")
    };
    check_in(
        &head(true),
        &mma("is_async, two_ctas"),
        &[&format!("op tensor_core {reads} frontier [%bar count=1 bytes=0 to=1:1] leaders=1")],
    );
    let own = "A=read:async:%tile B=read:async:%a Acc=read:tensor:%acc Acc=write:tensor:%acc";
    check(&mma("is_async"), &[&format!("op tensor_core {own} frontier [%bar count=1 bytes=0]")]);
    check(&mma("is_async, multicast"), &[&format!("op tensor_core {own} frontier [%bar count=1 bytes=0 to=1:1]")]);
    check_in(
        &head(true),
        "ttng.tmem_copy %a, %acc : !half, !acc",
        &["op tensor_core Src=read:async:%a:ctas=1:1 Dst=write:tensor:%acc:ctas=1:1 in_order leaders=1"],
    );
    check("ttng.tc_gen5_commit %bar descs %a, %tile : !bar, !half, !tile", &["tensor_core_commit %bar to=1:1"]);
    check_in(&head(true), "ttng.tc_gen5_commit %bar : !bar", &["tensor_core_commit %bar to=1:1 leaders=1"]);
}

#[test]
fn clusters_meet() {
    check("ttng.cluster_barrier {relaxed = false}", &["cluster_arrive", "cluster_wait"]);
    check(
        "ttng.cluster_arrive {relaxed = true}
         ttng.cluster_wait ",
        &["cluster_arrive relaxed", "cluster_wait"],
    );
    // Where the program meets by itself after the inits, nothing is added.
    check(
        "ttng.init_barrier %row, 1 : !row
         ttng.cluster_barrier {relaxed = true}
         ttng.arrive_barrier %row, 1 : !row",
        &["init %row count=2 leaders=1", "cluster_arrive relaxed", "cluster_wait", "arrive %row count=1 to=1:0"],
    );
    // A barrier that its own CTA uses needs no meeting.
    check(
        "ttng.init_barrier %row, 1 : !row
         ttng.arrive_barrier %row, 1 : !row
         ttng.init_barrier %bar, 1 : !bar",
        &[
            "init %row count=2 leaders=1",
            "cluster_arrive relaxed",
            "cluster_wait",
            "arrive %row count=1 to=1:0",
            "init %bar count=1",
        ],
    );
}

#[test]
fn an_answer_goes_to_every_cta() {
    check(
        "ttng.clc_try_cancel %all, %bar : !all, !bar
         %answer = ttng.clc_load_result %all : !all -> i128
         %more = ttng.clc_is_canceled %answer : i128 -> i1
         ttng.arrive_barrier %bar, 1, %more : !bar",
        &[
            "op clc -=write:async:%all:ctas=3:3 transaction [%bar count=0 bytes=16 to=3:3] leaders=3",
            "%answer = clc_load -=read:generic:%all",
            "arrive %bar count=1 if %more",
        ],
    );
    check(
        "ttng.async_clc_try_cancel %bar, %all : !bar, !all
         %x, %y, %z = ttng.clc_query_cancel %all : (!all) -> (i32, i32, i32)",
        &[
            "op clc -=write:async:%all:ctas=3:3 transaction [%bar count=0 bytes=16 to=3:3] leaders=3",
            "%x = clc_load -=read:generic:%all",
        ],
    );
}

#[test]
fn named_barriers_have_numbers() {
    check("ttng.arrive_barrier_named %n, %c0 : i32, i32", &["named_arrive %n threads=%c0"]);
    check("ttng.wait_barrier_named %n, %c0 : i32, i32", &["named_arrive %n threads=%c0", "named_wait %n"]);
}

#[test]
fn an_arrival_by_every_thread_counts_them() {
    check("ttng.arrive_barrier %bar, 1 {perThread} : !bar", &["arrive %bar count=128"]);
}

/// Programs of their own in a cluster name each other by number.
mod programs {
    use super::super::{effects, left_out, module_in};

    const HEAD: &str = r##"
#r = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!bar = !ttg.memdesc<1xi64, #b, #smem, mutable>
!far = !ttg.memdesc<1xi64, #b, #ttng.shared_cluster_memory, mutable>
!tile = !ttg.memdesc<128xf32, #b, #smem, mutable>
module attributes {"ttg.cluster-dim-x" = 2 : i32, "ttg.cluster-dim-y" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32} {
  tt.func public @kernel(%n: i32, %v: tensor<128xf32, #r>, %desc: !tt.tensordesc<128xf32, #b>) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %a = ttg.local_alloc : () -> !tile
    %bar = ttg.local_alloc : () -> !bar
"##;

    #[track_caller]
    fn check(ops: &str, expected: &[&str]) {
        let lowered = module_in(HEAD, &format!("{ops}\n    tt.return\n  }}"));
        let effects = effects(&lowered);
        assert_eq!(effects[2..], *expected, "\n{ops}");
        assert_eq!(left_out(&lowered), Vec::<String>::new());
        assert_eq!(lowered.kernel.ctas, 2);
    }

    #[test]
    fn views_of_another_cta() {
        check(
            "%far = ttng.map_to_remote_buffer %bar, %n : !bar -> !far
             ttng.arrive_barrier %far, 1 : !far",
            &["arrive %far count=1"],
        );
        check(
            "%rank = nvg.cluster_id
             %far = ttng.map_to_remote_buffer %bar, %rank : !bar -> !far
             ttng.arrive_barrier %far, 1 : !far",
            &["arrive %far count=1"],
        );
        check(
            "%size = ttng.cluster_size_1d 
             ttng.wait_barrier %bar, %size : !bar",
            &["wait %bar phase=%1"],
        );
    }

    #[test]
    fn stores_into_another_cta() {
        check(
            "ttg.remote_shmem_store %v, rank %n, %a : tensor<128xf32, #r> -> !tile",
            &["op base -=write:generic:%2 in_order"],
        );
        check(
            "ttg.async_remote_shmem_store %v, rank %n, %a barrier %bar : tensor<128xf32, #r> -> !tile barrier_ty !bar",
            &["op tma -=write:generic:%3 transaction [%4 count=0 bytes=512]"],
        );
        check(
            "ttg.async_remote_shmem_copy %a, rank %n, %a barrier %bar : !tile -> !tile barrier_ty !bar",
            &["op tma -=read:async:%a -=write:async:%3 transaction [%4 count=0 bytes=512]"],
        );
    }

    #[test]
    fn copies_to_the_ctas_of_a_mask() {
        let copy = |view: u32, bar: u32, when: u32| {
            format!("op tma -=write:async:%{view} transaction [%{bar} count=0 bytes=512] if %{when}")
        };
        check(
            "ttng.async_tma_copy_global_to_local %desc[%c0] %a, %bar, %true, %n {multicast} : !tt.tensordesc<128xf32, #b>, !bar -> !tile",
            &[&copy(6, 7, 5), &copy(11, 12, 10)],
        );
    }
}
