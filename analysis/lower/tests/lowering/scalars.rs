//! Scalars: what a wait's phase may be computed from.

use super::{kernel, printed};

/// The lines that compute the phase of a wait, and the inputs.
fn phase(ops: &str) -> Vec<String> {
    let lowered = kernel(&format!("%bar = ttg.local_alloc : () -> !bar\n{ops}\nttng.wait_barrier %bar, %p : !bar"));
    assert_eq!(super::left_out(&lowered), Vec::<String>::new());
    let keep = |line: &String| (line.contains(" = ") && !line.contains("base $")) || line.starts_with("input");
    printed(&lowered).into_iter().filter(keep).collect()
}

#[test]
fn constants_fold() {
    assert_eq!(phase("%q = arith.addi %c1, %c2 : i32\n%p = arith.remsi %q, %c2 : i32"), ["%p = const 1"]);
    assert_eq!(phase("%m = arith.constant -3 : i32\n%p = arith.divsi %m, %c2 : i32"), ["%p = const -1"]);
    assert_eq!(phase("%q = arith.cmpi ult, %c1, %c2 : i32\n%p = arith.extui %q : i1 to i32"), ["%p = const 1"]);
    assert_eq!(phase("%q = arith.cmpi ult, %c1, %c2 : i32\n%p = arith.extsi %q : i1 to i32"), ["%p = const -1"]);
    assert_eq!(phase("%p = arith.select %true, %c1, %c2 : i32"), ["%p = const 1"]);
}

#[test]
fn arguments_and_the_grid_are_inputs() {
    assert_eq!(
        phase("%p = arith.xori %n, %c1 : i32"),
        ["input i0 argument 1 width=32 divisor=16", "%n = input i0", "%c1 = const 1", "%p = xor w32 %n %c1"]
    );
    assert_eq!(
        phase(
            "%0 = tt.get_program_id x : i32\n%1 = tt.get_num_programs y : i32\n%2 = tt.get_program_id x : i32\n%q = arith.subi %0, %2 : i32\n%p = arith.addi %q, %1 : i32"
        ),
        [
            "input i0 program_id 0 width=32 divisor=1",
            "input i1 num_programs 1 width=32 divisor=1",
            "%0 = input i0",
            "%1 = input i1",
            "%2 = input i0",
            "%q = sub w32 %0 %2",
            "%p = add w32 %q %1"
        ]
    );
}

#[test]
fn widths_follow_the_types() {
    assert_eq!(
        phase(
            "%l = arith.extsi %n : i32 to i64\n%m = arith.muli %l, %l : i64\n%i = arith.index_cast %m : i64 to index\n%j = arith.index_cast %i : index to i32\n%p = arith.minui %j, %c2 : i32"
        ),
        [
            "input i0 argument 1 width=32 divisor=16",
            "%n = input i0",
            "%c2 = const 2",
            "%l = ext_s w32 w64 %n",
            "%m = mul w64 %l %l",
            "%i = ext_s w64 w64 %m",
            "%j = trunc w32 %i",
            "%p = min_u w32 %j %c2"
        ]
    );
}

#[test]
fn words_of_global_memory_are_read_by_address() {
    assert_eq!(
        phase("%q = tt.addptr %ptr, %n : !tt.ptr<i32>, i32\n%p = tt.load %q : !tt.ptr<i32>"),
        [
            "input i0 pointer 0 width=64 divisor=16",
            "input i1 argument 1 width=32 divisor=16",
            "input i2 memory width=32 divisor=1",
            "%ptr = input i0",
            "%n = input i1",
            "%3 = ext_s w32 w64 %n",
            "%4 = const 4",
            "%5 = mul w64 %3 %4",
            "%q = add w64 %ptr %5",
            "%p = load i2 %q"
        ]
    );
}

#[test]
fn what_tensors_and_floats_give_is_free_one_an_op() {
    assert_eq!(
        phase(
            "%f = arith.constant 1.0 : f32\n%q = arith.fptosi %f : f32 to i32\n%m, %h = arith.mulsi_extended %n, %n : i32\n%p = arith.addi %q, %h : i32"
        ),
        [
            "input i0 free width=32 divisor=1",
            "input i1 free width=32 divisor=1",
            "%q = input i0",
            "%h = input i1",
            "%p = add w32 %q %h"
        ]
    );
}
