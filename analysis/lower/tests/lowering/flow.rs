//! Control flow, partitions and calls.

use super::{effects, kernel, left_out, module, printed};

/// The blocks, terminators and loops.
fn skeleton(ops: &str) -> Vec<String> {
    let lowered = kernel(&format!("%bar = ttg.local_alloc : () -> !bar\n{ops}"));
    assert_eq!(left_out(&lowered), Vec::<String>::new());
    let words = ["block", "jump", "branch", "loop"];
    let keep = |line: &String| {
        words.iter().any(|word| line.starts_with(word)) || (line.starts_with('@') && !line.contains(" alloc "))
    };
    let site = |line: String| match line.strip_prefix('@').and_then(|rest| rest.split_once(' ')) {
        Some((_, rest)) => rest.to_owned(),
        None => line.split(' ').filter(|word| !word.starts_with('@')).collect::<Vec<_>>().join(" "),
    };
    printed(&lowered).into_iter().filter(keep).map(site).collect()
}

#[test]
fn a_for_loop_is_counted() {
    assert_eq!(
        skeleton(
            "%p:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c0, %f = %w) -> (i32, tensor<128x128xf32, #r>) : i32 {
               ttng.wait_barrier %bar, %x : !bar
               %y = arith.xori %x, %c1 : i32
               scf.yield %y, %f : i32, tensor<128x128xf32, #r>
             }
             ttng.arrive_barrier %bar, 1 : !bar"
        ),
        [
            "block b0()",
            "jump b1(%c0, %c0)",
            "block b1(%i, %x)",
            "branch %6 b2() b3()",
            "block b2()",
            "wait %bar phase=%x",
            "jump b1(%8, %y)",
            "block b3()",
            "arrive %bar count=1",
            "return",
            "loop l0 head=b1 counted=%i,%c0,%n,%c1"
        ]
    );
}

#[test]
fn an_unsigned_loop_compares_unsigned() {
    let lowered = kernel(
        "scf.for unsigned %i = %c0 to %n step %c1 : i32 {
           ttng.fence_async_shared {bCluster = false}
         }",
    );
    assert!(printed(&lowered).iter().any(|line| line.contains("cmp ult w32 %i %n")));
}

#[test]
fn a_while_loop_that_counts_is_counted_and_another_is_open() {
    assert_eq!(
        skeleton(
            "%r = scf.while (%x = %c0) : (i32) -> i32 {
               %k = arith.cmpi slt, %x, %n : i32
               %y = arith.addi %x, %c2 : i32
               scf.condition(%k) %y : i32
             } do {
             ^bb0(%z: i32):
               ttng.wait_barrier %bar, %z : !bar
               scf.yield %z : i32
             }
             ttng.wait_barrier %bar, %r : !bar"
        ),
        [
            "block b0()",
            "jump b1(%c0)",
            "block b1(%x)",
            "branch %k b2() b3()",
            "block b2()",
            "wait %bar phase=%y",
            "jump b1(%y)",
            "block b3()",
            "wait %bar phase=%y",
            "return",
            "loop l0 head=b1 counted=%x,%c0,%n,%c2"
        ]
    );
    let lines = skeleton(
        "scf.while : () -> () {
           %k = tt.load %ptr {isVolatile = true} : !tt.ptr<i32>
           %again = arith.cmpi eq, %k, %c0 : i32
           scf.condition(%again)
         } do {
           ttng.wait_barrier %bar, %c0 : !bar
           scf.yield
         }",
    );
    assert_eq!(lines.last().map(String::as_str), Some("loop l0 head=b1"));
}

#[test]
fn an_if_joins_its_results_and_a_known_one_is_chosen() {
    assert_eq!(
        skeleton(
            "%p = scf.if %c -> (i32) {
               scf.yield %c1 : i32
             } else {
               ttng.arrive_barrier %bar, 1 : !bar
               scf.yield %n : i32
             }
             ttng.wait_barrier %bar, %p : !bar"
        ),
        [
            "block b0()",
            "branch %c b2(%c1) b1()",
            "block b1()",
            "arrive %bar count=1",
            "jump b2(%n)",
            "block b2(%p)",
            "wait %bar phase=%p",
            "return"
        ]
    );
    assert_eq!(
        skeleton(
            "scf.if %false { ttng.arrive_barrier %bar, 1 : !bar }
             scf.if %true { ttng.arrive_barrier %bar, 2 : !bar }"
        ),
        ["block b0()", "arrive %bar count=2", "return"]
    );
}

#[test]
fn a_switch_is_a_row_of_branches() {
    let lines = skeleton(
        "%i = arith.index_cast %n : i32 to index
         %p = scf.index_switch %i -> i32
         case 2 { scf.yield %c1 : i32 }
         case 5 { scf.yield %c2 : i32 }
         default { scf.yield %c0 : i32 }
         ttng.wait_barrier %bar, %p : !bar",
    );
    assert_eq!(lines.iter().filter(|line| line.starts_with("branch")).count(), 2);
    assert!(lines.contains(&"wait %bar phase=%p".to_owned()), "{lines:?}");
}

#[test]
fn blocks_and_branches_give_the_loop_that_scf_gives() {
    let lowered = module(
        "tt.func public @k(%n: i32) {
           %c0 = arith.constant 0 : i32
           %c1 = arith.constant 1 : i32
           %bar = ttg.local_alloc : () -> !bar
           cf.br ^head(%c0, %c0 : i32, i32)
         ^head(%i: i32, %x: i32):
           %k = arith.cmpi slt, %i, %n : i32
           cf.cond_br %k, ^body, ^end
         ^body:
           ttng.wait_barrier %bar, %x : !bar
           %y = arith.xori %x, %c1 : i32
           %j = arith.addi %i, %c1 : i32
           cf.br ^head(%j, %y : i32, i32)
         ^end:
           tt.return
         }",
    );
    let scf = module(
        "tt.func public @k(%n: i32) {
           %c0 = arith.constant 0 : i32
           %c1 = arith.constant 1 : i32
           %bar = ttg.local_alloc : () -> !bar
           %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c0) -> (i32) : i32 {
             ttng.wait_barrier %bar, %x : !bar
             %y = arith.xori %x, %c1 : i32
             scf.yield %y : i32
           }
           tt.return
         }",
    );
    assert_eq!(printed(&lowered).last(), printed(&scf).last());
    assert_eq!(lowered.kernel, scf.kernel);
}

#[test]
fn partitions_get_their_captures_and_known_ones_are_known() {
    let lowered = kernel(
        "%bar = ttg.local_alloc : () -> !bar
         ttng.init_barrier %bar, 1 : !bar
         ttg.warp_specialize(%bar, %n, %true)
         default {
           ttng.wait_barrier %bar, %c0 : !bar
           ttg.warp_yield
         }
         partition0(%b: !bar, %m: i32, %yes: i1) num_warps(1) {
           ttng.wait_barrier %b, %m, %yes : !bar
           ttg.warp_return
         }
         partition1(%b: !bar, %m: i32, %yes: i1) num_warps(2) {
           ttng.arrive_barrier %b, 1 : !bar
           ttg.warp_return
         } : (!bar, i32, i1) -> ()
         ttng.inval_barrier %bar : !bar",
    );
    assert_eq!(left_out(&lowered), Vec::<String>::new());
    let lines = printed(&lowered);
    let at = |text: &str| lines.iter().position(|line| line.contains(text)).unwrap_or_else(|| panic!("{lines:#?}"));
    assert_eq!(lines[1..4], ["partition"; 3], "nothing here counts warps");
    assert_eq!(lowered.map.warps, [4, 1, 2]);
    assert!(lines[at("fork")].ends_with("fork b1() 1:b3(%bar, %n) 2:b4(%bar)"), "{lines:#?}");
    assert!(lines[at("block b3(")].starts_with("block b3(%b:s0, %m)"), "{lines:#?}");
    assert!(lines[at("phase=%m")].ends_with("wait %b phase=%m"));
    assert!(at("join") < at("invalidate %bar") && at("invalidate %bar") < at("block b3("));
    let labels: Vec<&str> = lowered.map.partitions.iter().map(|(label, _)| label.as_str()).collect();
    assert_eq!(labels, ["default", "partition0", "partition1"]);
}

#[test]
fn private_functions_are_inlined_at_every_call() {
    let lowered = module(
        "tt.func private @step(%b: !bar, %p: i32) -> i32 {
           %c1 = arith.constant 1 : i32
           ttng.wait_barrier %b, %p : !bar
           %q = arith.xori %p, %c1 : i32
           tt.return %q : i32
         }
         tt.func public @k(%n: i32) {
           %bar = ttg.local_alloc : () -> !bar
           %x = tt.call @step(%bar, %n) : (!bar, i32) -> i32
           %y = tt.call @step(%bar, %x) : (!bar, i32) -> i32
           ttng.wait_barrier %bar, %y : !bar
           tt.return
         }",
    );
    assert_eq!(left_out(&lowered), Vec::<String>::new());
    assert_eq!(effects(&lowered), ["alloc $bar", "wait %bar phase=%n", "wait %bar phase=%q", "wait %bar phase=%q"]);
    assert_eq!(lowered.kernel.blocks.len(), 1);
}

#[test]
fn a_function_may_hand_on_a_memdesc() {
    let lowered = module(
        "tt.func private @make() -> !bar {
           %b = ttg.local_alloc : () -> !bar
           tt.return %b : !bar
         }
         tt.func public @k() {
           %x = tt.call @make() : () -> !bar
           %y = tt.call @make() : () -> !bar
           ttng.init_barrier %x, 1 : !bar
           ttng.init_barrier %y, 2 : !bar
           tt.return
         }",
    );
    assert_eq!(left_out(&lowered), Vec::<String>::new());
    assert_eq!(lowered.kernel.buffers.len(), 2);
}

#[test]
fn recursion_and_missing_functions_are_said() {
    let lowered = module(
        "tt.func private @f() {
           tt.call @f() : () -> ()
           tt.return
         }
         tt.func public @k() {
           tt.call @f() : () -> ()
           tt.call @g() : () -> ()
           tt.return
         }",
    );
    assert_eq!(left_out(&lowered), ["`@f` calls itself", "`@g` has no body here"]);
    assert_eq!(effects(&lowered), ["unmodelled", "unmodelled"]);
}
