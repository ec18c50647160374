//! The rows of AMD's ops.

use super::{check, check_unmodelled, effects, kernel};

#[test]
fn barriers() {
    check("amdg.init_barrier %bar, 256 : !bar", &["init %bar count=256"]);
    check("%p = amdg.arrive_barrier %bar, 2 : !bar -> i32", &["arrive %bar count=256"]);
    check("amdg.wait_barrier %bar, %n : !bar", &["wait %bar phase=%n"]);
    check("amdg.async_copy_mbarrier_arrive %bar : !bar", &["async_copy_arrive %bar"]);
    check("amdg.cluster_barrier_arrive {}\namdg.cluster_barrier_wait {}", &["cluster_arrive", "cluster_wait"]);
}

// amdg.read_barrier_phase has the generic form only.
#[test]
fn an_arrival_gives_back_its_phase() {
    check(
        "%p = amdg.arrive_barrier %bar, 1 : !bar -> i32
         amdg.wait_barrier %bar, %p : !bar",
        &["%p = read_phase %bar", "arrive %bar count=128", "wait %bar phase=%p"],
    );
    check(
        "%p = \"amdg.read_barrier_phase\"(%bar) : (!bar) -> i32
         amdg.wait_barrier %bar, %p : !bar",
        &["%p = read_phase %bar", "wait %bar phase=%p"],
    );
}

#[test]
fn a_partition_arrives_with_its_own_warps() {
    let body = "%bar = ttg.local_alloc : () -> !bar
        ttg.warp_specialize(%bar)
        default {
          %p = amdg.arrive_barrier %bar, 1 : !bar -> i32
          ttg.warp_yield
        }
        partition0(%b: !bar) num_warps(2) {
          %p = amdg.arrive_barrier %b, 1 : !bar -> i32
          ttg.warp_return
        } : (!bar) -> ()
        %p = amdg.arrive_barrier %bar, 1 : !bar -> i32";
    let arrivals: Vec<String> =
        effects(&kernel(body)).into_iter().filter(|effect| effect.starts_with("arrive")).collect();
    let counts: Vec<&str> = arrivals.iter().filter_map(|effect| effect.split("count=").nth(1)).collect();
    assert_eq!(counts, ["128", "128", "64"]);
}

#[test]
fn tensor_data_mover() {
    let (load, store) = ("op tma -=write:generic:%a in_turn", "op tma -=read:generic:%a in_turn");
    let (bar, desc) = ("[%bar count=4 bytes=0]", "!tt.tensordesc<128x128xf16, #s>");
    let rows = "tensor<128xi32, #ttg.slice<{dim = 0, parent = #r}>>";
    check(&format!("%0 = amdg.async_tdm_copy_global_to_local %desc into %a : {desc} -> !tile"), &[load]);
    check(
        &format!("%0 = amdg.async_tdm_copy_global_to_local %desc into %a, barrier = %bar : {desc}, !bar -> !tile"),
        &[&format!("{load} {bar}")],
    );
    check(
        &format!(
            "%0 = amdg.async_tdm_fused_copy_global_to_local %desc, %desc into %a, %b {{warp_used_hints = array<i32: 3, 12>}} : {desc}, {desc} -> !tile, !tile"
        ),
        &["op tma -=write:generic:%a -=write:generic:%b in_turn"],
    );
    check(&format!("%0 = amdg.async_tdm_gather %desc[%rows] to %a : {rows}, !tile -> {desc}"), &[load]);
    check(&format!("%0 = amdg.async_tdm_scatter %desc[%rows] from %a : {rows}, !tile -> {desc}"), &[store]);
    check(
        &format!("%0 = amdg.async_tdm_copy_local_to_global %desc from %a, barrier = %bar : !tile, !bar -> {desc}"),
        &[&format!("{store} {bar}")],
    );
    check(&format!("amdg.async_tdm_copy_local_to_global %desc from %a : !tile -> {desc}"), &[store]);
    check("%0 = amdg.async_tdm_wait {num = 2 : i32}", &["wait_group tdm pending=2"]);
}

#[test]
fn copies() {
    let offsets = "%o = arith.constant dense<0> : tensor<128x128xi32, #r>\n";
    check(
        &format!(
            "{offsets}%0 = amdg.buffer_load_to_local %ptr[%o] into %a : !tt.ptr<i32>[tensor<128x128xi32, #r>] -> !tile"
        ),
        &["op base -=write:generic:%a commit async_copy"],
    );
    check(
        "%0 = amdg.async_copy_local_to_global %a, %ptrs : !tile -> tensor<128x128x!tt.ptr<f16>, #r>",
        &["op base -=read:generic:%a commit async_copy"],
    );
    for name in ["amdg.local_load_packed_tranposed ", "amdg.local_load_packed_transposed "] {
        check(&format!("%0 = {name}%a : !tile -> tensor<128x128xf16, #r>"), &["op base -=read:generic:%a in_order"]);
    }
}

#[test]
fn lowered_waits() {
    check(
        "%0 = amdg.async_tdm_intrinsic_wait {count = 6 : i32, ttg.num_tdm_ops = 2 : i32}",
        &["wait_group tdm pending=2"],
    );
    check("%0 = amdg.async_tdm_intrinsic_wait {count = 0 : i32}", &["wait_group tdm pending=0"]);
    check_unmodelled("%0 = amdg.async_tdm_intrinsic_wait {count = 6 : i32}", "`ttg.num_tdm_ops`");
    check(
        "%0 = amdg.async_wait {num_inst = 6 : i32, ttg.num_commit_groups = 1 : i32}",
        &["wait_group async_copy pending=1"],
    );
    check_unmodelled("%0 = amdg.async_wait {num_inst = 6 : i32}", "`ttg.num_commit_groups`");
}

#[test]
fn a_wave_of_64_arrives_64_times() {
    let text = super::HEAD.replace("\"ttg.threads-per-warp\" = 32", "\"ttg.threads-per-warp\" = 64");
    let arrive = "tt.func public @k() {
        %bar = ttg.local_alloc : () -> !bar
        %p = amdg.arrive_barrier %bar, 1 : !bar -> i32
        tt.return
    }";
    let tree = ttgir::Tree::parse(&format!("{text}{arrive}\n}}\n"));
    let lowered = super::super::lower(&tree);
    assert!(effects(&lowered[0]).contains(&"arrive %bar count=256".to_owned()));
}
