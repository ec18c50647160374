//! Texts that are wrong, half written, or made to cost much: no panic, and what is left out is said.

use super::{ENTRY, HEAD, STORAGE, left_out};
use kernel::Lowered;
use ttgir::Tree;

/// Lowers a text with errors in it.
fn broken(text: &str) -> Vec<Lowered> {
    lower::lower(&Tree::parse(text))
}

fn body(ops: &str) -> Lowered {
    let mut kernels = broken(&format!("{HEAD}{ENTRY}{STORAGE}{ops}\n    tt.return\n  }}\n}}\n"));
    assert_eq!(kernels.len(), 1);
    kernels.remove(0)
}

#[test]
fn nothing_gives_nothing() {
    assert!(broken("").is_empty());
    assert!(broken("warning: 1 2 3 {{{").is_empty());
    assert!(broken("module {\n  tt.func private @f()\n}\n").is_empty());
}

#[test]
fn a_text_may_end_anywhere() {
    let text = format!(
        "{HEAD}{ENTRY}{STORAGE}
         ttg.warp_specialize(%bar)
         default {{ ttng.wait_barrier %bar, %c0 : !bar ttg.warp_yield }}
         partition0(%b: !bar) num_warps(1) {{ ttng.arrive_barrier %b, 1 : !bar ttg.warp_return }} : (!bar) -> ()
         tt.return }} }}"
    );
    for (end, _) in text.char_indices() {
        broken(&text[..end]);
    }
}

#[test]
fn an_operand_that_nothing_defines_is_said() {
    let reasons = left_out(&body("ttng.arrive_barrier %nobody, 1 : !bar"));
    assert_eq!(reasons, ["where `%nobody` lies is not followed"]);
    assert_eq!(left_out(&body("ttng.wait_barrier %bar, %nobody : !bar")), Vec::<String>::new());
}

#[test]
fn a_count_that_is_none_is_said() {
    assert_eq!(left_out(&body("ttng.barrier_expect %bar, -16, %true : !bar")), ["its `size` is not a count"]);
    assert_eq!(left_out(&body("ttng.init_barrier %bar, 99999999999 : !bar")), ["its `count` is not a count"]);
}

#[test]
fn a_window_past_its_buffer_is_not_followed() {
    let slice = |at: &str| {
        let lowered = body(&format!(
            "%x = ttg.memdesc_subslice %a[{at}, 0] : !tile -> !ttg.memdesc<64x128xf16, #s, #smem, mutable, 128x128>"
        ));
        left_out(&lowered).len()
    };
    assert_eq!((slice("64"), slice("65"), slice("9223372036854775807")), (0, 1, 1));
}

#[test]
fn shapes_without_bounds_are_not_followed() {
    for shape in ["9223372036854775807x4", "0x9223372036854775807x9223372036854775807", "4294967296x4294967296"] {
        let lowered = body(&format!("%x = ttg.local_alloc : () -> !ttg.memdesc<{shape}xf16, #s, #smem, mutable>"));
        assert_eq!(left_out(&lowered).len(), 1, "{shape}");
    }
}

#[test]
fn functions_that_double_at_every_level_end_soon() {
    let mut text = HEAD.to_owned();
    for at in 0..40 {
        let call = format!("tt.call @f{}() : () -> ()\n", at + 1);
        text += &format!("tt.func private @f{at}() {{\n{call}{call}tt.return\n}}\n");
    }
    text +=
        "tt.func private @f40() {\ntt.return\n}\ntt.func public @k() {\ntt.call @f0() : () -> ()\ntt.return\n}\n}\n";
    let kernels = broken(&text);
    assert!(kernels[0].unmodelled.iter().any(|item| item.reason.to_string().starts_with("too many calls")));
}

#[test]
fn loops_that_nest_too_deeply_are_said() {
    let open = "scf.for %i = %c0 to %n step %c1 : i32 {\n";
    let lowered =
        body(&format!("{}ttng.fence_async_shared {{bCluster = false}}{}", open.repeat(110), "}\n".repeat(110)));
    assert_eq!(left_out(&lowered), ["nested deeper than 100 levels"]);
}
