//! Settings: `fencepost.toml` as a document, what an editor says, and what the server asks of it.

use serde_json::{Value, json};

use crate::files::{Folder, has_deadlock, pull, pulled_until, pulls, refreshed};
use crate::support::{Server, kernel, place, range};

/// A kernel of TTGIR that has a deadlock.
fn stuck() -> String {
    kernel("ring.ttgir").replacen("ttng.arrive_barrier", "// ttng.arrive_barrier", 1)
}

fn codes(found: &[Value]) -> Vec<(&str, i64)> {
    found.iter().map(|it| (it["code"].as_str().unwrap_or(""), it["severity"].as_i64().unwrap_or(0))).collect()
}

#[test]
fn settings_are_a_document_of_their_own() {
    let folder = Folder::new("settings-document");
    folder.break_helper();
    let mut server = Server::start(pulls());
    let (python, ttgir, toml) = (folder.uri("sum_rows.py"), folder.uri("ring.ttgir"), folder.uri("fencepost.toml"));
    server.open_as("python", &python, &kernel("gluon/sum_rows.py"));
    server.open(&ttgir, &stuck());
    assert!(has_deadlock(&pull(&mut server, &python)));
    let before = pull(&mut server, &ttgir);
    let (worst, _) = codes(&before).into_iter().min_by_key(|(_, severity)| *severity).expect("a finding");
    assert!(codes(&before).contains(&(worst, 1)), "{before:?}");

    // Not saved, and whatever the client calls the language.
    let text = format!("[kinds]\ndeadlock = \"hint\"\n{worst} = \"hint\"\n");
    server.open_as("toml", &toml, &text.replacen("deadlock", "deadlok", 1).replace("\ndeadlock", "\n# "));
    let wrong = pull(&mut server, &toml);
    assert_eq!(wrong[0]["range"], range((1, 0), (1, 7)), "{wrong:?}");
    assert!(wrong[0]["message"].as_str().is_some_and(|text| text.contains("did you mean `deadlock`")), "{wrong:?}");
    let text = format!(
        "[kinds]\ndeadlock = \"hint\"\n{}",
        if worst == "deadlock" { String::new() } else { format!("{worst} = \"hint\"\n") }
    );
    server.change(&toml, 2, None, &text);
    assert_eq!(pull(&mut server, &toml), [Value::Null; 0]);
    // What is shown while the analysis goes on may be from before.
    for uri in [&python, &ttgir] {
        pulled_until(&mut server, uri, |found| {
            let codes = codes(found);
            codes.iter().any(|(code, severity)| *code == worst || *severity == 4) && !codes.contains(&(worst, 1))
        });
    }
    let hover = server.at("textDocument/hover", &toml, 1, 3).expect("a hover");
    assert!(hover["contents"]["value"].as_str().is_some_and(|text| text.contains("Usually shown as")), "{hover}");
    // What is asked of kernels has no answer here, and is no error.
    let document = json!({ "textDocument": { "uri": toml } });
    server.request("textDocument/documentSymbol", document.clone()).expect("an answer");
    server.request("textDocument/foldingRange", document.clone()).expect("an answer");
    server.request("textDocument/definition", place(&toml, 1, 3)).expect("an answer");

    server.notify("textDocument/didClose", document);
    pulled_until(&mut server, &python, has_deadlock);
    pulled_until(&mut server, &ttgir, |found| codes(found).contains(&(worst, 1)));
}

#[test]
fn a_slip_in_settings_has_a_fix() {
    let folder = Folder::new("settings-fix");
    let actions = json!({ "codeActionLiteralSupport": { "codeActionKind": { "valueSet": [] } } });
    let mut server = Server::start(json!({ "textDocument": { "codeAction": actions } }));
    let toml = folder.uri("fencepost.toml");
    server.open_as("toml", &toml, "[kinds]\nlapped-wait = \"of\"\n");
    let found = server.diagnostics(&toml, 1);
    assert_eq!(found[0]["range"], range((1, 14), (1, 18)), "{found:?}");
    let context = json!({ "diagnostics": found, "only": ["quickfix"] });
    let params = json!({ "textDocument": { "uri": toml }, "range": range((1, 15), (1, 15)), "context": context });
    let actions = server.request("textDocument/codeAction", params).expect("actions");
    assert_eq!(actions[0]["edit"]["changes"][&toml][0]["newText"], json!("\"off\""), "{actions}");
    // Half a line takes nothing from the rest.
    server.change(&toml, 2, None, "target = \n[limits]\nstates = 0\n");
    let found = server.diagnostics(&toml, 2);
    assert!(found.iter().any(|it| it["severity"] == json!(1)), "{found:?}");
    assert!(found.iter().any(|it| it["range"] == range((2, 9), (2, 10))), "{found:?}");
}

#[test]
fn an_editor_says_its_settings_and_a_file_is_stronger() {
    let folder = Folder::new("settings-editor");
    folder.break_helper();
    let mut capabilities = pulls();
    capabilities["workspace"]["configuration"] = json!(true);
    let mut server = Server::start(capabilities);
    let python = folder.uri("sum_rows.py");
    server.open_as("python", &python, &kernel("gluon/sum_rows.py"));
    assert!(has_deadlock(&pull(&mut server, &python)));
    let asked = server.event("workspace/configuration");
    assert_eq!(asked["params"]["items"][0]["section"], json!("fencepost"));
    let set = |level: &str| json!([{ "kinds": { "deadlock": level }, "limits": { "states": 50000 } }]);
    server.respond(&asked, set("off"));
    refreshed(&mut server);
    assert!(!has_deadlock(&pull(&mut server, &python)));
    // Another value, for which it is asked again.
    server.notify("workspace/didChangeConfiguration", json!({ "settings": null }));
    let asked = server.event("workspace/configuration");
    server.respond(&asked, set("warning"));
    refreshed(&mut server);
    assert!(codes(&pull(&mut server, &python)).contains(&("deadlock", 2)));
    // A file says it otherwise.
    folder.write("fencepost.toml", "[kinds]\ndeadlock = \"information\"\n");
    let change = json!({ "changes": [{ "uri": folder.uri("fencepost.toml"), "type": 1 }] });
    server.notify("workspace/didChangeWatchedFiles", change);
    refreshed(&mut server);
    assert!(codes(&pull(&mut server, &python)).contains(&("deadlock", 3)));
}

#[test]
fn settings_that_are_sent_count_and_slips_are_said() {
    let folder = Folder::new("settings-sent");
    folder.break_helper();
    let mut server = Server::start(json!({}));
    let python = folder.uri("sum_rows.py");
    server.open_as("python", &python, &kernel("gluon/sum_rows.py"));
    assert!(has_deadlock(&server.diagnostics(&python, 1)));
    let settings = json!({ "fencepost": { "kinds": { "deadlock": "off" }, "limts": {} } });
    server.notify("workspace/didChangeConfiguration", json!({ "settings": settings }));
    assert!(!has_deadlock(&server.diagnostics(&python, 1)));
    let said = server.event("window/showMessage");
    assert!(said["params"]["message"].as_str().is_some_and(|text| text.contains("did you mean `limits`")), "{said}");
}

#[test]
fn what_a_client_can_watch_and_say_is_asked_of_it() {
    let dynamic = json!({ "dynamicRegistration": true });
    let workspace = json!({ "didChangeWatchedFiles": dynamic, "didChangeConfiguration": dynamic });
    let mut server = Server::start(json!({ "workspace": workspace }));
    let asked = server.event("client/registerCapability");
    let registrations = asked["params"]["registrations"].as_array().cloned().unwrap_or_default();
    let methods: Vec<&str> = registrations.iter().filter_map(|it| it["method"].as_str()).collect();
    assert_eq!(methods, ["workspace/didChangeWatchedFiles", "workspace/didChangeConfiguration"]);
    let patterns = registrations[0]["registerOptions"]["watchers"].to_string();
    for pattern in ["**/*.py", "**/fencepost.toml", "**/.fencepost/**"] {
        assert!(patterns.contains(pattern), "{patterns}");
    }
    server.respond(&asked, Value::Null);
    // A client that does not answer is served nevertheless.
    let uri = "file:///w/ring.ttgir";
    server.open(uri, &kernel("ring.ttgir"));
    assert_eq!(server.diagnostics(uri, 1), [Value::Null; 0]);
}

#[test]
fn what_nobody_watches_is_noticed() {
    let folder = Folder::new("settings-unwatched");
    let mut server = Server::start(json!({}));
    let python = folder.uri("sum_rows.py");
    server.open_as("python", &python, &kernel("gluon/sum_rows.py"));
    assert_eq!(server.diagnostics(&python, 1), [Value::Null; 0]);
    folder.break_helper();
    assert!(has_deadlock(&server.diagnostics(&python, 1)));
}

#[test]
fn what_is_off_is_counted_where_the_kernel_stands() {
    let folder = Folder::new("settings-off");
    folder.break_helper();
    let capabilities = json!({ "textDocument": { "codeLens": {}, "diagnostic": {} }, "workspace": {
        "diagnostics": { "refreshSupport": true }, "codeLens": { "refreshSupport": true } } });
    let mut server = Server::start(capabilities);
    let (python, ttgir, clean) = (folder.uri("sum_rows.py"), folder.uri("stuck.ttgir"), folder.uri("ring.ttgir"));
    let kinds = ["deadlock", "missing-forward-barrier", "missing-backward-barrier", "phase-mismatch", "lapped-wait"];
    let off: String = kinds.iter().map(|kind| format!("{kind} = \"off\"\n")).collect();
    folder.write("fencepost.toml", &format!("[kinds]\n{off}"));
    server.open_as("python", &python, &kernel("gluon/sum_rows.py"));
    server.open(&ttgir, &stuck());
    server.open(&clean, &kernel("ring.ttgir"));
    for uri in [&python, &ttgir] {
        let found = pull(&mut server, uri);
        assert_eq!(codes(&found), [("suppressed", 4)], "{found:?}");
        assert!(found[0]["message"].as_str().is_some_and(|text| text.contains("switched off by the settings: ")));
        // What is found first may be shown before the verdict is there, and then it is told to ask again.
        let asked = json!({ "textDocument": { "uri": uri } });
        let mut lenses = server.request("textDocument/codeLens", asked.clone()).expect("lenses").to_string();
        while lenses.contains("not analysed yet") {
            server.event("workspace/codeLens/refresh");
            lenses = server.request("textDocument/codeLens", asked.clone()).expect("lenses").to_string();
        }
        assert!(lenses.contains("found; ") && lenses.contains(" suppressed"), "{lenses}");
    }
    assert_eq!(pull(&mut server, &clean), [Value::Null; 0]);
}

/// What Triton leaves in its cache of a kernel that stands in a line of a file.
fn compiled(file: &str, line: usize, warps: u32) -> String {
    format!(
        "#loc1 = loc(\"{file}\":{line}:0)\n\
         module attributes {{\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = {warps} : i32, ttg.target = \"cuda:100\"}} {{\n\
         tt.func public @sum_rows(%desc: !tt.tensordesc<64x32xf16> loc(\"desc\"(#loc1)), \
         %rows: i32 loc(\"rows\"(#loc1))) attributes {{noinline = false}} {{\n  tt.return\n}}\n}}\n"
    )
}

#[test]
fn what_triton_compiled_is_an_instance_of_the_kernel() {
    let folder = Folder::new("settings-compiled");
    std::fs::create_dir_all(folder.0.join("dumps/KEY")).expect("the folder can be made");
    folder.write("fencepost.toml", "watch = \"dumps\"\n");
    let text = kernel("gluon/sum_rows.py");
    let line = text.lines().position(|line| line.starts_with("def sum_rows(")).expect("the kernel") + 1;
    let mut capabilities = pulls();
    capabilities["textDocument"]["inlayHint"] = json!({});
    let mut server = Server::start(capabilities);
    let python = folder.uri("sum_rows.py");
    server.open_as("python", &python, &text);
    let label = |server: &mut Server| {
        pull(server, &python);
        let whole = range((0, 0), (text.lines().count(), 0));
        let params = json!({ "textDocument": { "uri": python }, "range": whole });
        server.request("textDocument/inlayHint", params).expect("hints").to_string()
    };
    assert!(!label(&mut server).contains("compiled before"));
    // It appears while the server runs; nobody says so.
    let file = folder.0.join("sum_rows.py").display().to_string();
    folder.write("dumps/KEY/sum_rows.ttgir", &compiled(&file, line, 8));
    refreshed(&mut server);
    let hints = label(&mut server);
    assert!(hints.contains("compiled before"), "{hints}");
    assert!(hints.contains("sm_100") && hints.contains("fp16[64,32]"), "{hints}");
}

/// What is offered at a place: labels, and what would be written.
fn offered(server: &mut Server, uri: &str, line: usize, column: usize) -> Vec<(String, String)> {
    let found = server.at("textDocument/completion", uri, line, column).expect("completions");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let items = found["items"].as_array().cloned().unwrap_or_default();
    items.iter().map(|item| (text(&item["label"]), text(&item["textEdit"]["newText"]))).collect()
}

#[test]
fn what_can_be_set_is_offered_with_its_documentation() {
    let folder = Folder::new("settings-offered");
    let item = json!({ "completionItem": { "documentationFormat": ["markdown"] } });
    let mut server = Server::start(json!({ "textDocument": { "completion": item } }));
    let toml = folder.uri("fencepost.toml");
    server.open_as("toml", &toml, "target = \"\"\n\n[kinds]\ndead\n");
    let keys = offered(&mut server, &toml, 1, 0);
    let has = |all: &[(String, String)], label: &str, text: &str| all.contains(&(label.to_owned(), text.to_owned()));
    assert!(has(&keys, "kinds", "[kinds]\n") || has(&keys, "limits", "[limits]\n"), "{keys:?}");
    assert!(!keys.iter().any(|(label, _)| label == "target" || label == "python"), "{keys:?}");
    assert!(has(&offered(&mut server, &toml, 0, 10), "sm_100", "sm_100"));
    assert!(has(&offered(&mut server, &toml, 3, 4), "deadlock", "deadlock = \"off\""));
    let found = server.at("textDocument/completion", &toml, 1, 0).expect("completions");
    let limits = found["items"].as_array().and_then(|all| all.iter().find(|it| it["label"] == json!("limits")));
    assert!(limits.is_some_and(|it| it["documentation"]["value"].as_str().is_some_and(|text| !text.is_empty())));
}

#[test]
fn the_nearest_settings_count() {
    let folder = Folder::new("settings-nearest");
    std::fs::create_dir_all(folder.0.join("sub")).expect("the folder can be made");
    let mut server = Server::start(pulls());
    let found = |server: &mut Server, name: &str| {
        let uri = folder.uri(name);
        server.open(&uri, &stuck());
        let found = pull(server, &uri);
        codes(&found).into_iter().map(|(code, severity)| (code.to_owned(), severity)).collect::<Vec<_>>()
    };
    let before = found(&mut server, "plain.ttgir");
    let (worst, _) = before.iter().min_by_key(|(_, severity)| *severity).cloned().expect("a finding");
    folder.write("fencepost.toml", &format!("[kinds]\n{worst} = \"off\"\n"));
    folder.write("sub/fencepost.toml", &format!("[kinds]\n{worst} = \"information\"\n"));
    let changed = json!({ "changes": [{ "uri": folder.uri("fencepost.toml"), "type": 1 },
        { "uri": folder.uri("sub/fencepost.toml"), "type": 1 }] });
    server.notify("workspace/didChangeWatchedFiles", changed);
    assert!(found(&mut server, "sub/near.ttgir").contains(&(worst.clone(), 3)));
    let above = found(&mut server, "above.ttgir");
    assert!(
        above.contains(&("suppressed".to_owned(), 4)) && !above.iter().any(|(code, _)| *code == worst),
        "{above:?}"
    );
}

#[test]
fn a_client_that_can_watches_the_folders_of_triton() {
    let folder = Folder::new("settings-dumps");
    std::fs::create_dir_all(folder.0.join("dumps/KEY")).expect("the folder can be made");
    folder.write("fencepost.toml", "watch = \"dumps\"\n");
    let text = kernel("gluon/sum_rows.py");
    let line = text.lines().position(|line| line.starts_with("def sum_rows(")).expect("the kernel") + 1;
    let mut capabilities = pulls();
    capabilities["textDocument"]["inlayHint"] = json!({});
    capabilities["workspace"]["didChangeWatchedFiles"] =
        json!({ "dynamicRegistration": true, "relativePatternSupport": true });
    let mut server = Server::start(capabilities);
    let asked = server.event("client/registerCapability");
    server.respond(&asked, Value::Null);
    let python = folder.uri("sum_rows.py");
    server.open_as("python", &python, &text);
    let hints = |server: &mut Server| {
        pull(server, &python);
        let whole = range((0, 0), (text.lines().count(), 0));
        let params = json!({ "textDocument": { "uri": python }, "range": whole });
        server.request("textDocument/inlayHint", params).expect("hints").to_string()
    };
    assert!(!hints(&mut server).contains("compiled before"));
    let asked = server.event("client/registerCapability");
    let one = &asked["params"]["registrations"][0];
    assert_eq!(one["id"], json!("fencepost/dumps/0"));
    let pattern = &one["registerOptions"]["watchers"][0]["globPattern"];
    assert_eq!(pattern, &json!({ "baseUri": folder.uri("dumps"), "pattern": "**/*.ttgir" }));
    server.respond(&asked, Value::Null);
    let file = folder.0.join("sum_rows.py").display().to_string();
    folder.write("dumps/KEY/sum_rows.ttgir", &compiled(&file, line, 8));
    let change = json!({ "changes": [{ "uri": folder.uri("dumps/KEY/sum_rows.ttgir"), "type": 1 }] });
    server.notify("workspace/didChangeWatchedFiles", change);
    refreshed(&mut server);
    assert!(hints(&mut server).contains("compiled before"));
}

#[test]
fn paths_that_an_editor_says_count_from_its_folder() {
    let folder = Folder::new("settings-editor-paths");
    std::fs::create_dir_all(folder.0.join("dumps/KEY")).expect("the folder can be made");
    let text = kernel("gluon/sum_rows.py");
    let line = text.lines().position(|line| line.starts_with("def sum_rows(")).expect("the kernel") + 1;
    let file = folder.0.join("sum_rows.py").display().to_string();
    folder.write("dumps/KEY/sum_rows.ttgir", &compiled(&file, line, 8));
    let mut command = std::process::Command::new(crate::support::binary());
    command.arg("lsp");
    let mut capabilities = pulls();
    capabilities["textDocument"]["inlayHint"] = json!({});
    let mut server = Server::spawn_with(command, capabilities, json!({ "watch": ["dumps"] }));
    let root = folder.uri("").trim_end_matches('/').to_owned();
    let event = json!({ "added": [{ "uri": root, "name": "w" }], "removed": [] });
    server.notify("workspace/didChangeWorkspaceFolders", json!({ "event": event }));
    let python = folder.uri("sum_rows.py");
    server.open_as("python", &python, &text);
    pull(&mut server, &python);
    let whole = range((0, 0), (text.lines().count(), 0));
    let params = json!({ "textDocument": { "uri": python }, "range": whole });
    let hints = server.request("textDocument/inlayHint", params).expect("hints").to_string();
    assert!(hints.contains("compiled before"), "{hints}");
}
