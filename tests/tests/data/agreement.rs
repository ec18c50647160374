//! Every kernel of the corpus is the same kernel in both languages: what it does at which place of the
//! Python, its verdict, and the kinds and places of its findings.
//!
//! `tests/open-gluon.txt` lists the files on which the languages are known to differ, with a word on why.

use std::sync::Arc;

use fencepost_tests::corpus::{Row, manifest, specs};
use fencepost_tests::gluon::both::{compiled_side, disagreement, python_side};
use fencepost_tests::gluon::files::Disk;
use fencepost_tests::gluon::{module, recipe};
use fencepost_tests::known::{Case, with_failing};
use fencepost_tests::sources::root;
use serde_json::Value;

pub(crate) fn cases() -> Result<Vec<Case>, String> {
    let folder = root().join("corpus");
    let (specs, files) = (Arc::new(specs(&folder)?), Arc::new(Disk::default()));
    // After allocation the text says more than the Python does.
    let rows = manifest(&folder)?.into_iter().filter(|row| row.stage == "ttgir");
    let case = |row: Row| {
        let (files, specs) = (files.clone(), specs.clone());
        Case::new(row.file.clone(), move || check(&row, &specs, &files))
    };
    with_failing("open-gluon.txt", rows.map(case).collect())
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
