//! A dump of passes of the size that real ones have, made of the corpus's kernels, findings among them.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::arguments::{Arguments, Server};
use crate::client::Client;
use crate::figures::{Times, cell};
use crate::process::resident;
use crate::session::Session;

/// The text of a dump: sections with the headers that MLIR prints.
pub(crate) fn text(bytes: usize) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/ttgir");
    let mut kernels: Vec<String> = Vec::new();
    for folder in ["sm_90", "sm_100", "gfx1250"] {
        let Ok(entries) = std::fs::read_dir(root.join(folder)) else { continue };
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        kernels.extend(paths.iter().filter_map(|path| std::fs::read_to_string(path).ok()));
    }
    let mut text = String::with_capacity(bytes + 100_000);
    let mut number = 0;
    while text.len() < bytes && !kernels.is_empty() {
        let kernel = &kernels[number % kernels.len()];
        text.push_str(&format!(
            "// -----// IR Dump After Pass{number} (pass-{number}) ('builtin.module' operation) //----- //\n"
        ));
        // Each pass leaves another text.
        text.push_str(&kernel.replace("%c0_i32", &format!("%c0_i32_{number}")));
        text.push_str("\n\n");
        number += 1;
    }
    text
}

pub(crate) fn run(arguments: &Arguments) -> Value {
    let text = text(arguments.dump_bytes);
    let sections = text.matches("// -----// IR Dump After").count();
    println!("\na dump of {} bytes, {sections} sections: ms", text.len());
    println!(
        "{:<10} {:<7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>9}",
        "server", "client", "open 1st", "hover", "edit 1st", "p95", "complete", "symbols", "MiB"
    );
    let mut rows = Vec::new();
    for server in arguments.own() {
        for client in arguments.clients.iter().filter(|client| ["vscode", "eglot"].contains(&client.name.as_str())) {
            if let Some(row) = measure(server, client, &text) {
                rows.push(row);
            }
        }
    }
    json!({ "bytes": text.len(), "sections": sections, "rows": rows })
}

fn measure(server: &Server, client: &Client, text: &str) -> Option<Value> {
    let folder = std::env::temp_dir();
    let mut session = Session::start(server, client, &folder)?;
    let (mut open, shown) = session.open(&folder.join("big.ttgir"), text.to_owned());
    let milliseconds = |time: Option<Duration>| time.map(|time| time.as_secs_f64() * 1e3);
    // A wait in the middle, where the cursor stands.
    let middle = text.len() / 2;
    let at = middle + text.get(middle..)?.find("wait")?;
    let position = open.mirror.position(at, session.encoding);
    let document = json!({ "uri": open.uri });
    let hover = session.ask("textDocument/hover", json!({ "textDocument": document, "position": position }));
    let (mut first, mut complete) = (Times::default(), Times::default());
    let line_end = at + text.get(at..)?.find('\n')?;
    let mut limit = 10;
    let begun = Instant::now();
    while limit > 0 && begun.elapsed() < Duration::from_secs(90) {
        let shown = session.edit(&mut open, line_end, line_end, " // x");
        first.add(shown.first);
        complete.add(shown.complete);
        let shown = session.edit(&mut open, line_end, line_end + 5, "");
        first.add(shown.first);
        complete.add(shown.complete);
        limit -= 1;
    }
    let symbols = session.ask("textDocument/documentSymbol", json!({ "textDocument": document }));
    let resident = resident(session.pid());
    let time = |answer: Option<(Value, Duration)>| milliseconds(answer.map(|(_, time)| time));
    let (hover, symbols) = (time(hover), time(symbols));
    println!(
        "{:<10} {:<7} {} {} {} {} {} {} {:>9.0}",
        server.name,
        client.name,
        cell(milliseconds(shown.first).or(Some(f64::INFINITY))),
        cell(hover),
        cell(first.percentile(0.5)),
        cell(first.percentile(0.95)),
        cell(complete.percentile(0.5)),
        cell(symbols),
        resident.unwrap_or_default(),
    );
    Some(json!({
        "server": server.name, "client": client.name, "open_first_ms": milliseconds(shown.first),
        "open_complete_ms": milliseconds(shown.complete), "hover_ms": hover, "edit_first": first.json(),
        "edit_complete": complete.json(), "symbols_ms": symbols, "resident_mib": resident,
    }))
}
