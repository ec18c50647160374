//! Own small kernels, broken, and the lines that their fixes change.

use base::{Cancel, Limits};
use findings::describe;
use fixes::{apply, attach_fixes};
use lower::lower;
use ttgir::Tree;
use verify::decide;

const HEAD: &str = r##"#b = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#r = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!bar = !ttg.memdesc<1xi64, #b, #smem, mutable>
!bars = !ttg.memdesc<2x1xi64, #b, #smem, mutable>
!tile = !ttg.memdesc<64x64xf16, #s, #smem, mutable>
!tiles = !ttg.memdesc<2x64x64xf16, #s, #smem, mutable>
!desc = !tt.tensordesc<64x64xf16, #s>
!regs = tensor<64x64xf16, #r>
!ptrs = tensor<64x64x!tt.ptr<f16>, #r>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%desc: !desc, %x: !regs, %ptrs: !ptrs, %n: i32) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
"##;

/// The findings of a kernel with this body and the lines that the fixes change.
fn fixes(body: &str) -> Vec<String> {
    of(&format!("{HEAD}{body}\n    tt.return\n  }}\n}}\n"))
}

fn of(text: &str) -> Vec<String> {
    let tree = Tree::parse(text);
    let errors: Vec<_> = tree.errors().iter().map(|error| (&error.message, error.range.of(text))).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let lowered = lower(&tree).remove(0);
    let limits = Limits::default();
    let mut decide = |kernel: &_| decide(kernel, &limits, &Cancel::never());
    let outcome = decide(&lowered.kernel).expect("not cancelled");
    let mut report = describe(&lowered, &outcome);
    let passed = attach_fixes(&tree, &lowered, &outcome, None, &mut report, &mut decide).expect("not cancelled");
    let mut again = report.clone();
    again.findings.iter_mut().for_each(|finding| finding.fix = None);
    attach_fixes(&tree, &lowered, &outcome, passed.as_ref(), &mut again, &mut decide).expect("not cancelled");
    assert_eq!(report, again, "what passed is found again");
    let mut out = Vec::new();
    for finding in &report.findings {
        let Some(fix) = &finding.fix else {
            out.push(format!("{}: nothing", finding.kind.name()));
            continue;
        };
        out.push(format!("{}: {}", finding.kind.name(), fix.title));
        let fixed = apply(text, &fix.edits).expect("edits are ordered");
        assert_eq!(fixed.matches("\r\n").count() > 0, text.matches("\r\n").count() > 0);
        out.extend(changed(text, &fixed));
    }
    out
}

/// Lines that only one text has, in order.
fn changed(old: &str, new: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
    let mut longest = vec![vec![0u32; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            longest[i][j] = match old[i] == new[j] {
                true => longest[i + 1][j + 1] + 1,
                false => longest[i + 1][j].max(longest[i][j + 1]),
            };
        }
    }
    let (mut i, mut j, mut out) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || i < old.len() && longest[i + 1][j] >= longest[i][j + 1] {
            out.push(format!("-{}", old[i]));
            i += 1;
        } else {
            out.push(format!("+{}", new[j]));
            j += 1;
        }
    }
    out
}

const HAND_OVER: &str = "    %buf = ttg.local_alloc : () -> !tile
    %ready = ttg.local_alloc : () -> !bar
    ttng.init_barrier %ready, 1 : !bar
    ttg.warp_specialize(%desc, %buf, %ready)
    default {
      ttg.local_store %x, %buf : !regs -> !tile
      ttng.fence_async_shared {bCluster = false}
      ttng.arrive_barrier %ready, 1 : !bar
      ttg.warp_yield
    }
    partition0(%d: !desc, %tile: !tile, %r: !bar) num_warps(1) {
      %p = arith.constant 0 : i32
      ttng.wait_barrier %r, %p : !bar
      ttng.async_tma_copy_local_to_global %d[%p, %p] %tile : !desc, !tile
      ttng.async_tma_store_wait {pendings = 0 : i32}
      ttg.warp_return
    } : (!desc, !tile, !bar) -> ()";

#[test]
fn a_clean_kernel_costs_nothing() {
    assert_eq!(fixes(HAND_OVER), [""; 0]);
}

#[test]
fn a_fence_before_the_arrival() {
    let fence = "      ttng.fence_async_shared {bCluster = false}\n";
    assert_eq!(
        fixes(&HAND_OVER.replace(fence, "")),
        [
            "missing-proxy-fence: insert `ttng.fence_async_shared` before the arrival",
            "+      ttng.fence_async_shared {bCluster = false}",
        ]
    );
    let arrive = "      ttng.arrive_barrier %ready, 1 : !bar\n";
    let swapped = HAND_OVER.replace(&format!("{fence}{arrive}"), &format!("{arrive}{fence}"));
    assert_eq!(
        fixes(&swapped),
        [
            "missing-proxy-fence: move `ttng.fence_async_shared` before the arrival",
            "-      ttng.arrive_barrier %ready, 1 : !bar",
            "+      ttng.arrive_barrier %ready, 1 : !bar",
        ]
    );
}

#[test]
fn the_other_constant_phase() {
    assert_eq!(
        fixes(&HAND_OVER.replace("%p = arith.constant 0", "%p = arith.constant 1")),
        [
            "phase-mismatch: wait for the other phase of `%ready`",
            "-      ttng.wait_barrier %r, %p : !bar",
            "+      %c0_i32 = arith.constant 0 : i32",
            "+      ttng.wait_barrier %r, %c0_i32 : !bar",
        ]
    );
}

#[test]
fn carriage_returns_are_kept() {
    let body = HAND_OVER.replace("      ttng.fence_async_shared {bCluster = false}\n", "");
    let text = format!("{HEAD}{body}\n    tt.return\n  }}\n}}\n").replace('\n', "\r\n");
    assert_eq!(
        of(&text),
        [
            "missing-proxy-fence: insert `ttng.fence_async_shared` before the arrival",
            "+      ttng.fence_async_shared {bCluster = false}\r",
        ]
    );
}

#[test]
fn an_arrival_moved_behind_the_store() {
    let arrive = "      ttng.arrive_barrier %ready, 1 : !bar\n";
    let store = "      ttg.local_store %x, %buf : !regs -> !tile\n";
    let body = HAND_OVER.replace(arrive, "").replace(store, &format!("{arrive}{store}"));
    assert_eq!(
        fixes(&body),
        [
            "missing-forward-barrier: move `ttng.arrive_barrier` behind the access",
            "-      ttng.arrive_barrier %ready, 1 : !bar",
            "+      ttng.arrive_barrier %ready, 1 : !bar",
        ]
    );
}

#[test]
fn a_missing_init() {
    assert_eq!(
        fixes(&HAND_OVER.replace("    ttng.init_barrier %ready, 1 : !bar\n", "")),
        ["barrier-not-live: initialise `%ready`", "+    ttng.init_barrier %ready, 1 : !bar",]
    );
}

#[test]
fn a_doubled_init() {
    let init = "    ttng.init_barrier %ready, 1 : !bar\n";
    assert_eq!(
        fixes(&HAND_OVER.replace(init, &init.repeat(2))),
        ["barrier-reinit: take the second init away", "-    ttng.init_barrier %ready, 1 : !bar",]
    );
}

#[test]
fn counts_of_arrivals() {
    assert_eq!(
        fixes(&HAND_OVER.replace("%ready, 1 : !bar\n    ttg.warp", "%ready, 2 : !bar\n    ttg.warp")),
        [
            "deadlock: initialise `%ready` for 1 arrival",
            "-    ttng.init_barrier %ready, 2 : !bar",
            "+    ttng.init_barrier %ready, 1 : !bar",
        ]
    );
    let arrive = "      ttng.arrive_barrier %ready, 1 : !bar\n";
    assert_eq!(
        fixes(&HAND_OVER.replace(arrive, &arrive.replace(", 1", ", 2"))),
        [
            "arrival-overflow: initialise `%ready` for 2 arrivals",
            "-    ttng.init_barrier %ready, 1 : !bar",
            "+    ttng.init_barrier %ready, 2 : !bar",
        ]
    );
}

#[test]
fn a_missing_arrival() {
    assert_eq!(
        fixes(&HAND_OVER.replace("      ttng.arrive_barrier %ready, 1 : !bar\n", "")),
        ["deadlock: insert `ttng.arrive_barrier` on `%ready`", "+      ttng.arrive_barrier %ready, 1 : !bar",]
    );
}

#[test]
fn a_missing_wait() {
    assert_eq!(
        fixes(&HAND_OVER.replace("      ttng.wait_barrier %r, %p : !bar\n", "")),
        ["missing-forward-barrier: insert `ttng.wait_barrier` on `%ready`", "+      ttng.wait_barrier %r, %p : !bar",]
    );
}

const RING: &str = "    %buf = ttg.local_alloc : () -> !tiles
    %full = ttg.local_alloc : () -> !bars
    %empty = ttg.local_alloc : () -> !bars
    %full0 = ttg.memdesc_index %full[%c0] : !bars -> !bar
    %full1 = ttg.memdesc_index %full[%c1] : !bars -> !bar
    %empty0 = ttg.memdesc_index %empty[%c0] : !bars -> !bar
    %empty1 = ttg.memdesc_index %empty[%c1] : !bars -> !bar
    ttng.init_barrier %full0, 1 : !bar
    ttng.init_barrier %full1, 1 : !bar
    ttng.init_barrier %empty0, 1 : !bar
    ttng.init_barrier %empty1, 1 : !bar
    ttg.warp_specialize(%desc, %buf, %full, %empty, %n)
    default {
      scf.for %i = %c0 to %n step %c1 : i32 {
        %slot = arith.remsi %i, %c2 : i32
        %lap = arith.divsi %i, %c2 : i32
        %parity = arith.andi %lap, %c1 : i32
        %f = ttg.memdesc_index %full[%slot] : !bars -> !bar
        ttng.wait_barrier %f, %parity : !bar
        %tile = ttg.memdesc_index %buf[%slot] : !tiles -> !tile
        %v = ttg.local_load %tile : !tile -> !regs
        ttng.fence_async_shared {bCluster = false}
        %e = ttg.memdesc_index %empty[%slot] : !bars -> !bar
        ttng.arrive_barrier %e, 1 : !bar
      }
      ttg.warp_yield
    }
    partition0(%d: !desc, %ring: !tiles, %fulls: !bars, %empties: !bars, %k: i32) num_warps(1) {
      %yes = arith.constant true
      %p0 = arith.constant 0 : i32
      %p1 = arith.constant 1 : i32
      %p2 = arith.constant 2 : i32
      scf.for %i = %p0 to %k step %p1 : i32 {
        %slot = arith.remsi %i, %p2 : i32
        %lap = arith.divsi %i, %p2 : i32
        %parity = arith.andi %lap, %p1 : i32
        %other = arith.xori %parity, %p1 : i32
        %e = ttg.memdesc_index %empties[%slot] : !bars -> !bar
        ttng.wait_barrier %e, %other : !bar
        %f = ttg.memdesc_index %fulls[%slot] : !bars -> !bar
        ttng.barrier_expect %f, 8192, %yes : !bar
        %tile = ttg.memdesc_index %ring[%slot] : !tiles -> !tile
        ttng.async_tma_copy_global_to_local %d[%p0, %p0] %tile, %f, %yes : !desc, !bar -> !tile
      }
      ttg.warp_return
    } : (!desc, !tiles, !bars, !bars, i32) -> ()";

#[test]
fn a_ring_is_clean() {
    assert_eq!(fixes(RING), [""; 0]);
}

#[test]
fn a_ring_without_its_waits() {
    assert_eq!(
        fixes(&RING.replace("        ttng.wait_barrier %f, %parity : !bar\n", "")),
        [
            "missing-forward-barrier: insert `ttng.wait_barrier` on `%full[0]`",
            "+        ttng.wait_barrier %f, %parity : !bar",
            "uninitialised-read: nothing",
            "phase-mismatch: nothing",
        ]
    );
    assert_eq!(
        fixes(&RING.replace("        ttng.wait_barrier %e, %other : !bar\n", "")),
        [
            "missing-backward-barrier: insert `ttng.wait_barrier` on `%empty[0]`",
            "+        ttng.wait_barrier %e, %other : !bar",
        ]
    );
}

#[test]
fn a_ring_without_its_wait_whose_consumer_counts_by_itself() {
    let lines = |from: &str| RING.replacen("      scf.for %i = %c0 to %n step %c1 : i32 {\n", from, 1);
    let counted = lines(
        "      %end = arith.addi %n, %c1 : i32
      %last = scf.for %j = %c1 to %end step %c1 iter_args(%i = %c0) -> (i32) : i32 {\n",
    );
    let yields =
        "        %next = arith.addi %i, %c1 : i32\n        scf.yield %next : i32\n      }\n      ttg.warp_yield\n";
    let counted = counted.replace("      }\n      ttg.warp_yield\n", yields);
    assert_eq!(fixes(&counted), [""; 0]);
    let gone = [
        "        %lap = arith.divsi %i, %c2 : i32\n        %parity = arith.andi %lap, %c1 : i32\n",
        "        ttng.wait_barrier %f, %parity : !bar\n",
    ];
    let without = gone.iter().fold(counted, |text, line| text.replacen(line, "", 1));
    assert_eq!(
        fixes(&without).first().map(String::as_str),
        Some("missing-forward-barrier: insert `ttng.wait_barrier` on `%full[0]`")
    );
}

#[test]
fn a_ring_whose_producer_starts_with_the_wrong_phase() {
    assert_eq!(
        fixes(&RING.replace("%e, %other", "%e, %parity")),
        [
            "deadlock: wait for the other phase of `%empty[0]`",
            "-        ttng.wait_barrier %e, %parity : !bar",
            "+        ttng.wait_barrier %e, %other : !bar",
        ]
    );
}

#[test]
fn a_ring_whose_slots_never_come_back() {
    assert_eq!(
        fixes(&RING.replace("        ttng.arrive_barrier %e, 1 : !bar\n", "")),
        [
            "deadlock: insert `ttng.arrive_barrier` on `%empty[0]`",
            "+        %bar = ttg.memdesc_index %empty[%slot] : !bars -> !bar",
            "+        ttng.arrive_barrier %bar, 1 : !bar",
        ]
    );
}

#[test]
fn a_ring_with_wrong_bytes() {
    assert_eq!(
        fixes(&RING.replace("8192", "16384")),
        [
            "expect-mismatch: expect 8192 bytes on `%full[0]`",
            "-        ttng.barrier_expect %f, 16384, %yes : !bar",
            "+        ttng.barrier_expect %f, 8192, %yes : !bar",
        ]
    );
    assert_eq!(
        fixes(&RING.replace("8192", "4096")),
        [
            "expect-mismatch: expect 8192 bytes on `%full[0]`",
            "-        ttng.barrier_expect %f, 4096, %yes : !bar",
            "+        ttng.barrier_expect %f, 8192, %yes : !bar",
        ]
    );
    assert_eq!(
        fixes(&RING.replace("        ttng.barrier_expect %f, 8192, %yes : !bar\n", "")),
        ["deadlock: insert `ttng.barrier_expect`", "+        ttng.barrier_expect %f, 8192, %yes : !bar",]
    );
}

#[test]
fn a_store_that_is_pending() {
    let body = "    %buf = ttg.local_alloc : () -> !tile
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttng.async_tma_store_wait {pendings = 1 : i32}
      ttg.local_store %x, %buf : !regs -> !tile
      ttng.fence_async_shared {bCluster = false}
      ttng.async_tma_copy_local_to_global %desc[%c0, %c0] %buf : !desc, !tile
    }
    ttng.async_tma_store_wait {pendings = 0 : i32}";
    assert_eq!(
        fixes(body),
        [
            "pending-access: let `ttng.async_tma_store_wait` leave 0 groups open",
            "-      ttng.async_tma_store_wait {pendings = 1 : i32}",
            "+      ttng.async_tma_store_wait {pendings = 0 : i32}",
        ]
    );
    assert_eq!(
        fixes(&body.replace("      ttng.async_tma_store_wait {pendings = 1 : i32}\n", "")),
        ["pending-access: insert `ttng.async_tma_store_wait`", "+      ttng.async_tma_store_wait {pendings = 0 : i32}",]
    );
}

#[test]
fn copies_without_commit_or_wait() {
    let body = "    %buf = ttg.local_alloc : () -> !tile
    %t = ttg.async_copy_global_to_local %ptrs, %buf : !ptrs -> !tile
    ttg.async_commit_group
    ttg.async_wait {num = 0 : i32}
    %v = ttg.local_load %buf : !tile -> !regs";
    assert_eq!(fixes(body), [""; 0]);
    assert_eq!(
        fixes(&body.replace("    ttg.async_commit_group\n", "")),
        ["pending-access: insert `ttg.async_commit_group`", "+    ttg.async_commit_group",]
    );
    assert_eq!(
        fixes(&body.replace("    ttg.async_wait {num = 0 : i32}\n", "")),
        ["pending-access: insert `ttg.async_wait`", "+    ttg.async_wait {num = 0 : i32}",]
    );
    assert_eq!(
        fixes(&body.replace("num = 0", "num = 1")),
        [
            "pending-access: let `ttg.async_wait` leave 0 groups open",
            "-    ttg.async_wait {num = 1 : i32}",
            "+    ttg.async_wait {num = 0 : i32}",
        ]
    );
}

const AMD: &str = r##"#b = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
#r = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
!bar = !ttg.memdesc<1xi64, #b, #smem, mutable>
!tile = !ttg.memdesc<64x64xf16, #s, #smem, mutable>
!desc = !tt.tensordesc<64x64xf16, #s>
!regs = tensor<64x64xf16, #r>
!ptrs = tensor<64x64x!tt.ptr<f16>, #r>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%desc: !desc, %x: !regs, %ptrs: !ptrs) {
    %c0 = arith.constant 0 : i32
    %t = ttg.local_alloc : () -> !tile
    %full = ttg.local_alloc : () -> !bar
"##;

fn amd(body: &str) -> Vec<String> {
    of(&format!("{AMD}{body}\n    tt.return\n  }}\n}}\n"))
}

#[test]
fn amd_has_ops_of_its_own() {
    assert_eq!(
        amd("    %l = amdg.async_tdm_copy_global_to_local %desc into %t : !desc -> !tile
    %y = ttg.local_load %t : !tile -> !regs"),
        ["pending-access: insert `amdg.async_tdm_wait`", "+    amdg.async_tdm_wait {num = 0 : i32}"]
    );
    assert_eq!(
        amd("    amdg.init_barrier %full, 4 : !bar
    %l = amdg.async_tdm_copy_global_to_local %desc into %t, barrier = %full : !desc, !bar -> !tile
    %y = ttg.local_load %t : !tile -> !regs"),
        ["missing-forward-barrier: insert `amdg.wait_barrier` on `%full`", "+    amdg.wait_barrier %full, %c0 : !bar"]
    );
    assert_eq!(
        amd("    amdg.init_barrier %full, 1 : !bar
    %l = amdg.async_tdm_copy_global_to_local %desc into %t, barrier = %full : !desc, !bar -> !tile
    amdg.wait_barrier %full, %c0 : !bar"),
        [
            "arrival-overflow: initialise `%full` for 4 arrivals",
            "-    amdg.init_barrier %full, 1 : !bar",
            "+    amdg.init_barrier %full, 4 : !bar"
        ]
    );
    assert_eq!(
        amd("    amdg.init_barrier %full, 128 : !bar
    %l = ttg.async_copy_global_to_local %ptrs, %t : !ptrs -> !tile
    %p = amdg.arrive_barrier %full, 1 : !bar -> i32
    amdg.wait_barrier %full, %c0 : !bar
    %y = ttg.local_load %t : !tile -> !regs"),
        [
            "pending-access: arrive when the copies are done: `amdg.async_copy_mbarrier_arrive`",
            "-    %p = amdg.arrive_barrier %full, 1 : !bar -> i32",
            "+    amdg.async_copy_mbarrier_arrive %full : !bar"
        ]
    );
    assert_eq!(
        amd("    amdg.init_barrier %full, 128 : !bar
    amdg.init_barrier %full, 128 : !bar"),
        ["barrier-reinit: take the second init away", "-    amdg.init_barrier %full, 128 : !bar"]
    );
}

/// A producer and a consumer of a ring with tokens, as automatic warp specialisation leaves them.
const TOKENS: &str = "    %buf = ttg.local_alloc : () -> !tiles
    %tok = nvws.create_token {loadType = 3 : i32, numBuffers = 2 : i32} : tensor<2x!nvws.token>
    ttg.warp_specialize(%buf, %tok, %n)
    default {
      scf.for %i = %c0 to %n step %c1 : i32 {
        %slot = arith.remui %i, %c2 : i32
        %round = arith.divui %i, %c2 : i32
        %phase = arith.trunci %round : i32 to i1
        nvws.producer_acquire %tok, %slot, %phase {async_task_id = array<i32: 0>} : tensor<2x!nvws.token>, i32, i1
        %to = ttg.memdesc_index %buf[%slot] : !tiles -> !tile
        ttg.local_store %x, %to : !regs -> !tile
        nvws.producer_commit %tok, %slot {async_task_id = array<i32: 0>} : tensor<2x!nvws.token>, i32
      }
      ttg.warp_yield
    }
    partition0(%b: !tiles, %t: tensor<2x!nvws.token>, %m: i32) num_warps(4) {
      %p0 = arith.constant 0 : i32
      %p1 = arith.constant 1 : i32
      %p2 = arith.constant 2 : i32
      scf.for %i = %p0 to %m step %p1 : i32 {
        %slot = arith.remui %i, %p2 : i32
        %round = arith.divui %i, %p2 : i32
        %phase = arith.trunci %round : i32 to i1
        nvws.consumer_wait %t, %slot, %phase {async_task_id = array<i32: 1>} : tensor<2x!nvws.token>, i32, i1
        %from = ttg.memdesc_index %b[%slot] : !tiles -> !tile
        %y = ttg.local_load %from : !tile -> !regs
        nvws.consumer_release %t, %slot {async_task_id = array<i32: 1>} : tensor<2x!nvws.token>, i32
      }
      ttg.warp_return
    } : (!tiles, tensor<2x!nvws.token>, i32) -> ()";

#[test]
fn a_missing_token_release() {
    let release =
        "        nvws.consumer_release %t, %slot {async_task_id = array<i32: 1>} : tensor<2x!nvws.token>, i32\n";
    assert_eq!(fixes(TOKENS), [""; 0]);
    assert_eq!(
        fixes(&TOKENS.replace(release, "")),
        ["deadlock: insert `nvws.consumer_release`", &format!("+{}", release.trim_end())]
    );
}

#[test]
fn a_missing_token_commit() {
    let commit =
        "        nvws.producer_commit %tok, %slot {async_task_id = array<i32: 0>} : tensor<2x!nvws.token>, i32\n";
    assert_eq!(
        fixes(&TOKENS.replace(commit, "")),
        ["deadlock: insert `nvws.producer_commit`", &format!("+{}", commit.trim_end())]
    );
}

/// A product that adds to an accumulator, in a loop.
const ACCUMULATOR: &str = "    %a = ttg.local_alloc %x : (!regs) -> !tile
    ttng.fence_async_shared {bCluster = false}
    %acc = ttng.tmem_alloc : () -> !ttg.memdesc<64x64xf32, #t64, #ttng.tensor_memory, mutable>
    %done = ttg.local_alloc : () -> !bar
    ttng.init_barrier %done, 1 : !bar
    %false = arith.constant false
    scf.for %i = %c0 to %n step %c1 : i32 {
      %use = arith.cmpi ne, %i, %c0 : i32
      ttng.tc_gen5_mma %a, %a, %acc, %use, %true, %done[%true] {is_async} : !tile, !tile, !ttg.memdesc<64x64xf32, #t64, #ttng.tensor_memory, mutable>, !bar
      %parity = arith.andi %i, %c1 : i32
      ttng.wait_barrier %done, %parity : !bar
    }";

#[test]
fn an_accumulator_that_nobody_wrote() {
    let with = |body: &str| {
        let head = HEAD.replacen(
            "!bar =",
            "#t64 = #ttng.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 1>\n!bar =",
            1,
        );
        of(&format!("{head}{body}\n    tt.return\n  }}\n}}\n"))
    };
    let mma = |adds: &str| {
        let line = ACCUMULATOR.lines().find(|line| line.contains("tc_gen5_mma")).unwrap_or_default();
        line.replace("%use,", &format!("{adds},"))
    };
    assert_eq!(with(ACCUMULATOR), [""; 0]);
    assert_eq!(
        with(
            &ACCUMULATOR
                .replace("%acc, %use,", "%acc, %true,")
                .replace("      %use = arith.cmpi ne, %i, %c0 : i32\n", "")
        ),
        [
            "uninitialised-read: overwrite the accumulator in the first iteration",
            &format!("-{}", mma("%true")),
            "+      %use_acc = arith.cmpi ne, %i, %c0 : i32",
            &format!("+{}", mma("%use_acc")),
        ]
    );
}

/// The flagged kernel of the page of packed overwrites: the sibling's reader has no barrier to say that it is done.
#[test]
fn a_back_edge_of_its_own_for_a_packed_buffer() {
    let page = include_str!("../../findings/src/pages/packed-overwrite.md");
    let flagged = page.split("```ttgir\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap_or_default();
    let marks = |line: &&str| !line.trim_start().starts_with("//");
    let text: String = flagged.lines().filter(marks).flat_map(|line| [line, "\n"]).collect();
    let told = of(&text);
    assert_eq!(
        told.first().map(String::as_str),
        Some("packed-overwrite: insert a barrier: the reader arrives on it, and the overwrite waits for it")
    );
    for line in [
        "+    %is_read = ttg.local_alloc : () -> !bar",
        "+    ttng.init_barrier %is_read, 1 : !bar",
        "+      ttng.arrive_barrier %is_read, 1 : !bar",
        "+      ttng.wait_barrier %was_read, %p0 : !bar",
    ] {
        assert!(told.iter().any(|told| told == line), "{line}: {told:#?}");
    }
}

/// Attention whose row maximum and row sum are packed beside the scores: the wait belongs before the inner loop.
#[test]
fn a_wait_before_the_inner_loop_for_packed_buffers() {
    let told = of(include_str!("../../../tests/kernels/packed/final_broken.ttgir"));
    let waits: Vec<&String> = told.iter().filter(|line| line.contains("insert `ttng.wait_barrier`")).collect();
    assert_eq!(waits.len(), 4, "{told:#?}");
}
