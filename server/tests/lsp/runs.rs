//! Kernels run from the editor: asked for, agreed to, shown, and marked as old.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::support::{Server, binary, kernel};
use serde_json::{Value, json};

/// A ring of which one wait is missing.
fn broken() -> String {
    kernel("ring_not_waited.ttgir")
}

struct Room(PathBuf);

impl Room {
    fn new(name: &str) -> Room {
        let path = std::env::temp_dir().join(format!("fencepost-runs-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("the folder can be made");
        Room(path)
    }

    fn uri(&self) -> String {
        format!("file://{}/k.ttgir", self.0.display())
    }

    fn server(&self, capabilities: Value, options: Value) -> Server {
        let mut command = Command::new(binary());
        command.arg("lsp").current_dir(&self.0);
        Server::spawn_with(command, capabilities, options)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn order(uri: &str) -> Value {
    let order = json!({ "uri": uri, "backend": "cpu", "instrument": "consan" });
    json!({ "command": "fencepost.runKernel", "arguments": [order] })
}

fn of_runs(diagnostics: &[Value]) -> Vec<(i64, String, i64)> {
    let own = diagnostics.iter().filter(|it| it["source"] == json!("fencepost (run)"));
    own.map(|it| {
        let line = it["range"]["start"]["line"].as_i64().unwrap_or(-1);
        (line, it["code"].as_str().unwrap_or_default().to_owned(), it["severity"].as_i64().unwrap_or(0))
    })
    .collect()
}

#[test]
fn nothing_runs_where_nothing_is_trusted() {
    let room = Room::new("untrusted");
    let mut server = room.server(json!({ "textDocument": { "codeLens": {} } }), json!({ "trusted": false }));
    assert_eq!(server.info["capabilities"]["executeCommandProvider"]["commands"], json!(["fencepost.showVerdict"]));
    server.open(&room.uri(), &broken());
    server.request("workspace/executeCommand", order(&room.uri())).expect("it is answered");
    let said = server.event("window/showMessage");
    assert!(said["params"]["message"].as_str().is_some_and(|text| text.contains("not trusted")), "{said}");
    assert!(server.shutdown().success());
    assert!(!room.0.join(".fencepost").exists());
}

#[test]
fn a_run_is_agreed_to_once_and_its_asserts_grow_old() {
    let room = Room::new("agreed");
    let uri = room.uri();
    let actions = json!({ "codeActionLiteralSupport": { "codeActionKind": { "valueSet": [] } } });
    let capabilities = json!({ "textDocument": { "codeLens": {}, "codeAction": actions } });
    let mut server = room.server(capabilities, json!({ "trusted": true, "python": "/none/bin/python" }));
    assert_eq!(
        server.info["capabilities"]["executeCommandProvider"]["commands"],
        json!(["fencepost.showVerdict", "fencepost.runKernel", "fencepost.replayLog"])
    );
    server.open(&uri, &broken());
    let lenses = server.request("textDocument/codeLens", json!({ "textDocument": { "uri": uri } }));
    let titles: Vec<Value> = lenses
        .ok()
        .and_then(|it| it.as_array().cloned())
        .unwrap_or_default()
        .iter()
        .map(|it| it["command"]["title"].clone())
        .collect();
    let verdict = titles.first().and_then(Value::as_str).is_some_and(|title| title.starts_with("fencepost: "));
    assert!(verdict && titles.get(1..) == Some(&[json!("Run on CPU")]), "no Triton is beside this Python: {titles:?}");
    let start = json!({ "line": 0, "character": 0 });
    let params = json!({ "textDocument": { "uri": uri }, "range": { "start": start, "end": start },
        "context": { "diagnostics": [], "only": ["source"] } });
    let offered = server.request("textDocument/codeAction", params).unwrap_or_default();
    assert_eq!(offered[0]["command"]["command"], json!("fencepost.runKernel"), "{offered}");

    server.request("workspace/executeCommand", order(&uri)).expect("it is answered");
    let question = server.event("window/showMessageRequest");
    let text = question["params"]["message"].as_str().unwrap_or_default().to_owned();
    assert!(text.contains("GSan (CPU)") && text.contains("grid=1"), "{text}");
    server.respond(&question, json!({ "title": "Run" }));
    let said = server.event("window/showMessage");
    assert!(said["params"]["message"].as_str().is_some_and(|text| text.contains("asserted")), "{said}");
    let marks = loop {
        let marks = of_runs(&server.diagnostics(&uri, 1));
        if !marks.is_empty() {
            break marks;
        }
    };
    assert!(marks.iter().any(|mark| mark.2 == 1), "an assert is an error: {marks:?}");
    assert!(room.0.join(".fencepost/launches.toml").is_file());

    let place = json!({ "line": 0, "character": 0 });
    server.change(&uri, 2, Some(json!({ "start": place, "end": place })), "// one line more\n");
    let old = of_runs(&server.diagnostics(&uri, 2));
    let moved: Vec<(i64, String, i64)> = marks.iter().map(|(line, code, _)| (line + 1, code.clone(), 4)).collect();
    assert_eq!(old, moved, "they move with their text, and are hints");

    server.request("workspace/executeCommand", order(&uri)).expect("it is answered");
    let said = server.event("window/showMessage");
    assert!(said["params"]["message"].as_str().is_some_and(|text| text.contains("asserted")), "{said}");
    assert!(server.pending("window/showMessageRequest").is_empty(), "what was agreed to is not asked again");
    assert!(server.shutdown().success());
}

#[test]
fn who_declines_gets_nothing() {
    let room = Room::new("declined");
    let mut server = room.server(json!({}), json!({ "trusted": true }));
    server.open(&room.uri(), &broken());
    server.request("workspace/executeCommand", order(&room.uri())).expect("it is answered");
    let question = server.event("window/showMessageRequest");
    server.respond(&question, json!({ "title": "Cancel" }));
    // The next one is asked about again, so the first is over and was not kept.
    loop {
        server.request("workspace/executeCommand", order(&room.uri())).expect("it is answered");
        if !server.pending("window/showMessageRequest").is_empty() {
            break;
        }
    }
    assert!(!room.0.join(".fencepost").exists());
    assert!(server.shutdown().success());
}

#[test]
fn a_saved_log_is_read_from_the_editor() {
    let room = Room::new("replay");
    let uri = room.uri();
    let text = kernel("ring.ttgir");
    let line = text.lines().position(|line| line.contains("ttng.init_barrier")).expect("a barrier") + 1;
    fs::write(room.0.join("k.ttgir"), &text).expect("the kernel can be written");
    let log = room.0.join("ci.log");
    let said = "unknown: block: [0,0,0], thread: [0,0,0] Assertion `Barrier re-initialized without prior invalidation` failed.";
    fs::write(&log, format!("/ci/build/k.ttgir:{line}: {said}\n")).expect("the log can be written");
    fs::write(room.0.join("fencepost.toml"), "[paths]\n\"/ci/build\" = \".\"\n").expect("settings can be written");
    let replay = |log: Value| {
        let order = json!({ "uri": uri, "log": log });
        json!({ "command": "fencepost.replayLog", "arguments": [order] })
    };
    let mut server = room.server(json!({}), json!({ "trusted": true }));
    server.open(&uri, &text);
    assert_eq!(server.diagnostics(&uri, 1), [Value::Null; 0]);
    server.request("workspace/executeCommand", replay(json!(log))).expect("it is answered");
    let told = server.event("window/showMessage");
    let told = told["params"]["message"].as_str().unwrap_or_default().to_owned();
    assert!(told.contains("a saved log"), "{told}");
    let marks = loop {
        let marks = of_runs(&server.diagnostics(&uri, 1));
        if !marks.is_empty() {
            break marks;
        }
    };
    assert!(marks.iter().any(|(at, code, _)| *at == line as i64 - 1 && code == "barrier-reinit"), "{marks:?}");
    assert!(server.pending("window/showMessageRequest").is_empty(), "nothing is executed, so nothing is asked");
    assert!(server.request("workspace/executeCommand", replay(Value::Null)).is_err(), "which log?");
    let mut untrusted = room.server(json!({}), json!({ "trusted": false }));
    untrusted.open(&uri, &text);
    untrusted.request("workspace/executeCommand", replay(json!(log))).expect("it is answered");
    let told = untrusted.event("window/showMessage");
    assert!(told["params"]["message"].as_str().is_some_and(|text| text.contains("not trusted")), "{told}");
}
