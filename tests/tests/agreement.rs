//! Every kernel of the corpus is the same kernel in both languages: what it does at which place of the
//! Python, its verdict, and the kinds and places of its findings.
//!
//! `tests/open-gluon.txt` lists the files on which the languages are known to differ, with a word on why.

use fencepost_tests::corpus::{Row, manifest, specs};
use fencepost_tests::gluon::both::{compiled_side, disagreement, python_side};
use fencepost_tests::gluon::files::Disk;
use fencepost_tests::gluon::{module, recipe};
use fencepost_tests::runner::{self, Trial};
use fencepost_tests::sources::root;
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::ExitCode;
use std::rc::Rc;

fn main() -> ExitCode {
    let folder = root().join("corpus");
    let (rows, specs, open) = match (manifest(&folder), specs(&folder), open()) {
        (Ok(rows), Ok(specs), Ok(open)) => (rows, Rc::new(specs), open),
        (Err(message), ..) | (_, Err(message), _) | (.., Err(message)) => {
            eprintln!("{message}");
            return ExitCode::FAILURE;
        }
    };
    let files = Rc::new(Disk::default());
    // After allocation the text says more than the Python does.
    let rows = rows.into_iter().filter(|row| row.stage == "ttgir");
    let trials = rows.map(|row| {
        let known = open.contains(&row.file);
        let (files, specs) = (files.clone(), specs.clone());
        let name = format!("{}{}", row.file, if known { " (open)" } else { "" });
        let run = move || match check(&row, &specs, &files) {
            Err(_) if known => Ok(()),
            Ok(()) if known => Err("the languages agree now: take it off tests/open-gluon.txt".to_owned()),
            outcome => outcome,
        };
        Trial { name, run: Box::new(run) }
    });
    runner::main(trials.collect())
}

fn check(row: &Row, specs: &Value, files: &Disk) -> Result<(), String> {
    let folder = root().join("corpus");
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).map_err(|error| format!("{file}: {error}"));
    let module = module(&folder.join(&row.source))?;
    let given = specs.get(&row.spec).ok_or("the manifest has no such spec")?;
    let bug = row.bug.as_deref().unwrap_or_default();
    let spec = recipe::of_manifest(&module, &row.kernel, &row.arch, given, bug).ok_or("the spec is incomplete")?;
    let source = read(&row.source)?;
    let start = format!("def {}(", row.kernel);
    let def = source.lines().position(|line| line.starts_with(&start)).ok_or("there is no such function")? + 1;
    let compiled = compiled_side(&read(&row.file)?, def as u32);
    let python = python_side(&module, files, &spec)?;
    let mut lines = disagreement(&python, &compiled);
    if python.side.judged != compiled.judged {
        lines.push(format!("Python:   {:?}\ncompiled: {:?}", python.side.judged, compiled.judged));
        lines.extend(python.notes.iter().map(|note| format!("Python: {note}")));
    }
    if lines.is_empty() { Ok(()) } else { Err(lines.join("\n")) }
}

/// The files of the list of known differences: `file: why` lines, `#` starts a comment.
fn open() -> Result<BTreeSet<String>, String> {
    let path = root().join("open-gluon.txt");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines
        .map(|line| {
            let (file, why) = line.split_once(": ").ok_or_else(|| format!("`{line}` is not `file: why`"))?;
            if why.trim().is_empty() { Err(format!("`{file}` has no reason")) } else { Ok(file.trim().to_owned()) }
        })
        .collect()
}
