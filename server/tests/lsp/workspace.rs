//! Diagnostics of files that nobody has opened.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::files::{Folder, has_deadlock, pull, pulled_until, pulls, started, watched};
use crate::support::{Server, kernel, range};

/// Full reports by name, and the result ids of all.
fn reports(items: &Value) -> (BTreeMap<String, Vec<Value>>, Vec<Value>) {
    let (mut full, mut ids) = (BTreeMap::new(), Vec::new());
    for item in items.as_array().into_iter().flatten() {
        let name = item["uri"].as_str().unwrap_or_default().rsplit('/').next().unwrap_or_default().to_owned();
        if item["kind"] == json!("full") {
            full.insert(name, item["items"].as_array().cloned().unwrap_or_default());
        }
        if item["resultId"].is_string() {
            ids.push(json!({ "uri": item["uri"], "value": item["resultId"] }));
        }
    }
    (full, ids)
}

#[test]
fn files_that_nobody_has_opened_are_looked_at() {
    let folder = Folder::new("workspace");
    folder.break_helper();
    folder.write("ring.ttgir", &kernel("ring.ttgir").replacen("ttng.arrive_barrier", "ttng.arrive_barier", 1));
    folder.write("fencepost.toml", "tritn = \"3.9\"\n");
    std::fs::create_dir_all(folder.0.join("node_modules")).expect("the folder can be made");
    folder.write("node_modules/other.ttgir", "nonsense\n");
    let mut capabilities = pulls();
    capabilities["workspace"]["didChangeWatchedFiles"] = json!({ "dynamicRegistration": true });
    let mut server = Server::start(capabilities);
    assert_eq!(server.info["capabilities"]["diagnosticProvider"]["workspaceDiagnostics"], json!(true));
    let root = folder.uri("").trim_end_matches('/').to_owned();
    let event = json!({ "added": [{ "uri": root, "name": "w" }], "removed": [] });
    server.notify("workspace/didChangeWorkspaceFolders", json!({ "event": event }));
    let ask = |ids: &[Value], token: Value| json!({ "previousResultIds": ids, "partialResultToken": token });
    let answer = server.request("workspace/diagnostic", ask(&[], Value::Null)).expect("an answer");
    let (full, ids) = reports(&answer["items"]);
    assert_eq!(full.keys().collect::<Vec<_>>(), ["fencepost.toml", "ring.ttgir", "sum_rows.py"], "{answer}");
    assert!(has_deadlock(&full["sum_rows.py"]), "{answer}");

    // Nothing is new, so the answer waits; then it comes in parts.
    let held = server.ask("workspace/diagnostic", ask(&ids, json!("parts")));
    folder.write("ring_tools.py", &kernel("gluon/ring_tools.py"));
    server.notify("workspace/didChangeWatchedFiles", watched(&folder, "ring_tools.py", 2));
    let part = server.event("$/progress");
    assert_eq!(part["params"]["token"], json!("parts"));
    let (full, _) = reports(&part["params"]["value"]["items"]);
    assert_eq!(full.into_iter().collect::<Vec<_>>(), [("sum_rows.py".to_owned(), Vec::new())]);
    let (full, mut now) = reports(&server.answer(held).expect("an answer")["items"]);
    assert!(full.is_empty() && now.len() == 2, "{full:?} {now:?}");
    let (_, fresh) = reports(&part["params"]["value"]["items"]);
    now.extend(fresh);

    // What is left out is taken back, what is open is asked for alone.
    let settings = "exclude = \"*.ttgir\"\n";
    let held = server.ask("workspace/diagnostic", ask(&now, Value::Null));
    server.open_as("toml", &folder.uri("fencepost.toml"), settings);
    let (full, _) = reports(&server.answer(held).expect("an answer")["items"]);
    assert_eq!(full.into_iter().collect::<Vec<_>>(), [("ring.ttgir".to_owned(), Vec::new())]);
    // A request that waits does not keep the session from ending.
    server.ask("workspace/diagnostic", ask(&[], Value::Null));
    assert!(server.shutdown().success());
}

#[test]
fn what_is_wrong_with_settings_is_said_where_they_stand() {
    let folder = Folder::new("workspace-settings");
    folder.write("fencepost.toml", "tritn = \"3.9\"\n");
    let mut server = Server::start(pulls());
    let root = folder.uri("").trim_end_matches('/').to_owned();
    let event = json!({ "added": [{ "uri": root, "name": "w" }], "removed": [] });
    server.notify("workspace/didChangeWorkspaceFolders", json!({ "event": event }));
    let python = folder.uri("sum_rows.py");
    server.open_as("python", &python, &kernel("gluon/sum_rows.py"));
    // A client that asks for open documents alone is told all the same, there and in words.
    let settings = folder.uri("fencepost.toml");
    let pushed = |server: &mut Server| loop {
        let told = server.event("textDocument/publishDiagnostics");
        if told["params"]["uri"] == json!(settings) {
            return told["params"]["diagnostics"].clone();
        }
    };
    let told = pushed(&mut server);
    assert_eq!((&told[0]["code"], &told[0]["range"]), (&json!("configuration"), &range((0, 0), (0, 5))), "{told}");
    let said = server.event("window/showMessage")["params"]["message"].clone();
    assert!(said.as_str().is_some_and(|said| said.starts_with("in `fencepost.toml`, line 1: ")), "{said}");
    let is_settings = |found: &[Value]| found.iter().any(|it| it["code"] == json!("configuration"));
    assert!(!is_settings(&pull(&mut server, &python)), "the kernel is not what is wrong");
    // Who asks for the workspace is told by the answer, and not twice.
    let ask = json!({ "previousResultIds": [] });
    let answer = server.request("workspace/diagnostic", ask).expect("an answer");
    let (full, _) = reports(&answer["items"]);
    assert_eq!(full["fencepost.toml"][0]["range"], range((0, 0), (0, 5)), "{answer}");
    assert_eq!(pushed(&mut server), json!([]));
}

#[test]
fn settings_that_are_opened_speak_for_themselves() {
    let folder = Folder::new("workspace-settings-open");
    folder.write("fencepost.toml", "tritn = \"3.9\"\n");
    let mut server = started(&folder, pulls());
    server.open_as("python", &folder.uri("sum_rows.py"), &kernel("gluon/sum_rows.py"));
    let settings = folder.uri("fencepost.toml");
    let pushed = |server: &mut Server| loop {
        let told = server.event("textDocument/publishDiagnostics");
        if told["params"]["uri"] == json!(settings) {
            return told["params"]["diagnostics"].clone();
        }
    };
    assert_ne!(pushed(&mut server), json!([]));
    server.open_as("toml", &settings, "tritn = \"3.9\"\n");
    assert_eq!(pushed(&mut server), json!([]));
    pulled_until(&mut server, &settings, |found| found.len() == 1);
    server.notify("textDocument/didClose", json!({ "textDocument": { "uri": settings } }));
    assert_ne!(pushed(&mut server), json!([]));
}
