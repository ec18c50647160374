//! While a kernel is typed: every prefix of a file, and every file that lacks one token. No panic, nothing
//! that takes long, and a kernel whose text does not parse is never called clean.
//!
//! A sample by default; `FENCEPOST_TYPING=all` takes all of them, which takes minutes.

use engine::instances::PythonFile;
use fencepost_tests::corpus::{Row, manifest, specs};
use fencepost_tests::gluon::files::Disk;
use fencepost_tests::gluon::long::directed;
use fencepost_tests::gluon::recipe;
use fencepost_tests::gluon::typing::{Typed, deletions, prefixes, say};
use fencepost_tests::known::Case;
use fencepost_tests::sources::root;
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

const FILES: [&str; 10] = [
    "attention_ws",
    "clc_copy_rows",
    "cluster_gemm",
    "gemm_ring3",
    "persistent_ws_gemm",
    "static_stages",
    "tc05_persistent",
    "tc05_ws_gemm",
    "tdm_ws_gemm",
    "ws_gemm",
];

/// How many texts of each sort a sample has.
const SAMPLE: usize = 25;

/// No text may take longer, on a slow machine and without optimisation.
const LONG: Duration = Duration::from_secs(20);

pub(crate) fn cases() -> Result<Vec<Case>, String> {
    let folder = root().join("corpus");
    let (rows, specs) = (manifest(&folder)?, Arc::new(specs(&folder)?));
    let all = std::env::var("FENCEPOST_TYPING").is_ok_and(|word| word == "all");
    let mut cases = Vec::new();
    for file in FILES {
        let source = format!("gluon/{file}.py");
        let mine = |row: &&Row| row.source == source && row.bug.is_none() && row.stage == "ttgir";
        let row = rows.iter().find(mine).ok_or_else(|| format!("the manifest has no kernel of {source}"))?;
        for sort in ["prefixes", "deletions"] {
            let (row, specs) = (row.clone(), specs.clone());
            cases.push(Case::new(format!("{file}: {sort}"), move || check(&row, &specs, sort, all)));
        }
    }
    Ok(cases)
}

fn check(row: &Row, specs: &Value, sort: &str, all: bool) -> Result<(), String> {
    let path = root().join("corpus").join(&row.source);
    let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
    let given = specs.get(&row.spec).ok_or("the manifest has no such spec")?;
    let text = directed(&text, &row.kernel, given, &row.arch);
    let good = PythonFile::new(path.display().to_string(), text.as_str());
    let texts: Vec<Typed> = if sort == "prefixes" { prefixes(&text).collect() } else { deletions(&text).collect() };
    let mut step = if all { 1 } else { (texts.len() / SAMPLE).max(1) };
    // A sample may miss every text that breaks the kernel; then it says nothing, and a denser one is taken.
    loop {
        let sample = texts.iter().step_by(step);
        let Checked { broken, looked, mut wrong } = check_texts(sample, &good, row, given);
        if broken == 0 && step > 1 && wrong.is_empty() {
            step /= 2;
            continue;
        }
        if broken == 0 {
            wrong.push(format!("{looked} texts, and the kernel is whole in all of them"));
        }
        wrong.truncate(20);
        return if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) };
    }
}

/// What a sample of texts shows.
struct Checked {
    /// Texts whose kernel does not parse whole.
    broken: usize,
    /// All texts.
    looked: usize,
    /// What is wrong with the answers, one line each.
    wrong: Vec<String>,
}

fn check_texts<'t>(texts: impl Iterator<Item = &'t Typed>, good: &PythonFile, row: &Row, given: &Value) -> Checked {
    let files = Disk::default();
    let mut wrong = Vec::new();
    let (mut looked, mut broken) = (0, 0);
    for typed in texts {
        for before in [false, true] {
            let start = Instant::now();
            let done = catch_unwind(AssertUnwindSafe(|| {
                let text = typed.text.as_str();
                let script = if before { good.with_text(text) } else { PythonFile::new(good.module().path(), text) };
                let spec = recipe::of_manifest(script.module(), &row.kernel, &row.arch, given, "")?;
                say(&script, &files, &spec)
            }));
            if start.elapsed() > LONG {
                wrong.push(format!("{}: takes {:?}", typed.what, start.elapsed()));
            }
            looked += 1;
            match done {
                Err(_) => wrong.push(format!("{}: panics", typed.what)),
                Ok(Some(said)) if said.broken => {
                    broken += 1;
                    if matches!(said.verdict, "proved" | "clean") {
                        let after = if before { " after the good text" } else { "" };
                        wrong.push(format!("{}: is called {}{after}", typed.what, said.verdict));
                    }
                }
                Ok(_) => {}
            }
        }
    }
    Checked { broken, looked, wrong }
}
