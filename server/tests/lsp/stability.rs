//! Typing: what was found elsewhere in the file stays where it is, whatever the line that is typed says by then, and an
//! analysis that takes long shows what it has. `cargo run --release -p fencepost-tests --bin chaos -- --typing
//! target/release/fencepost` types into all of the corpus.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Server, kernel, range, root};
use crate::typed::{IN_PYTHON, IN_TTGIR, Typed, findings, middle, told_of_status, type_line};

const URI: &str = "file:///typed.ttgir";
const PYTHON: &str = "file:///typed.py";

/// Types a line into the middle of a text, where a line of `starts` is.
fn type_into(
    server: &mut Server,
    (language, uri): (&'static str, &str),
    text: &str,
    starts: fn(&str) -> bool,
    line: &str,
) {
    let (at, indent) = middle(text, starts).expect("a line starts there");
    let line = format!("{indent}{line}");
    let typed = Typed { language, uri: uri.to_owned(), text: text.to_owned(), at, line };
    match type_line(server, &typed) {
        Ok(found) => assert!(found > 0, "{uri} has findings"),
        Err(why) => panic!("{uri}: {why}"),
    }
}

fn broken_twins() -> Vec<PathBuf> {
    let mut all = Vec::new();
    for folder in ["sm_90", "sm_100"] {
        let folder = root().join("tests/corpus/ttgir").join(folder);
        let files = std::fs::read_dir(&folder).expect("the corpus is there");
        all.extend(files.filter_map(|file| Some(file.ok()?.path())));
    }
    // `KERNEL.SLIP.ttgir`
    let is_twin = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.ends_with(".ttgir") && name.matches('.').count() == 2
    };
    all.retain(is_twin);
    all.sort();
    all
}

#[test]
fn typing_a_line_of_ttgir_moves_no_finding() {
    let mut server = Server::start(told_of_status());
    let all = broken_twins();
    let starts: fn(&str) -> bool = |line| line.starts_with("    ") && line.contains("ttng.");
    let mut typed = 0;
    for path in all.iter().step_by(23) {
        let text = std::fs::read_to_string(path).expect("it can be read");
        let uri = format!("{URI}.{typed}.ttgir");
        type_into(&mut server, ("ttgir", &uri), &text, starts, IN_TTGIR);
        typed += 1;
    }
    assert!(typed >= 5, "{typed}");
}

#[test]
fn typing_a_line_of_python_moves_no_finding() {
    let text = std::fs::read_to_string(root().join("tests/kernels/gluon/sum_rows.py")).expect("it can be read");
    let helper = std::fs::read_to_string(root().join("tests/kernels/gluon/ring_tools.py")).expect("it can be read");
    // The producer does not wait until its slot is free.
    let broken = text.replacen("        mbarrier.wait(free.index(slot), ((i // depth) & 1) ^ 1)\n", "", 1);
    assert_ne!(text, broken);
    let mut server = Server::start(told_of_status());
    server.open_as("python", "file:///ring_tools.py", &helper);
    let starts: fn(&str) -> bool = |line| line.starts_with("        ") && line.trim_start().starts_with("mbarrier.");
    type_into(&mut server, ("python", PYTHON), &broken, starts, IN_PYTHON);
}

#[test]
fn keys_in_a_comment_are_answered_with_what_was_known() {
    let text = std::fs::read_to_string(root().join("tests/kernels/gluon/sum_rows.py")).expect("it can be read");
    let helper = std::fs::read_to_string(root().join("tests/kernels/gluon/ring_tools.py")).expect("it can be read");
    let broken = text.replacen("        mbarrier.wait(free.index(slot), ((i // depth) & 1) ^ 1)\n", "        # \n", 1);
    assert_ne!(text, broken);
    let at = broken.lines().position(|line| line == "        # ").expect("the comment is there");
    let started = |given: Value| {
        let mut server = Server::start(given);
        server.open_as("python", "file:///ring_tools.py", &helper);
        server.open_as("python", PYTHON, &broken);
        server
    };
    let mut server = started(json!({}));
    let known = server.diagnostics(PYTHON, 1);
    assert!(!known.is_empty());
    let comment = "waited for elsewhere";
    for (typed, key) in comment.chars().enumerate() {
        let column = 10 + typed;
        server.change(PYTHON, typed as i32 + 2, Some(range((at, column), (at, column))), &key.to_string());
        assert_eq!(server.diagnostics(PYTHON, typed as i32 + 2), known);
    }
    // What asks for more than lines and columns gets the present text.
    let last = comment.len() as i32 + 1;
    let lenses = server.request("textDocument/codeLens", json!({ "textDocument": { "uri": PYTHON } }));
    assert!(lenses.expect("lenses").as_array().is_some_and(|lenses| !lenses.is_empty()));
    // The line break ends the comment: all below moves.
    let end = (at, 10 + comment.len());
    server.change(PYTHON, last + 1, Some(range(end, end)), "\n");
    let moved = server.diagnostics(PYTHON, last + 1);
    assert_eq!(moved.len(), known.len());
    assert_ne!(moved, known);

    let mut server = started(json!({ "textDocument": { "diagnostic": {} } }));
    let ask = |server: &mut Server, previous: &Value| {
        let params = json!({ "textDocument": { "uri": PYTHON }, "previousResultId": previous });
        server.request("textDocument/diagnostic", params).expect("a report")
    };
    let first = ask(&mut server, &Value::Null);
    assert_eq!(first["items"], json!(known));
    server.change(PYTHON, 2, Some(range((at, 10), (at, 10))), "x");
    let second = ask(&mut server, &first["resultId"]);
    assert_eq!((&second["kind"], &second["resultId"]), (&json!("unchanged"), &first["resultId"]));
}

#[test]
fn a_neighbour_of_what_is_being_typed_is_judged_as_ever() {
    let text = kernel("ring_not_waited.ttgir");
    let mut server = Server::start(json!({}));
    server.open(URI, &text);
    let first = server.diagnostics(URI, 1);
    let end = text.lines().count();
    // Another function opens behind the kernel and is never closed.
    let at = (0..end).rev().find(|at| text.lines().nth(*at) == Some("}")).expect("the module ends");
    server.change(URI, 2, Some(range((at, 0), (at, 0))), "  tt.func @typed() {\n");
    let now = server.diagnostics(URI, 2);
    let found = |all: &[Value]| findings(all, &text);
    assert_eq!(found(&now), found(&first), "{now:?}");
}

#[test]
fn a_finding_of_an_earlier_text_says_so_and_goes_once_the_text_is_judged() {
    let text = kernel("ring_not_waited.ttgir");
    let mut server = Server::start(json!({}));
    server.open(URI, &text);
    let first = server.diagnostics(URI, 1);
    let line = text.lines().position(|line| line.contains("ttng.wait_barrier")).expect("it waits");
    server.change(URI, 2, Some(range((line, 0), (line, 0))), "%\n");
    let torn = server.diagnostics(URI, 2);
    let message = |all: &[Value]| {
        let race = all.iter().find(|it| it["code"] == json!("missing-forward-barrier")).expect("the race");
        race["message"].as_str().expect("text").to_owned()
    };
    assert!(message(&torn).contains(" (of an earlier text; this one is not judged yet)"), "{torn:?}");
    assert!(!message(&first).contains("earlier text"), "{first:?}");
    server.change(URI, 3, Some(range((line, 0), (line + 1, 0))), "");
    assert_eq!(message(&server.diagnostics(URI, 3)), message(&first));
}

#[test]
fn a_client_that_shows_it_is_told_how_far_each_kernel_is() {
    let capabilities = json!({ "experimental": { "fencepostStatus": true } });
    let mut server = Server::start(capabilities);
    server.open(URI, &kernel("ring_not_waited.ttgir"));
    let done = |server: &mut Server| loop {
        let status = server.event("fencepost/status")["params"].clone();
        if status["state"] == json!("done") {
            return status;
        }
    };
    let status = done(&mut server);
    assert_eq!((&status["version"], &status["uri"]), (&json!(1), &json!(URI)));
    assert_eq!(status["kernels"][0]["name"], json!("ws_gemm"));
    assert_eq!((&status["kernels"][0]["state"], &status["earlier"]), (&json!("found"), &json!([])));
    let line = kernel("ring_not_waited.ttgir").lines().position(|line| line.contains("ttng.wait_barrier"));
    let line = line.expect("it waits");
    server.change(URI, 2, Some(range((line, 0), (line, 0))), "%\n");
    assert_eq!(done(&mut server)["kernels"][0]["state"], json!("stale"));
}
