//! The barrier report over LSP: as JSON, as text, as a document that stays in step with the buffer.

use crate::support::{Server, kernel, range, root};
use serde_json::{Value, json};

const URI: &str = "file:///tmp/k%201.ttgir";
const PAGE: &str = "fencepost-report:/k 1.ttgir.txt?uri%3Dfile%3A///tmp/k%25201.ttgir";

fn with_documents() -> Value {
    json!({ "workspace": { "textDocumentContent": { "dynamicRegistration": true } } })
}

fn text(server: &mut Server) -> String {
    let page = server.request("workspace/textDocumentContent", json!({ "uri": PAGE })).expect("a page");
    page["text"].as_str().expect("text").to_owned()
}

#[test]
fn the_document_is_that_of_the_command_line() {
    let mut server = Server::start(json!({}));
    server.open(URI, &kernel("ring.ttgir"));
    let mut answer = server.request("fencepost/report", json!({ "uri": URI })).expect("a report");
    assert_eq!((&answer["version"], &answer["positionEncoding"]), (&json!(1), &json!("utf-16")));
    let file = root().join("tests/kernels/ring.ttgir");
    let out = std::process::Command::new(crate::support::binary())
        .args(["report", "--format", "json"])
        .arg(&file)
        .output()
        .expect("the binary runs");
    let mut printed: Value = serde_json::from_slice(&out.stdout).expect("the document is JSON");
    // They differ in the file's name and in that a buffer has versions; both wait for the proof.
    assert_eq!(
        (&answer["reports"][0]["verdict"], &printed["reports"][0]["verdict"]),
        (&json!("proved"), &json!("proved"))
    );
    for report in [&mut answer["reports"][0], &mut printed["reports"][0]] {
        for member in ["path", "verdict", "reasons"] {
            report[member] = Value::Null;
        }
    }
    printed["version"] = json!(1);
    assert_eq!(answer, printed);
    let none = server.request("fencepost/report", json!({ "uri": URI, "kernel": "banana" })).expect("an answer");
    assert_eq!(none["reports"], json!([]));
    assert_eq!(server.request("fencepost/report", json!({ "uri": "file:///other.ttgir" })), Ok(Value::Null));
}

#[test]
fn positions_are_in_the_encoding_that_was_agreed() {
    let text = format!("// 𝒳é\n{}", kernel("ring.ttgir").replacen("%bar = ", "/*𝒳*/ %bar = ", 0));
    for encoding in ["utf-8", "utf-16", "utf-32"] {
        let mut server = Server::start(json!({ "general": { "positionEncodings": [encoding] } }));
        server.open(URI, &text);
        let answer = server.request("fencepost/report", json!({ "uri": URI })).expect("a report");
        assert_eq!(answer["positionEncoding"], json!(encoding));
        assert_eq!(answer["reports"][0]["range"]["start"]["line"], json!(7));
    }
}

#[test]
fn the_text_stays_in_step_with_the_buffer() {
    let mut server = Server::start(json!({}));
    server.open(URI, &kernel("ring.ttgir"));
    let first = server.request("fencepost/reportText", json!({ "uri": URI, "width": 100 })).expect("a report");
    assert_eq!(first["version"], json!(1));
    let shown = first["text"].as_str().expect("text");
    assert!(shown.starts_with("Barrier report of @ws_gemm\n  file      k 1.ttgir:7\n"), "{shown}");
    assert!(!shown.contains("\nFindings\n"), "{shown}");
    server.change(URI, 2, None, &kernel("ring_not_waited.ttgir"));
    let told = server.event("fencepost/reportChanged");
    assert_eq!(told["params"], json!({ "uri": URI }));
    let second = server.request("fencepost/reportText", json!({ "uri": URI })).expect("a report");
    assert_eq!(second["version"], json!(2));
    assert!(second["text"].as_str().expect("text").contains("\nFindings\n"), "{second}");
    // Many edits in a row: the answer is about the text at its end.
    for version in 3..40 {
        server.change(URI, version, Some(range((0, 0), (0, 0))), "\n");
    }
    let last = server.request("fencepost/reportText", json!({ "uri": URI })).expect("a report");
    assert_eq!(last["version"], json!(39));
    assert!(last["text"].as_str().expect("text").contains("k 1.ttgir:44\n"), "{last}");
}

#[test]
fn who_does_not_look_is_not_told() {
    let mut server = Server::start(json!({}));
    server.open(URI, &kernel("ring.ttgir"));
    server.diagnostics(URI, 1);
    server.change(URI, 2, Some(range((0, 0), (0, 0))), "\n");
    server.diagnostics(URI, 2);
    server.request("fencepost/report", json!({ "uri": URI })).expect("a report");
    assert!(server.pending("fencepost/reportChanged").is_empty());
    assert!(server.pending("workspace/textDocumentContent/refresh").is_empty());
}

#[test]
fn a_client_that_takes_documents_is_asked_to_look_again() {
    let mut server = Server::start(with_documents());
    let announced = &server.info["capabilities"]["workspace"]["textDocumentContent"];
    assert_eq!(*announced, json!({ "schemes": ["fencepost-report"] }));
    server.open(URI, &kernel("ring.ttgir"));
    assert!(text(&mut server).starts_with("Barrier report of @ws_gemm\n"));
    server.change(URI, 2, None, &kernel("ring_not_waited.ttgir"));
    let refresh = server.event("workspace/textDocumentContent/refresh");
    assert_eq!(refresh["params"], json!({ "uri": PAGE }));
    server.respond(&refresh, Value::Null);
    assert!(text(&mut server).contains("\nFindings\n"));
    assert!(server.pending("fencepost/reportChanged").is_empty());
    // A client that does not answer costs nothing.
    server.change(URI, 3, None, &kernel("ring.ttgir"));
    server.event("workspace/textDocumentContent/refresh");
    assert!(!text(&mut server).contains("\nFindings\n"));
    server.notify("textDocument/didClose", json!({ "textDocument": { "uri": URI } }));
    server.event("workspace/textDocumentContent/refresh");
    assert!(text(&mut server).starts_with("The file is not open"));
    assert_eq!(server.shutdown().code(), Some(0));
}

#[test]
fn what_is_not_served_is_not_announced() {
    let bare = Server::start(json!({}));
    assert!(bare.info["capabilities"]["workspace"].get("textDocumentContent").is_none(), "{}", bare.info);
    assert!(bare.info["capabilities"].get("codeLensProvider").is_none(), "{}", bare.info);
}

#[test]
fn a_lens_stands_at_each_kernel() {
    let mut server = Server::start(json!({
        "textDocument": { "codeLens": {} },
        "experimental": { "commands": { "commands": ["fencepost.showReport"] } },
    }));
    assert_eq!(server.info["capabilities"]["codeLensProvider"], json!({ "resolveProvider": false }));
    server.open(URI, &format!("{0}\n// -----\n{0}", kernel("ring.ttgir")));
    let lenses = server.request("textDocument/codeLens", json!({ "textDocument": { "uri": URI } })).expect("lenses");
    let is_report = |lens: &&Value| lens["command"]["command"] == json!("fencepost.showReport");
    let lenses: Vec<&Value> = lenses.as_array().expect("lenses").iter().filter(is_report).collect();
    assert_eq!(lenses.len(), 2);
    assert_eq!(lenses[0]["range"]["start"]["line"], json!(6));
    let command = &lenses[1]["command"];
    assert_eq!(command["command"], json!("fencepost.showReport"));
    assert_eq!(command["arguments"], json!([{ "uri": URI, "kernel": "ws_gemm", "section": 2 }]));
    let asked = command["arguments"][0].clone();
    let report = server.request("fencepost/report", asked).expect("a report");
    assert_eq!(report["reports"][0]["section"]["number"], json!(2));
    // Without a section the dump is listed.
    let list = server.request("fencepost/reportText", json!({ "uri": URI })).expect("a list");
    assert!(list["text"].as_str().expect("text").contains("2 sections of k 1.ttgir have kernels"), "{list}");
}

#[test]
fn a_text_that_does_not_parse_has_a_report_that_says_so() {
    let mut server = Server::start(json!({}));
    server.open(URI, &kernel("ring.ttgir").replacen("ttng.wait_barrier", "ttng.wait_barier", 1));
    let report = server.request("fencepost/reportText", json!({ "uri": URI })).expect("a report");
    assert!(report["text"].as_str().expect("text").contains("undecided: its text has a syntax error"), "{report}");
}
