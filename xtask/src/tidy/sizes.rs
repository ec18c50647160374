//! No file that one cannot read in a sitting.

use super::tree::{File, Problem};

const MOST_LINES: usize = 800;

pub(super) fn check(files: &[File]) -> Vec<Problem> {
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
    problems
}
