//! Pages go stale at their paths first: every path that they name exists.

use super::tree::{BrokenRule, File};
use std::path::Path;

/// Pages whose quoted paths are checked.
const PAGES: [&str; 3] = ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"];

pub(super) fn check(root: &Path, files: &[File]) -> Vec<BrokenRule> {
    let mut problems = Vec::new();
    for file in files.iter().filter(|file| PAGES.contains(&file.path.as_str())) {
        let mut fenced = false;
        for (at, line) in file.text.lines().enumerate() {
            fenced ^= line.trim_start().starts_with("```");
            if fenced {
                continue;
            }
            for path in quoted(line).chain(linked(line)).filter(|text| is_path(text)) {
                if !root.join(path.trim_end_matches('/')).exists() {
                    problems.push(file.problem(at + 1, format!("`{path}` does not exist")));
                }
            }
        }
    }
    problems
}

fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

fn linked(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next())
}

/// Whether a quoted word means a file of this tree: it starts at one of its rooms or is a page.
fn is_path(text: &str) -> bool {
    const ROOMS: [&str; 9] =
        ["analysis/", "server/", "tests/", "xtask/", "editors/", "runtime/", ".ci/", ".cargo/", "bench/"];
    let plain = !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || "*{}<>$…|".contains(c));
    plain && (ROOMS.iter().any(|room| text.starts_with(room)) || (!text.contains('/') && text.ends_with(".md")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_other_quotes() {
        assert!(is_path("analysis/src/lib.rs") && is_path("CHANGELOG.md"));
        assert!(!is_path("cargo test") && !is_path("a/b") && !is_path("analysis/src/*.rs") && !is_path(""));
        assert_eq!(linked("see [x](tests/a.md#b) and [y](c)").collect::<Vec<_>>(), ["tests/a.md", "c"]);
    }
}
