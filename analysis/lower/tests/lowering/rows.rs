//! Every declared effect.

use super::{check, check_unmodelled, effects, kernel};
use dialects::OpEffect;

#[test]
fn shared_memory() {
    check("ttg.local_dealloc %a : !tile", &[]);
    check("%0 = ttg.local_load %a : !tile -> tensor<128x128xf16, #r>", &["op base -=read:generic:%a in_order"]);
    check("ttg.local_store %v, %a : tensor<128x128xf16, #r> -> !tile", &["op base -=write:generic:%a in_order"]);
    check(
        "%s = ttg.local_alloc %v : (tensor<128x128xf16, #r>) -> !ttg.memdesc<128x128xf16, #s, #smem>",
        &["alloc $s", "op base -=write:generic:%s in_order"],
    );
    check(
        "%ix = arith.constant dense<0> : tensor<128x128xi32, #r>
         %0 = ttg.local_gather %a[%ix] {axis = 0 : i32} : !tile, tensor<128x128xi32, #r> -> tensor<128x128xf16, #r>",
        &["op base -=read:generic:%a in_order"],
    );
    check(
        "%ix = arith.constant dense<0> : tensor<128x128xi32, #r>
         ttg.local_scatter %a[%ix], %v {axis = 0 : i32} : !tile, tensor<128x128xi32, #r>, tensor<128x128xf16, #r>",
        &["op base -=write:generic:%a in_order"],
    );
    check(
        "%ix = arith.constant dense<0> : tensor<128x128xi32, #r>
         %0 = ttg.local_atomic_scatter_rmw fadd, %a[%ix], %v {axis = 0 : i32} : (!tile, tensor<128x128xf16, #r>, tensor<128x128xi32, #r>) -> tensor<128x128xf16, #r>",
        &["op base -=read:generic:%a -=write:generic:%a in_order"],
    );
    // What is exchanged and not looked at is overwritten.
    let exchange = "%ix = arith.constant dense<0> : tensor<128x128xi32, #r>
         %0 = ttg.local_atomic_scatter_rmw exch, %a[%ix], %v {axis = 0 : i32} : (!tile, tensor<128x128xf16, #r>, tensor<128x128xi32, #r>) -> tensor<128x128xf16, #r>";
    check(exchange, &["op base -=write:generic:%a in_order"]);
    check(
        &format!("{exchange}\nttg.local_store %0, %a : tensor<128x128xf16, #r> -> !tile"),
        &["op base -=read:generic:%a -=write:generic:%a in_order", "op base -=write:generic:%a in_order"],
    );
    check("ttg.barrier local", &[]);
    check("gpu.barrier", &[]);
}

#[test]
fn async_copy() {
    check(
        "%0 = ttg.async_copy_global_to_local %ptrs, %a : tensor<128x128x!tt.ptr<f16>, #r> -> !tile
         %1 = ttg.async_commit_group tokens %0
         %2 = ttg.async_wait {num = 1 : i32}",
        &["op base -=write:generic:%a commit async_copy", "commit async_copy", "wait_group async_copy pending=1"],
    );
    check("ttng.async_copy_mbarrier_arrive %bar : !bar", &["async_copy_arrive %bar increments"]);
    check("ttng.async_copy_mbarrier_arrive %bar {noIncrement} : !bar", &["async_copy_arrive %bar"]);
}

#[test]
fn barriers() {
    check("ttng.init_barrier %bar, 2 : !bar", &["init %bar count=2"]);
    check("ttng.inval_barrier %bar : !bar", &["invalidate %bar"]);
    check("ttng.barrier_expect %bar, 32768, %true : !bar", &["expect %bar bytes=32768"]);
    check("ttng.barrier_expect %bar, 32768, %c : !bar", &["expect %bar bytes=32768 if %c"]);
    check("ttng.barrier_expect %bar, 32768, %false : !bar", &[]);
    check("ttng.arrive_barrier %bar, 3 : !bar", &["arrive %bar count=3"]);
    check("ttng.arrive_barrier %bar, 3, %c : !bar", &["arrive %bar count=3 if %c"]);
    check("ttng.wait_barrier %bar, %c0 : !bar", &["wait %bar phase=%c0"]);
    check("ttng.wait_barrier %bar, %n, %c : !bar", &["wait %bar phase=%n if %c"]);
    check("ttng.wait_barrier %bar, %n deps %a : !bar, !tile", &["wait %bar phase=%n"]);
    check("ttng.wait_barrier %bar, %n, %false : !bar", &[]);
    check("ttng.fence_async_shared {bCluster = false}", &["proxy_fence"]);
    check("ttng.cluster_barrier {relaxed = false}", &["cluster_arrive", "cluster_wait"]);
    check("ttng.cluster_barrier {relaxed = true}", &["cluster_arrive relaxed", "cluster_wait"]);
}

#[test]
fn tma() {
    check(
        "ttng.async_tma_copy_global_to_local %desc[%c0, %c0] %a, %bar, %c : !tt.tensordesc<128x128xf16, #s>, !bar -> !tile",
        &["op tma -=write:async:%a transaction [%bar count=0 bytes=32768] if %c"],
    );
    check(
        "ttng.async_tma_gather %desc[%rows, %c0] %a, %bar, %true : !tt.tensordesc<128x128xf16, #s>, tensor<128xi32, #ttg.slice<{dim = 0, parent = #r}>>, i32, !bar, !tile, i1",
        &["op tma -=write:async:%a transaction [%bar count=0 bytes=32768]"],
    );
    let store = ["op tma -=read:async:%a commit tma_store implicit"];
    check("ttng.async_tma_copy_local_to_global %desc[%c0, %c0] %a : !tt.tensordesc<128x128xf16, #s>, !tile", &store);
    check("ttng.async_tma_reduce add, %desc[%c0, %c0] %a : !tt.tensordesc<128x128xf16, #s>, !tile", &store);
    check(
        "ttng.async_tma_scatter %desc[%rows, %c0] %a : !tt.tensordesc<128x128xf16, #s>, tensor<128xi32, #ttg.slice<{dim = 0, parent = #r}>>, i32, !tile",
        &store,
    );
    check("ttng.async_store %a, %ptr, %n : !tile, !tt.ptr<i32>", &store);
    check(
        "%size = arith.constant 32768 : i32
         %0 = ttg.async_copy_global_to_local %ptr, %a bulk_size %size : i32 barrier %bar : !bar {useBulk = true} : !tt.ptr<i32> -> !tile",
        &["op tma -=write:async:%a transaction [%bar count=0 bytes=32768]"],
    );
    check("ttng.async_tma_store_wait {pendings = 2 : i32}", &["wait_group tma_store pending=2"]);
    check(
        "%t = ttng.async_tma_copy_local_to_global %desc[%c0, %c0] %a : !tt.tensordesc<128x128xf16, #s>, !tile -> !ttg.async.token
         ttng.async_tma_copy_local_to_global %desc[%c0, %c0] %b : !tt.tensordesc<128x128xf16, #s>, !tile
         ttng.async_tma_store_token_wait %t, %bar[%true] : !ttg.async.token, !bar",
        &[
            "op tma -=read:async:%a commit tma_store implicit",
            "op tma -=read:async:%b commit tma_store implicit",
            "wait_group tma_store pending=1",
            "arrive %bar count=1",
        ],
    );
    check(
        "ttng.async_shared_store %v, %a, %bar : tensor<128x128xf16, #r> -> !tile, !bar",
        &["op tma -=write:generic:%a transaction [%bar count=0 bytes=32768]"],
    );
}

#[test]
fn wgmma() {
    check(
        "%0 = ttng.warp_group_dot %a, %b, %d {inputPrecision = 0 : i32, isAsync = true} : !tile * !tile -> tensor<128x128xf32, #mma>
         %1:2 = ttng.warp_group_dot_wait %0, %a {pendings = 1 : i32} : tensor<128x128xf32, #mma>, !tile
         %2 = ttg.local_load %1#1 : !tile -> tensor<128x128xf16, #r>",
        &[
            "op base A=read:async:%a B=read:async:%b commit wgmma implicit",
            "wait_group wgmma pending=1",
            "op base -=read:generic:%a in_order",
        ],
    );
    check(
        "%0 = ttng.warp_group_dot %a, %b, %d {inputPrecision = 0 : i32} : !tile * !tile -> tensor<128x128xf32, #mma>",
        &["op base A=read:async:%a B=read:async:%b in_order"],
    );
    check(
        "%l = arith.constant dense<0.0> : tensor<128x128xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
         %0 = ttng.warp_group_dot %l, %b, %d : tensor<128x128xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * !tile -> tensor<128x128xf32, #mma>",
        &["op base B=read:async:%b in_order"],
    );
}

#[test]
fn tensor_core() {
    let reads = "A=read:async:%a B=read:async:%b";
    check(
        "ttng.tc_gen5_mma %a, %b, %acc, %true, %true, %bar[%true] {is_async} : !tile, !tile, !acc, !bar",
        &[&format!(
            "op tensor_core {reads} Acc=read:tensor:%acc Acc=write:tensor:%acc frontier [%bar count=1 bytes=0]"
        )],
    );
    check(
        "ttng.tc_gen5_mma %a, %b, %acc, %false, %c, %bar[%c] {is_async} : !tile, !tile, !acc, !bar",
        &[&format!("op tensor_core {reads} Acc=write:tensor:%acc:clears frontier [%bar count=1 bytes=0 if %c] if %c")],
    );
    check(
        "ttng.tc_gen5_mma %a, %b, %acc, %true, %true : !tile, !tile, !acc",
        &[&format!("op base {reads} Acc=read:tensor:%acc Acc=write:tensor:%acc in_order")],
    );
    check("ttng.tc_gen5_mma %a, %b, %acc, %true, %false : !tile, !tile, !acc", &[]);
    check(
        "%0 = ttng.tc_gen5_mma %a, %b, %acc[], %true, %true : !tile, !tile, !acc",
        &[&format!("op tensor_core {reads} Acc=read:tensor:%acc Acc=write:tensor:%acc in_order")],
    );
    // The form before Triton's own pipeline makes it asynchronous.
    let lowered = kernel(
        "%a = ttg.local_alloc : () -> !tile
         %acc, %t = ttng.tmem_alloc : () -> (!acc, !ttg.async.token)
         %0 = ttng.tc_gen5_mma %a, %a, %acc[%t], %true, %true : !tile, !tile, !acc",
    );
    assert!(effects(&lowered)[2].starts_with("op base A="));
    check("ttng.tc_gen5_commit %bar : !bar", &["tensor_core_commit %bar"]);
    check("ttng.tc_gen5_commit %bar, %c : !bar", &["tensor_core_commit %bar if %c"]);
}

#[test]
fn an_accumulator_that_is_used_or_not_is_two_effects() {
    let lowered = kernel(
        "%a = ttg.local_alloc : () -> !tile
         %acc = ttng.tmem_alloc : () -> !acc
         %0 = ttng.tc_gen5_mma %a, %a, %acc[], %c, %true : !tile, !tile, !acc",
    );
    let effects = effects(&lowered);
    assert_eq!(
        effects[2..],
        [
            "op tensor_core A=read:async:%a B=read:async:%a Acc=read:tensor:%acc Acc=write:tensor:%acc in_order if %c",
            "op tensor_core A=read:async:%a B=read:async:%a Acc=write:tensor:%acc:clears in_order if %4"
        ]
    );
    let sites: Vec<u32> = lowered.kernel.effects.iter().map(|effect| effect.site.0).collect();
    assert_eq!(sites[2], sites[3]);
    let site = lowered.map.site(lowered.kernel.effects[2].site);
    assert_eq!(site.operands.iter().map(|(role, _)| role.as_str()).collect::<Vec<_>>(), ["A", "B", "Acc", "Acc"]);
    assert_ne!(site.operands[0].1, site.operands[1].1);
}

#[test]
fn scaled_tensor_core() {
    check(
        "%sa = ttng.tmem_alloc : () -> !ttg.memdesc<128x8xi8, #ttng.tensor_memory_scales_encoding<>, #ttng.tensor_memory, mutable>
         %sb = ttng.tmem_alloc : () -> !ttg.memdesc<128x8xi8, #ttng.tensor_memory_scales_encoding<>, #ttng.tensor_memory, mutable>
         %0 = ttng.tc_gen5_mma_scaled %a, %b, %acc[], %sa, %sb, %true, %true lhs = e4m3 rhs = e4m3 : !tile, !tile, !acc, !ttg.memdesc<128x8xi8, #ttng.tensor_memory_scales_encoding<>, #ttng.tensor_memory, mutable>, !ttg.memdesc<128x8xi8, #ttng.tensor_memory_scales_encoding<>, #ttng.tensor_memory, mutable>",
        &[
            "alloc $sa",
            "alloc $sb",
            "op tensor_core A=read:async:%a B=read:async:%b AScale=read:tensor:%sa BScale=read:tensor:%sb Acc=read:tensor:%acc Acc=write:tensor:%acc in_order",
        ],
    );
}

#[test]
fn tensor_memory() {
    check("%0 = ttng.tmem_load %acc : !acc -> tensor<128x128xf32, #r>", &["op base -=read:tensor:%acc in_order"]);
    check(
        "ttng.tmem_store %w, %acc, %true : tensor<128x128xf32, #r> -> !acc",
        &["op base -=write:tensor:%acc in_order"],
    );
    check(
        "ttng.tmem_store %w, %acc, %c : tensor<128x128xf32, #r> -> !acc",
        &["op base -=write:tensor:%acc in_order if %c"],
    );
    check(
        "%t, %tok = ttng.tmem_alloc %w : (tensor<128x128xf32, #r>) -> (!acc, !ttg.async.token)",
        &["alloc $t", "op base -=write:tensor:%t in_order"],
    );
    check(
        "ttng.tmem_copy %a, %acc : !tile, !acc",
        &["op tensor_core Src=read:async:%a Dst=write:tensor:%acc in_order"],
    );
}

#[test]
fn requests_with_a_token() {
    let answer = ["alloc $t", "op clc Answer=write:async:%t in_order", "%more = clc_load Answer=read:generic:%t"];
    check(
        "%t = ttng.clc_try_cancel_async : !ttg.async.token
         %more, %x, %y, %z = ttng.clc_read %t : !ttg.async.token -> i1, i32, i32, i32",
        &answer,
    );
    let asked = ["alloc $t", "op clc Answer=write:async:%t in_order", "%t = clc_load Answer=read:generic:%t"];
    check("%t, %x, %y, %z = ttng.clc_advance : i1, i32, i32, i32", &asked);
}

#[test]
fn what_is_not_followed_is_said() {
    check_unmodelled("\"ttng.new_op\"() : () -> ()", "not known");
    check_unmodelled("\"test.use\"(%v) : (tensor<128x128xf16, #r>) -> ()", "not known");
    check_unmodelled("\"tensor.use\"(%a) : (!tile) -> ()", "memdesc");
    check_unmodelled("%0 = \"tensor.make\"() : () -> !tile", "memdesc");
    check_unmodelled("ttng.arrive_barrier %word, 1 : !bar", "`%word`");
    check_unmodelled("%0 = ttg.local_load %word : !bar -> tensor<1xi64, #r>", "`%word`");
    check("\"tensor.use\"(%v) : (tensor<128x128xf16, #r>) -> ()", &[]);
}

#[test]
fn every_effect_has_a_test() {
    let tests = [
        include_str!("amd.rs"),
        include_str!("autows.rs"),
        include_str!("clusters.rs"),
        include_str!("rows.rs"),
        include_str!("views.rs"),
        include_str!("flow.rs"),
        include_str!("scalars.rs"),
        include_str!("tokens.rs"),
    ];
    let mut missing = Vec::new();
    for row in dialects::table().rows() {
        let word = format!("{} ", row.name);
        let silent = matches!(
            row.decl.effect,
            OpEffect::Nothing | OpEffect::Pure | OpEffect::Unknown | OpEffect::Structure | OpEffect::Unmodelled(_)
        );
        if !silent && !tests.iter().any(|text| text.contains(&word)) {
            missing.push(word);
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn scratch_memory_is_written_and_read() {
    check(
        "%0 = ttg.convert_layout %v {allocation.offset = 256 : i32, allocation.size = 512 : i32} : tensor<128x128xf16, #r> -> tensor<128x128xf16, #mma>",
        &["op base Scratch=write:generic:%scratch in_order", "op base Scratch=read:generic:%scratch in_order"],
    );
    check("%0 = ttg.convert_layout %v : tensor<128x128xf16, #r> -> tensor<128x128xf16, #mma>", &[]);
}
