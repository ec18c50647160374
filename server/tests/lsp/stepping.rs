//! Runs that are gone through step by step, and pages of reports, for both languages.

use crate::support::{Server, kernel, place, root};
use serde_json::{Value, json};

const URI: &str = "file:///tmp/stepped.ttgir";

/// Opens a kernel in Python without a wait that it needs; its name.
fn open_python(server: &mut Server) -> String {
    let folder = std::fs::canonicalize(root().join("tests/kernels/gluon")).expect("the folder is there");
    let text = std::fs::read_to_string(folder.join("sum_rows.py")).expect("the kernel is there");
    let wait = "        mbarrier.wait(free.index(slot), ((i // depth) & 1) ^ 1)\n";
    let text = text.replace(wait, "");
    let uri = format!("file://{}", folder.join("sum_rows.py").display());
    let document = json!({ "uri": uri, "languageId": "python", "version": 1, "text": text });
    server.notify("textDocument/didOpen", json!({ "textDocument": document }));
    uri
}

/// The run of the first error of a document, and that error.
fn run_of_error(server: &mut Server, uri: &str) -> (Value, Value) {
    let found = server.diagnostics(uri, 1);
    let finding = found.iter().find(|it| it["severity"] == json!(1)).expect("a finding").clone();
    let params = json!({
        "textDocument": { "uri": uri },
        "position": finding["range"]["start"],
        "kind": finding["code"],
        "picture": true,
    });
    (server.request("fencepost/run", params).expect("a run"), finding)
}

fn check(run: &Value, finding: &Value) {
    assert_eq!((&run["kind"], &run["range"], &run["version"]), (&finding["code"], &finding["range"], &json!(1)));
    let steps = run["steps"].as_array().expect("steps");
    let numbers: Vec<u64> = steps.iter().map(|step| step["number"].as_u64().expect("a number")).collect();
    assert!(numbers.len() > 1 && numbers.is_sorted(), "{numbers:?}");
    assert!(numbers.iter().all(|number| *number <= run["length"].as_u64().expect("a length")));
    let sites: Vec<u64> = steps.iter().filter_map(|step| step["site"].as_u64()).collect();
    assert!(sites.contains(&1) && sites.contains(&2), "{sites:?}");
    // What a barrier counts after a step is what its whole life says of that moment.
    let mut changes = 0;
    for step in steps {
        let states = step["barriers"].as_array().expect("barriers");
        assert!(!states.is_empty(), "{step}");
        for state in states {
            let lives = run["barriers"].as_array().expect("barriers");
            let life = lives.iter().find(|life| life["name"] == state["name"]).expect("its life");
            let counts = life["counts"].as_array().expect("counts");
            let last = counts.iter().rfind(|count| count["step"].as_u64() <= step["number"].as_u64());
            let last = last.expect("a count");
            for member in ["phase", "pending", "arrivals", "bytes", "step"] {
                assert_eq!(state[member], last[member], "{member} of {state}");
            }
            assert_eq!(state["changed"], json!(state["step"] == step["number"]));
            let words = format!("phase {}, {} of {} arrival", last["phase"], last["pending"], last["arrivals"]);
            assert!(state["words"].as_str().is_some_and(|it| it.starts_with(&words)), "{state}");
            changes += usize::from(state["changed"] == json!(true));
        }
    }
    assert!(changes > 0);
    let picture = run["picture"]["html"].as_str().expect("a picture");
    for number in numbers {
        assert!(picture.contains(&format!("data-step=\"{number}\"")), "{number}");
    }
    // Who asks for it says above it what it is of.
    assert!(!picture.contains("class=\"h\""), "{picture}");
    assert!(!picture.contains("style=") && !picture.contains("<script") && !picture.contains("<style"));
}

#[test]
fn a_run_has_the_barriers_after_each_step_in_ttgir() {
    let mut server = Server::start(json!({}));
    server.open(URI, &kernel("ring_not_waited.ttgir"));
    let (run, finding) = run_of_error(&mut server, URI);
    check(&run, &finding);
    // Without being asked for the picture is left out, and another kind is not here.
    let (line, column) = (&finding["range"]["start"]["line"], &finding["range"]["start"]["character"]);
    let (line, column) = (line.as_u64().expect("a line") as usize, column.as_u64().expect("a column") as usize);
    let mut params = place(URI, line, column);
    let bare = server.request("fencepost/run", params.clone()).expect("a run");
    assert_eq!((&bare["picture"], &bare["steps"]), (&Value::Null, &run["steps"]));
    params["kind"] = json!("banana");
    assert_eq!(server.request("fencepost/run", params), Ok(Value::Null));
    assert_eq!(server.request("fencepost/run", place("file:///other.ttgir", 0, 0)), Ok(Value::Null));
}

#[test]
fn a_run_has_the_barriers_after_each_step_in_python() {
    let mut server = Server::start(json!({}));
    let uri = open_python(&mut server);
    let (run, finding) = run_of_error(&mut server, &uri);
    check(&run, &finding);
    // Barriers are called as in Python.
    let names: Vec<&str> =
        run["barriers"].as_array().expect("barriers").iter().filter_map(|it| it["name"].as_str()).collect();
    assert!(names.iter().any(|name| name.starts_with("free[")), "{names:?}");
    assert!(names.iter().all(|name| !name.contains('%')), "{names:?}");
}

#[test]
fn a_clean_run_can_be_gone_through_too() {
    let mut server = Server::start(json!({}));
    server.open(URI, &kernel("ring.ttgir"));
    server.diagnostics(URI, 1);
    let params = json!({ "uri": URI, "kernel": "ws_gemm", "section": 1, "picture": true });
    let run = server.request("fencepost/timeline", params).expect("a run");
    let steps = run["steps"].as_array().expect("steps");
    assert!(steps.len() > 3, "{run}");
    assert!(steps.iter().all(|step| step["site"].is_null() && step["stuck"] == json!(false)));
    assert!(run["picture"]["html"].as_str().is_some_and(|it| it.contains("data-step")));
    assert_eq!(run["title"], json!("kernel @ws_gemm is proved"));
}

#[test]
fn a_report_comes_as_a_part_of_a_page() {
    let mut server = Server::start(json!({}));
    server.open(URI, &kernel("ring_not_waited.ttgir"));
    let python = open_python(&mut server);
    for uri in [URI, python.as_str()] {
        let report = server.request("fencepost/reportHtml", json!({ "uri": uri })).expect("a report");
        let html = report["html"].as_str().expect("html");
        for part in ["Barrier dependency graph", "MISSING", "data-step=", "class=\"coverage\"", "href=\"#L"] {
            assert!(html.contains(part), "{part} in the page of {uri}");
        }
        // A policy may forbid what is inline, and the text is in the editor.
        for part in ["style=", "<script", "<style", "id=\"source\"", "href=\"#source\""] {
            assert!(!html.contains(part), "{part} in the page of {uri}");
        }
        assert!(report["style"].as_str().is_some_and(|it| it.contains("--bg")));
        assert!(report["script"].as_str().is_some_and(|it| it.contains("keydown")));
        let none = server.request("fencepost/reportHtml", json!({ "uri": uri, "kernel": "banana" })).expect("a page");
        assert!(none["html"].as_str().is_some_and(|it| it.contains("There is no kernel @banana")));
    }
    assert_eq!(server.request("fencepost/reportHtml", json!({ "uri": "file:///other.ttgir" })), Ok(Value::Null));
}

#[test]
fn who_shows_a_page_is_told_of_edits() {
    let mut server = Server::start(json!({}));
    server.open(URI, &kernel("ring.ttgir"));
    let first = server.request("fencepost/reportHtml", json!({ "uri": URI })).expect("a report");
    server.change(URI, 2, None, &kernel("ring_not_waited.ttgir"));
    server.event("fencepost/reportChanged");
    let second = server.request("fencepost/reportHtml", json!({ "uri": URI })).expect("a report");
    assert_eq!((&first["version"], &second["version"]), (&json!(1), &json!(2)));
    assert_ne!(first["html"], second["html"]);
}
