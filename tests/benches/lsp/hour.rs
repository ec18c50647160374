//! As many edits as an hour of typing has, one after the other as fast as they are answered: memory over time.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::edits::{KINDS, Kind, edits};
use crate::process::resident;
use crate::session::{Open, Session};

/// Documents that are open at once.
const OPEN: usize = 8;

/// Samples of memory.
const SAMPLES: usize = 24;

pub(crate) fn run(arguments: &Arguments, files: &[PathBuf]) -> Value {
    println!("\n{} edits in {OPEN} files: MiB after each part", arguments.hour_edits);
    let mut rows = Vec::new();
    // From all over the list, so that both languages are among them.
    let chosen: Vec<&PathBuf> = files.iter().step_by((files.len() / OPEN).max(1)).take(OPEN).collect();
    let Some((client, root)) = arguments.clients.last().zip(chosen.first().and_then(|path| path.parent())) else {
        return Value::Null;
    };
    for server in arguments.own() {
        let Some(mut session) = Session::start(server, client, root) else { continue };
        let start = resident(session.pid());
        let mut open: Vec<(Open, bool)> = Vec::new();
        for path in &chosen {
            let Ok(text) = std::fs::read_to_string(path) else { continue };
            open.push((session.open(path, text).0, path.extension().is_some_and(|ending| ending == "py")));
        }
        let mut samples = vec![start.unwrap_or_default(), resident(session.pid()).unwrap_or_default()];
        let (mut made, begun, mut round) = (0, Instant::now(), 0);
        while made < arguments.hour_edits && !open.is_empty() {
            let at = round % open.len();
            let kind = KINDS[round / open.len() % KINDS.len()];
            let (document, python) = &mut open[at];
            let places = if kind == Kind::Line { 1 } else { 4 };
            let before = made;
            for edit in edits(&document.mirror, *python, kind, places) {
                let mut end = edit.at;
                for key in &edit.keys {
                    session.edit(document, end, end, key);
                    end += key.len();
                }
                session.edit(document, edit.at, end, "");
                made += edit.keys.len() + 1;
            }
            // A file without such a place.
            made += usize::from(made == before);
            round += 1;
            if made * SAMPLES / arguments.hour_edits > samples.len().saturating_sub(2) {
                samples.push(resident(session.pid()).unwrap_or_default());
            }
        }
        open.iter().for_each(|(open, _)| session.close(open));
        std::thread::sleep(Duration::from_secs(3));
        let closed = resident(session.pid());
        let shown: Vec<String> = samples.iter().map(|mib| format!("{mib:.0}")).collect();
        println!(
            "{}: {} edits in {:.0} s: {}; after closing {:.0}",
            server.name,
            made,
            begun.elapsed().as_secs_f64(),
            shown.join(" "),
            closed.unwrap_or_default()
        );
        rows.push(json!({ "server": server.name, "edits": made, "resident_mib": samples, "closed_mib": closed }));
    }
    Value::Array(rows)
}
