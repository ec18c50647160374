//! `--semantics`: where versions of the sanitizer differ, the user says whose rules hold.

use crate::support::fencepost_with;

/// Two copies into one tile, each with a barrier, and both barriers are waited for afterwards.
const OVER: &str = r#"
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!tile = !ttg.memdesc<64x64xf16, #nv, #smem, mutable>
!bar = !ttg.memdesc<1xi64, #bar, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"} {
  tt.func public @over(%desc: !tt.tensordesc<64x64xf16, #nv>) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %tile = ttg.local_alloc : () -> !tile
    %first = ttg.local_alloc : () -> !bar
    %second = ttg.local_alloc : () -> !bar
    ttng.init_barrier %first, 1 : !bar
    ttng.init_barrier %second, 1 : !bar
    ttng.barrier_expect %first, 8192, %true : !bar
    ttng.async_tma_copy_global_to_local %desc[%c0, %c0] %tile, %first, %true : !tt.tensordesc<64x64xf16, #nv>, !bar -> !tile
    ttng.barrier_expect %second, 8192, %true : !bar
    ttng.async_tma_copy_global_to_local %desc[%c0, %c0] %tile, %second, %true : !tt.tensordesc<64x64xf16, #nv>, !bar -> !tile
    ttng.wait_barrier %first, %c0 : !bar
    ttng.wait_barrier %second, %c0 : !bar
    tt.return
  }
}
"#;

#[test]
fn a_copy_over_a_copy_depends_on_whose_rules_hold() {
    let released = fencepost_with(&["check", "-"], OVER.as_bytes());
    assert_eq!(released.code, 1, "{}", released.stdout);
    let fork = fencepost_with(&["check", "--semantics", "fork", "-"], OVER.as_bytes());
    assert_eq!((fork.code, fork.stdout.contains("proved")), (0, true), "{}", fork.stdout);
}
