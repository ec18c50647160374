//! A finding at the end of a long run tells its first step and its last ones, not all.

use base::{Cancel, Limits};
use engine::Engine;
use findings::Kind;
use ttgir::Document;

const EXPECTED_IN_A_LOOP: &str = "#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!bar = !ttg.memdesc<1xi64, #bar, #smem, mutable>
module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, \"ttg.threads-per-warp\" = 32 : i32, ttg.target = \"cuda:90\"} {
  tt.func public @expect() {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %times = arith.constant 4000 : i32
    %bar = ttg.local_alloc : () -> !bar
    ttng.init_barrier %bar, 10000 : !bar
    scf.for %i = %c0 to %times step %c1 : i32 {
      ttng.barrier_expect %bar, 512, %true : !bar
    }
    tt.return
  }
}
";

#[test]
fn the_ends_of_a_long_run_are_told() {
    let mut engine = Engine::new(Limits::default());
    let analysis = engine.analyse(&Document::new(EXPECTED_IN_A_LOOP), &Cancel::never()).expect("not cancelled");
    let found = analysis
        .kernels
        .iter()
        .flat_map(|kernel| &kernel.findings)
        .find(|finding| finding.kind == Kind::ArrivalOverflow);
    let run = &found.expect("more bytes than 1,048,575 are expected").run;
    assert_eq!(run.len(), 256);
    let line = |range: base::TextRange| EXPECTED_IN_A_LOOP[range.start as usize..].split_whitespace().next();
    assert_eq!(line(run[0].range), Some("ttng.init_barrier"));
    assert!(run[1..].iter().all(|step| line(step.range) == Some("ttng.barrier_expect")));
}
