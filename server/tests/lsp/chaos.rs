//! Random edits of real files over the wire, with requests and cancellations in between: each request is answered once,
//! and a document that was edited is the one that is opened with the same text.
//!
//! `FENCEPOST_CHAOS=100000 cargo test --release -p fencepost --test lsp -- chaos --ignored` makes many.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::requests;
use crate::support::{Server, everything, range, root};
use serde_json::{Value, json};

#[path = "../../../tests/src/chaos/edits.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the tests of the analysis")]
mod edits;

use edits::{Edit, Typist};

/// Files below `tests`, of both languages.
const FILES: &[&str] = &[
    "kernels/ring.ttgir",
    "kernels/gluon/sum_rows.py",
    "kernels/ring_not_waited.ttgir",
    "kernels/attention.ttgir",
    "corpus/gluon/lds_barrier_copy.py",
    "corpus/ttgir/sm_90/cp_async_ws.ttgir",
    "corpus/gluon/gemm_ring3.py",
    "corpus/ttgir/gfx1250/lds_barrier_copy.ttgir",
    "corpus/gluon/cluster_scale_rows.py",
    "corpus/ttgir/sm_90/ws_gemm.ttgir",
    "corpus/gluon/ws_gemm.py",
    "corpus/ttgir/sm_100/tc05_persistent.ttgir",
    "corpus/gluon/rms_norm_rows.py",
    "corpus/ttgir/sm_90/softmax_two_pass.ttgir",
    "corpus/gluon/tdm_rows.py",
    "corpus/ttgir/sm_100/clc_copy_rows.ttgir",
    "corpus/gluon/cluster_gemm.py",
    "corpus/ttgir/sm_90/cluster_gemm.ttgir",
    "corpus/gluon/tdm_ws_gemm.py",
    "corpus/ttgir/gfx1250/tdm_ws_gemm.ttgir",
];

/// A document as the client has it.
struct Open {
    uri: String,
    original: String,
    text: String,
    version: i32,
    typist: Typist,
}

impl Open {
    fn language(&self) -> &'static str {
        if self.uri.ends_with(".py") { "python" } else { "ttgir" }
    }

    /// The place of a byte, as the protocol counts it in UTF-8, 16 or 32.
    fn place(&self, at: usize, unit: u32) -> (usize, usize) {
        let before = &self.text[..at];
        // A `\r` alone ends a line, before `\n` it does not by itself.
        let ends = before.char_indices().filter(|(at, c)| match c {
            '\n' => true,
            '\r' => self.text.as_bytes().get(at + 1) != Some(&b'\n'),
            _ => false,
        });
        let (lines, start) = ends.fold((0, 0), |(lines, _), (at, _)| (lines + 1, at + 1));
        let column = before[start..].chars().map(|c| match unit {
            8 => c.len_utf8(),
            16 => c.len_utf16(),
            _ => 1,
        });
        (lines, column.sum())
    }

    /// Makes an edit here and there.
    fn change(&mut self, server: &mut Server, edit: &Edit, unit: u32) {
        let fit = edit.fit(&self.text);
        let splits = |at: u32| {
            let bytes = self.text.as_bytes();
            at > 0 && bytes.get(at as usize - 1) == Some(&b'\r') && bytes.get(at as usize) == Some(&b'\n')
        };
        self.version += 1;
        let made = edit.apply(&self.text);
        if splits(fit.start) || splits(fit.end) {
            // No position is inside of a line end.
            server.change(&self.uri, self.version, None, &made);
        } else {
            let (start, end) = (self.place(fit.start as usize, unit), self.place(fit.end as usize, unit));
            server.change(&self.uri, self.version, Some(range(start, end)), &edit.with);
        }
        self.text = made;
    }

    fn examples(&mut self, server: &Server, unit: u32) -> Vec<(String, Value)> {
        let at = self.typist.place(&self.text);
        requests::examples_at(&server.info["capabilities"], &self.uri, &self.text, self.place(at, unit))
    }
}

/// What is asked of a document to compare it with another. A hover says what is known by then of a report that is
/// being made; `tests/src/chaos` compares the rest of it.
const COMPARED: [&str; 5] = [
    "textDocument/diagnostic",
    "textDocument/documentSymbol",
    "textDocument/foldingRange",
    "textDocument/inlayHint",
    "textDocument/codeLens",
];

fn answers(server: &mut Server, uri: &str, asked: &[(String, Value)]) -> Vec<Result<Value, Value>> {
    // Lenses say the verdict, once there is one.
    let waited = server.request("textDocument/diagnostic", json!({ "textDocument": { "uri": uri } }));
    assert!(waited.is_ok(), "{waited:?}");
    let asked = asked.iter().filter(|(method, _)| COMPARED.contains(&method.as_str()));
    asked.map(|(method, params)| server.request(method, params.clone()).map(of_this_text)).collect()
}

/// An answer without what it says of an earlier text: who has seen none says nothing of it.
fn of_this_text(mut answer: Value) -> Value {
    let earlier = |item: &Value| item["message"].as_str().is_some_and(|text| text.contains("(of an earlier text;"));
    if let Some(items) = answer.get_mut("items").and_then(Value::as_array_mut) {
        items.retain(|item| !earlier(item) && !item["message"].as_str().is_some_and(|it| it.contains(AROUND)));
        answer["resultId"] = Value::Null;
    }
    answer
}

/// What is said of a kernel that an earlier text had.
const AROUND: &str = "the text around it does not parse";

/// Requests in flight: each is answered once.
#[derive(Default)]
struct Flight(BTreeSet<i64>);

impl Flight {
    fn land(&mut self, server: &mut Server) {
        for id in std::mem::take(&mut self.0) {
            if let Err(error) = server.answer(id) {
                let code = error["code"].as_i64();
                let known = [-32800, -32801, -32802, -32603, -32602, -32803];
                assert!(code.is_some_and(|code| known.contains(&code)), "request {id}: {error}");
                let said = error["message"].as_str().unwrap_or_default();
                assert!(!said.contains("panic") && code != Some(-32603), "request {id}: {error}");
            }
        }
    }
}

fn run(files: &[&str], edits: usize, seed: u64) {
    for (unit, chosen) in [(8, 0), (16, 1), (32, 2)] {
        let mut capabilities = everything();
        // Who is not told to ask again gets whole answers.
        capabilities["workspace"]["diagnostics"] = Value::Null;
        capabilities["general"]["positionEncodings"] = json!([format!("utf-{unit}")]);
        let mut command = std::process::Command::new(crate::support::binary());
        command.arg("lsp");
        let mut server = Server::spawn_with(command, capabilities, json!({}));
        for (stream, name) in files.iter().enumerate().filter(|(at, _)| at % 3 == chosen) {
            session(&mut server, name, edits, unit, Typist::new(seed, stream as u64));
        }
        assert_eq!(server.shutdown().code(), Some(0));
    }
}

fn session(server: &mut Server, name: &str, edits: usize, unit: u32, typist: Typist) {
    let path: PathBuf = std::fs::canonicalize(root().join("tests").join(name)).expect("the file is there");
    let original = std::fs::read_to_string(&path).expect("the file is there");
    let uri = format!("file://{}", path.display());
    let mut open = Open { uri, text: original.clone(), original, version: 1, typist };
    server.open_as(open.language(), &open.uri, &open.text);
    let mut flight = Flight::default();
    for number in 1..=edits {
        let edit = open.typist.edit(&open.text, &open.original.clone());
        open.change(server, &edit, unit);
        if open.typist.below(3) == 0 {
            let mut examples = open.examples(server, unit);
            let (method, params) = examples.swap_remove(open.typist.below(examples.len()));
            flight.0.insert(server.ask(&method, params));
        }
        if let (Some(&id), 0) = (flight.0.first(), open.typist.below(5)) {
            server.notify("$/cancelRequest", json!({ "id": id }));
        }
        if number % 10 == 0 {
            flight.land(server);
        }
        if number == edits || number % 200 == 0 {
            flight.land(server);
            compare(server, &mut open, unit, name);
        }
        // What the server asks is answered, as clients do.
        for method in ["window/workDoneProgress/create", "client/registerCapability"] {
            server.answer_all(method);
        }
    }
    server.notify("textDocument/didClose", json!({ "textDocument": { "uri": open.uri } }));
}

/// The document as it was edited says what it says when it is opened anew.
fn compare(server: &mut Server, open: &mut Open, unit: u32, name: &str) {
    let asked = open.examples(server, unit);
    let edited = answers(server, &open.uri, &asked);
    server.notify("textDocument/didClose", json!({ "textDocument": { "uri": open.uri } }));
    open.version += 1;
    let document =
        json!({ "uri": open.uri, "languageId": open.language(), "version": open.version, "text": open.text });
    server.notify("textDocument/didOpen", json!({ "textDocument": document }));
    let fresh = answers(server, &open.uri, &asked);
    // A function that does not parse any more is known by its last good text.
    let broken =
        |answers: &[Result<Value, Value>]| answers.iter().flatten().any(|it| it.to_string().contains("does not parse"));
    if open.language() == "python" && (broken(&edited) || broken(&fresh)) {
        return;
    }
    for (edited, fresh) in edited.iter().zip(&fresh) {
        if edited != fresh {
            let path = std::env::temp_dir().join("fencepost-chaos.txt");
            std::fs::write(&path, &open.text).expect("a text");
            panic!("{name}, as in {}: edited\n{edited:#?}\nopened anew\n{fresh:#?}", path.display());
        }
    }
}

#[test]
fn edited_documents_are_what_they_are_when_opened() {
    run(&FILES[..9], 30, 5);
}

#[test]
#[ignore = "takes as long as FENCEPOST_CHAOS says"]
fn many_edits() {
    let count: usize = std::env::var("FENCEPOST_CHAOS").ok().and_then(|count| count.parse().ok()).unwrap_or(10_000);
    run(FILES, count / FILES.len(), 6);
}
