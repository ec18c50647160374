//! Text that means harm: what it holds is shown, in every format, and does nothing.

use std::fs;

use crate::support::{Folder, fencepost};

/// A kernel with a finding, whose places in Python have a name that terminals and browsers would obey.
const NAME: &str = "gl\u{1b}[2J\u{1b}]0;t\u{7}uon<img src=x onerror=alert(1)>\\22onload=\\22.py";

fn kernel() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/corpus/ttgir/sm_90/ws_gemm.released_too_early.ttgir");
    let text = fs::read_to_string(path).expect("the kernel is there");
    assert!(text.contains("gluon/ws_gemm.py"));
    text.replace("gluon/ws_gemm.py", NAME)
}

/// What a command says of the kernel, whose file has a name of that kind too; `test` is the folder's own.
fn said(test: &str, command: &str, arguments: &[&str]) -> String {
    let folder = Folder::new(test);
    let path = folder.write("k\u{1b}[2J.ttgir", kernel().as_bytes());
    let output = fencepost(&[&[command, path.as_str()], arguments].concat());
    output.stdout + &output.stderr
}

#[test]
fn a_terminal_is_told_nothing() {
    for (command, arguments) in [
        ("check", &["--color", "always"][..]),
        ("check", &["--format", "github"]),
        ("check", &["--format", "json"]),
        ("check", &["--format", "sarif"]),
        ("report", &[]),
        ("trace", &[]),
    ] {
        let said = said("hostile-terminal", command, arguments);
        assert!(!said.is_empty(), "{command} {arguments:?} says something");
        for sequence in ["\u{1b}[2J", "\u{1b}]", "\u{7}"] {
            assert!(!said.contains(sequence), "{command} {arguments:?}: {said}");
        }
    }
}

#[test]
fn a_browser_is_given_no_element() {
    for (command, format) in [("report", "html"), ("trace", "svg"), ("report", "md")] {
        let said = said("hostile-browser", command, &["--format", format]);
        assert!(said.contains("gemm"), "{command} as {format} is there: {said:.400}");
        assert!(!said.contains("<img"), "{command} as {format}");
    }
}

#[test]
fn what_a_machine_reads_is_well_formed() {
    for format in ["json", "sarif"] {
        let said = said("hostile-machine", "check", &["--format", format]);
        let start = said.find('{').expect("an object");
        let mut stream = serde_json::Deserializer::from_str(&said[start..]).into_iter::<serde_json::Value>();
        assert!(stream.next().is_some_and(|value| value.is_ok()), "{format}: {said:.300}");
    }
}
