//! What the README shows is what the program prints; `UPDATE_EXPECT=1` writes it there.

use crate::support::{fencepost_at_root, root};

#[test]
fn the_finding_on_the_first_screen_is_real() {
    let path = root().join("README.md");
    let page = std::fs::read_to_string(&path).expect("there is a README");
    let (_, rest) = page.split_once("-p fencepost -- ").expect("it shows a command");
    let (command, rest) = rest.split_once('\n').expect("a line");
    let (_, rest) = rest.split_once("```text\n").expect("it shows the output");
    let (shown, _) = rest.split_once("```").expect("the block ends");
    let out = fencepost_at_root(&command.split_whitespace().collect::<Vec<_>>());
    assert_eq!(out.code, 1);
    if shown != out.stdout && std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, page.replacen(shown, &out.stdout, 1)).expect("the README can be written");
        return;
    }
    assert!(
        shown == out.stdout,
        "README.md shows another output than this (UPDATE_EXPECT=1 writes it):\n{}",
        out.stdout
    );
}

#[test]
fn the_picture_on_the_first_screen_is_real() {
    let path = root().join("docs/trace.svg");
    let shown = std::fs::read_to_string(&path).unwrap_or_default();
    let out =
        fencepost_at_root(&["trace", "--format", "svg", "tests/corpus/ttgir/sm_90/ws_gemm.released_too_early.ttgir"]);
    assert_eq!(out.code, 1);
    if shown != out.stdout && std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &out.stdout).expect("the picture can be written");
        return;
    }
    assert!(shown == out.stdout, "docs/trace.svg is another picture than is drawn (UPDATE_EXPECT=1 writes it)");
}
