//! Which room of the analysis may name which: the arrows of ARCHITECTURE.md, checked.
//!
//! Both `use` trees and full paths in code count. Missed: a path that goes through a re-export of
//! a third room, which the first rule of each room keeps from existing.

use super::{File, Problem};
use std::collections::BTreeSet;

/// A room of `analysis/src` and the rooms that it never names.
const NEVER: [(&str, &[&str]); 11] = [
    (
        "base",
        &["syntax", "lower", "sync", "model", "explore", "decide", "findings", "fix", "engine", "ide", "timeline"],
    ),
    ("syntax", &["lower", "sync", "model", "explore", "decide", "findings", "fix", "engine", "ide", "timeline"]),
    ("sync", &["syntax", "lower", "model", "explore", "decide", "findings", "fix", "engine", "ide", "timeline"]),
    ("lower", &["model", "explore", "decide", "findings", "fix", "engine", "ide", "timeline"]),
    ("explore", &["syntax", "lower", "sync", "model", "decide", "findings", "fix", "engine", "ide", "timeline"]),
    ("model", &["syntax", "lower", "decide", "findings", "fix", "engine", "ide", "timeline"]),
    ("decide", &["syntax", "lower", "findings", "fix", "engine", "ide", "timeline"]),
    ("findings", &["syntax", "lower", "fix", "engine", "ide", "timeline"]),
    ("fix", &["engine", "ide", "timeline"]),
    ("engine", &["ide", "timeline"]),
    ("timeline", &["syntax", "lower", "fix", "engine", "ide"]),
];

const ROOMS: [&str; 12] =
    ["base", "syntax", "sync", "lower", "model", "explore", "decide", "findings", "fix", "engine", "ide", "timeline"];

pub(super) fn check(files: &[File]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in files {
        let Some(inner) = file.path.strip_prefix("analysis/src/").and_then(|path| path.strip_suffix(".rs")) else {
            continue;
        };
        let here: Vec<&str> = inner.split('/').filter(|part| *part != "mod").collect();
        let Some(room) = here.first() else { continue };
        let Some((_, never)) = NEVER.iter().find(|(name, _)| name == room) else { continue };
        let mut seen = BTreeSet::new();
        for (line, path) in paths(&file.text) {
            let Some(target) = target(&here, &path) else { continue };
            if never.contains(&target.as_str()) && seen.insert((line, target.clone())) {
                problems.push(file.problem(line, format!("`{room}` never names `{target}` (here `{path}`)")));
            }
        }
    }
    problems
}

/// The room that a path leads to from the module `here`.
fn target(here: &[&str], path: &str) -> Option<String> {
    let mut parts = path.split("::").peekable();
    let mut base = here.to_vec();
    match parts.next()? {
        "crate" => base.clear(),
        "super" => {
            base.pop();
            while parts.peek() == Some(&"super") {
                parts.next();
                base.pop();
            }
        }
        _ => return None,
    }
    let full: Vec<&str> = base.into_iter().chain(parts).collect();
    let room = *full.first()?;
    ROOMS.contains(&room).then(|| room.to_string())
}

/// Every path of the text that starts at `crate` or `super`, `use` trees opened, with its line.
fn paths(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut statement: Option<(usize, String)> = None;
    for (at, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or("");
        let trimmed = code.trim_start();
        let is_use = trimmed.starts_with("use ") || (trimmed.starts_with("pub") && trimmed.contains(" use "));
        if is_use && statement.is_none() {
            statement = Some((at + 1, String::new()));
        }
        match &mut statement {
            Some((start, whole)) => {
                whole.push_str(code.trim());
                if code.contains(';') {
                    let tree = whole.split("use ").nth(1).unwrap_or("").split(';').next().unwrap_or("").to_string();
                    let start = *start;
                    found.extend(open(&tree).into_iter().map(|path| (start, path)));
                    statement = None;
                }
            }
            None => {
                for start in ["crate::", "super::"] {
                    for (position, _) in code.match_indices(start) {
                        let whole = &code[position..];
                        let end = whole.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
                        found.push((at + 1, whole[..end.unwrap_or(whole.len())].to_string()));
                    }
                }
            }
        }
    }
    found
}

/// `a::{b, c::{d, e}}` as `a::b`, `a::c::d`, `a::c::e`.
fn open(tree: &str) -> Vec<String> {
    let Some(brace) = tree.find('{') else { return vec![tree.split(" as ").next().unwrap_or("").trim().to_string()] };
    let prefix = tree[..brace].trim();
    let inner = &tree[brace + 1..];
    let inner = &inner[..inner.rfind('}').unwrap_or(inner.len())];
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0usize, 0);
    for (at, c) in inner.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inner[start..]);
    parts
        .into_iter()
        .filter(|part| !part.trim().is_empty())
        .flat_map(open)
        .map(|path| format!("{prefix}{path}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(path: &str, text: &str) -> Vec<String> {
        check(&[File { path: path.into(), text: text.into() }]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_forbidden_room_is_found_through_every_spelling() {
        for text in [
            "use crate::syntax::Tree;",
            "use crate::{base::Limits, syntax};",
            "use crate::{\n    base::Limits,\n    syntax::{Tree, Document},\n};",
            "pub(crate) use crate::syntax;",
            "fn f(tree: &crate::syntax::Tree) {}",
            "use super::super::syntax::Tree;",
        ] {
            assert_eq!(problems("analysis/src/model/step.rs", text).len(), 1, "{text}");
        }
    }

    #[test]
    fn what_is_allowed_passes() {
        for text in ["use crate::sync::Kernel;", "use super::state::State;", "// crate::syntax is far", "use std::fmt;"]
        {
            assert_eq!(problems("analysis/src/model/step.rs", text), [""; 0], "{text}");
        }
        assert_eq!(problems("analysis/src/lower/mod.rs", "use crate::syntax::Tree;"), [""; 0]);
    }

    #[test]
    fn the_explorer_knows_no_model() {
        let found = problems("analysis/src/explore/mod.rs", "\nuse crate::model::Machine;");
        assert_eq!(
            found,
            ["analysis/src/explore/mod.rs:2: `explore` never names `model` (here `crate::model::Machine`)"]
        );
    }
}
