//! The main case: each file is opened, edited all over, and asked about.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::arguments::{Arguments, Server};
use crate::client::Client;
use crate::edits::{Edit, KINDS, Kind, edits};
use crate::figures::{Times, cell, ratio};
use crate::process;
use crate::session::{Open, Session};

/// Requests, by method, with what the server announces.
const REQUESTS: [(&str, &str); 5] = [
    ("textDocument/hover", "hoverProvider"),
    ("textDocument/completion", "completionProvider"),
    ("textDocument/documentSymbol", "documentSymbolProvider"),
    ("textDocument/semanticTokens/full", "semanticTokensProvider"),
    ("textDocument/codeAction", "codeActionProvider"),
];

/// What one server did with one file, or with all of them.
#[derive(Default)]
struct Measured {
    open_told: Times,
    open_first: Times,
    open_complete: Times,
    first: BTreeMap<Kind, Times>,
    complete: BTreeMap<Kind, Times>,
    requests: BTreeMap<&'static str, Times>,
    processor: Duration,
    /// Of that, for edits.
    editing: Duration,
    findings: usize,
}

impl Measured {
    fn edits(&self, of: &BTreeMap<Kind, Times>) -> Times {
        let mut all = Times::default();
        of.values().for_each(|times| all.extend(times));
        all
    }

    fn extend(&mut self, other: &Measured) {
        self.open_told.extend(&other.open_told);
        self.open_first.extend(&other.open_first);
        self.open_complete.extend(&other.open_complete);
        other.first.iter().for_each(|(kind, times)| self.first.entry(*kind).or_default().extend(times));
        other.complete.iter().for_each(|(kind, times)| self.complete.entry(*kind).or_default().extend(times));
        other.requests.iter().for_each(|(name, times)| self.requests.entry(name).or_default().extend(times));
        self.processor += other.processor;
        self.editing += other.editing;
        self.findings += other.findings;
    }

    /// Milliseconds of processor time an edit: what other work on the machine has no part in.
    fn editing(&self) -> Option<f64> {
        let count: usize = self.complete.values().map(Times::count).sum();
        (count > 0).then(|| self.editing.as_secs_f64() * 1e3 / count as f64)
    }

    fn json(&self) -> Value {
        let kinds = |of: &BTreeMap<Kind, Times>| -> Value {
            of.iter().map(|(kind, times)| (kind.name().to_owned(), times.json())).collect()
        };
        let requests: Value = self.requests.iter().map(|(name, times)| ((*name).to_owned(), times.json())).collect();
        json!({
            "open_told": self.open_told.json(), "open_first": self.open_first.json(), "open_complete": self.open_complete.json(),
            "edit_first": kinds(&self.first), "edit_complete": kinds(&self.complete),
            "requests": requests, "processor_ms": self.processor.as_millis() as u64,
            "processor_ms_an_edit": self.editing(), "diagnostics": self.findings,
        })
    }
}

pub(crate) fn run(arguments: &Arguments, files: &[PathBuf]) -> Value {
    println!("\nedits: milliseconds from an edit to the first and to complete diagnostics");
    let edit = format!("{:>8} {:>8} {:>8} {:>8}", "first50", "p50", "p95", "max");
    println!(
        "{:<46} {:<10} {:<7} {:>8} {:>8} {:>8} {edit} {:>8} {:>8} {:>8} {:>5}",
        "file", "server", "client", "told", "open 1st", "open", "comment", "ratio", "cpu/edit", "n"
    );
    let mut rows = Vec::new();
    let mut totals: BTreeMap<usize, Measured> = BTreeMap::new();
    for (at, path) in files.iter().enumerate() {
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        let python = path.extension().is_some_and(|ending| ending == "py");
        let clients: Vec<&Client> = if arguments.each {
            arguments.clients.iter().collect()
        } else {
            arguments.clients.get(at % arguments.clients.len()).into_iter().collect()
        };
        for client in clients {
            let mut first = None;
            for (number, server) in arguments.servers.iter().enumerate().filter(|(_, server)| server.own || python) {
                let Some(measured) = measure(server, client, path, &text, arguments.places) else {
                    println!("{:<46} {:<10} does not start", name(path), server.name);
                    continue;
                };
                row(path, server, client, &measured, &mut first);
                rows.push(json!({
                    "file": name(path), "lines": text.lines().count(), "server": server.name, "client": client.name,
                    "figures": measured.json(),
                }));
                totals.entry(number).or_default().extend(&measured);
            }
        }
    }
    summary(arguments, &totals);
    let total: Value = totals.iter().map(|(number, of)| (arguments.servers[*number].name.clone(), of.json())).collect();
    json!({ "files": rows, "total": total })
}

fn name(path: &Path) -> String {
    let names: Vec<_> = path.iter().rev().take(2).map(|part| part.to_string_lossy()).collect();
    let name = names.iter().rev().map(|part| part.as_ref()).collect::<Vec<_>>().join("/");
    name.chars().rev().take(46).collect::<Vec<_>>().into_iter().rev().collect()
}

fn row(path: &Path, server: &Server, client: &Client, measured: &Measured, base: &mut Option<Option<f64>>) {
    let (first, complete) = (measured.edits(&measured.first), measured.edits(&measured.complete));
    let p50 = complete.percentile(0.5);
    let base = *base.get_or_insert(p50);
    let comment = measured.complete.get(&Kind::Comment).and_then(|times| times.percentile(0.5));
    println!(
        "{:<46} {:<10} {:<7} {} {} {} {} {} {} {} {} {} {} {:>5}",
        name(path),
        server.name,
        client.name,
        cell(measured.open_told.percentile(0.5)),
        cell(measured.open_first.percentile(0.5)),
        cell(measured.open_complete.percentile(0.5)),
        cell(first.percentile(0.5)),
        cell(p50),
        cell(complete.percentile(0.95)),
        cell(complete.percentile(1.0)),
        cell(comment),
        ratio(p50, base),
        cell(measured.editing()),
        measured.findings,
    );
}

fn summary(arguments: &Arguments, totals: &BTreeMap<usize, Measured>) {
    println!("\nall files: complete diagnostics by edit, p50 / p95 / max ms, and requests, p50 / p95 ms");
    for (number, measured) in totals {
        println!(
            "{}: {:.1} s of processor time, {} ms an edit",
            arguments.servers[*number].name,
            measured.processor.as_secs_f64(),
            cell(measured.editing()).trim()
        );
        let opened = [
            ("open, told", &measured.open_told),
            ("open, first", &measured.open_first),
            ("open, complete", &measured.open_complete),
        ];
        let edits = KINDS.iter().filter_map(|kind| Some((kind.name(), measured.complete.get(kind)?)));
        let requests = measured.requests.iter().map(|(name, times)| (*name, times));
        for (name, times) in opened.into_iter().chain(edits).chain(requests) {
            let at = |part| cell(times.percentile(part));
            println!("  {name:<36} {} {} {}", at(0.5), at(0.95), at(1.0));
        }
    }
}

fn measure(server: &Server, client: &Client, path: &Path, text: &str, places: usize) -> Option<Measured> {
    let mut measured = Measured::default();
    let mut session = Session::start(server, client, path.parent()?)?;
    let (mut open, shown) = session.open(path, text.to_owned());
    if shown.told.is_some() {
        measured.open_told.add(shown.told);
    }
    measured.open_first.add(shown.first);
    measured.open_complete.add(shown.complete);
    measured.findings = shown.count;
    if shown.first.is_none() {
        return Some(measured);
    }
    let python = path.extension().is_some_and(|ending| ending == "py");
    let before = process::processor_time(session.pid()).unwrap_or_default();
    for kind in KINDS {
        // A line has many keys.
        let places = if kind == Kind::Line { 1 } else { places };
        for edit in edits(&open.mirror, python, kind, places) {
            make(&mut session, &mut open, kind, &edit, &mut measured);
        }
    }
    measured.editing = process::processor_time(session.pid()).unwrap_or_default().saturating_sub(before);
    for edit in edits(&open.mirror, python, Kind::Comment, places) {
        requests(&mut session, &open, edit.at.saturating_sub(2), &mut measured);
    }
    measured.processor = process::processor_time(session.pid()).unwrap_or_default();
    Some(measured)
}

/// Types the keys of an edit, and takes them away at once.
fn make(session: &mut Session, open: &mut Open, kind: Kind, edit: &Edit, measured: &mut Measured) {
    let mut at = edit.at;
    let mut add = |shown: crate::session::Shown| {
        measured.first.entry(kind).or_default().add(shown.first);
        measured.complete.entry(kind).or_default().add(shown.complete);
    };
    for key in &edit.keys {
        add(session.edit(open, at, at, key));
        at += key.len();
    }
    add(session.edit(open, edit.at, at, ""));
}

fn requests(session: &mut Session, open: &Open, at: usize, measured: &mut Measured) {
    let position = open.mirror.position(at, session.encoding);
    for (method, provider) in REQUESTS {
        if !session.has(provider) {
            continue;
        }
        let mut parameters = json!({ "textDocument": { "uri": open.uri } });
        match method {
            "textDocument/hover" | "textDocument/completion" => parameters["position"] = position.clone(),
            "textDocument/codeAction" => {
                parameters["range"] = json!({ "start": position, "end": position });
                parameters["context"] = json!({ "diagnostics": [] });
            }
            _ => {}
        }
        let time = session.ask(method, parameters).map(|(_, time)| time);
        measured.requests.entry(method).or_default().add(time);
    }
}
