//! The README's first screen is true: its command prints the transcript under it.

mod cli_support;

use cli_support::{fencepost, root};

/// The kernel that the README checks.
const KERNEL: &str = "tests/corpus/ttgir/sm_90/ws_gemm.released_too_early.ttgir";

#[test]
fn the_transcript_is_what_the_command_prints() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("the README is there");
    assert!(readme.contains(&format!("cargo run --release -p fencepost -- check {KERNEL}\n")));
    let start = readme.find("```text\n").expect("the README has a transcript") + "```text\n".len();
    let transcript = readme[start..].split("\n```").next().expect("split gives at least one");
    let path = root().join(KERNEL);
    let output = fencepost(&["check", "--color", "never", &path.to_string_lossy()]);
    let printed = output.stdout.replace(&*path.to_string_lossy(), KERNEL);
    assert_eq!(printed.trim_end(), transcript, "README.md shows another output; the new one is above");
    assert_eq!(output.code, 1, "the README says that it exits with 1");
}
