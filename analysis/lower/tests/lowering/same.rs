//! Edits that no barrier depends on leave the kernel as it is; others do not.

use super::{kernel, module};

const LOOP: &str = "
    %bar = ttg.local_alloc : () -> !bar
    %a = ttg.local_alloc : () -> !tile
    scf.for %i = %c0 to %n step %c1 : i32 {
      %parity = arith.andi %i, %c1 : i32
      ttng.wait_barrier %bar, %parity : !bar
      %l = ttg.local_load %a : !tile -> tensor<128x128xf16, #r>
      %m = arith.addf %l, %v : tensor<128x128xf16, #r>
      tt.store %ptrs, %m : tensor<128x128x!tt.ptr<f16>, #r>
    }";

#[track_caller]
fn same(from: &str, to: &str) {
    let edited = LOOP.replace(from, to);
    assert_ne!(edited, LOOP, "the edit changes the text");
    assert_eq!(kernel(LOOP).kernel, kernel(&edited).kernel);
}

#[track_caller]
fn other(from: &str, to: &str) {
    let edited = LOOP.replace(from, to);
    assert_ne!(edited, LOOP, "the edit changes the text");
    assert_ne!(kernel(LOOP).kernel, kernel(&edited).kernel);
}

#[test]
fn names_comments_and_space_do_not_count() {
    same("%parity", "%phase");
    same("%bar =", "// the barrier\n  %bar =");
    same("%i", "%counter");
}

#[test]
fn arithmetic_that_no_barrier_needs_does_not_count() {
    same("%m = arith.addf", "%q = arith.muli %i, %i : i32\n%m = arith.subf");
    same("%l =", "%z = scf.if %c -> (i32) { scf.yield %i : i32 } else { scf.yield %c2 : i32 }\n%l =");
    same(
        "%l =",
        "%z = scf.for %j = %c0 to %i step %c1 iter_args(%s = %c0) -> (i32) : i32 { %t = arith.addi %s, %j : i32\nscf.yield %t : i32 }\n%l =",
    );
    same("%bar = ttg", "%pid = tt.get_program_id x : i32\n%bar = ttg");
    same("%bar = ttg", "%f = tt.load %ptr : !tt.ptr<i32>\n%g = arith.muli %f, %f : i32\n%bar = ttg");
}

#[test]
fn what_a_barrier_depends_on_counts() {
    other("andi %i, %c1", "andi %i, %c2");
    other("%c0 to %n", "%c1 to %n");
    other("wait_barrier %bar, %parity", "wait_barrier %bar, %parity, %c");
    other("%l =", "ttng.fence_async_shared {bCluster = false}\n%l =");
}

#[test]
fn the_order_of_blocks_in_the_text_does_not_count() {
    let text = |middle: &str| {
        format!(
            "tt.func public @k(%c: i1) {{
               cf.cond_br %c, ^yes, ^no
             {middle}
             }}"
        )
    };
    let yes = "^yes:\n ttng.fence_async_shared {bCluster = false}\n cf.br ^end\n";
    let no = "^no:\n ttng.cluster_barrier {relaxed = false}\n cf.br ^end\n";
    let end = "^end:\n tt.return\n";
    let first = module(&text(&format!("{yes}{no}{end}")));
    let second = module(&text(&format!("{end}{no}{yes}")));
    assert_eq!(first.kernel, second.kernel);
}
