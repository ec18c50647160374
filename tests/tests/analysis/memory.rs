//! An edit that keeps the kernel explores nothing: shown by a counter, on every page's sources.

use base::{Cancel, Limits};
use engine::Engine;
use fencepost_tests::sources::sources;
use ttgir::Document;

/// Analyses `before`, then `after`, with one engine; gives the explorations that the second cost.
fn cost(before: &str, after: &str) -> u64 {
    let mut engine = Engine::new(Limits::default());
    let first = engine.analyse(&Document::new(before), &Cancel::never()).map(|analysis| analysis.kernels.len());
    let explored = engine.explorations();
    let second = engine.analyse(&Document::new(after), &Cancel::never()).map(|analysis| analysis.kernels.len());
    assert_eq!(first, second);
    engine.explorations() - explored
}

#[test]
fn comments_and_white_space() {
    for (name, text) in sources() {
        let after = text.replace('\n', "\n  // a comment\n\n");
        assert_eq!(cost(&text, &after), 0, "{name}");
    }
}

#[test]
fn names() {
    for (name, text) in sources() {
        let after = text.replace("%c0", "%nought").replace("%buf", "%tile_0").replace("@", "@k_");
        assert_eq!(cost(&text, &after), 0, "{name}");
    }
}

#[test]
fn arithmetic_that_no_barrier_depends_on() {
    for (name, text) in sources() {
        let after = text.replace(
            "    tt.return\n",
            "    %x0 = arith.constant 5 : i32\n    %x1 = arith.muli %x0, %x0 : i32\n    tt.return\n",
        );
        assert_eq!(cost(&text, &after), 0, "{name}");
    }
}

#[test]
fn another_count_is_another_kernel() {
    let all = sources();
    let (_, text) = all.iter().find(|(name, _)| name.starts_with("arrival-overflow")).expect("the page is there");
    assert_eq!(cost(text, &text.replace("%done, 2", "%done, 1")), 1);
}
