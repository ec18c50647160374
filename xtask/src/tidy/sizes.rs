//! No file that one cannot read in a sitting, no crate that one cannot build in a moment.

use super::tree::{BrokenRule, File};
use std::collections::BTreeMap;

const MOST_LINES: usize = 800;

/// Lines of Rust below `src` of one crate.
const MOST_OF_A_CRATE: usize = 15_000;

pub(super) fn check(files: &[File]) -> Vec<BrokenRule> {
    let mut problems = Vec::new();
    for file in files.iter().filter(|file| file.path.ends_with(".rs")) {
        let lines = file.text.lines().count();
        if lines > MOST_LINES {
            problems.push(file.problem(0, format!("{lines} lines of Rust: split it (at most {MOST_LINES})")));
        }
        if !file.text.starts_with("//!") && !file.path.ends_with("/tests.rs") {
            problems.push(file.problem(1, "a file opens with a `//!` line that says what it is"));
        }
    }
    let mut crates: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files.iter().filter(|file| file.path.ends_with(".rs")) {
        if let Some((folder, _)) = file.path.split_once("/src/") {
            *crates.entry(folder).or_default() += file.text.lines().count();
        }
    }
    for manifest in files.iter() {
        let Some(folder) = manifest.path.strip_suffix("/Cargo.toml") else { continue };
        let lines = crates.get(folder).copied().unwrap_or(0);
        if lines > MOST_OF_A_CRATE {
            let message = format!("{lines} lines of Rust in this crate: split it (at most {MOST_OF_A_CRATE})");
            problems.push(manifest.problem(0, message));
        }
    }
    problems
}
