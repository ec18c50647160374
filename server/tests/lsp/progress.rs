//! Analyses that take long: shown, interruptible, and in nobody's way.

use crate::support::{Server, kernel, place, range};
use serde_json::{Value, json};

const URI: &str = "file:///slow.ttgir";

/// Many kernels that each run into the limit on steps.
fn slow() -> String {
    let ring = kernel("ring.ttgir");
    let endless = |at: usize| {
        let constant = format!("%7 = arith.constant {} : i32", 2_000_000_000 + at);
        let text = ring.replace("%7 = arith.divsi %6, %c64_i32 : i32", &constant);
        text.replace("%7 = arith.divsi %6, %c64_i32_4 : i32", &constant)
    };
    (0..400).map(endless).collect::<Vec<_>>().join("\n// -----\n")
}

fn client() -> Value {
    json!({ "window": { "workDoneProgress": true } })
}

/// The token of the bar that the server asks for, after it was granted.
fn grant(server: &mut Server) -> Value {
    let create = server.event("window/workDoneProgress/create");
    server.respond(&create, Value::Null);
    let begin = server.event("$/progress");
    assert_eq!(begin["params"]["value"]["kind"], json!("begin"));
    assert_eq!(begin["params"]["value"]["cancellable"], json!(true));
    begin["params"]["token"].clone()
}

#[test]
fn a_slow_analysis_shows_a_bar_and_stops_when_asked() {
    let mut server = Server::start(client());
    server.open(URI, &slow());
    let token = grant(&mut server);
    // Other requests do not wait for it.
    let hover = server.request("textDocument/hover", place(URI, 8, 6)).expect("a hover");
    assert!(hover["contents"]["value"].is_string());
    server.notify("window/workDoneProgress/cancel", json!({ "token": token }));
    let is_stopped = |it: &Value| it["message"].as_str().expect("text").contains("the analysis was stopped");
    // What was found till then may be shown before, and stays.
    let found = loop {
        let found = server.diagnostics(URI, 1);
        if found.iter().any(is_stopped) {
            break found;
        }
    };
    assert_eq!(found[0]["code"], json!("undecided"), "{found:?}");
    let end = server.event("$/progress");
    assert_eq!(end["params"]["value"]["kind"], json!("end"));
    assert_eq!(server.shutdown().code(), Some(0));
}

#[test]
fn a_change_stops_it_and_only_the_new_text_is_told() {
    let mut server = Server::start(client());
    server.open(URI, &slow());
    grant(&mut server);
    server.change(URI, 2, None, &kernel("ring.ttgir"));
    assert_eq!(server.diagnostics(URI, 2), [Value::Null; 0]);
    // Of the text before only what was shown while it was the newest.
    let earlier = server.pending("textDocument/publishDiagnostics");
    assert!(earlier.iter().all(|published| published["params"]["version"] == json!(1)), "{earlier:?}");
}

#[test]
fn the_status_of_each_kernel_is_told() {
    let python =
        std::fs::canonicalize(crate::support::root().join("tests/kernels/gluon/sum_rows.py")).expect("a kernel");
    let python = format!("file://{}", python.display());
    let ring = kernel("ring_not_waited.ttgir");
    let sum = kernel("gluon/sum_rows.py");
    for (language, uri, text, state) in
        [("ttgir", URI, ring.as_str(), "found"), ("python", python.as_str(), sum.as_str(), "proved")]
    {
        let mut server = Server::start(json!({ "experimental": { "fencepostStatus": true } }));
        server.open_as(language, uri, text);
        let mut states = Vec::new();
        let done = loop {
            let status = server.event("fencepost/status")["params"].clone();
            assert_eq!((&status["uri"], &status["version"]), (&json!(uri), &json!(1)));
            states.push(status["state"].as_str().unwrap_or_default().to_owned());
            if status["state"] == json!("done") {
                break status;
            }
        };
        assert_eq!(states.first().map(String::as_str), Some("running"), "{language}: {states:?}");
        assert_eq!(done["kernels"][0]["state"], json!(state), "{language}: {done}");
        assert_eq!(done["kernels"][0]["findings"].as_u64() > Some(0), state == "found", "{done}");
        assert!(done["kernels"][0]["hints"].is_u64(), "{done}");
        // A kernel that does not parse is stale, whatever is still shown of it.
        let (place, broken) =
            if language == "ttgir" { ("ttng.wait_barrier", "%\n") } else { ("    ring = ", "    x = )\n") };
        let line = text.lines().position(|line| line.contains(place)).expect("a place in the kernel");
        server.change(uri, 2, Some(range((line, 0), (line, 0))), broken);
        let stale = loop {
            let status = server.event("fencepost/status")["params"].clone();
            if status["state"] == json!("done") && status["version"] == json!(2) {
                break status;
            }
        };
        assert!(!stale["kernels"].to_string().contains("proved"), "{language}: {stale}");
        assert!(stale["kernels"].to_string().contains("stale"), "{language}: {stale}");
    }
    let mut plain = Server::start(json!({}));
    plain.open(URI, &ring);
    plain.diagnostics(URI, 1);
    assert!(plain.pending("fencepost/status").is_empty());
}

#[test]
fn a_client_that_never_answers_costs_nothing() {
    let mut server = Server::start(client());
    server.open(URI, &slow());
    server.event("window/workDoneProgress/create");
    server.change(URI, 2, Some(range((0, 0), (99_999, 0))), "module {\n}\n");
    assert_eq!(server.diagnostics(URI, 2), [Value::Null; 0]);
    assert_eq!(server.shutdown().code(), Some(0));
}

#[test]
fn leaving_in_the_middle_is_quick() {
    let mut server = Server::start(json!({}));
    server.open(URI, &slow());
    server.ask("textDocument/diagnostic", json!({ "textDocument": { "uri": URI } }));
    assert_eq!(server.close_stdin().code(), Some(1));
    let mut server = Server::start(json!({}));
    server.open(URI, &slow());
    assert_eq!(server.shutdown().code(), Some(0));
}
