//! Random edits of a file over the wire, with requests and cancellations in between: each request is answered once,
//! and a document that was edited says what a fresh server says of the same text.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::capabilities::everything;
use super::client::{Server, range};
use super::requests;
use super::typist::{Edit, Typist};

/// A session that is to be held.
#[derive(Clone, Debug)]
pub struct Session {
    /// The server's program.
    pub program: std::path::PathBuf,
    /// The file that is edited.
    pub path: std::path::PathBuf,
    /// Random edits.
    pub edits: usize,
    /// How many of them lie between two comparisons.
    pub pace: usize,
    /// What makes them others than those of another session.
    pub seed: (u64, u64),
    /// What columns are counted in: 8, 16 or 32 bits.
    pub unit: u32,
}

/// What happened in a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Edits.
    pub edits: usize,
    /// Requests that were answered.
    pub requests: usize,
    /// Requests that were cancelled.
    pub cancelled: usize,
    /// Texts that were compared with what a fresh server says.
    pub compared: usize,
}

impl Tally {
    /// Both.
    pub fn and(self, other: Tally) -> Tally {
        Tally {
            edits: self.edits + other.edits,
            requests: self.requests + other.requests,
            cancelled: self.cancelled + other.cancelled,
            compared: self.compared + other.compared,
        }
    }
}

/// A document as the client has it.
struct Open {
    uri: String,
    original: String,
    text: String,
    version: i32,
    typist: Typist,
    unit: u32,
    tally: Tally,
}

impl Open {
    fn language(&self) -> &'static str {
        if self.uri.ends_with(".py") { "python" } else { "ttgir" }
    }

    /// The place of a byte, as the protocol counts it.
    fn place(&self, at: usize) -> (usize, usize) {
        let before = &self.text[..at];
        // A `\r` alone ends a line, before `\n` it does not by itself.
        let ends = before.char_indices().filter(|(at, c)| match c {
            '\n' => true,
            '\r' => self.text.as_bytes().get(at + 1) != Some(&b'\n'),
            _ => false,
        });
        let (lines, start) = ends.fold((0, 0), |(lines, _), (at, _)| (lines + 1, at + 1));
        let column = before[start..].chars().map(|c| match self.unit {
            8 => c.len_utf8(),
            16 => c.len_utf16(),
            _ => 1,
        });
        (lines, column.sum())
    }

    /// Makes an edit here and there.
    fn change(&mut self, server: &mut Server, edit: &Edit) {
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
            let (start, end) = (self.place(fit.start as usize), self.place(fit.end as usize));
            server.change(&self.uri, self.version, Some(range(start, end)), &edit.with);
        }
        self.text = made;
        self.tally.edits += 1;
    }

    fn examples(&mut self, server: &Server) -> Vec<(String, Value)> {
        let at = self.typist.place(&self.text);
        requests::examples_at(&server.info["capabilities"], &self.uri, &self.text, self.place(at))
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
    asked.iter().map(|(method, params)| server.request(method, params.clone()).map(of_this_text)).collect()
}

/// An answer without what it says of an earlier text: who has seen none says nothing of it.
fn of_this_text(mut answer: Value) -> Value {
    let earlier = |item: &Value| {
        let said = item["message"].as_str().unwrap_or_default();
        said.contains("(of an earlier text;") || said.contains(AROUND)
    };
    if let Some(items) = answer.get_mut("items").and_then(Value::as_array_mut) {
        items.retain(|item| !earlier(item));
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
    fn land(&mut self, server: &mut Server) -> usize {
        let ids = std::mem::take(&mut self.0);
        for id in &ids {
            if let Err(error) = server.answer(*id) {
                let code = error["code"].as_i64();
                let known = [-32800, -32801, -32802, -32602, -32803];
                assert!(code.is_some_and(|code| known.contains(&code)), "request {id}: {error}");
                assert!(!error["message"].as_str().unwrap_or_default().contains("panic"), "request {id}: {error}");
            }
        }
        ids.len()
    }
}

fn server(program: &Path, unit: u32) -> Server {
    let mut capabilities = everything();
    // Who is not told to ask again gets whole answers.
    capabilities["workspace"]["diagnostics"] = Value::Null;
    capabilities["general"]["positionEncodings"] = json!([format!("utf-{unit}")]);
    let mut command = Command::new(program);
    command.arg("lsp").stderr(Stdio::null());
    Server::spawn_with(command, capabilities, json!({}))
}

impl Session {
    /// Holds it.
    ///
    /// # Panics
    ///
    /// Where a request stays without an answer, or an edited document says what no fresh server says of its text.
    pub fn hold(&self) -> Tally {
        let path = std::fs::canonicalize(&self.path).expect("the file is there");
        let original = std::fs::read_to_string(&path).expect("the file can be read");
        let typist = Typist::new(self.seed.0, self.seed.1);
        let (uri, tally) = (format!("file://{}", path.display()), Tally::default());
        let (text, unit) = (original.clone(), self.unit);
        let mut open = Open { uri, text, original, version: 1, typist, unit, tally };
        let mut server = server(&self.program, self.unit);
        server.open_as(open.language(), &open.uri, &open.text);
        let mut flight = Flight::default();
        for number in 1..=self.edits {
            let edit = open.typist.edit(&open.text, &open.original.clone());
            open.change(&mut server, &edit);
            if open.typist.below(3) == 0 {
                let mut examples = open.examples(&server);
                let (method, params) = examples.swap_remove(open.typist.below(examples.len()));
                flight.0.insert(server.ask(&method, params));
            }
            if let (Some(&id), 0) = (flight.0.first(), open.typist.below(5)) {
                server.notify("$/cancelRequest", json!({ "id": id }));
                open.tally.cancelled += 1;
            }
            if number % 10 == 0 || number == self.edits {
                open.tally.requests += flight.land(&mut server);
                // Nobody reads what the server publishes.
                server.forget("textDocument/publishDiagnostics");
            }
            if number == self.edits || number % self.pace.max(1) == 0 {
                self.compare(&mut server, &mut open);
            }
            // What the server asks is answered, as clients do.
            for method in ["window/workDoneProgress/create", "client/registerCapability"] {
                server.answer_all(method);
            }
        }
        assert_eq!(server.shutdown().code(), Some(0), "the server ends as it should");
        open.tally
    }

    /// The document as it was edited says what a server says that is told of this text alone.
    fn compare(&self, edited: &mut Server, open: &mut Open) {
        let asked = open.examples(edited);
        let asked: Vec<_> = asked.into_iter().filter(|(method, _)| COMPARED.contains(&method.as_str())).collect();
        let ours = answers(edited, &open.uri, &asked);
        let mut fresh = server(&self.program, self.unit);
        fresh.open_as(open.language(), &open.uri, &open.text);
        let theirs = answers(&mut fresh, &open.uri, &asked);
        assert_eq!(fresh.shutdown().code(), Some(0), "the server ends as it should");
        open.tally.compared += 1;
        // What a broken function of Python was is part of the document: its kernels are judged as they were.
        let broken = |answers: &[Result<Value, Value>]| {
            answers.iter().flatten().any(|it| it.to_string().contains("does not parse"))
        };
        if open.language() == "python" && (broken(&ours) || broken(&theirs)) {
            return;
        }
        for ((method, _), (ours, theirs)) in asked.iter().zip(ours.iter().zip(&theirs)) {
            if ours != theirs {
                let name = format!("fencepost-random-{}-{}.txt", self.seed.0, self.seed.1);
                let path = std::env::temp_dir().join(name);
                std::fs::write(&path, &open.text).expect("a text can be written");
                panic!(
                    "{method} of {}, as in {}: edited\n{ours:#?}\nfresh\n{theirs:#?}",
                    self.path.display(),
                    path.display()
                );
            }
        }
    }
}
