//! Own small plans, and the edges that follow from them.

use super::{By, ChannelGrouping, Edge, Implied, channels};
use kernel::Half;
use ttgir::{OpId, Tree};

const HEAD: &str = r##"
#r = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#u = #ttng.tensor_memory_encoding<blockM = 128, blockN = 1, colStride = 1>
!tile = !ttg.memdesc<128x128xf16, #s, #smem, mutable>
!acc = !ttg.memdesc<128x128xf32, #t, #ttng.tensor_memory, mutable>
!col = !ttg.memdesc<128x1xf32, #u, #ttng.tensor_memory, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%n: i32, %c: i1, %v: tensor<128x128xf16, #r>, %w: tensor<128x128xf32, #r>, %x: tensor<128x1xf32, #r>) {
    %true = arith.constant true
    %false = arith.constant false
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c8 = arith.constant 8 : i32
"##;

fn tasks(tree: &Tree, op: OpId) -> Vec<usize> {
    let attr = tree.attr(op, "async_task_id").map(|attr| tree.attr_ints(attr)).unwrap_or_default();
    attr.into_iter().filter_map(|task| usize::try_from(task).ok()).collect()
}

/// What the plan of a function with this body comes to, with its text.
fn implied(body: &str, mode: ChannelGrouping) -> (String, Tree, Implied) {
    let text = format!("{HEAD}{body}\n    tt.return\n  }}\n}}\n");
    let tree = Tree::parse(&text);
    assert!(tree.errors().is_empty(), "{:?}", tree.errors());
    let function = tree.blocks(tree.regions(*tree.top().last().unwrap())[0])[0];
    let function = tree.block_ops(function)[0];
    let implied = channels(&tree, function, &|op| tasks(&tree, op), &|op| tasks(&tree, op), mode, true);
    (text, tree, implied)
}

/// The edges of each channel, a line each: who tells whom, after which op, before which.
fn edges(body: &str, mode: ChannelGrouping) -> Vec<String> {
    let (text, tree, implied) = implied(body, mode);
    assert_eq!(implied.loose, []);
    // An op by its name and the line it starts.
    let lines = |at: u32| text[..at as usize].lines().count() - HEAD.lines().count() - 1;
    let place = |op: OpId| {
        let name = tree.op_name(op);
        format!("{}:{}", name.split('.').next_back().unwrap_or(name), lines(tree.op_range(op).end))
    };
    let place = |op: OpId| if tree.regions(op).is_empty() { place(op) } else { "loop".to_owned() };
    let mut out = Vec::new();
    for channel in &implied.channels {
        let said = |edge: &Edge| {
            let name = tree.value_name(channel.members[edge.member].value);
            let half = if edge.half == Half::Full { "full" } else { "empty" };
            let by = match edge.by {
                By::Task => "",
                By::Operation => " when complete",
                By::Commit => " by commit",
            };
            let around = if edge.around { ", round" } else { "" };
            let late = if edge.late { ", late" } else { "" };
            let (after, before) = (place(edge.after.0), place(edge.before.0));
            format!("{name} {half} {}>{}: {after}{by} > {before}{around}{late}", edge.from, edge.to)
        };
        out.extend(channel.edges.iter().map(said));
    }
    out
}

#[track_caller]
fn check(body: &str, expected: &[&str]) {
    assert_eq!(edges(body, ChannelGrouping::Own), expected);
}

#[test]
fn a_loop_of_two_tasks_has_a_ring() {
    let body = "
    %a = ttg.local_alloc {buffer.copy = 2 : i32, buffer.id = 0 : i32} : () -> !tile
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttg.local_store %v, %a {async_task_id = array<i32: 1>} : tensor<128x128xf16, #r> -> !tile
      %l = ttg.local_load %a {async_task_id = array<i32: 2>} : !tile -> tensor<128x128xf16, #r>
    }";
    check(body, &["%a empty 2>1: local_load:4 > local_store:3, round", "%a full 1>2: local_store:3 > local_load:4"]);
}

#[test]
fn a_buffer_of_more_slots_than_a_gpu_has_bytes_has_no_channel() {
    let body = "
    %a = ttg.local_alloc {buffer.copy = 2000000000 : i32, buffer.id = 0 : i32} : () -> !tile
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttg.local_store %v, %a {async_task_id = array<i32: 1>} : tensor<128x128xf16, #r> -> !tile
      %l = ttg.local_load %a {async_task_id = array<i32: 2>} : !tile -> tensor<128x128xf16, #r>
    }";
    let (text, _, implied) = implied(body, ChannelGrouping::Own);
    assert!(implied.channels.is_empty() && implied.loose.len() == 1, "{text}");
    assert!(implied.buffers.iter().all(|buffer| buffer.copies == 1));
}

#[test]
fn readers_commute() {
    let body = "
    %a = ttg.local_alloc : () -> !tile
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttg.local_store %v, %a {async_task_id = array<i32: 0>} : tensor<128x128xf16, #r> -> !tile
      %l = ttg.local_load %a {async_task_id = array<i32: 1, 2>} : !tile -> tensor<128x128xf16, #r>
      %m = ttg.local_load %a {async_task_id = array<i32: 1>} : !tile -> tensor<128x128xf16, #r>
    }";
    check(
        body,
        &[
            "%a empty 2>0: local_load:4 > local_store:3, round",
            "%a empty 1>0: local_load:5 > local_store:3, round",
            "%a full 0>1: local_store:3 > local_load:4",
            "%a full 0>2: local_store:3 > local_load:4",
        ],
    );
}

#[test]
fn what_an_inner_loop_reads_is_waited_for_before_it() {
    let body = "
    %q = ttg.local_alloc : () -> !tile
    %k = ttg.local_alloc {buffer.copy = 2 : i32} : () -> !tile
    %acc = ttng.tmem_alloc : () -> !acc
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttg.local_store %v, %q {async_task_id = array<i32: 1>} : tensor<128x128xf16, #r> -> !tile
      %r = scf.for %j = %c0 to %c8 step %c1 iter_args(%use = %false) -> (i1) : i32 {
        ttg.local_store %v, %k {async_task_id = array<i32: 1>} : tensor<128x128xf16, #r> -> !tile
        ttng.tc_gen5_mma %q, %k, %acc, %use, %true {async_task_id = array<i32: 2>} : !tile, !tile, !acc
        scf.yield %true : i1
      }
      %l = ttng.tmem_load %acc {async_task_id = array<i32: 0>} : !acc -> tensor<128x128xf32, #r>
    }";
    check(
        body,
        &[
            "%q empty 2>1: loop by commit > local_store:5, round",
            "%q full 1>2: local_store:5 > loop",
            "%k empty 2>1: tc_gen5_mma:8 when complete > local_store:7, round",
            "%k full 1>2: local_store:7 > tc_gen5_mma:8",
            "%acc empty 0>2: tmem_load:11 > loop, round",
            "%acc full 2>0: loop by commit > tmem_load:11",
        ],
    );
}

const ACCUMULATOR: &str = "
    %acc = ttng.tmem_alloc : () -> !acc
    %a = ttg.local_alloc : () -> !tile
    scf.for %i = %c0 to %n step %c1 : i32 {
      %r = scf.for %j = %c0 to BOUND step %c1 iter_args(%use = %false) -> (i1) : i32 {
        %l = ttng.tmem_load %acc {async_task_id = array<i32: 0>} : !acc -> tensor<128x128xf32, #r>
        ttng.tmem_store %w, %acc, %true {async_task_id = array<i32: 0>} : tensor<128x128xf32, #r> -> !acc
        ttng.tc_gen5_mma %a, %a, %acc, %use, %true {async_task_id = array<i32: 1>} : !tile, !tile, !acc
        scf.yield %true : i1
      }
      %o = ttng.tmem_load %acc {async_task_id = array<i32: 0>} : !acc -> tensor<128x128xf32, #r>
    }";

#[test]
fn an_accumulator_that_two_tasks_update_goes_round_in_each_iteration() {
    let inner = [
        "%acc full 1>0: tc_gen5_mma:7 when complete > tmem_load:5, round",
        "%acc full 0>1: tmem_store:6 > tc_gen5_mma:7",
        "%acc full 1>0: loop by commit > tmem_load:10",
    ];
    check(&ACCUMULATOR.replace("BOUND", "%c8"), &inner);
    // Where the inner loop may be skipped, nothing in it holds the tensor core's task back.
    let skipped = "%acc empty 0>1: tmem_load:10 > loop, round, late";
    let mut all = vec![inner[0], inner[1], inner[2]];
    all.insert(0, skipped);
    check(&ACCUMULATOR.replace("BOUND", "%n"), &all);
}

#[test]
fn what_one_task_does_needs_no_edge_but_after_its_tensor_core() {
    let body = "
    %acc = ttng.tmem_alloc : () -> !acc
    %a = ttg.local_alloc : () -> !tile
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttg.local_store %v, %a {async_task_id = array<i32: 1>} : tensor<128x128xf16, #r> -> !tile
      ttng.tc_gen5_mma %a, %a, %acc, %false, %true {async_task_id = array<i32: 1>} : !tile, !tile, !acc
      %l = ttng.tmem_load %acc {async_task_id = array<i32: 1>} : !acc -> tensor<128x128xf32, #r>
    }";
    check(
        body,
        &[
            "%acc full 1>1: tc_gen5_mma:5 when complete > tmem_load:6",
            "%a empty 1>1: tc_gen5_mma:5 when complete > local_store:4, round",
        ],
    );
}

#[test]
fn a_branch_is_waited_for_as_a_whole() {
    let body = "
    %a = ttg.local_alloc : () -> !tile
    %b = ttg.local_alloc : () -> !tile
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttg.local_store %v, %a {async_task_id = array<i32: 0>} : tensor<128x128xf16, #r> -> !tile
      scf.if %c {
        %l = ttg.local_load %a {async_task_id = array<i32: 1>} : !tile -> tensor<128x128xf16, #r>
        ttg.local_store %v, %b {async_task_id = array<i32: 0>} : tensor<128x128xf16, #r> -> !tile
        %m = ttg.local_load %b {async_task_id = array<i32: 1>} : !tile -> tensor<128x128xf16, #r>
      }
    }";
    check(
        body,
        &[
            "%a empty 1>0: loop > local_store:4, round",
            "%a full 0>1: local_store:4 > loop",
            "%b empty 1>0: local_load:8 > local_store:7, round",
            "%b full 0>1: local_store:7 > local_load:8",
        ],
    );
}

#[test]
fn buffers_of_shared_memory_take_turns() {
    let body = "
    %a = ttg.local_alloc {buffer.copy = 1 : i32, buffer.id = 3 : i32} : () -> !tile
    %b = ttg.local_alloc {buffer.copy = 1 : i32, buffer.id = 3 : i32} : () -> !tile
    scf.for %i = %c0 to %n step %c1 : i32 {
      ttg.local_store %v, %a {async_task_id = array<i32: 0>} : tensor<128x128xf16, #r> -> !tile
      %l = ttg.local_load %a {async_task_id = array<i32: 1>} : !tile -> tensor<128x128xf16, #r>
      ttg.local_store %v, %b {async_task_id = array<i32: 0>} : tensor<128x128xf16, #r> -> !tile
      %m = ttg.local_load %b {async_task_id = array<i32: 1>} : !tile -> tensor<128x128xf16, #r>
    }";
    check(
        body,
        &[
            "%a full 0>1: local_store:4 > local_load:5",
            "%a empty 1>0: local_load:5 > local_store:4, round",
            "%b full 0>1: local_store:6 > local_load:7",
            "%b empty 1>0: local_load:7 > local_store:6, round",
        ],
    );
}

#[test]
fn columns_side_by_side_are_one_ring_only_where_groups_are_asked_for() {
    let body = "
    %qk = ttng.tmem_alloc {buffer.copy = 1 : i32, buffer.id = 8 : i32} : () -> !acc
    %m = ttng.tmem_alloc {buffer.copy = 1 : i32, buffer.id = 8 : i32, buffer.offset = 65 : i32} : () -> !col
    %l = ttng.tmem_alloc {buffer.copy = 1 : i32, buffer.id = 8 : i32, buffer.offset = 66 : i32} : () -> !col
    %q = ttg.local_alloc : () -> !tile
    scf.for %i = %c0 to %n step %c1 : i32 {
      scf.for %j = %c0 to %c8 step %c1 : i32 {
        ttng.tc_gen5_mma %q, %q, %qk, %false, %true {async_task_id = array<i32: 1>} : !tile, !tile, !acc
        %s = ttng.tmem_load %qk {async_task_id = array<i32: 5>} : !acc -> tensor<128x128xf32, #r>
      }
      ttng.tmem_store %x, %m, %true {async_task_id = array<i32: 5>} : tensor<128x1xf32, #r> -> !col
      ttng.tmem_store %x, %l, %true {async_task_id = array<i32: 5>} : tensor<128x1xf32, #r> -> !col
      %a = ttng.tmem_load %m {async_task_id = array<i32: 0>} : !col -> tensor<128x1xf32, #r>
      %b = ttng.tmem_load %l {async_task_id = array<i32: 0>} : !col -> tensor<128x1xf32, #r>
    }";
    let own = [
        "%qk empty 5>1: tmem_load:8 > tc_gen5_mma:7, round",
        "%qk full 1>5: tc_gen5_mma:7 when complete > tmem_load:8",
        "%m empty 0>5: tmem_load:12 > tmem_store:10, round",
        "%m full 5>0: tmem_store:10 > tmem_load:12",
        "%l empty 0>5: tmem_load:13 > tmem_store:11, round",
        "%l full 5>0: tmem_store:11 > tmem_load:13",
    ];
    check(body, &own);
    let groups = edges(body, ChannelGrouping::Groups);
    assert!(groups.contains(&"%l empty 0>1: tmem_load:13 > loop, round".to_owned()), "{groups:#?}");
}
