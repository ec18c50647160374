//! Completion and signatures while a line is being typed, in both languages and all encodings.

use crate::support::{Server, kernel, place};
use serde_json::{Value, json};

const IR: &str = "file:///k.ttgir";
const PYTHON: &str = "file:///kernels/k.py";

fn editor(encoding: &str) -> Value {
    json!({
        "general": { "positionEncodings": [encoding] },
        "textDocument": {
            "hover": { "contentFormat": ["markdown"] },
            "completion": { "completionItem": { "insertReplaceSupport": true } },
            "signatureHelp": { "signatureInformation": { "parameterInformation": { "labelOffsetSupport": true } } },
        },
    })
}

/// The items at a place, asked for by hand.
fn items(server: &mut Server, uri: &str, at: (usize, usize)) -> Vec<Value> {
    let list = server.at("textDocument/completion", uri, at.0, at.1).expect("an answer");
    list["items"].as_array().cloned().unwrap_or_default()
}

fn labels(items: &[Value]) -> Vec<&str> {
    items.iter().filter_map(|item| item["label"].as_str()).collect()
}

/// A kernel with a line typed in front of the first line that holds `before`, and the end of what is typed.
fn typed(text: &str, before: &str, line: &str) -> (String, (usize, usize)) {
    let at = text.lines().position(|line| line.contains(before)).expect("the line is there");
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(at, line);
    (lines.join("\n") + "\n", (at, line.encode_utf16().count()))
}

#[test]
fn ttgir_is_completed_while_a_line_does_not_parse() {
    let text = kernel("attention.ttgir");
    let mut server = Server::start(editor("utf-16"));
    for (number, (line, expected)) in [
        ("    ttng.wait_bar", "ttng.wait_barrier"),
        ("    ttng.wait_barrier %ba", "%bar_8"),
        ("    %x = arith.cmpi sl", "slt"),
        ("    %x = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #sha", "#shared"),
        ("    tt.call @att", "@attention_ws"),
        ("    // fencepost: ignore[dead", "deadlock"),
    ]
    .into_iter()
    .enumerate()
    {
        let uri = format!("file:///{number}.ttgir");
        let (text, at) = typed(&text, "ttng.init_barrier", line);
        server.open(&uri, &text);
        let found = items(&mut server, &uri, at);
        assert_eq!(labels(&found).first().copied(), Some(expected), "{line}");
        // What is inserted takes the place of what is typed.
        let edit = &found[0]["textEdit"];
        assert_eq!(edit["insert"]["end"], json!({ "line": at.0, "character": at.1 }), "{edit}");
        assert!(edit["newText"].as_str().is_some_and(|text| text.starts_with(expected)), "{edit}");
    }
}

#[test]
fn the_documentation_of_an_item_comes_when_it_is_asked_for() {
    let (text, at) = typed(&kernel("attention.ttgir"), "ttng.init_barrier", "    ttng.wait_bar");
    let mut server = Server::start(editor("utf-16"));
    server.open(IR, &text);
    let item = items(&mut server, IR, at).swap_remove(0);
    assert_eq!(item.get("documentation"), None);
    let item = server.request("completionItem/resolve", item).expect("an item");
    let doc = item["documentation"]["value"].as_str().unwrap_or_default();
    assert!(doc.contains("phase") && doc.contains("%alloc"), "{doc}");
    let (text, at) = typed(&kernel("gluon/sum_rows.py"), "mbarrier.init(ready", "        mbarrier.wai");
    server.open_as("python", PYTHON, &text);
    let item = items(&mut server, PYTHON, at).swap_remove(0);
    let item = server.request("completionItem/resolve", item).expect("an item");
    assert!(item["documentation"]["value"].as_str().is_some_and(|doc| doc.contains("parity")), "{item}");
}

#[test]
fn gluon_is_completed_by_the_names_of_the_file() {
    let text = kernel("gluon/sum_rows.py");
    let mut server = Server::start(editor("utf-16"));
    for (number, (line, expected)) in [
        ("        mbarrier.wa", "wait"),
        ("        ring.ind", "index"),
        ("        mbarrier.wait(", "free"),
        ("        mbarrier.wait(ready.index(s), 0, pr", "pred="),
        ("        x = gl.allocate_sh", "allocate_shared_memory"),
        ("        producer(desc, ri", "ring"),
        ("        # fencepost: ignore[dead", "deadlock"),
    ]
    .into_iter()
    .enumerate()
    {
        let uri = format!("file:///kernels/{number}.py");
        let (text, at) = typed(&text, "mbarrier.init(ready", line);
        server.open_as("python", &uri, &text);
        let found = items(&mut server, &uri, at);
        assert_eq!(labels(&found).first(), Some(&expected), "{line}");
    }
    let (text, at) = typed(&text, "@gluon.jit", "# fencepost: ");
    server.open_as("python", PYTHON, &text);
    let found = items(&mut server, PYTHON, at);
    assert!(labels(&found).contains(&"target") && labels(&found).contains(&"slot"), "{found:?}");
}

#[test]
fn plain_python_strings_and_documents_that_are_not_open_have_no_completion() {
    let mut server = Server::start(editor("utf-16"));
    server.open_as("python", PYTHON, "import os\nos.\n");
    assert!(items(&mut server, PYTHON, (1, 3)).is_empty());
    let (text, at) = typed(&kernel("gluon/sum_rows.py"), "mbarrier.init(ready", "        x = \"mbarrier.wa");
    server.open_as("python", "file:///kernels/s.py", &text);
    assert!(items(&mut server, "file:///kernels/s.py", at).is_empty());
    assert!(items(&mut server, "file:///no.ttgir", (0, 0)).is_empty());
    let none = server.at("textDocument/signatureHelp", "file:///no.py", 0, 0).expect("an answer");
    assert_eq!(none, Value::Null);
}

#[test]
fn a_character_that_means_nothing_in_the_language_opens_no_list() {
    let text = kernel("gluon/sum_rows.py");
    let (text, at) = typed(&text, "mbarrier.init(ready", "        x = 5 %");
    let mut server = Server::start(editor("utf-16"));
    server.open_as("python", PYTHON, &text);
    let mut params = place(PYTHON, at.0, at.1);
    params["context"] = json!({ "triggerKind": 2, "triggerCharacter": "%" });
    assert_eq!(server.request("textDocument/completion", params), Ok(Value::Null));
    let triggers = &server.info["capabilities"]["completionProvider"]["triggerCharacters"];
    for character in ["%", "#", "!", "@", "^", ".", "="] {
        assert!(triggers.as_array().is_some_and(|all| all.contains(&json!(character))), "{character}");
    }
}

#[test]
fn places_are_counted_as_was_agreed() {
    for (encoding, wide) in [("utf-8", 4), ("utf-16", 2), ("utf-32", 1)] {
        let mut server = Server::start(editor(encoding));
        let line = "        \"𝒳\"; mbarrier.wa";
        let (text, at) = typed(&kernel("gluon/sum_rows.py"), "mbarrier.init(ready", line);
        server.open_as("python", PYTHON, &text);
        let column = at.1 - 2 + wide;
        let found = items(&mut server, PYTHON, (at.0, column));
        assert_eq!(labels(&found).first(), Some(&"wait"), "{encoding}");
        assert_eq!(found[0]["textEdit"]["insert"]["start"]["character"], json!(column - 2), "{encoding}");
    }
}

/// The part of the signature at the end of a typed line that is marked, and the whole.
fn signature(server: &mut Server, uri: &str, at: (usize, usize)) -> (String, String) {
    let help = server.at("textDocument/signatureHelp", uri, at.0, at.1).expect("an answer");
    let label = help["signatures"][0]["label"].as_str().unwrap_or_default().to_owned();
    let active = help["activeParameter"].as_u64().unwrap_or(99) as usize;
    let offsets = &help["signatures"][0]["parameters"][active]["label"];
    let offset = |at: usize| offsets[at].as_u64().unwrap_or(0) as usize;
    let units: Vec<u16> = label.encode_utf16().collect();
    (String::from_utf16_lossy(&units[offset(0)..offset(1)]), label)
}

#[test]
fn an_op_shows_its_form_and_the_group_at_hand() {
    let text = kernel("attention.ttgir");
    let mut server = Server::start(editor("utf-16"));
    for (number, (line, part)) in [
        ("    ttng.wait_barrier ", "%alloc"),
        ("    ttng.wait_barrier %22, ", "%phase"),
        ("    ttng.init_barrier %bar, ", "<count>"),
    ]
    .into_iter()
    .enumerate()
    {
        let uri = format!("file:///{number}.ttgir");
        let (text, at) = typed(&text, "ttng.init_barrier", line);
        server.open(&uri, &text);
        assert_eq!(signature(&mut server, &uri, at).0, part, "{line}");
    }
}

#[test]
fn a_call_shows_its_signature_and_the_parameter_at_hand() {
    let text = kernel("gluon/sum_rows.py");
    let mut server = Server::start(editor("utf-16"));
    for (number, (line, part, label)) in [
        ("        mbarrier.wait(ready.index(s), ", "phase", "mbarrier.wait(mbarrier, phase, pred=True, deps=())"),
        ("        mbarrier.wait(deps=", "deps=()", "mbarrier.wait(mbarrier, phase, pred=True, deps=())"),
        ("        fill(desc, ring, ", "ready", "fill(desc, ring, ready, slot, row)"),
    ]
    .into_iter()
    .enumerate()
    {
        let uri = format!("file:///kernels/{number}.py");
        let (text, at) = typed(&text, "mbarrier.init(ready", line);
        server.open_as("python", &uri, &text);
        assert_eq!(signature(&mut server, &uri, at), (part.to_owned(), label.to_owned()), "{line}");
    }
    // A helper of another file of the workspace.
    let (text, at) = typed(&text, "mbarrier.init(ready", "        signal(ready, ");
    server.open_as("python", "file:///kernels/ring_tools.py", &kernel("gluon/ring_tools.py"));
    server.open_as("python", PYTHON, &text);
    let expected = ("slot".to_owned(), "signal(barriers, slot)".to_owned());
    assert_eq!(signature(&mut server, PYTHON, at), expected);
}
