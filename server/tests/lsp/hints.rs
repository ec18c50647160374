//! Inlay hints and code lenses, in both languages.

use crate::support::{Server, kernel, range, root};
use serde_json::{Value, json};

const URI: &str = "file:///k.ttgir";

fn python() -> (String, String) {
    let folder = std::fs::canonicalize(root().join("tests/kernels/gluon")).expect("the folder is there");
    let text = std::fs::read_to_string(folder.join("sum_rows.py")).expect("the file is there");
    (format!("file://{}", folder.join("sum_rows.py").display()), text)
}

fn hints(server: &mut Server, uri: &str, lines: (usize, usize)) -> Vec<(usize, String)> {
    let asked = json!({ "textDocument": { "uri": uri }, "range": range((lines.0, 0), (lines.1, 0)) });
    let hints = server.request("textDocument/inlayHint", asked).expect("hints");
    let hint = |hint: &Value| {
        let line = hint["position"]["line"].as_u64().unwrap_or_default() as usize;
        (line, hint["label"].as_str().unwrap_or_default().to_owned())
    };
    hints.as_array().map(|all| all.iter().map(hint).collect()).unwrap_or_default()
}

fn line(text: &str, with: &str) -> usize {
    text.lines().position(|line| line.contains(with)).unwrap_or_else(|| panic!("there is no {with}"))
}

#[test]
fn ttgir_shows_slot_phase_and_bytes() {
    let text = kernel("attention.ttgir");
    let mut server = Server::start(json!({ "textDocument": { "inlayHint": {} } }));
    server.open(URI, &text);
    let all = hints(&mut server, URI, (0, text.lines().count()));
    let at = |with: &str| {
        let wanted = line(&text, with);
        all.iter().find(|(line, _)| *line == wanted).map(|(_, label)| label.as_str())
    };
    assert_eq!(at("ttng.wait_barrier %22"), Some("slot cursor.index, phase cursor.phase_19"), "{all:?}");
    assert_eq!(at("ttng.wait_barrier %bar,"), Some("phase 0"));
    let expect = all.iter().filter(|(_, label)| label.contains("KiB")).count();
    assert!(expect >= 4, "{all:?}");
    // Only what was asked for.
    let wait = line(&text, "ttng.wait_barrier %22");
    let some = hints(&mut server, URI, (wait, wait + 1));
    assert_eq!(some.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [wait]);
}

#[test]
fn python_shows_slot_phase_and_bytes() {
    let (uri, text) = python();
    let mut server = Server::start(json!({ "textDocument": { "inlayHint": {} } }));
    server.open_as("python", &uri, &text);
    server.diagnostics(&uri, 1);
    let all = hints(&mut server, &uri, (0, text.lines().count()));
    let at = |with: &str| {
        let wanted = line(&text, with);
        all.iter().find(|(line, _)| *line == wanted).map(|(_, label)| label.as_str())
    };
    assert_eq!(at("mbarrier.wait(ready.index(slot)"), Some("slot i % num_slots, phase (i / num_slots) & 1"), "{all:?}");
    assert_eq!(
        at("mbarrier.wait(free.index(slot)"),
        Some("slot i % num_slots, phase ((i / num_slots) & 1) ^ 1"),
        "{all:?}"
    );
    assert!(at("mbarrier.expect(ready").is_some_and(|label| label.contains("slot i % num_slots, ")), "{all:?}");
    assert_eq!(hints(&mut server, &uri, (0, 3)), []);
}

/// A line that a hint makes three times as long hides the code; what is left out of it is what the tooltip says.
#[test]
fn a_hint_of_many_values_is_short_and_its_tooltip_says_all() {
    let names: Vec<String> = (0..20).map(|at| format!("BLOCK_{at}")).collect();
    let parameters = names.iter().map(|name| format!(", {name}: tl.constexpr")).collect::<String>();
    let text = format!(
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef fill(x{parameters}):\n    tl.store(x, 1)\n"
    );
    let mut server = Server::start(json!({ "textDocument": { "inlayHint": {} } }));
    let uri = "file:///w/fill.py";
    server.open_as("python", uri, &text);
    server.diagnostics(uri, 1);
    let asked = json!({ "textDocument": { "uri": uri }, "range": range((5, 0), (6, 0)) });
    let hint = server.request("textDocument/inlayHint", asked).expect("hints")[0].clone();
    let said = |what: &str| hint[what].as_str().unwrap_or_default().to_owned();
    assert!(said("label").ends_with(" …") && said("label").chars().count() <= 80, "{hint}");
    assert!(names.iter().all(|name| said("tooltip").contains(&format!("{name}="))), "{hint}");
}

#[test]
fn a_document_that_is_not_open_has_no_hints_and_no_lenses() {
    let mut server = Server::start(json!({ "textDocument": { "inlayHint": {}, "codeLens": {} } }));
    for uri in ["file:///nowhere.ttgir", "file:///nowhere.py"] {
        assert_eq!(hints(&mut server, uri, (0, 9)), []);
        let lenses = server.request("textDocument/codeLens", json!({ "textDocument": { "uri": uri } }));
        assert_eq!(lenses, Ok(Value::Null));
    }
}

fn lenses(server: &mut Server, uri: &str) -> Vec<(String, String, Value)> {
    let lenses = server.request("textDocument/codeLens", json!({ "textDocument": { "uri": uri } })).expect("lenses");
    let lens = |lens: &Value| {
        let text = |name: &str| lens["command"][name].as_str().unwrap_or_default().to_owned();
        (text("title"), text("command"), lens["command"]["arguments"][0].clone())
    };
    lenses.as_array().map(|all| all.iter().map(lens).collect()).unwrap_or_default()
}

#[test]
fn a_lens_says_the_verdict_of_this_very_text_and_is_asked_for_again() {
    let client = json!({ "textDocument": { "codeLens": {} }, "workspace": { "codeLens": { "refreshSupport": true } } });
    let (uri, good) = python();
    for (uri, language, text, broken) in [
        (URI, "ttgir", kernel("ring.ttgir"), kernel("ring_not_waited.ttgir")),
        (
            uri.as_str(),
            "python",
            good.clone(),
            good.replace("        mbarrier.wait(free.index(slot), ((i // depth) & 1) ^ 1)\n", ""),
        ),
    ] {
        let mut server = Server::start(client.clone());
        server.open_as(language, uri, &text);
        let asked = server.event("workspace/codeLens/refresh");
        server.respond(&asked, Value::Null);
        let first = lenses(&mut server, uri);
        let [(title, command, argument)] = first.as_slice() else { panic!("{first:?}") };
        assert!(title == "fencepost: proved" || title == "fencepost: clean", "{title}");
        assert_eq!(command, "fencepost.showVerdict");
        // The server itself has the command.
        let run = json!({ "command": command, "arguments": [argument] });
        assert_eq!(server.request("workspace/executeCommand", run), Ok(Value::Null));
        let message = server.event("window/showMessage");
        assert!(message["params"]["message"].as_str().is_some_and(|it| it.contains("Verdict on")), "{message}");
        server.change(uri, 2, None, &broken);
        let now = lenses(&mut server, uri);
        assert!(now[0].0 == "fencepost: not analysed yet" || now[0].0.contains("finding"), "{now:?}");
        server.event("workspace/codeLens/refresh");
        let then = lenses(&mut server, uri);
        assert!(then[0].0.contains("finding"), "{then:?}");
    }
}

#[test]
fn a_kernel_that_names_its_program_has_a_lens_for_it() {
    let commands = json!({ "commands": { "commands": ["fencepost.showLinked"] } });
    let mut server = Server::start(json!({ "textDocument": { "codeLens": {} }, "experimental": commands }));
    let compiled = std::fs::read_to_string(root().join("tests/runs/ttgir/sm_90/matmul.ttgir")).expect("a kernel");
    for (uri, text, named) in [("file:///w/a.ttgir", compiled, true), (URI, kernel("ring.ttgir"), false)] {
        server.open(uri, &text);
        server.diagnostics(uri, 1);
        let of: Vec<_> = lenses(&mut server, uri).into_iter().filter(|it| it.1 == "fencepost.showLinked").collect();
        assert_eq!(of.len(), usize::from(named), "{of:?}");
        for (title, _, argument) in of {
            assert_eq!(title, "Show program beside");
            assert_eq!(argument["uri"], json!(uri));
            assert!(argument["position"]["line"].is_u64(), "{argument}");
        }
    }
    assert!(server.shutdown().success());
}

#[test]
fn report_and_timeline_have_lenses_where_the_client_has_the_commands() {
    let commands = json!({ "commands": { "commands": ["fencepost.showReport", "fencepost.showTimeline"] } });
    let client = json!({ "textDocument": { "codeLens": {} }, "experimental": commands });
    let mut server = Server::start(client);
    let text = kernel("ring_not_waited.ttgir");
    server.open(URI, &text);
    server.diagnostics(URI, 1);
    let all = lenses(&mut server, URI);
    let commands: Vec<&str> = all.iter().map(|(_, command, _)| command.as_str()).collect();
    assert_eq!(commands, ["fencepost.showVerdict", "fencepost.showReport", "fencepost.showTimeline"]);
    let drawn = server.request("fencepost/timeline", all[2].2.clone()).expect("a drawing");
    let drawn = drawn["text"].as_str().unwrap_or_default().to_owned();
    assert!(drawn.contains("finding 1 of"), "{drawn}");
    // Of a kernel without findings a run is drawn in which nothing is wrong; in Python too.
    let (uri, python) = python();
    server.open_as("python", &uri, &python);
    server.diagnostics(&uri, 1);
    let of = lenses(&mut server, &uri);
    let drawn = server.request("fencepost/timeline", of[2].2.clone()).expect("a drawing");
    assert!(drawn["text"].as_str().is_some_and(|it| it.contains("kernel @sum_rows is")), "{drawn}");
    let mut plain = Server::start(json!({}));
    assert_eq!(plain.info["capabilities"]["codeLensProvider"], Value::Null);
    plain.open(URI, &text);
    assert!(plain.shutdown().success());
}
