//! `docs/editor-features.md` against the server: what is announced, what is served, and which tests show it.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

use crate::support::{Server, root};

/// Messages that the server sends unasked: nothing announces them.
const SENT: [&str; 8] = [
    "textDocument/publishDiagnostics",
    "window/showMessage",
    "fencepost/reportChanged",
    "fencepost/status",
    "workspace/diagnostic/refresh",
    "workspace/codeLens/refresh",
    "client/registerCapability",
    "workspace/configuration",
];

/// Messages that every server takes.
const SESSION: [&str; 5] = ["initialize", "initialized", "shutdown", "exit", "window/workDoneProgress/cancel"];

/// One row of the page.
struct Row {
    feature: String,
    served_as: Vec<String>,
    ttgir: String,
    python: String,
    tests: Vec<String>,
}

/// The rows of all tables of the page.
fn rows() -> Vec<Row> {
    let page = std::fs::read_to_string(root().join("docs/editor-features.md")).expect("the page is there");
    let mut rows = Vec::new();
    for line in page.lines().filter(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        if cells.first().is_some_and(|first| *first == "feature" || first.starts_with("---")) {
            continue;
        }
        let [feature, served_as, ttgir, python, tests] = cells.as_slice() else { panic!("not five cells: {line}") };
        rows.push(Row {
            feature: (*feature).to_owned(),
            served_as: names(served_as),
            ttgir: (*ttgir).to_owned(),
            python: (*python).to_owned(),
            tests: names(tests),
        });
    }
    assert!(rows.len() > 10, "the page has no tables");
    rows
}

/// What stands in backticks.
fn names(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The names of what is announced: each capability, each of its options that is on, and what is listed by name.
fn announced(capabilities: &Value) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (key, value) in capabilities.as_object().expect("capabilities") {
        match key.as_str() {
            "experimental" => listed(value, &mut names),
            // Only a place for others.
            "workspace" => options(key, value, &mut names),
            _ if is_on(value) => {
                names.insert(key.clone());
                options(key, value, &mut names);
            }
            _ => {}
        }
    }
    for list in ["/executeCommandProvider/commands", "/codeActionProvider/codeActionKinds"] {
        capabilities.pointer(list).into_iter().for_each(|list| listed(list, &mut names));
    }
    names
}

fn is_on(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false))
}

/// Options of a capability that are on, and theirs.
fn options(of: &str, value: &Value, names: &mut BTreeSet<String>) {
    for (key, value) in value.as_object().into_iter().flatten() {
        if matches!(value, Value::Bool(true) | Value::Object(_)) && key != "legend" {
            let name = format!("{of}.{key}");
            options(&name, value, names);
            names.insert(name);
        }
    }
}

/// All texts below a value.
fn listed(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::String(name) => drop(names.insert(name.clone())),
        Value::Array(list) => list.iter().for_each(|item| listed(item, names)),
        Value::Object(map) => map.values().for_each(|item| listed(item, names)),
        _ => {}
    }
}

/// What the server announces to a client that can do everything, and what it registers later.
fn announced_to_everybody() -> BTreeSet<String> {
    let mut server = Server::start_everything();
    let mut names = announced(&server.info["capabilities"].clone());
    // An answered request: what is registered after `initialized` has been sent by then, or is sent soon.
    let kind = serde_json::json!({ "kind": "deadlock" });
    server.request("fencepost/explain", kind).expect("a page");
    for request in server.pending("client/registerCapability") {
        let registrations = request["params"]["registrations"].as_array().cloned().unwrap_or_default();
        names.extend(registrations.iter().filter_map(|it| it["method"].as_str().map(str::to_owned)));
    }
    names
}

/// Whether a method of the protocol is the one that tower-lsp calls `name`.
fn is_called(method: &str, name: &str) -> bool {
    let letters = |text: &str| text.chars().filter(char::is_ascii_alphabetic).collect::<String>().to_ascii_lowercase();
    let (last, name) = (method.split_once('/').map_or(method, |(_, last)| last), letters(name));
    let name = name.strip_prefix("goto").unwrap_or(&name);
    let item = method.replace("completionItem/", "completion/").replace("workspaceSymbol/", "symbol/");
    letters(last) == name || letters(&item) == name
}

#[test]
fn everything_that_is_announced_or_served_has_a_row() {
    let rows = rows();
    let named: BTreeSet<&str> = rows.iter().flat_map(|row| &row.served_as).map(String::as_str).collect();
    let announced = announced_to_everybody();
    let missing: Vec<&String> = announced.iter().filter(|name| !named.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "announced, and without a row: {missing:?}");
    let served = transport::REQUESTS.iter().chain(transport::NOTIFICATIONS);
    let missing: Vec<&&str> = served.filter(|name| !named.iter().any(|method| is_called(method, name))).collect();
    assert!(missing.is_empty(), "served, and without a row: {missing:?}");
    let missing: Vec<&&str> = SENT.iter().chain(&SESSION).filter(|name| !named.contains(**name)).collect();
    assert!(missing.is_empty(), "without a row: {missing:?}");
}

#[test]
fn every_row_names_what_is_there() {
    let announced = announced_to_everybody();
    let served = |name: &str| transport::REQUESTS.iter().chain(transport::NOTIFICATIONS).any(|it| is_called(name, it));
    for row in rows() {
        assert!(!row.served_as.is_empty(), "{}: served as nothing", row.feature);
        for name in &row.served_as {
            let is_message = SENT.contains(&name.as_str()) || SESSION.contains(&name.as_str());
            let content = name == transport::CONTENT_METHOD;
            let known = announced.contains(name) || is_message || content || (name.contains('/') && served(name));
            assert!(known, "{}: {name} is neither announced nor served", row.feature);
        }
        for cell in [&row.ttgir, &row.python] {
            let reason = cell.strip_prefix("no").is_none_or(|rest| rest.len() > 2 && rest.starts_with(": "));
            assert!(!cell.is_empty() && cell != "-" && reason, "{}: {cell:?} says too little", row.feature);
        }
    }
}

#[test]
fn every_named_test_exists() {
    let list = |ignored: &[&str]| {
        let program = std::env::current_exe().expect("this binary");
        let output = Command::new(program).arg("--list").args(ignored).output().expect("this binary runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let tests = text.lines().filter_map(|line| line.strip_suffix(": test"));
        tests.map(|name| format!("lsp::{name}")).collect::<BTreeSet<String>>()
    };
    let (all, ignored) = (list(&[]), list(&["--ignored"]));
    for row in rows() {
        assert!(!row.tests.is_empty(), "{}: no test", row.feature);
        for test in &row.tests {
            assert!(all.contains(test), "{}: there is no test {test}", row.feature);
            assert!(!ignored.contains(test), "{}: {test} is not run", row.feature);
        }
    }
}
