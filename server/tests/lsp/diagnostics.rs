//! Diagnostics: pushed with their version, or pulled; never stale, never both.

use crate::support::{Server, kernel, range};
use serde_json::{Value, json};

const URI: &str = "file:///k.ttgir";

/// A client that shows everything a diagnostic can carry.
fn pushed() -> Value {
    json!({ "textDocument": { "publishDiagnostics": {
        "relatedInformation": true, "codeDescriptionSupport": true, "dataSupport": true, "versionSupport": true,
    } } })
}

fn pulled() -> Value {
    json!({ "textDocument": { "diagnostic": { "relatedInformation": true } } })
}

fn pull(server: &mut Server, previous: Value) -> Value {
    let params = json!({ "textDocument": { "uri": URI }, "previousResultId": previous });
    server.request("textDocument/diagnostic", params).expect("a report")
}

#[test]
fn a_finding_carries_its_places_its_link_and_its_run() {
    let text = kernel("ring_not_waited.ttgir");
    let mut server = Server::start(pushed());
    server.open(URI, &text);
    let found = server.diagnostics(URI, 1);
    let race = found.iter().find(|it| it["code"] == json!("missing-forward-barrier")).expect("the race");
    assert_eq!(race["source"], json!("fencepost"));
    assert_eq!(race["severity"], json!(1));
    assert_eq!(race["codeDescription"]["href"], json!("fencepost:/explain/missing-forward-barrier.md"));
    assert_eq!(race["data"]["kernel"], json!("ws_gemm"));
    let related: Vec<&str> = messages(race).collect();
    assert!(related[0].starts_with("(1) "), "{related:?}");
    assert!(related[1].starts_with("(2) "), "{related:?}");
    let steps: Vec<&str> = related[2..].iter().filter_map(|text| text.split(',').next()).collect();
    let numbers: Vec<u32> = steps.iter().filter_map(|step| step.strip_prefix("step ")?.parse().ok()).collect();
    assert!(numbers.len() > 1 && numbers.is_sorted(), "{related:?}");
    // The finding is drawn at its primary place.
    let line = race["range"]["start"]["line"].as_u64().expect("a line") as usize;
    assert!(text.lines().nth(line).expect("it is in the text").contains("ttng.warp_group_dot"));
    assert_eq!(server.shutdown().code(), Some(0));
}

fn version(published: &Value) -> Option<i64> {
    published["params"]["version"].as_i64()
}

fn messages(diagnostic: &Value) -> impl Iterator<Item = &str> {
    diagnostic["relatedInformation"].as_array().into_iter().flatten().filter_map(|it| it["message"].as_str())
}

#[test]
fn a_client_without_related_places_gets_them_as_text() {
    let mut server = Server::start(json!({}));
    server.open(URI, &kernel("ring_not_waited.ttgir"));
    let found = server.diagnostics(URI, 1);
    let race = found.iter().find(|it| it["code"] == json!("missing-forward-barrier")).expect("the race");
    assert!(race["message"].as_str().expect("text").contains("\n  line 79: (1) "), "{race}");
    for absent in ["relatedInformation", "codeDescription", "data"] {
        assert!(race.get(absent).is_none(), "{absent}");
    }
}

#[test]
fn a_clean_kernel_has_no_diagnostics_and_closing_clears_them() {
    let mut server = Server::start(pushed());
    server.open(URI, &kernel("ring.ttgir"));
    assert_eq!(server.diagnostics(URI, 1), [Value::Null; 0]);
    server.open("file:///b.ttgir", &kernel("ring_not_waited.ttgir"));
    assert!(!server.diagnostics("file:///b.ttgir", 1).is_empty());
    server.notify("textDocument/didClose", json!({ "textDocument": { "uri": "file:///b.ttgir" } }));
    let cleared = server.event("textDocument/publishDiagnostics");
    assert_eq!(cleared["params"]["diagnostics"], json!([]));
}

#[test]
fn the_last_version_is_always_told() {
    let text = kernel("ring_not_waited.ttgir");
    let mut server = Server::start(pushed());
    server.open(URI, &text);
    for version in 2..200 {
        server.change(URI, version, Some(range((0, 0), (0, 0))), "\n");
    }
    let found = server.diagnostics(URI, 199);
    let line = found[0]["range"]["start"]["line"].as_u64().expect("a line");
    assert!(line > 198, "{line}");
    // What came for earlier versions names them, in order, and nothing follows the last.
    let earlier: Vec<i64> = server.pending("textDocument/publishDiagnostics").iter().filter_map(version).collect();
    assert!(earlier.is_sorted() && earlier.iter().all(|version| *version < 199), "{earlier:?}");
}

#[test]
fn pulled_diagnostics_are_not_pushed_and_know_when_nothing_changed() {
    let text = kernel("ring_not_waited.ttgir");
    let mut server = Server::start(pulled());
    assert_eq!(server.info["capabilities"]["diagnosticProvider"]["interFileDependencies"], json!(true));
    server.open(URI, &text);
    let first = pull(&mut server, Value::Null);
    assert_eq!(first["kind"], json!("full"));
    assert!(!first["items"].as_array().expect("items").is_empty());
    let again = pull(&mut server, first["resultId"].clone());
    assert_eq!(again, json!({ "kind": "unchanged", "resultId": first["resultId"] }));
    // White space behind everything moves nothing.
    let end = text.lines().count();
    server.change(URI, 2, Some(range((end, 0), (end, 0))), "\n\n");
    assert_eq!(pull(&mut server, first["resultId"].clone())["kind"], json!("unchanged"));
    server.change(URI, 3, Some(range((0, 0), (0, 0))), "\n");
    let moved = pull(&mut server, first["resultId"].clone());
    assert_eq!(moved["kind"], json!("full"));
    assert_ne!(moved["resultId"], first["resultId"]);
    assert_eq!(server.pending("textDocument/publishDiagnostics"), [Value::Null; 0]);
    assert_eq!(server.shutdown().code(), Some(0));
}

#[test]
fn a_pull_that_is_overtaken_gets_the_newest_text() {
    let text = kernel("ring.ttgir");
    let mut server = Server::start(pulled());
    server.open(URI, &text);
    let params = json!({ "textDocument": { "uri": URI } });
    let asked: Vec<i64> = (2..40)
        .map(|version| {
            server.change(URI, version, Some(range((0, 0), (0, 0))), "tt.nope\n");
            server.ask("textDocument/diagnostic", params.clone())
        })
        .collect();
    for (at, id) in asked.into_iter().enumerate() {
        let report = server.answer(id).expect("a report");
        let items = report["items"].as_array().expect("items");
        let errors = items.iter().filter(|item| item["severity"] == json!(1)).count();
        assert!(errors > at, "the text had {} bad lines, the report {errors}", at + 1);
    }
}

#[test]
fn a_text_that_does_not_parse_is_undecided_not_clean() {
    let text = kernel("ring.ttgir").replacen("ttng.wait_barrier", "ttng.wait_barier", 1);
    let mut server = Server::start(pushed());
    server.open(URI, &text);
    let found = server.diagnostics(URI, 1);
    let error = found.iter().find(|it| it["severity"] == json!(1)).expect("the error");
    assert_eq!(error["code"], json!("unknown-op"));
    let doubt = found.iter().find(|it| it["code"] == json!("undecided")).expect("the doubt");
    assert_eq!(doubt["severity"], json!(3));
    assert!(doubt["message"].as_str().expect("text").starts_with("@ws_gemm is not decided"), "{doubt}");
}

#[test]
fn an_earlier_version_of_a_file_has_no_findings_and_hovers_all_the_same() {
    let text = kernel("ring_not_waited.ttgir");
    let mut server = Server::start(pushed());
    let uri = "git:/k.ttgir?%7B%22ref%22%3A%22HEAD%22%7D";
    server.open(uri, &text);
    assert_eq!(server.diagnostics(uri, 1), [Value::Null; 0]);
    let line = text.lines().position(|line| line.contains("ttng.warp_group_dot")).expect("it is there");
    let column = text.lines().nth(line).and_then(|line| line.find("ttng.")).expect("it is there");
    assert!(server.at("textDocument/hover", uri, line, column + 1).is_ok_and(|hover| !hover.is_null()));
    // The file itself is told of as ever.
    server.open(URI, &text);
    assert!(!server.diagnostics(URI, 1).is_empty());
}

#[test]
fn a_byte_order_mark_is_no_text() {
    let mut server = Server::start(pushed());
    server.open(URI, &format!("\u{feff}{}", kernel("attention.ttgir")));
    assert_eq!(server.diagnostics(URI, 1), [Value::Null; 0]);
}
