//! No two public types of one name: who reads it knows which is meant.
//!
//! Which crate a type belongs to does not matter: most are imported by their bare names. Left out are the harness in
//! `tests/` and the tests of a crate, whose types nobody else sees, and an alias that has the name of its own type.

use super::tree::{BrokenRule, File};
use std::collections::BTreeMap;

pub(super) fn check(files: &[File]) -> Vec<BrokenRule> {
    let mut problems = Vec::new();
    let mut first: BTreeMap<&str, (&File, usize)> = BTreeMap::new();
    for file in files.iter().filter(|file| is_library(&file.path)) {
        for (at, line) in file.text.lines().enumerate() {
            let Some(name) = public_type(line) else { continue };
            match first.get(name) {
                None => _ = first.insert(name, (file, at + 1)),
                Some((other, line)) => {
                    let message = format!("`{name}` is a public type of {}:{line} too: rename one of them", other.path);
                    problems.push(file.problem(at + 1, message));
                }
            }
        }
    }
    problems
}

/// Whether a file is Rust of a crate's `src` that is no test.
fn is_library(path: &str) -> bool {
    let Some((folder, inside)) = path.split_once("/src/") else { return false };
    let test = inside.contains("tests/") || inside.ends_with("tests.rs");
    path.ends_with(".rs") && folder != "tests" && !test
}

/// The name of the public type that a line declares. An alias of a type of the same name declares none.
fn public_type(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub ")?;
    let rest = rest.strip_prefix("unsafe ").unwrap_or(rest);
    let (keyword, rest) = rest.split_once(' ')?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    let (name, rest) = rest.split_at(end);
    let alias = keyword == "type" && rest.split(['<', ';']).any(|part| part.ends_with(&format!("::{name}")));
    (["struct", "enum", "union", "trait", "type"].contains(&keyword) && !name.is_empty() && !alias).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(files: &[(&str, &str)]) -> usize {
        let files: Vec<File> =
            files.iter().map(|(path, text)| File { path: (*path).into(), text: (*text).into() }).collect();
        check(&files).len()
    }

    #[test]
    fn two_types_of_one_name_are_named() {
        let edge = "/// An edge.\npub struct Edge {\n    from: u32,\n}\n";
        assert_eq!(count(&[("a/src/lib.rs", edge), ("b/src/graph/mod.rs", "pub enum Edge {}\n")]), 1);
        assert_eq!(count(&[("a/src/lib.rs", edge), ("b/src/lib.rs", "pub type Edge<'a> = (u32, &'a str);\n")]), 1);
        assert_eq!(count(&[("a/src/lib.rs", edge), ("b/src/lib.rs", "macro! {\n    pub trait Edge: Copy {}\n}\n")]), 1);
    }

    #[test]
    fn what_is_no_second_public_type_is_left_alone() {
        let edge = "pub struct Edge;\n";
        for other in
            ["pub(crate) struct Edge;\n", "struct Edge;\n", "pub fn edge() -> Edge {}\n", "pub struct Edges;\n"]
        {
            assert_eq!(count(&[("a/src/lib.rs", edge), ("b/src/lib.rs", other)]), 0, "{other}");
        }
        assert_eq!(count(&[("a/src/lib.rs", edge), ("b/src/lib.rs", "pub type Edge = a::Edge<u32>;\n")]), 0);
        assert_eq!(count(&[("a/src/lib.rs", edge), ("a/src/tests.rs", edge), ("tests/src/lib.rs", edge)]), 0);
    }
}
