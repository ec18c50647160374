//! Diagnostics of files that nobody has opened.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::files::{Folder, has_deadlock, pulled_until, pulls, watched};
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
    // A client that asks for open documents alone would never see it there.
    let is_settings = |found: &[Value]| found.iter().any(|it| it["code"] == json!("configuration"));
    pulled_until(&mut server, &python, is_settings);
    let ask = json!({ "previousResultIds": [] });
    let answer = server.request("workspace/diagnostic", ask).expect("an answer");
    let (full, _) = reports(&answer["items"]);
    assert_eq!(full["fencepost.toml"][0]["range"], range((0, 0), (0, 5)), "{answer}");
    pulled_until(&mut server, &python, |found| !is_settings(found));
}
