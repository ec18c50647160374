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
    for counts in ["num_inst = 6 : i32, ttg.num_commit_groups = 0", "num_inst = 0 : i32, ttg.num_commit_groups = 1"] {
        check_unmodelled(&format!("%0 = amdg.async_wait {{{counts} : i32}}"), "the two disagree");
    }
}

/// What a kernel for eight warps does between two barriers for halves of them; how many ops are not followed.
fn halves(before: &str, other: &str, inside: &str) -> (Vec<String>, usize) {
    let head = super::HEAD
        .replace("\"ttg.threads-per-warp\" = 32", "\"ttg.threads-per-warp\" = 64")
        .replace("\"ttg.num-warps\" = 4", "\"ttg.num-warps\" = 8")
        .replace("cuda:100", "hip:gfx942");
    let body = format!(
        "tt.func public @k(%v: tensor<128x128xf16, #r>) {{
        %c0 = arith.constant 0 : i32
        %c256 = arith.constant 256 : i32
        %a = ttg.local_alloc %v : (tensor<128x128xf16, #r>) -> !tile
        {before}
        %id = rocdl.workitem.id.x : i32
        %half = arith.divsi %id, %c256 : i32
        %low = arith.cmpi eq, %half, %c0 : i32
        %high = arith.cmpi ne, %half, %c0 : i32
        amdg.cond_barrier %high
        {inside}
        amdg.cond_barrier %{other}
        tt.return
    }}"
    );
    let lowered = lower::lower(&ttgir::Tree::parse(&format!("{head}{body}\n}}\n")));
    (effects(&lowered[0]), lowered[0].unmodelled.len())
}

#[test]
fn halves_of_the_warps_are_one_barrier_apart() {
    let read = "%x = ttg.local_load %a : !tile -> tensor<128x128xf16, #r>\nrocdl.s.barrier";
    let store = "ttg.local_store %v, %a : tensor<128x128xf16, #r> -> !tile\nrocdl.s.barrier";
    let (found, left) = halves("gpu.barrier", "low", &format!("{read}\n{store}"));
    let waits: Vec<&str> = found.iter().filter_map(|effect| effect.strip_prefix("wait_group stage ")).collect();
    assert_eq!((waits, left), (vec!["pending=1", "pending=1", "pending=0"], 0), "{found:#?}");
    for (before, other, inside) in [
        ("", "low", read),
        ("gpu.barrier", "high", read),
        ("gpu.barrier", "low", "%y = ttg.convert_layout %v : tensor<128x128xf16, #r> -> tensor<128x128xf16, #r>"),
        ("gpu.barrier", "low", &read.replace("\nrocdl.s.barrier", &format!("\n{store}"))),
    ] {
        let (found, left) = halves(before, other, inside);
        assert_eq!(left, 2, "{before} {other} {inside}: {found:#?}");
    }
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
    let lowered = lower::lower(&tree);
    assert!(effects(&lowered[0]).contains(&"arrive %bar count=256".to_owned()));
}
