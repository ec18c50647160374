//! Every dependency is pinned once, at the root, and ARCHITECTURE.md says why it is there.

use super::tree::{BrokenRule, File};
use std::collections::BTreeSet;

pub(super) fn check(files: &[File]) -> Vec<BrokenRule> {
    let mut problems = Vec::new();
    let used: BTreeSet<&str> = files
        .iter()
        .filter(|file| file.path.ends_with("/Cargo.toml"))
        .flat_map(|file| dependencies(&file.text))
        .map(|(_, _, name, _)| name)
        .collect();
    let architecture = files.iter().find(|file| file.path == "ARCHITECTURE.md").map_or("", |file| &file.text);
    for file in files.iter().filter(|file| file.path.ends_with("Cargo.toml")) {
        // A workspace of its own, which somebody else compiles, pins its own.
        let apart = file.path != "Cargo.toml" && file.text.lines().any(|line| line.trim() == "[workspace]");
        for (line, section, name, value) in dependencies(&file.text) {
            if apart {
                if !value.trim_matches('"').starts_with('=') {
                    problems.push(file.problem(line, format!("pin `{name}` to one release: `\"=…\"`")));
                }
                if !architecture.contains(&format!("`{name}`")) {
                    problems.push(file.problem(line, format!("ARCHITECTURE.md gives no reason for `{name}`")));
                }
            } else if file.path == "Cargo.toml" {
                if !value.contains("path =") && !architecture.contains(&format!("`{name}`")) {
                    problems.push(file.problem(line, format!("ARCHITECTURE.md gives no reason for `{name}`")));
                }
                if !value.contains("path =") && !used.contains(name) {
                    problems.push(file.problem(line, format!("no crate uses `{name}`")));
                }
            } else if section != "workspace.dependencies" && !value.contains("workspace = true") {
                problems.push(file.problem(line, format!("pin `{name}` in the root's Cargo.toml, not here")));
            }
        }
    }
    problems
}

/// Line, section, name and value of each dependency; `a.workspace = true` reads as `workspace = true`.
fn dependencies(text: &str) -> Vec<(usize, &str, &str, String)> {
    let mut section = "";
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
            continue;
        }
        if !section.ends_with("dependencies") || line.starts_with('#') {
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        match key.trim().split_once('.') {
            Some((name, rest)) => found.push((at + 1, section, name, format!("{rest} ={value}"))),
            None => found.push((at + 1, section, key.trim(), value.trim().to_string())),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_outside_the_root_is_named() {
        let text = "[dependencies]\nmemchr.workspace = true\nserde = \"1\"\nropey = { workspace = true }\n";
        let file = File { path: "server/Cargo.toml".into(), text: text.into() };
        let found: Vec<String> = check(&[file]).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["server/Cargo.toml:3: pin `serde` in the root's Cargo.toml, not here"]);
    }

    #[test]
    fn a_workspace_of_its_own_pins_its_own() {
        let of = |value: &str| File {
            path: "editors/a/Cargo.toml".into(),
            text: format!("[dependencies]\nb = {value}\n[workspace]\n"),
        };
        let page = File { path: "ARCHITECTURE.md".into(), text: "`b` does it".into() };
        assert_eq!(check(&[of("\"=1.2.3\""), page]), []);
        assert_eq!(check(&[of("\"1\"")]).len(), 2);
    }

    #[test]
    fn a_dependency_without_a_reason_or_a_use_is_named() {
        let root = File { path: "Cargo.toml".into(), text: "[workspace.dependencies]\nmemchr = \"2\"\n".into() };
        let user = File { path: "a/Cargo.toml".into(), text: "[dependencies]\nmemchr.workspace = true\n".into() };
        assert_eq!(check(std::slice::from_ref(&root)).len(), 2);
        assert_eq!(check(&[root.clone(), user.clone()]).len(), 1);
        let page = File { path: "ARCHITECTURE.md".into(), text: "| `memchr` | finds bytes |".into() };
        assert_eq!(check(&[root, user, page]), []);
    }
}
