//! What Z3 says of the pairs of accesses that the proofs of races are about, where a `z3` is installed: a pair that is
//! proved apart has to have no solution. Prints how many agree, how many Z3 does not answer and how many it refutes,
//! and fails where it refutes one.
//!
//! `cargo bench -p fencepost-tests --bench z3 -- FILE.ttir FILE.py ...`; without files those of `tests/races/`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use base::Cancel;
use fencepost_tests::sources::root;
use races::{Launch, Query};
use ttgir::Document;

/// What Z3 may take for one pair, in milliseconds.
const LIMIT: u32 = 2_000;

#[derive(Default)]
struct Counts {
    confirmed: usize,
    unanswered: usize,
    refuted: usize,
    /// Pairs that are not proved apart, and those of them of which Z3 says that they are.
    open: usize,
    missed: usize,
}

fn main() -> ExitCode {
    let mut files: Vec<PathBuf> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).map(PathBuf::from).collect();
    if files.is_empty() {
        let entries = std::fs::read_dir(root().join("races")).into_iter().flatten().flatten();
        files.extend(entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "py")));
        files.sort();
    }
    if Command::new("z3").arg("--version").stdout(Stdio::null()).status().is_err() {
        println!("skipped: `z3` is not installed");
        return ExitCode::SUCCESS;
    }
    let mut all = Counts::default();
    let (mut ours, mut theirs) = (0.0, 0.0);
    for file in &files {
        let Some(text) = text(file) else {
            println!("{}: cannot be read", file.display());
            continue;
        };
        let start = Instant::now();
        let mut queries = Vec::new();
        for section in Document::new(text.as_str()).sections() {
            let found = races::queries(section.tree(), &Launch::default(), &Cancel::never());
            queries.extend(found.into_iter().flatten());
        }
        ours += start.elapsed().as_secs_f64();
        let start = Instant::now();
        let answers = ask(&queries);
        theirs += start.elapsed().as_secs_f64();
        for (query, answer) in queries.iter().zip(&answers) {
            match (query.apart, answer.as_str()) {
                (true, "unsat") => all.confirmed += 1,
                (true, "sat") => {
                    all.refuted += 1;
                    let line = |at: u32| text[..at as usize].lines().count();
                    let (first, second) = (line(query.ops.0.start), line(query.ops.1.start));
                    println!("{}: @{}: Z3 has a solution for lines {first} and {second}", file.display(), query.kernel);
                }
                (true, _) => all.unanswered += 1,
                (false, answer) => {
                    all.open += 1;
                    all.missed += usize::from(answer == "unsat");
                }
            }
        }
    }
    println!(
        "{} files; proved apart: {} confirmed, {} not answered, {} refuted; open: {}, of which Z3 proves {}; \
         {ours:.2} s here with the texts, {theirs:.2} s there",
        files.len(),
        all.confirmed,
        all.unanswered,
        all.refuted,
        all.open,
        all.missed
    );
    if all.refuted > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// The IR of a file: its text, or what Python becomes.
fn text(file: &Path) -> Option<String> {
    if file.extension().is_some_and(|end| end == "py") {
        let mut command = Command::new(env!("CARGO"));
        command.args(["run", "--quiet", "--release", "--package", "fencepost", "--", "ir"]).arg(file);
        let out = command.current_dir(root()).stdin(Stdio::null()).output().ok()?;
        return String::from_utf8(out.stdout).ok();
    }
    std::fs::read_to_string(file).ok()
}

/// `sat`, `unsat` or anything else for each question.
fn ask(queries: &[Query]) -> Vec<String> {
    let mut text = format!("(set-option :timeout {LIMIT})\n");
    for query in queries {
        text += &query.text;
        text += &format!("(reset)\n(set-option :timeout {LIMIT})\n");
    }
    let child =
        Command::new("z3").arg("-in").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let Ok(mut child) = child else { return Vec::new() };
    let stdin = child.stdin.take();
    let writer = std::thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(text.as_bytes())));
    let out = child.wait_with_output();
    let _ = writer.join();
    let out = out.map(|out| String::from_utf8_lossy(&out.stdout).into_owned()).unwrap_or_default();
    out.lines().map(str::to_owned).collect()
}
