//! Every kernel of the corpus is clean, every broken twin is found where it is broken.
//!
//! `tests/open.txt` lists the rows on which the analysis is known to be wrong, with a word on why.
//! They run too; one that agrees says so, and should leave the list.

use fencepost_tests::corpus::{check, manifest};
use fencepost_tests::runner::{self, Trial};
use fencepost_tests::sources::root;
use std::collections::BTreeSet;
use std::process::ExitCode;

fn main() -> ExitCode {
    let folder = root().join("corpus");
    let rows = match manifest(&folder) {
        Ok(rows) => rows,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::FAILURE;
        }
    };
    let open = match open() {
        Ok(open) => open,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::FAILURE;
        }
    };
    let trials = rows.into_iter().map(|row| {
        let (folder, known) = (folder.clone(), open.contains(&row.file));
        let name = name_of(known, &row.file);
        let run = move || match check(&folder, &row) {
            Err(_) if known => Ok(()),
            Ok(()) if known => {
                println!("{} agrees now: take it off tests/open.txt", row.file);
                Ok(())
            }
            outcome => outcome,
        };
        Trial { name, run: Box::new(run) }
    });
    runner::main(trials.collect())
}

fn name_of(known: bool, file: &str) -> String {
    format!("{file}{}", if known { " (open)" } else { "" })
}

/// The files of the list of open rows: `file: why` lines, `#` starts a comment.
fn open() -> Result<BTreeSet<String>, String> {
    let path = root().join("open.txt");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    Ok(lines.filter_map(|line| line.split_once(": ")).map(|(file, _)| file.to_string()).collect())
}
