//! No machine of ours in the tree: absolute paths of a checkout, private registries.

use super::tree::{BrokenRule, File};

/// Spelt in two halves, so that this file does not hold them.
const PATHS: [(&str, &str); 5] =
    [("/wo", "rk/"), ("/ro", "ot/"), ("/Use", "rs/"), ("../sha", "red"), ("/tmp/", "bash")];

/// What Cargo writes for its default registry, on every machine. npm's lock file can do without
/// addresses (`omit-lockfile-registry-resolved`), and does here.
const DEFAULT_REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

pub(super) fn check(files: &[File]) -> Vec<BrokenRule> {
    let mut problems = Vec::new();
    for file in files {
        let lock = file.path.ends_with("package-lock.json") || file.path.ends_with("Cargo.lock");
        for (at, line) in file.text.lines().enumerate() {
            for (a, b) in PATHS {
                let word = format!("{a}{b}");
                let Some(position) = line.find(&word) else { continue };
                let inside = line[..position].ends_with(|c: char| c.is_alphanumeric() || c == '.' || c == '_');
                if !inside || word.starts_with('.') {
                    problems.push(file.problem(at + 1, format!("`{word}` names a machine, not the project")));
                }
            }
            let source = line.trim().strip_prefix("\"resolved\": \"").or(line.trim().strip_prefix("source = \""));
            if let (true, Some(source)) = (lock, source)
                && !source.starts_with(DEFAULT_REGISTRY)
            {
                problems.push(file.problem(at + 1, "a dependency from elsewhere than the public registry"));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        check(&[File { path: path.into(), text: text.into() }]).len()
    }

    #[test]
    fn a_checkout_is_named() {
        assert_eq!(count("README.md", &format!("see {}{}a.rs", "/wo", "rk/")), 1);
        assert_eq!(count("README.md", &format!("file://{}{}a.rs", "/wo", "rk/")), 1);
        assert_eq!(count("README.md", &format!("patch{}{}a.rs", "/wo", "rk/")), 0);
    }

    #[test]
    fn a_mirror_is_named() {
        assert_eq!(count("a/package-lock.json", "  \"resolved\": \"https://mirror.example/x.tgz\","), 1);
        assert_eq!(count("a/package-lock.json", "  \"integrity\": \"sha512-x\","), 0);
        assert_eq!(count("Cargo.lock", &format!("source = \"{DEFAULT_REGISTRY}\"")), 0);
    }
}
