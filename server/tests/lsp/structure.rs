//! Folds and selections, of both languages, of half-typed text, in all encodings.

use crate::support::{Server, kernel};
use serde_json::{Value, json};

const IR: &str = "file:///k.ttgir";
const PYTHON: &str = "file:///k.py";

fn folds(server: &mut Server, uri: &str) -> Value {
    let params = json!({ "textDocument": { "uri": uri } });
    server.request("textDocument/foldingRange", params).expect("an answer")
}

/// The first lines of the folds of a kind.
fn heads<'t>(folds: &Value, lines: &[&'t str], kind: &str) -> Vec<&'t str> {
    let folds = folds.as_array().into_iter().flatten().filter(|fold| fold["kind"] == json!(kind));
    folds.map(|fold| lines[fold["startLine"].as_u64().expect("a line") as usize].trim()).collect()
}

/// The texts that a selection grows by from the first place of a word.
fn grown(server: &mut Server, uri: &str, text: &str, line: usize, column: usize) -> Vec<String> {
    let position = json!({ "line": line, "character": column });
    let params = json!({ "textDocument": { "uri": uri }, "positions": [position] });
    let answer = server.request("textDocument/selectionRange", params).expect("an answer");
    let mut at = &answer[0];
    let mut out = Vec::new();
    while !at.is_null() {
        out.push(slice(text, &at["range"]));
        at = &at["parent"];
    }
    out
}

/// The text of a range in UTF-16.
fn slice(text: &str, range: &Value) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let offset = |place: &Value| {
        let line = place["line"].as_u64().expect("a line") as usize;
        let column = place["character"].as_u64().expect("a column") as usize;
        let before: usize = lines.iter().take(line).map(|line| line.len()).sum();
        let line = lines.get(line).copied().unwrap_or("");
        let units: Vec<u16> = line.encode_utf16().take(column).collect();
        before + String::from_utf16_lossy(&units).len()
    };
    text[offset(&range["start"])..offset(&range["end"])].to_owned()
}

#[test]
fn python_folds_by_functions_loops_calls_comments_and_imports() {
    let text = kernel("gluon/sum_rows.py");
    let lines: Vec<&str> = text.lines().collect();
    let mut server = Server::start(json!({}));
    server.open_as("python", PYTHON, &text);
    let all = folds(&mut server, PYTHON);
    let blocks = heads(&all, &lines, "region");
    for wanted in ["def ", "for ", "@gluon.jit"] {
        let is_there = blocks.iter().any(|line| line.starts_with(wanted));
        assert_eq!(is_there, wanted != "@gluon.jit", "{wanted}: {blocks:?}");
    }
    assert!(heads(&all, &lines, "imports").len() == 1, "{all}");
    for fold in all.as_array().expect("folds") {
        let line = |name: &str| fold[name].as_u64().expect("a line") as usize;
        assert!(line("startLine") < line("endLine") && line("endLine") < lines.len(), "{fold}");
    }
}

#[test]
fn plain_python_and_documents_that_are_not_open_have_no_structure_of_ours() {
    let mut server = Server::start(json!({}));
    server.open_as("python", PYTHON, "def f():\n    return [\n        1,\n    ]\n");
    assert_eq!(folds(&mut server, PYTHON), Value::Null);
    assert!(grown(&mut server, PYTHON, "", 0, 5).is_empty());
    assert_eq!(folds(&mut server, "file:///no.ttgir"), Value::Null);
    assert!(grown(&mut server, "file:///no.ttgir", "", 0, 0).is_empty());
}

#[test]
fn ttgir_folds_comments_too() {
    let text = format!("// One\n// two\n{}", kernel("attention.ttgir"));
    let lines: Vec<&str> = text.lines().collect();
    let mut server = Server::start(json!({}));
    server.open(IR, &text);
    let all = folds(&mut server, IR);
    assert!(heads(&all, &lines, "comment").contains(&"// One"), "{all}");
    assert!(heads(&all, &lines, "region").iter().any(|line| line.starts_with("tt.func")), "{all}");
}

#[test]
fn a_selection_grows_by_what_the_language_is_made_of() {
    let text = kernel("attention.ttgir");
    let (line, column) = place(&text, "ttng.wait_barrier %22", "%22");
    let mut server = Server::start(json!({}));
    server.open(IR, &text);
    let ranges = grown(&mut server, IR, &text, line, column);
    assert_eq!(ranges[0], "%22");
    assert!(ranges.iter().any(|range| range.starts_with("ttng.wait_barrier") && range.lines().count() == 1));
    assert!(ranges.iter().any(|range| range.trim_start().starts_with("tt.func")));
    assert_eq!(ranges.last(), Some(&text));

    let text = kernel("gluon/sum_rows.py").replace("import gluon\n", "import gluon  # 𝒳\n");
    let (line, column) = place(&text, "mbarrier.wait(", "wait(");
    server.open_as("python", PYTHON, &text);
    let ranges = grown(&mut server, PYTHON, &text, line, column + 1);
    assert_eq!(ranges[0], "wait");
    assert!(ranges.iter().any(|range| range.starts_with("mbarrier.wait(") && range.ends_with(')')));
    assert!(ranges.iter().any(|range| range.starts_with("@gluon.jit")));
    assert_eq!(ranges.last(), Some(&text));
}

#[test]
fn half_typed_text_has_its_structure() {
    let mut server = Server::start(json!({}));
    let text = kernel("gluon/sum_rows.py").replace("mbarrier.wait(", "mbarrier.wait((");
    server.open_as("python", PYTHON, &text);
    let lines: Vec<&str> = text.lines().collect();
    let all = folds(&mut server, PYTHON);
    assert!(heads(&all, &lines, "region").iter().any(|line| line.starts_with("def ")), "{all}");
    let text = kernel("attention.ttgir").replacen("ttng.wait_barrier %22, ", "ttng.wait_barrier %22, (", 1);
    server.open(IR, &text);
    let (line, column) = place(&text, "ttng.wait_barrier %22", "%22");
    let ranges = grown(&mut server, IR, &text, line, column);
    assert_eq!(ranges[0], "%22");
    assert!(ranges.len() > 4, "{ranges:?}");
}

/// Line and column of a word, on the first line with `on`.
fn place(text: &str, on: &str, word: &str) -> (usize, usize) {
    let line = text.lines().position(|line| line.contains(on)).expect("the line is there");
    (line, text.lines().nth(line).and_then(|line| line.find(word)).expect("the word is there"))
}
