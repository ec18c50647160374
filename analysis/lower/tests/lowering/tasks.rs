//! Who executes what.

use super::*;
use lower::Tasks;

/// The partitions of each op that has a `mark`, in the order of the text.
fn who(body: &str) -> Vec<(String, Vec<usize>)> {
    let text = format!("{HEAD}{ENTRY}{body}\n    tt.return\n  }}\n}}\n");
    let tree = Tree::parse(&text);
    assert!(tree.errors().is_empty(), "{:?}", tree.errors());
    let module = tree.top()[0];
    let block = tree.blocks(tree.regions(module)[0])[0];
    let function = tree.block_ops(block)[0];
    let tasks = Tasks::new(&tree, function);
    let mut found = Vec::new();
    let mut open = vec![function];
    while let Some(op) = open.pop() {
        if let Some(mark) = tree.attr(op, "mark").and_then(|attr| tree.attr_str(attr)) {
            found.push((mark.to_owned(), tasks.partitions(&tree, op).to_vec()));
        }
        let inside = tree.regions(op).iter().flat_map(|region| tree.blocks(*region));
        open.extend(inside.flat_map(|block| tree.block_ops(*block)));
    }
    found.sort();
    found
}

#[track_caller]
fn check_who(body: &str, expected: &[(&str, &[usize])]) {
    let found = who(body);
    let found: Vec<(&str, &[usize])> = found.iter().map(|(mark, places)| (mark.as_str(), places.as_slice())).collect();
    assert_eq!(found, expected);
}

#[test]
fn regions_say_it() {
    check_who(
        r#"%z = arith.constant {mark = "before"} 0 : i32
           ttg.warp_specialize(%n)
           default {
             %g = arith.constant {mark = "default"} 0 : i32
             ttg.warp_yield
           }
           partition0(%m: i32) num_warps(4) {
             scf.for %i = %m to %m step %m : i32 {
               %g = arith.constant {mark = "first", async_task_id = array<i32: 7>} 0 : i32
             }
             ttg.warp_return
           } : (i32) -> ()"#,
        &[("before", &[]), ("default", &[0]), ("first", &[1])],
    );
}

#[test]
fn ops_name_tasks_by_number_and_partitions_are_places() {
    check_who(
        r#"%g = arith.constant {mark = "all", async_task_id = array<i32: 1, 3>} 0 : i32
           %h = arith.constant {mark = "nobody"} 0 : i32
           scf.for %i = %n to %n step %c1 : i32 {
             %e = arith.constant {mark = "inside"} 0 : i32
             %f = arith.constant {mark = "last", async_task_id = dense<3> : vector<1xi32>} 0 : i32
           } {async_task_id = array<i32: 1, 3>}"#,
        &[("all", &[0, 1]), ("inside", &[0, 1]), ("last", &[1]), ("nobody", &[])],
    );
}

#[test]
fn a_loop_may_be_all_that_is_shared() {
    check_who(
        r#"%g = arith.constant {mark = "before"} 0 : i32
           scf.for %i = %n to %n step %c1 : i32 {
             %h = arith.constant {mark = "one", ttg.partition = array<i32: 1>} 0 : i32
             %e = arith.constant {mark = "two", ttg.partition = array<i32: 0, 1>} 0 : i32
             %f = arith.constant {mark = "untold"} 0 : i32
           } {ttg.partition = array<i32: 0, 1>, ttg.warp_specialize.tag = 0 : i32}"#,
        &[("before", &[]), ("one", &[1]), ("two", &[0, 1]), ("untold", &[0, 1])],
    );
}
