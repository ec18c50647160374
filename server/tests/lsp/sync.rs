//! Changes that cannot be read or made: the server says that it has lost the text, and nothing else of it, until it
//! has it again.

use crate::support::{Server, kernel, place, range, root};
use serde_json::{Value, json};

const IR: &str = "file:///k.ttgir";
/// A broken kernel of each language.
fn documents() -> [(&'static str, String, String); 2] {
    let file = std::fs::canonicalize(root().join("tests/kernels/gluon/sum_rows.py")).expect("a kernel");
    let python = std::fs::read_to_string(&file).expect("a kernel");
    let wait = "        mbarrier.wait(free.index(slot), ((i // depth) & 1) ^ 1)\n";
    let uri = format!("file://{}", file.display());
    [("ttgir", IR.to_owned(), kernel("ring_not_waited.ttgir")), ("python", uri, python.replace(wait, ""))]
}

fn change(uri: &str, version: i32, changes: Value) -> Value {
    json!({ "textDocument": { "uri": uri, "version": version }, "contentChanges": changes })
}

/// What is said of a document now.
fn codes(found: &[Value]) -> Vec<(String, u64)> {
    let code = |it: &Value| (it["code"].as_str().unwrap_or_default().to_owned(), it["severity"].as_u64().unwrap_or(0));
    found.iter().map(code).collect()
}

/// That a document is out of step, from `version` on, and comes back by a whole text.
fn check(server: &mut Server, language: &str, uri: &str, version: i32, text: &str) {
    // What a few runs show of the text before is followed by all that there is to say of it, which may come first.
    let found = loop {
        let found = server.diagnostics(uri, version);
        if codes(&found).iter().all(|(_, severity)| *severity != 1) {
            break found;
        }
    };
    assert_eq!(codes(&found), [("undecided".to_owned(), 2)], "{language}: {found:?}");
    let said = found[0]["message"].as_str().unwrap_or_default();
    assert!(said.contains("the text is not known any more"), "{said}");
    let shown = server.event("window/showMessage");
    assert_eq!(shown["params"]["type"], json!(1));
    // More changes change nothing, and are not told again.
    server.notify("textDocument/didChange", change(uri, 7, json!([{ "range": range((0, 0), (0, 0)), "text": "x" }])));
    assert_eq!(server.at("textDocument/hover", uri, 3, 8), Ok(Value::Null));
    let pulled =
        server.request("textDocument/diagnostic", json!({ "textDocument": { "uri": uri } })).expect("a report");
    assert_eq!(pulled["items"].as_array().map(Vec::len), Some(1), "{pulled}");
    assert_eq!(server.pending("window/showMessage").len(), 0);
    server.change(uri, 8, None, text);
    let found = server.diagnostics(uri, 8);
    assert!(found.iter().any(|it| it["severity"] == json!(1)), "{language}: {found:?}");
}

/// Sends something that parts the texts, for a document of each language.
fn loses(send: impl Fn(&mut Server, &str, &str)) {
    for (language, uri, text) in documents() {
        let uri = uri.as_str();
        let mut server = Server::start(json!({}));
        server.open_as(language, uri, &text);
        let found = server.diagnostics(uri, 1);
        assert!(found.iter().any(|it| it["severity"] == json!(1)), "{language}: {found:?}");
        send(&mut server, uri, &text);
        check(&mut server, language, uri, 1, &text);
        assert!(server.shutdown().success());
    }
}

#[test]
fn a_change_that_cannot_be_read_is_said() {
    loses(|server, uri, _| {
        server.notify("textDocument/didChange", change(uri, 2, json!([{ "range": 7, "text": "" }])))
    });
    loses(|server, uri, _| {
        let document = json!({ "uri": uri, "version": "two" });
        server.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [] }));
    });
}

#[test]
fn a_change_that_is_no_json_is_said() {
    loses(|server, uri, _| {
        let message = json!({ "jsonrpc": "2.0", "method": "textDocument/didChange", "params":
            change(uri, 2, json!([{ "range": range((0, 0), (0, 0)), "text": "x" }])) });
        let body = message.to_string();
        let cut = &body[..body.len() - 3];
        server.send_raw(format!("Content-Length: {}\r\n\r\n{cut}", cut.len()).as_bytes());
        assert_eq!(server.answer_without_id()["code"], json!(-32700));
    });
}

#[test]
fn a_change_where_no_text_is_is_said() {
    let places = |lines: usize| [((lines + 3, 0), (lines + 4, 0)), ((5, 0), (4, 0)), ((lines + 1, 1), (lines + 1, 2))];
    for at in 0..3 {
        loses(|server, uri, text| {
            let (start, end) = places(text.lines().count())[at];
            server.change(uri, 2, Some(range(start, end)), "x");
        });
    }
}

#[test]
fn a_version_that_goes_back_is_said() {
    for (language, uri, text) in documents() {
        let uri = uri.as_str();
        let mut server = Server::start(json!({}));
        server.open_as(language, uri, &text);
        server.change(uri, 5, Some(range((0, 0), (0, 0))), "");
        server.diagnostics(uri, 5);
        server.change(uri, 4, Some(range((0, 0), (0, 0))), "");
        check(&mut server, language, uri, 5, &text);
    }
}

#[test]
fn a_document_that_is_opened_again_is_known_again() {
    for (language, uri, text) in documents() {
        let uri = uri.as_str();
        let mut server = Server::start(json!({}));
        server.open_as(language, uri, &text);
        server.diagnostics(uri, 1);
        server.notify("textDocument/didChange", json!([]));
        let found = server.diagnostics(uri, 1);
        assert_eq!(codes(&found), [("undecided".to_owned(), 2)]);
        server.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
        server.open_as(language, uri, &text);
        let found = loop {
            let found = server.diagnostics(uri, 1);
            if codes(&found).iter().any(|(_, severity)| *severity == 1) {
                break found;
            }
        };
        assert!(!found.iter().any(|it| it["message"].to_string().contains("not known any more")), "{found:?}");
    }
}

#[test]
fn who_asks_for_diagnostics_is_told_as_well() {
    let mut server = Server::start(json!({ "textDocument": { "diagnostic": {} } }));
    let [(_, uri, text), _] = documents();
    let uri = uri.as_str();
    server.open(uri, &text);
    let ask = json!({ "textDocument": { "uri": uri } });
    server.request("textDocument/diagnostic", ask.clone()).expect("a report");
    server.change(uri, 2, Some(range((9999, 0), (9999, 0))), "x");
    let report = server.request("textDocument/diagnostic", ask).expect("a report");
    let said = report["items"][0]["message"].as_str().unwrap_or_default();
    assert!(said.contains("the text is not known any more"), "{report}");
    assert_eq!(server.request("textDocument/hover", place(uri, 1, 1)), Ok(Value::Null));
}
