//! Typing: what was found elsewhere in the file stays where it is, whatever the line that is typed says by then, and an
//! analysis that takes long shows what it has.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Server, kernel, range, root};

const URI: &str = "file:///typed.ttgir";
const PYTHON: &str = "file:///typed.py";

/// A place in the text: a finding's kind, the text that it is drawn at, and its line.
type Drawn = (String, String, usize);

/// The findings among diagnostics: what the analysis has found, not what it says of the text.
fn findings(diagnostics: &[Value], text: &str) -> Vec<Drawn> {
    let said = ["undecided", "syntax", "assumed", "unmodelled"];
    let kinds = include_str!("../../../README.md");
    let mut found: Vec<Drawn> = diagnostics
        .iter()
        .filter_map(|diagnostic| {
            let code = diagnostic["code"].as_str()?.to_owned();
            let is_kind = kinds.contains(&format!("| [{code}](")) && !said.contains(&code.as_str());
            let start = &diagnostic["range"]["start"];
            let line = usize::try_from(start["line"].as_u64()?).ok()?;
            let column = usize::try_from(start["character"].as_u64()?).ok()?;
            let drawn = text.lines().nth(line)?.get(column..)?.to_owned();
            is_kind.then_some((code, drawn, line))
        })
        .collect();
    found.sort();
    found.dedup();
    found
}

/// Types `line` in front of line `at`, key by key; after each key every finding has to be where it was.
fn type_line(server: &mut Server, (language, uri): (&str, &str), text: &str, at: usize, line: &str) {
    server.open_as(language, uri, text);
    let first = findings(&server.diagnostics(uri, 1), text);
    assert!(!first.is_empty(), "{uri} has findings");
    let mut version = 2;
    server.change(uri, version, Some(range((at, 0), (at, 0))), "\n");
    let mut now: Vec<String> = text.lines().map(str::to_owned).collect();
    now.insert(at, String::new());
    let expected: Vec<Drawn> =
        first.into_iter().map(|(code, drawn, line)| (code, drawn, if line < at { line } else { line + 1 })).collect();
    for (column, key) in line.chars().enumerate() {
        version += 1;
        server.change(uri, version, Some(range((at, column), (at, column))), &key.to_string());
        now[at].push(key);
        let shown = findings(&server.diagnostics(uri, version), &now.join("\n"));
        for wanted in &expected {
            assert!(shown.contains(wanted), "{uri}: after {:?} {wanted:?} is not among {shown:?}", now[at]);
        }
    }
    server.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
}

/// The line nearest to the middle of a text that an op or statement of a body starts in, and its indentation.
fn middle(text: &str, starts: fn(&str) -> bool) -> (usize, String) {
    let lines: Vec<&str> = text.lines().collect();
    let all = (0..lines.len()).filter(|at| starts(lines[*at]));
    let at = all.min_by_key(|at| at.abs_diff(lines.len() / 2)).expect("a line starts there");
    let indent = lines[at].len() - lines[at].trim_start().len();
    (at, " ".repeat(indent))
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
    let mut server = Server::start(json!({}));
    let all = broken_twins();
    let starts = |line: &str| line.starts_with("    ") && line.contains("ttng.");
    let mut typed = 0;
    for path in all.iter().step_by(23) {
        let text = std::fs::read_to_string(path).expect("it can be read");
        let (at, indent) = middle(&text, starts);
        let uri = format!("{URI}.{typed}.ttgir");
        type_line(&mut server, ("ttgir", &uri), &text, at, &format!("{indent}%typed = arith.addi %c, {{x"));
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
    let mut server = Server::start(json!({}));
    server.open_as("python", "file:///ring_tools.py", &helper);
    let starts = |line: &str| line.starts_with("        ") && line.trim_start().starts_with("mbarrier.");
    let (at, indent) = middle(&broken, starts);
    type_line(&mut server, ("python", PYTHON), &broken, at, &format!("{indent}typed = (1 + 22) // 3"));
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
