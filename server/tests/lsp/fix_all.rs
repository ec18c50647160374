//! Code actions whose edits come when they are chosen, those that mend several findings, and suppressions.

use serde_json::{Value, json};

use crate::support::{Server, kernel, range};

const IR: &str = "file:///k.ttgir";
const PYTHON: &str = "file:///k.py";

/// An editor; a lazy one asks for edits when an action is chosen.
fn editor(lazy: bool) -> Value {
    let mut action = json!({ "codeActionLiteralSupport": { "codeActionKind": { "valueSet": [] } } });
    if lazy {
        action["dataSupport"] = json!(true);
        action["resolveSupport"] = json!({ "properties": ["edit"] });
    }
    json!({ "textDocument": { "codeAction": action }, "workspace": { "workspaceEdit": { "documentChanges": true } } })
}

/// Two kernels with the same slip, in both languages.
fn slips() -> [(&'static str, &'static str, String); 2] {
    let ring = kernel("ring_not_waited.ttgir");
    [("ttgir", IR, format!("{ring}\n// -----\n{ring}")), ("python", PYTHON, kernel("two_loads.py"))]
}

fn errors(found: &[Value]) -> Vec<Value> {
    found.iter().filter(|it| it["severity"] == json!(1)).cloned().collect()
}

fn ask(server: &mut Server, uri: &str, place: &Value, context: Value) -> Vec<Value> {
    let params = json!({ "textDocument": { "uri": uri }, "range": place, "context": context });
    let actions = server.request("textDocument/codeAction", params).expect("actions");
    actions.as_array().cloned().unwrap_or_default()
}

/// Makes the edit of an action; the last change is made first, since each counts from the text before.
fn make(server: &mut Server, uri: &str, version: i32, action: &Value) {
    let edits = action["edit"]["documentChanges"][0]["edits"].as_array().expect("edits").iter().rev();
    let changes: Vec<Value> = edits.map(|edit| json!({ "range": edit["range"], "text": edit["newText"] })).collect();
    assert!(!changes.is_empty());
    let document = json!({ "uri": uri, "version": version });
    server.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
}

#[test]
fn an_edit_comes_when_the_action_is_chosen() {
    for (language, uri, text) in slips() {
        let mut server = Server::start(editor(true));
        assert_eq!(server.info["capabilities"]["codeActionProvider"]["resolveProvider"], json!(true));
        server.open_as(language, uri, &text);
        let race = errors(&server.diagnostics(uri, 1)).first().cloned().expect("a race");
        let actions = ask(&mut server, uri, &race["range"], json!({ "diagnostics": [race] }));
        let fix = actions.iter().find(|it| it["isPreferred"] == json!(true)).expect("a fix").clone();
        assert!(fix["edit"].is_null() && fix["data"].is_object(), "{language}: {fix}");
        let chosen = server.request("codeAction/resolve", fix.clone()).expect("the edit");
        assert_eq!((&chosen["title"], &chosen["kind"]), (&fix["title"], &json!("quickfix")));
        make(&mut server, uri, 2, &chosen);
        assert!(errors(&server.diagnostics(uri, 2)).len() < 2, "{language}");
        // It is of a text that is gone.
        let late = server.request("codeAction/resolve", fix).expect_err("no edit");
        assert_eq!(late["code"], json!(-32801), "{language}");
        // What is none of ours stays as it is.
        let other = json!({ "title": "other" });
        assert_eq!(server.request("codeAction/resolve", other.clone()), Ok(other));
    }
    let plain = Server::start(editor(false));
    assert!(plain.info["capabilities"]["codeActionProvider"]["resolveProvider"].is_null());
}

#[test]
fn all_findings_of_a_kind_are_mended_by_one_change() {
    for lazy in [false, true] {
        for (language, uri, text) in slips() {
            let mut server = Server::start(editor(lazy));
            server.open_as(language, uri, &text);
            let found = server.diagnostics(uri, 1);
            let race = errors(&found).first().cloned().expect("a race");
            let code = race["code"].as_str().expect("a kind");
            let context = json!({ "diagnostics": [race], "triggerKind": 1 });
            let actions = ask(&mut server, uri, &race["range"], context);
            let title = format!("Fix all `{code}` in this file");
            let many = actions.iter().find(|it| it["title"].as_str().is_some_and(|text| text.starts_with(&title)));
            let many = many.unwrap_or_else(|| panic!("{language}: {actions:?}")).clone();
            let many = if lazy { server.request("codeAction/resolve", many).expect("the edit") } else { many };
            make(&mut server, uri, 2, &many);
            let left = server.diagnostics(uri, 2);
            assert!(!left.iter().any(|it| it["code"] == json!(code)), "{language}: {left:?}");
            // A cursor that moves is not worth an analysis of the whole.
            server.change(uri, 3, Some(range((0, 0), (9999, 0))), &text);
            server.diagnostics(uri, 3);
            let moving = ask(&mut server, uri, &race["range"], json!({ "diagnostics": [], "triggerKind": 2 }));
            assert!(!moving.iter().any(|it| it["title"].as_str().is_some_and(|text| text.starts_with(&title))));
        }
    }
}

/// Four waits that belong before one loop: each is made in the text that has the others.
#[test]
fn fixes_that_meet_at_one_place_are_made_together() {
    let mut server = Server::start(editor(true));
    server.open(IR, &kernel("packed/final_broken.ttgir"));
    let found = server.diagnostics(IR, 1);
    assert_eq!(errors(&found).len(), 4);
    let context = json!({ "diagnostics": [], "triggerKind": 1 });
    let actions = ask(&mut server, IR, &found[0]["range"], context);
    let title = "Fix all `packed-overwrite` in this file (4 findings)";
    let many = actions.iter().find(|it| it["title"] == json!(title)).unwrap_or_else(|| panic!("{actions:?}")).clone();
    let many = server.request("codeAction/resolve", many).expect("the edit");
    make(&mut server, IR, 2, &many);
    assert_eq!(server.diagnostics(IR, 2), [Value::Null; 0]);
}

#[test]
fn what_can_be_fixed_is_fixed_on_save() {
    for (language, uri, text) in slips() {
        let mut server = Server::start(editor(false));
        let kinds = &server.info["capabilities"]["codeActionProvider"]["codeActionKinds"];
        assert!(kinds.as_array().is_some_and(|all| all.contains(&json!("source.fixAll.fencepost"))), "{kinds}");
        server.open_as(language, uri, &text);
        assert!(errors(&server.diagnostics(uri, 1)).len() > 1, "{language}");
        let whole = range((0, 0), (9999, 0));
        for only in ["source.fixAll", "source.fixAll.fencepost"] {
            let actions = ask(&mut server, uri, &whole, json!({ "diagnostics": [], "only": [only] }));
            assert_eq!(actions.len(), 1, "{language}: {actions:?}");
            assert_eq!(actions[0]["kind"], json!("source.fixAll.fencepost"));
        }
        let unasked = ask(&mut server, uri, &whole, json!({ "diagnostics": [], "triggerKind": 2 }));
        assert!(!unasked.iter().any(|it| it["kind"] == json!("source.fixAll.fencepost")));
        let actions = ask(&mut server, uri, &whole, json!({ "diagnostics": [], "only": ["source.fixAll"] }));
        make(&mut server, uri, 2, &actions[0]);
        assert_eq!(errors(&server.diagnostics(uri, 2)), [Value::Null; 0], "{language}");
        // Nothing is left to be fixed.
        assert_eq!(
            ask(&mut server, uri, &whole, json!({ "diagnostics": [], "only": ["source.fixAll"] })),
            [Value::Null; 0]
        );
    }
}

#[test]
fn a_finding_is_suppressed_where_it_stands_and_an_unused_comment_goes() {
    for (language, uri, text) in slips() {
        let mut server = Server::start(editor(false));
        server.open_as(language, uri, &text);
        let found = server.diagnostics(uri, 1);
        let race = errors(&found).first().cloned().expect("a race");
        let code = race["code"].as_str().expect("a kind").to_owned();
        let actions = ask(&mut server, uri, &race["range"], json!({ "diagnostics": [race] }));
        let title = format!("Suppress `{code}` here (and write the reason)");
        let suppress = actions.iter().find(|it| it["title"] == json!(title)).expect("it is offered");
        assert_eq!((&suppress["kind"], &suppress["diagnostics"][0]["code"]), (&json!("quickfix"), &json!(code)));
        make(&mut server, uri, 2, suppress);
        // Without a reason it suppresses nothing, and says so.
        let open = server.diagnostics(uri, 2);
        let ours = open.iter().find(|it| it["code"] == json!("suppression")).expect("the reason is missing");
        assert_eq!(errors(&open).len(), errors(&found).len(), "{language}");
        let (line, end) = (ours["range"]["start"]["line"].clone(), ours["range"]["end"].clone());
        let mark = json!({ "line": line, "character": end["character"].as_i64().expect("a column") - 1 });
        server.change(uri, 3, Some(json!({ "start": mark, "end": end })), "nobody launches it so");
        let shut = server.diagnostics(uri, 3);
        assert_eq!(errors(&shut).len(), errors(&found).len() - 1, "{language}: {shut:?}");
        assert!(!shut.iter().any(|it| it["code"] == json!("suppression")), "{language}: {shut:?}");
    }
    let comment = "// fencepost: ignore[deadlock] it used to hang\n";
    let text = kernel("ring.ttgir").replacen("  tt.func", &format!("{comment}  tt.func"), 1);
    let mut server = Server::start(editor(true));
    server.open(IR, &text);
    let found = server.diagnostics(IR, 1);
    let unused = found.iter().find(|it| it["code"] == json!("unused-suppression")).expect("it is of no use");
    let actions = ask(&mut server, IR, &unused["range"], json!({ "diagnostics": [unused] }));
    let remove = actions.iter().find(|it| it["title"] == json!("Remove the suppression")).expect("a fix").clone();
    let remove = server.request("codeAction/resolve", remove).expect("the edit");
    make(&mut server, IR, 2, &remove);
    assert_eq!(server.diagnostics(IR, 2), [Value::Null; 0]);
}
