//! Tidy as a plain test, so that `cargo test` alone keeps the tree in order.

#[test]
fn the_tree_is_tidy() {
    let problems = xtask::tidy::run(&xtask::root());
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "\n{}\n", lines.join("\n"));
}
