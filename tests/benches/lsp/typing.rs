//! Somebody types ten keys a second into a file: how often something is shown, and how long the end takes.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::arguments::{Arguments, Server};
use crate::client::Client;
use crate::edits::{Kind, edits};
use crate::figures::cell;
use crate::session::Session;

const KEY: Duration = Duration::from_millis(100);

/// Files that are typed into: the longest of each language.
const FILES: usize = 6;

pub(crate) fn run(arguments: &Arguments, files: &[PathBuf]) -> Value {
    let length = |path: &PathBuf| std::fs::metadata(path).map_or(0, |data| data.len());
    let mut chosen: Vec<&PathBuf> = Vec::new();
    for ending in ["py", "ttgir"] {
        let mut all: Vec<&PathBuf> =
            files.iter().filter(|path| path.extension().is_some_and(|it| it == ending)).collect();
        all.sort_by_key(|path| std::cmp::Reverse(length(path)));
        chosen.extend(all.into_iter().take(FILES / 2));
    }
    println!("\ntyping: ten keys a second for a line; how often diagnostics came, and ms until they were final");
    println!("{:<40} {:<10} {:<7} {:>5} {:>6} {:>8}", "file", "server", "client", "keys", "shown", "final");
    let mut rows = Vec::new();
    for path in chosen {
        for client in arguments.clients.iter().filter(|client| ["vscode", "eglot"].contains(&client.name.as_str())) {
            for server in arguments.own() {
                let Some((keys, shown, last)) = measure(server, client, path) else { continue };
                let file = path.file_name().unwrap_or_default().to_string_lossy();
                let last = last.map(|last| last.as_secs_f64() * 1e3);
                println!(
                    "{file:<40} {:<10} {:<7} {keys:>5} {shown:>6} {}",
                    server.name,
                    client.name,
                    cell(last.or(Some(f64::INFINITY)))
                );
                rows.push(json!({
                    "file": file, "server": server.name, "client": client.name, "keys": keys, "shown": shown,
                    "final_ms": last,
                }));
            }
        }
    }
    Value::Array(rows)
}

fn measure(server: &Server, client: &Client, path: &Path) -> Option<(usize, usize, Option<Duration>)> {
    let text = std::fs::read_to_string(path).ok()?;
    let mut session = Session::start(server, client, path.parent()?)?;
    let (mut open, _) = session.open(path, text);
    let python = path.extension().is_some_and(|ending| ending == "py");
    let edit = edits(&open.mirror, python, Kind::Line, 1).into_iter().next()?;
    let (mut at, mut shown) = (edit.at, 0);
    let mut sent = Instant::now();
    for (number, key) in edit.keys.iter().enumerate() {
        sent = session.send_edit(&mut open, at, at, key);
        at += key.len();
        if number + 1 < edit.keys.len() {
            shown += session.arrived(&open, sent + KEY).len();
        }
    }
    let last = session.settle(&open, sent, Duration::from_millis(300));
    Some((edit.keys.len(), shown + usize::from(last.first.is_some()), last.complete))
}
