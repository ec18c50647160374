//! A kernel in Python shown as the ops that it is analysed as, each with its line.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Server, kernel, root};

/// The ops of a kernel of a file, and the file's text.
fn shown(server: &mut Server, path: &str, params: Value) -> (Value, String, String) {
    let file = fs::canonicalize(root().join(path)).expect("a kernel");
    let text = fs::read_to_string(&file).expect("a kernel");
    let uri = format!("file://{}", file.display());
    server.open_as("python", &uri, &text);
    let mut asked = params;
    asked["textDocument"] = json!({ "uri": uri });
    (server.request("fencepost/ir", asked).expect("an answer"), text, uri)
}

/// The lines of Python that the first line of IR with a word comes from.
fn line_of(answer: &Value, text: &str, word: &str) -> String {
    let ir = answer["text"].as_str().expect("a text");
    let line = ir.lines().position(|line| line.contains(word)).unwrap_or_else(|| panic!("no {word} in {ir}"));
    let links = answer["links"].as_array().expect("links");
    let link = links.iter().find(|link| link["line"] == json!(line)).unwrap_or_else(|| panic!("{word}: no link"));
    let start = link["range"]["start"]["line"].as_u64().expect("a line") as usize;
    text.lines().nth(start).unwrap_or_default().trim().to_owned()
}

#[test]
fn a_kernel_in_gluon_is_shown_as_its_ops() {
    let mut server = Server::start(json!({}));
    let (answer, text, uri) = shown(&mut server, "tests/kernels/gluon/sum_rows.py", json!({ "kernel": "sum_rows" }));
    assert_eq!((&answer["kernel"], &answer["version"]), (&json!("sum_rows"), &json!(1)));
    let ir = answer["text"].as_str().expect("a text").to_owned();
    assert!(ir.starts_with("// sum_rows: ") && ir.contains("It is no compiler's output"), "{ir}");
    assert_eq!(line_of(&answer, &text, "ttng.wait_barrier"), "mbarrier.wait(ready.index(slot), (i // depth) & 1)");
    assert_eq!(
        line_of(&answer, &text, "ttng.async_tma_copy_global_to_local"),
        "tma.async_load(desc, [row, 0], ready.index(slot), ring.index(slot))"
    );
    // What a helper of another file does comes from the call in this one.
    assert_eq!(line_of(&answer, &text, "ttng.arrive_barrier"), "signal(free, slot)");
    let links = answer["links"].as_array().expect("links");
    let helper = links.iter().find(|link| link["source"].is_string()).expect("an op of a helper");
    assert!(helper["source"].as_str().is_some_and(|spot| spot.starts_with("ring_tools.py:")), "{helper}");

    // Of the text as it is now.
    server.change(
        &uri,
        2,
        Some(json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 0 } })),
        "# a line\n",
    );
    let asked = json!({ "textDocument": { "uri": uri }, "position": { "line": 3, "character": 0 } });
    let later = server.request("fencepost/ir", asked).expect("an answer");
    assert_eq!(later["version"], json!(2));
    assert_eq!(line_of(&later, &format!("# a line\n{text}"), "ttng.arrive_barrier"), "signal(free, slot)");
    let none = json!({ "textDocument": { "uri": uri }, "kernel": "nosuch" });
    assert_eq!(server.request("fencepost/ir", none), Ok(Value::Null));
}

#[test]
fn a_kernel_in_plain_triton_is_shown_as_its_ops() {
    let mut server = Server::start(json!({}));
    let (answer, text, _) = shown(&mut server, "tests/runs/python/matmul.py", json!({}));
    assert!(line_of(&answer, &text, "tt.store ").starts_with("tl.store("), "{answer}");
    assert!(line_of(&answer, &text, "tt.load ").contains("tl.load("), "{answer}");
}

#[test]
fn ttgir_is_the_ops_itself() {
    let mut server = Server::start(json!({}));
    server.open("file:///k.ttgir", &kernel("ring.ttgir"));
    let asked = json!({ "textDocument": { "uri": "file:///k.ttgir" } });
    assert_eq!(server.request("fencepost/ir", asked), Ok(Value::Null));
}
