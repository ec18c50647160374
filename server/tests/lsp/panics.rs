//! Panics in any piece of work: the request fails, the server lives, the next one works.
//!
//! `FENCEPOST_TEST_PANIC` names the work that is to panic, once each.

use std::process::Command;

use crate::requests;
use crate::support::{Server, binary, everything, kernel, place, range, root};
use serde_json::{Value, json};

const IR: &str = "file:///k.ttgir";

/// A server in which some work panics once.
fn panicking(work: &str, capabilities: Value) -> Server {
    let mut command = Command::new(binary());
    command.arg("lsp").env("FENCEPOST_TEST_PANIC", work);
    Server::spawn_with(command, capabilities, json!({ "trusted": true }))
}

fn python() -> (String, String) {
    let file = std::fs::canonicalize(root().join("tests/kernels/gluon/sum_rows.py")).expect("a kernel");
    let text = std::fs::read_to_string(&file).expect("a kernel");
    // Without it there is something to find.
    let wait = "        mbarrier.wait(free.index(slot), ((i // depth) & 1) ^ 1)\n";
    assert!(text.contains(wait));
    (format!("file://{}", file.display()), text.replace(wait, ""))
}

#[test]
fn every_request_survives_a_panic() {
    let (python, text) = python();
    for (language, uri, text) in [("ttgir", IR, kernel("ring_not_waited.ttgir")), ("python", &python, text)] {
        let mut server = panicking("*", everything());
        let capabilities = server.info["capabilities"].clone();
        server.open_as(language, uri, &text);
        let ask = json!({ "textDocument": { "uri": uri } });
        // The analysis panics first: that is said, and the next text is analysed.
        let first = server.request("textDocument/diagnostic", ask.clone());
        assert!(first.is_err() || first.is_ok_and(|it| it.to_string().contains("this is a bug in fencepost")));
        server.change(uri, 2, Some(range((0, 0), (0, 0))), "\n");
        let requests = requests::examples(&capabilities, uri, &text);
        assert!(requests.len() > 10);
        let mut failed = 0;
        for (method, params) in &requests {
            if let Err(error) = server.request(method, params.clone()) {
                assert_eq!(error["code"], json!(-32603), "{language} {method}: {error}");
                failed += 1;
            }
            let mut again = server.request(method, params.clone());
            // A request may do its work in several pieces, each of which panics once.
            for _ in 0..3 {
                if again.is_err() {
                    again = server.request(method, params.clone());
                }
            }
            assert!(again.is_ok(), "{language} {method}: {again:?}");
        }
        assert!(failed + 3 > requests.len() / 2, "{language}: {failed} of {} panicked", requests.len());
        let report = server.request("textDocument/diagnostic", ask).expect("a report").to_string();
        assert!(!report.contains("this is a bug in fencepost") && report.contains("barrier"), "{language}: {report}");
        assert_eq!(server.shutdown().code(), Some(0));
    }
}

#[test]
fn who_waits_for_an_analysis_that_panics_is_answered() {
    let mut server = panicking("the analysis", everything());
    server.open(IR, &kernel("ring_not_waited.ttgir"));
    let line = range((0, 0), (0, 0));
    let action = json!({ "textDocument": { "uri": IR }, "range": line, "context": { "diagnostics": [] } });
    let waiting = [
        server.ask("textDocument/diagnostic", json!({ "textDocument": { "uri": IR } })),
        server.ask("textDocument/codeAction", action),
        server.ask("fencepost/reportText", json!({ "uri": IR })),
        server
            .ask("fencepost/run", json!({ "textDocument": { "uri": IR }, "position": { "line": 0, "character": 0 } })),
    ];
    for id in waiting {
        // An answer or an error, but one of both.
        let _ = server.answer(id);
    }
    assert_eq!(server.event("window/showMessage")["params"]["type"], json!(1));
    assert_eq!(server.shutdown().code(), Some(0));
}

#[test]
fn the_state_thread_survives_and_the_text_is_not_mistaken() {
    let text = kernel("ring_not_waited.ttgir");
    let states = ["open", "change", "analysis ended", "request", "close", "a message", "run ended"];
    for state in states {
        let mut server = panicking(&format!("the state: {state}"), json!({}));
        // What panics is lost; what comes is not.
        server.open(IR, &text);
        let mut version = 1;
        for _ in 0..3 {
            let hover = server.request("textDocument/hover", place(IR, 3, 8));
            assert!(hover.is_ok() || hover.is_err_and(|error| error["code"] == json!(-32603)), "{state}");
            version += 1;
            server.change(IR, version, Some(range((0, 0), (0, 0))), "\n");
        }
        // After a lost change nothing is said of a text that is not the client's.
        if state == "change" || state == "open" {
            let report = server.request("textDocument/diagnostic", json!({ "textDocument": { "uri": IR } }));
            let items = report.expect("a report")["items"].clone();
            let said = items.to_string();
            assert!(items == json!([]) || said.contains("the text is not known any more"), "{state}: {said}");
        }
        server.notify("textDocument/didClose", json!({ "textDocument": { "uri": IR } }));
        server.notify("textDocument/didClose", json!({ "textDocument": { "uri": IR } }));
        server.open(IR, &text);
        let found = loop {
            let report = server.request("textDocument/diagnostic", json!({ "textDocument": { "uri": IR } }));
            let report = report.unwrap_or_default();
            if report["items"].as_array().is_some_and(|items| items.iter().any(|it| it["severity"] == json!(1))) {
                break report;
            }
            server.change(IR, 9, None, &text);
        };
        assert!(!found.to_string().contains("not known any more"), "{state}: {found}");
        assert_eq!(server.shutdown().code(), Some(0), "{state}");
    }
}
