//! Quick fixes, the run of a finding, the page of a kind.

use crate::support::{Server, kernel, place, range};
use serde_json::{Value, json};

const URI: &str = "file:///k.ttgir";

fn editor() -> Value {
    json!({
        "textDocument": { "codeAction": { "codeActionLiteralSupport": { "codeActionKind": { "valueSet": [] } } } },
        "workspace": { "workspaceEdit": { "documentChanges": true } },
    })
}

#[test]
fn a_misspelt_operation_is_put_right() {
    let text = kernel("ring.ttgir").replacen("ttng.wait_barrier", "ttng.wait_barier", 1);
    let mut server = Server::start(editor());
    server.open(URI, &text);
    let found = server.diagnostics(URI, 1);
    let place = found.iter().find(|it| it["code"] == json!("unknown-op")).expect("the error")["range"].clone();
    let params = json!({
        "textDocument": { "uri": URI },
        "range": place,
        "context": { "diagnostics": [], "only": ["quickfix"] },
    });
    let actions = server.request("textDocument/codeAction", params.clone()).expect("actions");
    let action = &actions[0];
    assert_eq!(action["kind"], json!("quickfix"));
    assert_eq!(action["isPreferred"], json!(true));
    assert_eq!(action["diagnostics"][0]["code"], json!("unknown-op"));
    let change = &action["edit"]["documentChanges"][0];
    assert_eq!(change["textDocument"], json!({ "uri": URI, "version": 1 }));
    let edit = &change["edits"][0];
    server.change(URI, 2, Some(edit["range"].clone()), edit["newText"].as_str().expect("text"));
    assert_eq!(server.diagnostics(URI, 2), [Value::Null; 0]);
    assert_eq!(server.request("textDocument/codeAction", params).expect("actions"), json!([]));
}

#[test]
fn the_fix_of_a_finding_removes_it() {
    let mut server = Server::start(editor());
    server.open(URI, &kernel("ring_not_waited.ttgir"));
    let found = server.diagnostics(URI, 1);
    let race = found.iter().find(|it| it["severity"] == json!(1)).expect("the race");
    let params =
        json!({ "textDocument": { "uri": URI }, "range": race["range"], "context": { "diagnostics": [race] } });
    let actions = server.request("textDocument/codeAction", params).expect("actions");
    let actions = actions.as_array().expect("actions");
    let fix = actions.iter().find(|it| it["diagnostics"][0]["code"] == race["code"]).expect("a fix of the race");
    // Each edit counts from the text before all of them: the last is made first.
    let edits = fix["edit"]["documentChanges"][0]["edits"].as_array().expect("edits").iter().rev();
    let changes: Vec<Value> = edits.map(|edit| json!({ "range": edit["range"], "text": edit["newText"] })).collect();
    let document = json!({ "uri": URI, "version": 2 });
    server.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
    let left = server.diagnostics(URI, 2);
    assert!(left.iter().all(|it| it["severity"] != json!(1)), "{left:?}");
}

#[test]
fn a_client_that_wants_no_quick_fixes_gets_none() {
    let text = kernel("ring.ttgir").replacen("ttng.wait_barrier", "ttng.wait_barier", 1);
    let mut server = Server::start(editor());
    server.open(URI, &text);
    let params = json!({
        "textDocument": { "uri": URI },
        "range": range((0, 0), (999, 0)),
        "context": { "diagnostics": [], "only": ["refactor"] },
    });
    assert_eq!(server.request("textDocument/codeAction", params).expect("actions"), json!([]));
    let bare = Server::start(json!({}));
    assert!(bare.info["capabilities"].get("codeActionProvider").is_none());
}

#[test]
fn the_run_of_a_finding_can_be_asked_for() {
    let mut server = Server::start(json!({}));
    server.open(URI, &kernel("ring_not_waited.ttgir"));
    let found = server.diagnostics(URI, 1);
    let finding = found.iter().find(|it| it["severity"] == json!(1)).expect("a finding");
    let line = finding["range"]["start"]["line"].as_u64().expect("a line") as usize;
    let column = finding["range"]["start"]["character"].as_u64().expect("a column") as usize;
    let run = server.request("fencepost/run", place(URI, line, column)).expect("a run");
    assert_eq!(run["kind"], finding["code"]);
    let steps = run["steps"].as_array().expect("steps");
    assert!(steps.len() > 1);
    assert!(run["text"].as_str().expect("text").lines().next().expect("a head").contains("| partition0"));
    assert_eq!(server.request("fencepost/run", place(URI, 0, 0)), Ok(Value::Null));
}

#[test]
fn the_nearest_finding_of_the_kernel_around_the_cursor_is_found_and_a_kernel_without_any_is_drawn() {
    let mut server = Server::start(json!({}));
    // The second kernel has no finding.
    let broken = kernel("ring_not_waited.ttgir");
    let clean = kernel("ring.ttgir");
    let body =
        |text: &str| text[text.find("  tt.func").expect("a kernel")..text.rfind('}').expect("its end")].to_owned();
    let end = broken.rfind('}').expect("the module's end");
    let second = body(&clean).replacen("@", "@second_", 1);
    let text = format!("{}{second}}}\n", &broken[..end]);
    server.open(URI, &text);
    let found = server.diagnostics(URI, 1);
    let finding = found.iter().find(|it| it["severity"] == json!(1)).expect("a finding");
    let near = |line: usize| {
        let mut params = place(URI, line, 0);
        params["nearest"] = json!(true);
        params
    };
    let line_of = |name: &str| text.lines().position(|line| line.contains(name)).expect("a line");
    let (first, second) = (line_of("tt.func"), line_of("@second_"));
    // The last lines are nearer to another one.
    for (line, code) in [(0, &finding["code"]), (first, &finding["code"]), (second - 1, &json!("phase-mismatch"))] {
        let run = server.request("fencepost/run", near(line)).expect("a run");
        assert_eq!(run["kind"], *code, "line {line}");
    }
    let mut of_kind = near(first);
    of_kind["kind"] = json!("phase-mismatch");
    let run = server.request("fencepost/run", of_kind).expect("a run");
    assert_eq!(run["kind"], json!("phase-mismatch"));
    assert_eq!(server.request("fencepost/run", near(second + 2)), Ok(Value::Null));
    let at = json!({ "uri": URI, "position": { "line": second + 2, "character": 0 } });
    let drawn = server.request("fencepost/timeline", at).expect("a drawing");
    assert!(drawn["text"].as_str().is_some_and(|text| text.contains("@second_")), "{drawn}");
}

#[test]
fn the_page_of_a_kind_can_be_asked_for() {
    let mut server = Server::start(json!({}));
    let page = server.request("fencepost/explain", json!({ "kind": "deadlock" })).expect("a page");
    assert!(page.as_str().expect("text").starts_with("# deadlock\n"));
    // Gluon first, as the Python that an editor paints.
    assert!(
        page.as_str()
            .expect("text")
            .find("```python")
            .is_some_and(|at| at < page.as_str().expect("text").find("```ttgir").expect("TTGIR"))
    );
    assert_eq!(server.request("fencepost/explain", json!({ "kind": "banana" })), Ok(Value::Null));
}
