//! An hour in which somebody works: keys at typing pace, the requests that an editor sends meanwhile, files that are
//! saved, closed and opened again. Memory every few seconds, and which requests stay without an answer.
//!
//! The edits are a script (`script.rs`) of what is typed, where, and in which rhythm; the same every time.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use base::rng::SplitMix64;
use fencepost_tests::plot::{Line, Plot};
use serde_json::{Value, json};

use crate::arguments::{Arguments, Server};
use crate::client::Client;
use crate::figures::{Times, cell};
use crate::process::{processor_time, resident};
use crate::script::{Act, Script};
use crate::session::{Open, Session};

/// Documents that are open at once.
const OPEN: usize = 12;

/// Between two looks at the memory.
const SAMPLE: Duration = Duration::from_secs(5);

/// How long the last answers are waited for.
const LAST: Duration = Duration::from_secs(60);

/// What was asked, until it is answered.
#[derive(Default)]
struct Asked {
    open: HashMap<i64, (&'static str, Instant)>,
    times: Times,
    sent: usize,
    answered: usize,
    /// Answers that say that the text has changed meanwhile, or that the request was cancelled.
    outdated: usize,
    /// Other errors, with their texts.
    refused: Vec<String>,
    /// Notifications of diagnostics.
    shown: usize,
}

impl Asked {
    fn ask(&mut self, session: &mut Session, method: &'static str, parameters: Value) {
        let id = session.send_request(method, parameters);
        self.open.insert(id, (method, Instant::now()));
        self.sent += 1;
    }

    /// Takes what has come in until a moment.
    fn take(&mut self, session: &mut Session, until: Instant) {
        for (at, message) in session.messages_until(until) {
            self.shown += usize::from(message["method"] == "textDocument/publishDiagnostics");
            let id = message["id"].as_i64().filter(|_| message.get("method").is_none());
            let Some((method, sent)) = id.and_then(|id| self.open.remove(&id)) else { continue };
            self.answered += 1;
            self.times.add(Some(at - sent));
            match message["error"]["code"].as_i64() {
                None => {}
                Some(-32802..=-32800) => self.outdated += 1,
                Some(code) => self.refused.push(format!("{method}: {code} {}", message["error"]["message"])),
            }
        }
    }
}

pub(crate) fn run(arguments: &Arguments, files: &[PathBuf]) -> Value {
    println!("\n{} s at typing pace in {OPEN} files", arguments.pace_seconds);
    // From all over the list, so that both languages are among them.
    let chosen: Vec<&PathBuf> = files.iter().step_by((files.len() / OPEN).max(1)).take(OPEN).collect();
    let client = arguments.clients.first();
    let rows = arguments.own().filter_map(|server| measure(arguments, server, client?, &chosen));
    Value::Array(rows.collect())
}

fn measure(arguments: &Arguments, server: &Server, client: &Client, files: &[&PathBuf]) -> Option<Value> {
    let mut session = Session::start(server, client, files.first()?.parent()?)?;
    let mut open: Vec<(Open, bool, &PathBuf)> = Vec::new();
    for path in files {
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        open.push((session.open(path, text).0, path.extension().is_some_and(|ending| ending == "py"), path));
    }
    let (mut asked, mut random, begun) = (Asked::default(), SplitMix64::new(1), Instant::now());
    let end = begun + Duration::from_secs(arguments.pace_seconds as u64);
    let mut samples: Vec<(f64, f64)> = Vec::new();
    let (mut next_sample, mut keys, mut last_id) = (begun, 0usize, 0);
    let (mut script, mut at) = (Script::default(), 0);
    while Instant::now() < end {
        if Instant::now() >= next_sample {
            samples.push((begun.elapsed().as_secs_f64() / 60.0, resident(session.pid())?));
            next_sample += SAMPLE;
        }
        let (document, python, path) = open.get_mut(at)?;
        let identifier = json!({ "uri": document.uri });
        let pause = match script.next(&document.mirror, *python, &mut random) {
            Act::Type { start, end, with, pause } => {
                session.send_edit(document, start, end, &with);
                keys += 1;
                let place = document.mirror.position(start + with.len(), session.encoding);
                if with.ends_with(['.', '(', '%']) {
                    let parameters = json!({ "textDocument": identifier, "position": place });
                    asked.ask(&mut session, "textDocument/completion", parameters);
                }
                // What an editor asks again when a text has changed.
                let whole = json!({ "textDocument": identifier });
                if random.below(3) == 0 {
                    let last = document.mirror.position(document.mirror.text.len(), session.encoding);
                    let range = json!({ "start": { "line": 0, "character": 0 }, "end": last });
                    asked.ask(&mut session, "textDocument/semanticTokens/full", whole.clone());
                    asked.ask(
                        &mut session,
                        "textDocument/inlayHint",
                        json!({ "textDocument": identifier, "range": range }),
                    );
                    asked.ask(&mut session, "textDocument/documentSymbol", whole.clone());
                }
                if session.pulls() && random.below(2) == 0 {
                    asked.ask(&mut session, "textDocument/diagnostic", whole);
                }
                pause
            }
            Act::Look { at: place, pause } => {
                let position = document.mirror.position(place, session.encoding);
                let mut parameters = json!({ "textDocument": identifier, "position": position });
                parameters["context"] = json!({ "includeDeclaration": true });
                let range = json!({ "start": position, "end": position });
                let method = ["textDocument/hover", "textDocument/definition", "textDocument/references"];
                asked.ask(&mut session, method[random.below(3)], parameters);
                let context = json!({ "diagnostics": [] });
                asked.ask(
                    &mut session,
                    "textDocument/codeAction",
                    json!({ "textDocument": identifier, "range": range, "context": context }),
                );
                last_id = session.last_id();
                pause
            }
            Act::Cancel { pause } => {
                session.notify("$/cancelRequest", json!({ "id": last_id }));
                pause
            }
            Act::Save { pause } => {
                session.notify("textDocument/didSave", json!({ "textDocument": identifier }));
                for method in ["textDocument/codeLens", "textDocument/foldingRange", "textDocument/documentLink"] {
                    asked.ask(&mut session, method, json!({ "textDocument": identifier }));
                }
                pause
            }
            Act::Reopen { pause } => {
                session.close(document);
                *document = session.open_now(path, std::fs::read_to_string(path).ok()?);
                at = random.below(open.len());
                pause
            }
            Act::Switch { pause } => {
                at = random.below(open.len());
                pause
            }
        };
        asked.take(&mut session, Instant::now() + pause);
    }
    let typed = begun.elapsed();
    let last = Instant::now() + LAST;
    while !asked.open.is_empty() && Instant::now() < last {
        asked.take(&mut session, Instant::now() + Duration::from_millis(200));
    }
    let dropped = asked.open.len();
    let processor = processor_time(session.pid()).unwrap_or_default();
    open.iter().for_each(|(open, ..)| session.close(open));
    asked.take(&mut session, Instant::now() + Duration::from_secs(5));
    let closed = resident(session.pid());
    let tenth = (samples.len() / 10).max(1);
    let mean = |part: &[(f64, f64)]| part.iter().map(|sample| sample.1).sum::<f64>() / part.len().max(1) as f64;
    let most = samples.iter().map(|sample| sample.1).fold(0.0, f64::max);
    // The first tenth is what a session needs to have seen its files once.
    let second = mean(samples.get(tenth..2 * tenth).unwrap_or_default());
    let end = mean(samples.get(samples.len().saturating_sub(tenth)..).unwrap_or_default());
    println!(
        "{}, as {}: {keys} edits and {} requests in {:.0} s, {:.0} s of processor time",
        server.name,
        client.name,
        asked.sent,
        typed.as_secs_f64(),
        processor.as_secs_f64()
    );
    println!(
        "requests: {} answered (of them {} with `changed meanwhile` or `cancelled`), {} refused, {dropped} without an \
         answer; ms p50 {} p95 {} max {}",
        asked.answered,
        asked.outdated,
        asked.refused.len(),
        cell(asked.times.percentile(0.5)),
        cell(asked.times.percentile(0.95)),
        cell(asked.times.percentile(1.0)),
    );
    asked.refused.iter().take(5).for_each(|why| println!("  refused: {why}"));
    println!(
        "memory: {} samples, MiB: second tenth {second:.1}, last tenth {end:.1} ({:.2} times), most {most:.1}, after \
         closing {:.1}",
        samples.len(),
        end / second.max(1.0),
        closed.unwrap_or_default()
    );
    if let Some(folder) = &arguments.plots {
        let line = Line { name: server.name.clone(), points: samples.clone() };
        let title = format!("Memory of a language server, {keys} edits and {} requests", asked.sent);
        let plot = Plot { title, x: "minutes".to_owned(), y: "MiB".to_owned(), lines: vec![line], logarithmic: false };
        let written = std::fs::create_dir_all(folder).map_err(|why| format!("{}: {why}", folder.display()));
        match written.and_then(|()| plot.write(&folder.join("pace.svg"))) {
            Ok(()) => println!("wrote {}", folder.join("pace.svg").display()),
            Err(why) => println!("{why}"),
        }
    }
    Some(json!({
        "server": server.name, "client": client.name, "seconds": typed.as_secs_f64(), "edits": keys,
        "requests": asked.sent, "answered": asked.answered, "outdated": asked.outdated,
        "refused": asked.refused.len(), "unanswered": dropped, "times": asked.times.json(),
        "diagnostics": asked.shown, "processor_s": processor.as_secs_f64(), "resident_mib": samples,
        "closed_mib": closed,
    }))
}
