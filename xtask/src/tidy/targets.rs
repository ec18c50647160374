//! What a manifest tells cargo not to test holds no tests: nobody would run them.

use super::tree::{BrokenRule, File};

pub(super) fn check(files: &[File]) -> Vec<BrokenRule> {
    let mut problems = Vec::new();
    for manifest in files.iter().filter(|file| file.path.ends_with("/Cargo.toml")) {
        let folder = manifest.path.trim_end_matches("Cargo.toml");
        for (line, target) in untested(&manifest.text) {
            let here = |file: &&File| match target {
                Untested::Examples | Untested::Library => file.path.starts_with(&format!("{folder}src/")),
                Untested::Binary(name) => {
                    file.path == format!("{folder}src/bin/{name}.rs") || file.path == format!("{folder}src/main.rs")
                }
            };
            let rust = files.iter().filter(|file| file.path.ends_with(".rs")).filter(here);
            problems.extend(rust.filter_map(|file| {
                let (at, what) = match target {
                    Untested::Examples => (example(&file.text)?, "an example, which `doctest = false`"),
                    Untested::Library | Untested::Binary(_) => (test(&file.text)?, "a test, which `test = false`"),
                };
                Some(file.problem(at, format!("this is {what} in {}:{line} keeps from running", manifest.path)))
            }));
        }
    }
    problems
}

/// What is not tested.
#[derive(Clone, Copy)]
enum Untested<'t> {
    /// Examples in the documentation of a library.
    Examples,
    /// A library.
    Library,
    /// A binary of this name.
    Binary(&'t str),
}

/// What a manifest says is not tested, and where.
fn untested(text: &str) -> Vec<(usize, Untested<'_>)> {
    let (mut section, mut name) = ("", "");
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with('[') {
            (section, name) = (line, "");
        }
        let value = |key: &str| line.strip_prefix(key)?.trim_start().strip_prefix('=').map(str::trim);
        if let Some(value) = value("name") {
            name = value.trim_matches('"');
        }
        match section {
            "[lib]" if value("doctest") == Some("false") => found.push((at + 1, Untested::Examples)),
            "[lib]" if value("test") == Some("false") => found.push((at + 1, Untested::Library)),
            "[[bin]]" if value("test") == Some("false") => found.push((at + 1, Untested::Binary(name))),
            _ => {}
        }
    }
    found
}

/// The line of the first test.
fn test(text: &str) -> Option<usize> {
    text.lines().position(|line| line.trim() == "#[test]").map(|at| at + 1)
}

/// The line of the first example that rustdoc would run: a block of documentation without the name of another language.
fn example(text: &str) -> Option<usize> {
    let mut inside = false;
    for (at, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let body = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let Some(language) = body.and_then(|body| body.trim_start().strip_prefix("```")) else { continue };
        if !inside && (language.trim().is_empty() || language.trim().starts_with("rust")) {
            return Some(at + 1);
        }
        inside = !inside;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_would_run_is_named() {
        let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
        let manifest = "[lib]\nname = \"a\"\ndoctest = false\n\n[[bin]]\nname = \"b\"\ntest = false\n";
        let said = |code: &str, tool: &str| {
            let files = [file("a/Cargo.toml", manifest), file("a/src/lib.rs", code), file("a/src/bin/b.rs", tool)];
            check(&files).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert!(said("/// ```text\n/// x\n/// ```\nfn f() {}\n#[test]\n", "fn main() {}\n").is_empty());
        let example = said("/// ```\n/// f();\n/// ```\nfn f() {}\n", "");
        assert_eq!(
            example,
            ["a/src/lib.rs:1: this is an example, which `doctest = false` in a/Cargo.toml:3 keeps from running"]
        );
        assert_eq!(said("", "#[test]\nfn t() {}\n").len(), 1);
        let library = [file("a/Cargo.toml", "[lib]\ntest = false\n"), file("a/src/b.rs", "#[test]\nfn t() {}\n")];
        assert_eq!(check(&library).len(), 1);
    }
}
