//! Edits: in every encoding, interleaved with requests, answered for the right text.

use crate::support::{Server, kernel, place, range};
use serde_json::{Value, json};

const URI: &str = "file:///k.ttgir";

fn function(body: &str) -> String {
    format!("module {{\n  tt.func public @f() {{\n{body}\n    tt.return\n  }}\n}}\n")
}

#[test]
fn columns_count_what_was_agreed() {
    // Two characters outside ASCII stand before the undefined value.
    let line = "    %s = arith.constant {n = \"𝒳é\"} 1 : i32 %y = arith.addi %s, %nope : i32";
    let byte = line.find("%nope").expect("it is there");
    for (encoding, column) in [("utf-8", byte), ("utf-16", byte - 3), ("utf-32", byte - 4)] {
        let mut server = Server::start(json!({ "general": { "positionEncodings": [encoding] } }));
        server.open(URI, &function(line));
        let found = server.diagnostics(URI, 1);
        assert_eq!(found[0]["range"], range((2, column), (2, column + 5)), "{encoding}: {found:?}");
        // An edit there lands there.
        server.change(URI, 2, Some(range((2, column), (2, column + 5))), "%s");
        assert_eq!(server.diagnostics(URI, 2), [Value::Null; 0], "{encoding}");
    }
}

#[test]
fn line_ends_and_tabs_are_one_column_or_none() {
    for (end, tab) in [("\r\n", "\t"), ("\n", "\t\t"), ("\r\n", "  ")] {
        let text = function(&format!("{tab}%y = arith.addi %nope, %nope : i32")).replace('\n', end);
        let mut server = Server::start(json!({}));
        server.open(URI, &text);
        let column = tab.len() + "%y = arith.addi ".len();
        let found = server.diagnostics(URI, 1);
        assert_eq!(found[0]["range"], range((2, column), (2, column + 5)), "{end:?} {tab:?}: {found:?}");
        // A column behind the end of its line is the end of its line.
        server.change(URI, 2, Some(range((2, 0), (2, 999))), "");
        assert_eq!(server.diagnostics(URI, 2), [Value::Null; 0]);
    }
}

#[test]
fn two_thousand_edits_and_hovers_in_flight_each_see_their_own_text() {
    let mut server = Server::start(json!({}));
    server.open(URI, &function("    %c = arith.constant 0 : i32"));
    let at = "    %c = arith.constant ".len();
    let mut width = 1;
    let asked: Vec<(i32, i64)> = (1..=2000)
        .map(|number: i32| {
            let text = number.to_string();
            server.change(URI, number + 1, Some(range((2, at), (2, at + width))), &text);
            width = text.len();
            (number, server.ask("textDocument/hover", place(URI, 2, 5)))
        })
        .collect();
    for (number, id) in asked {
        let hover = server.answer(id).expect("a hover");
        let text = hover["contents"]["value"].as_str().expect("text");
        assert!(text.starts_with(&format!("%c: i32 = {number}\n")), "{number}: {text}");
    }
    assert_eq!(server.diagnostics(URI, 2001), [Value::Null; 0]);
    assert_eq!(server.shutdown().code(), Some(0));
}

#[test]
fn a_client_that_sends_whole_texts_is_served_the_same() {
    let good = kernel("ring.ttgir");
    let bad = kernel("ring_not_waited.ttgir");
    let mut server = Server::start(json!({}));
    server.open(URI, &good);
    assert_eq!(server.diagnostics(URI, 1), [Value::Null; 0]);
    server.change(URI, 2, None, &bad);
    assert!(!server.diagnostics(URI, 2).is_empty());
    server.change(URI, 3, None, &good);
    assert_eq!(server.diagnostics(URI, 3), [Value::Null; 0]);
    server.change(URI, 4, None, "");
    assert_eq!(server.diagnostics(URI, 4), [Value::Null; 0]);
}

#[test]
fn documents_are_kept_apart() {
    let mut server = Server::start(json!({}));
    let uris: Vec<String> = (0..20).map(|at| format!("file:///k%20{at}.ttgir")).collect();
    for (at, uri) in uris.iter().enumerate() {
        server.open(uri, &function(&format!("    %c = arith.constant {at} : i32")));
    }
    let asked: Vec<i64> = uris.iter().map(|uri| server.ask("textDocument/hover", place(uri, 2, 5))).collect();
    for (at, id) in asked.into_iter().enumerate() {
        let hover = server.answer(id).expect("a hover");
        assert!(hover["contents"]["value"].as_str().expect("text").starts_with(&format!("%c: i32 = {at}\n")));
    }
    for uri in &uris {
        assert_eq!(server.diagnostics(uri, 1), [Value::Null; 0]);
    }
}

#[test]
fn a_cancelled_request_is_answered_once_and_harms_nothing() {
    let mut server = Server::start(json!({ "textDocument": { "diagnostic": {} } }));
    server.open(URI, &kernel("attention.ttgir"));
    for version in 2..50 {
        server.change(URI, version, Some(range((0, 0), (0, 0))), "\n");
        let id = server.ask("textDocument/diagnostic", json!({ "textDocument": { "uri": URI } }));
        server.notify("$/cancelRequest", json!({ "id": id }));
        match server.answer(id) {
            Ok(report) => assert_eq!(report["kind"], json!("full")),
            Err(error) => assert_eq!(error["code"], json!(-32800)),
        }
    }
    let report = server.request("textDocument/diagnostic", json!({ "textDocument": { "uri": URI } }));
    assert_eq!(report.expect("a report")["items"], json!([]));
}
