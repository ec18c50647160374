//! No link of a page leads to a file that is not there, or to a heading that its page does not have.

use std::path::Path;

use super::tree::{BrokenRule, File};
use crate::site::links::{anchors, links};
use crate::site::resolve;

/// Made from other pages, for the site alone.
const MADE: [&str; 1] = ["docs/kinds.md"];

pub(super) fn check(root: &Path, files: &[File]) -> Vec<BrokenRule> {
    let mut problems = Vec::new();
    for file in files.iter().filter(|file| file.path.ends_with(".md")) {
        for link in links(&file.text).into_iter().filter(|link| !link.is_address()) {
            let to = if link.path.is_empty() { file.path.clone() } else { resolve(&file.path, &link.path) };
            if MADE.contains(&to.as_str()) {
                continue;
            }
            if !root.join(&to).exists() {
                problems.push(file.problem(link.line, format!("`{}` does not exist", link.path)));
                continue;
            }
            let Some(anchor) = &link.anchor else { continue };
            let page = files.iter().find(|page| page.path == to);
            if page.is_some_and(|page| page.path.ends_with(".md") && !anchors(&page.text).contains(anchor)) {
                problems.push(file.problem(link.line, format!("`{to}` has no heading `#{anchor}`")));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_link_is_named_and_one_to_an_address_is_not() {
        let text = "[a](Cargo.toml) [b](none.md) [c](https://x.y/z) [d](#here) [e](#there)\n\n# Here\n";
        let page = File { path: "PAGE.md".into(), text: text.into() };
        let found: Vec<String> = check(&crate::root(), &[page]).iter().map(ToString::to_string).collect();
        assert_eq!(found[0], "PAGE.md:1: `none.md` does not exist");
        assert_eq!(found.len(), 3, "{found:?}");
    }
}
