//! A thousand documents that are open at once: memory, and how long one edit takes then. And one document that is too
//! large: how long its message takes, and what it costs.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::client::Client;
use crate::figures::{Times, cell};
use crate::process::resident;
use crate::session::{Open, Session};

/// Documents.
const OPEN: usize = 1_000;

/// Bytes of a document that is too large.
const LARGE: usize = 300 << 20;

pub(crate) fn run(arguments: &Arguments) -> Value {
    let folder = std::env::temp_dir();
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus");
    let names = ["ttgir/sm_90/ws_gemm.ttgir", "gluon/ws_gemm.py", "ttgir/sm_100/tc05_ws_gemm.ttgir"];
    let texts: Vec<(&str, String)> = names
        .iter()
        .filter_map(|name| Some((*name, std::fs::read_to_string(format!("{corpus}/{name}")).ok()?)))
        .collect();
    println!("\n{OPEN} documents");
    let mut rows = Vec::new();
    for server in arguments.own() {
        let Some(client) = arguments.clients.iter().find(|client| !client.pulls()) else { break };
        let Some(mut session) = Session::start(server, client, &folder) else { continue };
        let begun = Instant::now();
        let mut open: Vec<Open> = Vec::new();
        for number in 0..OPEN {
            let Some((name, text)) = texts.get(number % texts.len().max(1)) else { break };
            let path = folder.join(format!("{number}-{}", name.rsplit('/').next().unwrap_or_default()));
            open.push(session.open(&path, text.clone()).0);
        }
        let opened = begun.elapsed();
        let mut edits = Times::default();
        for document in open.iter_mut().step_by(OPEN / 20) {
            let end = document.mirror.text.len();
            edits.add(session.edit(document, end, end, "\n").complete);
        }
        let memory = resident(session.pid());
        println!(
            "{}: opened in {:.1} s, MiB {}, an edit ms p50 {} p95 {}",
            server.name,
            opened.as_secs_f64(),
            cell(memory),
            cell(edits.percentile(0.5)),
            cell(edits.percentile(0.95)),
        );
        let large = large(server, client);
        rows.push(json!({
            "server": server.name, "documents": open.len(), "opened_s": opened.as_secs_f64(), "resident_mib": memory,
            "edits": edits.json(), "large": large,
        }));
    }
    Value::Array(rows)
}

/// Opens a document that is too large.
fn large(server: &crate::arguments::Server, client: &Client) -> Value {
    let folder = std::env::temp_dir();
    let Some(mut session) = Session::start(server, client, &folder) else { return Value::Null };
    let begun = Instant::now();
    session.open_now(&folder.join("large.ttgir"), "// none\n".repeat(LARGE / 8));
    let mut said = None;
    while said.is_none() && begun.elapsed() < Duration::from_secs(60) {
        let messages = session.messages_until(Instant::now() + Duration::from_millis(50));
        said = messages.into_iter().find(|(_, message)| message["method"] == "window/showMessage");
    }
    let (after, text) = said.map_or((None, Value::Null), |(at, message)| {
        (Some((at - begun).as_secs_f64()), message["params"]["message"].clone())
    });
    std::thread::sleep(Duration::from_secs(3));
    let memory = resident(session.pid());
    println!("a document of {} MiB: said after {after:?} s, MiB {}: {text}", LARGE >> 20, cell(memory));
    json!({ "said_after_s": after, "message": text, "resident_mib": memory })
}
