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
    assert_eq!(
        server.info["capabilities"]["experimental"]["fencepost"]["runs"],
        json!({ "cpu": false, "gpu": false, "gsan": false })
    );
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
        json!(["fencepost.showVerdict", "fencepost.runKernel", "fencepost.replayLog", "fencepost.showPython"])
    );
    assert_eq!(server.info["capabilities"]["experimental"]["fencepost"]["runs"]["cpu"], json!(true));
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
    let said = said["params"]["message"].as_str().unwrap_or_default().to_owned();
    // A line of an editor holds it.
    assert!(said.contains(": asserted under ConSan and GSan (CPU), ") && said.len() < 120, "{said}");
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

/// Has a kernel run and waits for what came of it; what is asked is agreed to.
fn waited(server: &mut Server, uri: &str) -> Value {
    let order = json!({ "uri": uri, "backend": "cpu", "wait": true });
    let id = server.ask("workspace/executeCommand", json!({ "command": "fencepost.runKernel", "arguments": [order] }));
    let question = server.event("window/showMessageRequest");
    server.respond(&question, json!({ "title": "Run" }));
    server.answer(id).expect("an answer")
}

#[test]
fn who_waits_for_a_run_is_told_what_came_of_it() {
    let room = Room::new("waited");
    let mut server = room.server(json!({}), json!({ "trusted": true, "python": "/none/bin/python" }));
    let (uri, text) = (room.uri(), broken());
    server.open(&uri, &text);
    let answer = waited(&mut server, &uri);
    assert_eq!((&answer["state"], &answer["outdated"]), (&json!("asserted"), &json!(false)), "{answer}");
    let found = of_runs(answer["diagnostics"].as_array().expect("what was found"));
    assert!(found.iter().any(|(line, _, severity)| *line > 0 && *severity == 1), "at a line, as an error: {answer}");
    assert!(server.pending("window/showMessage").is_empty(), "nobody else is told");
    assert!(answer["details"][0].as_str().is_some_and(|it| it.starts_with("@ws_gemm: the analysis ")), "{answer}");
    // The same marks stand in the text.
    while of_runs(&server.diagnostics(&uri, 1)) != found {}

    let clean = format!("file://{}/clean.ttgir", room.0.display());
    server.open(&clean, &kernel("ring.ttgir"));
    let answer = waited(&mut server, &clean);
    assert_eq!((&answer["state"], &answer["diagnostics"]), (&json!("passed"), &json!([])), "{answer}");

    // What cannot be run says why, to who waits.
    let order = json!({ "uri": "file:///nosuch.ttgir", "wait": true });
    let asked = json!({ "command": "fencepost.runKernel", "arguments": [order] });
    let answer = server.request("workspace/executeCommand", asked).expect("an answer");
    assert_eq!(answer["state"], json!("refused"), "{answer}");
    assert!(answer["summary"].as_str().is_some_and(|why| why.contains("not open")), "{answer}");
    assert!(server.shutdown().success());
}

#[test]
fn who_waits_for_a_run_of_python_is_told_what_came_of_it() {
    let room = Room::new("waited-python");
    fs::copy(crate::support::root().join("tests/kernels/gluon/ring_tools.py"), room.0.join("ring_tools.py"))
        .expect("a helper");
    let wait = "        mbarrier.wait(free.index(slot), ((i // depth) & 1) ^ 1)\n";
    let recipe = "# fencepost-run: grid=1 desc=f16[256,64]:normal rows=8 num_slots=2\n";
    let whole = kernel("gluon/sum_rows.py");
    assert!(whole.contains(wait));
    let text = format!("{recipe}{}", whole.replace(wait, ""));
    fs::write(room.0.join("k.py"), &text).expect("a kernel");
    let mut server = room.server(json!({}), json!({ "trusted": true, "python": "/none/bin/python" }));
    let uri = format!("file://{}/k.py", room.0.display());
    server.open_as("python", &uri, &text);
    let answer = waited(&mut server, &uri);
    assert_eq!(answer["state"], json!("asserted"), "{answer}");
    let found = of_runs(answer["diagnostics"].as_array().expect("what was found"));
    assert!(found.iter().any(|(line, _, severity)| *line > 0 && *severity == 1), "at a line, as an error: {answer}");
    assert!(server.shutdown().success());
}

#[test]
fn a_run_that_nobody_waits_for_any_more_ends() {
    let room = Room::new("gone");
    let matmul =
        fs::read_to_string(crate::support::root().join("tests/runs/ttgir/sm_90/matmul.ttgir")).expect("a kernel");
    let large = "// fencepost-run: matmul grid=(4096) a=f16[4096,2048] b=f16[2048,4096] c=f16[4096,4096]:nan M=4096 N=4096 K=2048\n";
    let text = format!("{large}{}", matmul.split_once('\n').expect("a recipe").1);
    let mut server = room.server(json!({}), json!({ "trusted": true }));
    let uri = room.uri();
    server.open(&uri, &text);
    let order = json!({ "uri": uri, "wait": true });
    let asked = json!({ "command": "fencepost.runKernel", "arguments": [order] });
    let id = server.ask("workspace/executeCommand", asked.clone());
    let question = server.event("window/showMessageRequest");
    server.respond(&question, json!({ "title": "Run" }));
    // While it goes on no other one may begin.
    let refused = server.request("workspace/executeCommand", asked.clone()).expect("an answer");
    assert!(refused["summary"].as_str().is_some_and(|why| why.contains("is being run")), "{refused}");
    server.notify("$/cancelRequest", json!({ "id": id }));
    assert!(server.answer(id).is_err());
    // A log that is not there is read by nobody; what is said tells whether the first run still goes on.
    let other = json!({ "uri": uri, "log": room.0.join("nosuch.log"), "wait": true });
    let begun = std::time::Instant::now();
    loop {
        let asked = json!({ "command": "fencepost.replayLog", "arguments": [other] });
        let answer = server.request("workspace/executeCommand", asked).expect("an answer");
        if !answer["summary"].as_str().is_some_and(|why| why.contains("is being run")) {
            break;
        }
        assert!(begun.elapsed().as_secs() < 60, "the first run goes on");
    }
    assert!(server.shutdown().success());
}

#[test]
fn a_python_without_triton_is_said_once_a_file() {
    let room = Room::new("without-triton");
    let text = format!("{}\n\n@gluon.jit\ndef other(a):\n    gl.store(a, 1)\n", kernel("gluon/sum_rows.py"));
    let uri = format!("file://{}/k.py", room.0.display());
    let lenses = |options: Value, language: &str, uri: &str, text: &str| {
        let mut server = room.server(json!({ "textDocument": { "codeLens": {} } }), options);
        server.open_as(language, uri, text);
        // Python is elaborated first.
        server.request("textDocument/diagnostic", json!({ "textDocument": { "uri": uri } })).expect("a report");
        let lenses =
            server.request("textDocument/codeLens", json!({ "textDocument": { "uri": uri } })).expect("lenses");
        let missing = lenses
            .as_array()
            .into_iter()
            .flatten()
            .filter(|it| it["command"]["command"] == json!("fencepost.showPython"));
        let titles: Vec<String> =
            missing.map(|it| it["command"]["title"].as_str().unwrap_or_default().to_owned()).collect();
        server
            .request("workspace/executeCommand", json!({ "command": "fencepost.showPython" }))
            .expect("it is answered");
        let said = if titles.is_empty() {
            Value::Null
        } else {
            server.event("window/showMessage")["params"]["message"].clone()
        };
        assert!(server.shutdown().success());
        (titles, said)
    };
    let without = json!({ "trusted": true, "python": "/none/bin/python" });
    let (titles, said) = lenses(without.clone(), "python", &uri, &text);
    assert_eq!(titles, ["No Triton in /none/bin/python: no runs on a GPU, nothing compiled on save"]);
    let said = said.as_str().unwrap_or_default().to_owned();
    assert!(said.contains("/none/bin/python") && said.contains("pip install triton"), "{said}");
    assert_eq!(lenses(without, "ttgir", &room.uri(), &broken()).0, [""; 0], "TTGIR needs none");
    assert_eq!(lenses(json!({ "trusted": false, "python": "/none/bin/python" }), "python", &uri, &text).0, [""; 0]);
    let with = room.0.join("venv");
    fs::create_dir_all(with.join("lib/python3.12/site-packages/triton")).expect("a folder");
    fs::write(with.join("lib/python3.12/site-packages/triton/__init__.py"), "").expect("a file");
    let with = json!({ "trusted": true, "python": with.join("bin/python") });
    assert_eq!(lenses(with, "python", &uri, &text).0, [""; 0]);
}
