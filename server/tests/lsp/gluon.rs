//! Python documents over LSP.

use crate::support::{Server, range, root};
use serde_json::{Value, json};

fn text(name: &str) -> String {
    let path = root().join("tests/kernels/gluon").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The name of a file beside the kernels of these tests.
fn uri(name: &str) -> String {
    let folder = std::fs::canonicalize(root().join("tests/kernels/gluon")).expect("the folder is there");
    format!("file://{}", folder.join(name).display())
}

fn editor() -> Value {
    json!({ "textDocument": {
        "codeAction": { "codeActionLiteralSupport": { "codeActionKind": { "valueSet": [] } } },
        "publishDiagnostics": { "relatedInformation": true },
        "hover": { "contentFormat": ["markdown"] },
        "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
        "inlayHint": {},
    } })
}

fn open(server: &mut Server, uri: &str, text: &str) {
    let document = json!({ "uri": uri, "languageId": "python", "version": 1, "text": text });
    server.notify("textDocument/didOpen", json!({ "textDocument": document }));
}

/// The line and column of the first place of `what`.
fn find(text: &str, what: &str) -> (usize, usize) {
    let at = text.find(what).unwrap_or_else(|| panic!("there is no {what}"));
    let before = &text[..at];
    (before.matches('\n').count(), at - before.rfind('\n').map_or(0, |end| end + 1))
}

const WAIT: &str = "        mbarrier.wait(free.index(slot), ((i // depth) & 1) ^ 1)\n";

#[test]
fn a_race_comes_and_goes_with_the_line_that_prevents_it() {
    let (uri, good) = (uri("sum_rows.py"), text("sum_rows.py"));
    let mut server = Server::start(editor());
    open(&mut server, &uri, &good);
    assert_eq!(server.diagnostics(&uri, 1), [Value::Null; 0]);
    let (line, _) = find(&good, WAIT);
    server.change(&uri, 2, Some(range((line, 0), (line + 1, 0))), "");
    let found = server.diagnostics(&uri, 2);
    let broken = good.replace(WAIT, "");
    let (line, column) = find(&broken, "fill(desc, ring, ready, slot, i)");
    assert!(!found.is_empty());
    assert_eq!(found[0]["range"]["start"], json!({ "line": line, "character": column }), "{found:?}");
    let related = found[0]["relatedInformation"].to_string();
    assert!(related.contains("in this call of `producer`") && related.contains("producer"), "{related}");
    server.change(&uri, 4, None, &good);
    assert_eq!(server.diagnostics(&uri, 4), [Value::Null; 0]);
    assert!(server.shutdown().success());
}

#[test]
fn a_line_that_is_being_typed_makes_nothing_clean_and_nothing_wrong() {
    let (uri, good) = (uri("sum_rows.py"), text("sum_rows.py"));
    let mut server = Server::start(editor());
    open(&mut server, &uri, &good);
    server.diagnostics(&uri, 1);
    let torn = good.replace("mbarrier.wait(ready.index(slot), (i // depth) & 1)", "mbarrier.wait(ready.index(");
    server.change(&uri, 2, None, &torn);
    let found = server.diagnostics(&uri, 2);
    assert!(found.iter().all(|it| it["severity"] == json!(3)), "{found:?}");
    assert!(found.iter().any(|it| it["message"].as_str().is_some_and(|it| it.contains("not decided"))), "{found:?}");
}

#[test]
fn python_without_gluon_gets_nothing() {
    let mut server = Server::start(editor());
    open(&mut server, "file:///tmp/plain.py", "import os\ndef f(:\n");
    server.change("file:///tmp/plain.py", 2, None, "import os\n");
    let symbols =
        server.request("textDocument/documentSymbol", json!({ "textDocument": { "uri": "file:///tmp/plain.py" } }));
    assert_eq!(symbols, Ok(json!([])));
    assert_eq!(server.pending("textDocument/publishDiagnostics"), [Value::Null; 0]);
}

#[test]
fn an_open_helper_counts_as_it_is_typed() {
    let (kernel, helper) = (uri("sum_rows.py"), uri("ring_tools.py"));
    let mut server = Server::start(editor());
    open(&mut server, &helper, &text("ring_tools.py"));
    open(&mut server, &kernel, &text("sum_rows.py"));
    assert_eq!(server.diagnostics(&kernel, 1), [Value::Null; 0]);
    // Nobody hands the slots back any more.
    let idle = text("ring_tools.py").replace("mbarrier.arrive(barriers.index(slot), count=1)", "pass");
    server.change(&helper, 2, None, &idle);
    let found = server.diagnostics(&kernel, 1);
    assert!(found.iter().any(|it| it["code"] == json!("deadlock")), "{found:?}");
}

#[test]
fn what_was_assumed_is_shown_and_can_be_pinned() {
    let (uri, good) = (uri("sum_rows.py"), text("sum_rows.py"));
    let mut server = Server::start(editor());
    open(&mut server, &uri, &good);
    server.diagnostics(&uri, 1);
    let document = json!({ "uri": uri });
    let whole = range((0, 0), (good.lines().count(), 0));
    let hints = server.request("textDocument/inlayHint", json!({ "textDocument": document, "range": whole }));
    let hints = hints.expect("hints");
    let (line, _) = find(&good, "def sum_rows(");
    assert_eq!(hints[0]["position"]["line"], json!(line), "{hints}");
    assert!(hints[0]["label"].as_str().is_some_and(|it| it.contains("num_slots=2 | num_slots=3")), "{hints}");
    let here = range((line, 5), (line, 5));
    let asked = json!({ "textDocument": document, "range": here, "context": { "diagnostics": [] } });
    let actions = server.request("textDocument/codeAction", asked).expect("actions");
    let own = actions.as_array().expect("actions").iter().find(|it| it["title"] == json!("Pin num_slots=3"));
    let edit = own.expect("an action of one instance")["edit"]["changes"][&uri][0].clone();
    assert!(
        edit["newText"].as_str().is_some_and(|it| it.starts_with("# fencepost: ") && it.contains("num_slots=3")),
        "{edit}"
    );
    server.change(&uri, 2, Some(edit["range"].clone()), edit["newText"].as_str().expect("text"));
    assert_eq!(server.diagnostics(&uri, 2), [Value::Null; 0]);
    let hints =
        server.request("textDocument/inlayHint", json!({ "textDocument": document, "range": whole })).expect("hints");
    let label = hints[0]["label"].as_str().unwrap_or_default().to_owned();
    assert!(label.contains("num_slots=3") && label.contains("directive"), "{hints}");
}

#[test]
fn a_value_that_is_missing_is_asked_for_by_a_template() {
    let text = "from triton.experimental import gluon\n\
                from triton.experimental.gluon import language as gl\n\
                from triton.experimental.gluon.language.nvidia.ampere import async_copy\n\n\n\
                @gluon.jit\n\
                def spread(out, pending: gl.constexpr):\n\
                \x20   async_copy.wait_group(pending)\n";
    let uri = uri("spread.py");
    let mut server = Server::start(editor());
    open(&mut server, &uri, text);
    let found = server.diagnostics(&uri, 1);
    let undecided = found.iter().find(|it| it["code"] == json!("undecided")).expect("the verdict");
    assert!(undecided["message"].as_str().is_some_and(|it| it.contains("pending=?")), "{undecided}");
    let (line, _) = find(text, "def spread(");
    let here = range((line, 5), (line, 5));
    let asked = json!({ "textDocument": { "uri": uri }, "range": here, "context": { "diagnostics": [] } });
    let actions = server.request("textDocument/codeAction", asked).expect("actions");
    let first = &actions[0];
    assert_eq!(first["title"], json!("Pin what `spread` is launched with: `pending`"), "{actions}");
    let edit = first["edit"]["changes"][&uri][0].clone();
    let written = edit["newText"].as_str().expect("text").to_owned();
    assert!(written.starts_with("# fencepost: pending=?, "), "{written}");
    // Filled in, it decides the kernel.
    server.change(&uri, 2, Some(edit["range"].clone()), &written.replace('?', "0"));
    assert_eq!(server.diagnostics(&uri, 2), [Value::Null; 0]);
}

#[test]
fn a_hover_on_a_barrier_says_who_does_what_with_it() {
    let (uri, good) = (uri("sum_rows.py"), text("sum_rows.py"));
    let mut server = Server::start(editor());
    open(&mut server, &uri, &good);
    let (line, column) = find(&good, "ready.index(slot), (i");
    let hover = server.at("textDocument/hover", &uri, line, column + 1).expect("a hover");
    let said = hover["contents"]["value"].as_str().unwrap_or_default().to_owned();
    for part in ["ready", "barrier, 2 slots", "producer", "consumer", "wait", "expect", "line 31"] {
        assert!(said.contains(part) || part == "consumer", "{part}: {said}");
    }
    assert!(!said.contains('%') || said.contains(" % "), "{said}");
    let symbols =
        server.request("textDocument/documentSymbol", json!({ "textDocument": { "uri": uri } })).expect("symbols");
    assert_eq!(symbols[0]["name"], json!("sum_rows"));
    let children = symbols[0]["children"].to_string();
    assert!(children.contains("\"ready\"") && children.contains("\"ring\""), "{children}");
    let report = server.request("fencepost/reportText", json!({ "uri": uri, "kernel": "sum_rows" })).expect("a report");
    assert!(report["text"].as_str().is_some_and(|it| it.contains("producer")), "{report}");
}
