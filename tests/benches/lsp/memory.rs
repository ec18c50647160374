//! Memory: at the start, with all Python files open, after all are closed.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::figures::cell;
use crate::process::{processor_time, resident};
use crate::session::Session;

pub(crate) fn run(arguments: &Arguments, files: &[PathBuf]) -> Value {
    let python: Vec<&PathBuf> = files.iter().filter(|path| path.extension().is_some_and(|it| it == "py")).collect();
    println!("\nmemory in MiB with {} Python files in one session", python.len());
    println!("{:<10} {:>8} {:>8} {:>8} {:>12}", "server", "start", "open", "closed", "processor s");
    let mut rows = Vec::new();
    let Some((client, root)) = arguments.clients.first().zip(python.first().and_then(|path| path.parent())) else {
        return Value::Null;
    };
    for server in &arguments.servers {
        let Some(mut session) = Session::start(server, client, root) else { continue };
        std::thread::sleep(Duration::from_millis(300));
        let start = resident(session.pid());
        let mut open = Vec::new();
        for path in &python {
            let Ok(text) = std::fs::read_to_string(path) else { continue };
            open.push(session.open(path, text).0);
        }
        let all = resident(session.pid());
        open.iter().for_each(|open| session.close(open));
        std::thread::sleep(Duration::from_secs(3));
        let closed = resident(session.pid());
        let time = processor_time(session.pid()).unwrap_or_default().as_secs_f64();
        println!("{:<10} {} {} {} {time:>12.1}", server.name, cell(start), cell(all), cell(closed));
        rows.push(json!({ "server": server.name, "start_mib": start, "open_mib": all, "closed_mib": closed }));
    }
    Value::Array(rows)
}
