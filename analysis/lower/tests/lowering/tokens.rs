//! Tokens of automatic warp specialisation, and the waits for single stores.

use super::*;

fn around(body: &str) -> Lowered {
    kernel(&format!("{STORAGE}{body}"))
}

#[test]
fn a_token_is_what_it_is_lowered_to() {
    let tokens = around(
        "%tok = nvws.create_token {loadType = 3 : i32, numBuffers = 2 : i32} : tensor<2x!nvws.token>
         %phase = arith.trunci %n : i32 to i1
         nvws.producer_acquire %tok, %c1, %phase {async_task_id = array<i32: 0>} : tensor<2x!nvws.token>, i32, i1
         nvws.producer_commit %tok, %c1 {async_task_id = array<i32: 0>} : tensor<2x!nvws.token>, i32
         nvws.consumer_wait %tok, %c1, %phase {async_task_id = array<i32: 1>} : tensor<2x!nvws.token>, i32, i1
         nvws.consumer_release %tok, %c1 {async_task_id = array<i32: 1>} : tensor<2x!nvws.token>, i32",
    );
    let barriers = around(
        "%full = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, #b, #smem, mutable>
         %empty = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, #b, #smem, mutable>
         %f0 = ttg.memdesc_index %full[%c0] : !ttg.memdesc<2x1xi64, #b, #smem, mutable> -> !bar
         ttng.init_barrier %f0, 1 : !bar
         %e0 = ttg.memdesc_index %empty[%c0] : !ttg.memdesc<2x1xi64, #b, #smem, mutable> -> !bar
         ttng.init_barrier %e0, 1 : !bar
         %f1 = ttg.memdesc_index %full[%c1] : !ttg.memdesc<2x1xi64, #b, #smem, mutable> -> !bar
         ttng.init_barrier %f1, 1 : !bar
         %e1 = ttg.memdesc_index %empty[%c1] : !ttg.memdesc<2x1xi64, #b, #smem, mutable> -> !bar
         ttng.init_barrier %e1, 1 : !bar
         %phase = arith.trunci %n : i32 to i1
         %other = arith.xori %phase, %true : i1
         %other32 = arith.extui %other : i1 to i32
         %phase32 = arith.extui %phase : i1 to i32
         ttng.wait_barrier %e1, %other32 : !bar
         ttng.arrive_barrier %f1, 1 : !bar
         ttng.wait_barrier %f1, %phase32 : !bar
         ttng.arrive_barrier %e1, 1 : !bar",
    );
    let shape = |lowered: &Lowered| -> Vec<String> {
        let words = |line: &String| line.split_whitespace().next().unwrap_or("").to_owned();
        effects(lowered).iter().map(words).collect()
    };
    assert_eq!(shape(&tokens), shape(&barriers));
    assert_eq!(tokens.kernel.buffers, barriers.kernel.buffers);
    assert_eq!(tokens.map.abstracts.len(), 2);
    let names: Vec<String> = tokens.map.abstracts.iter().map(|barrier| tokens.map.buffer(barrier.buffer)).collect();
    assert_eq!(names, ["%tok (full)", "%tok (empty)"]);
    assert_eq!(left_out(&tokens), Vec::<String>::new());
}

#[test]
fn a_task_does_not_wait_for_itself() {
    let lowered = around(
        "%tok = nvws.create_token {loadType = 3 : i32, numBuffers = 1 : i32} : tensor<1x!nvws.token>
         nvws.producer_commit %tok, %c0 {async_task_id = array<i32: 1>} : tensor<1x!nvws.token>, i32
         nvws.consumer_wait %tok, %c0, %true {async_task_id = array<i32: 1>} : tensor<1x!nvws.token>, i32, i1",
    );
    let waits = |line: &&String| line.starts_with("wait") || line.starts_with("arrive");
    assert_eq!(effects(&lowered).iter().filter(waits).count(), 0);
}

#[test]
fn a_token_from_nowhere_is_said() {
    let lowered = around(
        "%tok = \"tensor.op\"() : () -> tensor<1x!nvws.token>
         nvws.producer_commit %tok, %c0 {async_task_id = array<i32: 1>} : tensor<1x!nvws.token>, i32",
    );
    assert_eq!(left_out(&lowered).len(), 1);
}

/// The store waits of a body.
#[track_caller]
fn pendings(body: &str, expected: &[&str]) {
    let lowered = around(body);
    let all = effects(&lowered);
    let waits: Vec<&String> = all.iter().filter(|line| line.starts_with("wait_group")).collect();
    assert_eq!(waits, expected, "{all:#?}");
    assert_eq!(left_out(&lowered), Vec::<String>::new());
}

const STORE: &str = "ttng.async_tma_copy_local_to_global %desc[%c0, %c0] %a : !tt.tensordesc<128x128xf16, #s>, !tile -> !ttg.async.token";

#[test]
fn a_store_of_a_region_is_waited_for() {
    pendings(
        &format!(
            "%r = scf.if %c -> (!ttg.async.token) {{
               %0 = {STORE}
               %1 = {STORE}
               scf.yield %0 : !ttg.async.token
             }} else {{
               %0 = {STORE}
               scf.yield %0 : !ttg.async.token
             }}
             %last = {STORE}
             ttng.async_tma_store_token_wait %r : !ttg.async.token"
        ),
        &["wait_group tma_store pending=1"],
    );
}

#[test]
fn stores_under_the_same_condition_count() {
    pendings(
        &format!(
            "%0 = {STORE}
             scf.if %c {{
               %1 = {STORE}
             }}
             scf.if %c {{
               ttng.async_tma_store_token_wait %0 : !ttg.async.token
             }}
             ttng.async_tma_store_token_wait %0 : !ttg.async.token"
        ),
        &["wait_group tma_store pending=1", "wait_group tma_store pending=0"],
    );
}

#[test]
fn a_store_of_another_iteration_is_waited_for() {
    pendings(
        &format!(
            "%none = ub.poison : !ttg.async.token
             %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%one = %none, %two = %none) -> (!ttg.async.token, !ttg.async.token) : i32 {{
               %0 = {STORE}
               %1 = {STORE}
               ttng.async_tma_store_token_wait %two : !ttg.async.token
               scf.yield %0, %one : !ttg.async.token, !ttg.async.token
             }}
             ttng.async_tma_store_token_wait %r#0 : !ttg.async.token"
        ),
        &["wait_group tma_store pending=5", "wait_group tma_store pending=1"],
    );
}
