//! The sources of the site: the pages that `docs/SUMMARY.md` lists, and a page for each kind, as one folder.
//!
//! A page keeps its text. A link to a page of the site leads there; one to another file of the repository becomes its
//! words, since the site has no such file.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::links::{anchors, links};

const SUMMARY: &str = "docs/SUMMARY.md";
/// The page that lists the kinds; it is made from the table that the README has.
const KINDS: &str = "docs/kinds.md";
const KIND_PAGES: &str = "analysis/findings/src/pages/";

/// A file of the site's sources.
#[derive(Debug)]
pub struct SiteFile {
    /// Path in the folder, with `/`.
    pub path: String,
    /// What it holds.
    pub content: Vec<u8>,
}

/// The files of the site, and what is wrong with them.
#[derive(Debug, Default)]
pub struct DocsSite {
    /// Pages, pictures and the summary.
    pub files: Vec<SiteFile>,
    /// Links that lead nowhere, pages that are not there.
    pub problems: Vec<String>,
}

/// Puts the sources of the site together.
pub fn assemble(root: &Path) -> DocsSite {
    let mut site = DocsSite::default();
    let Ok(summary) = fs::read_to_string(root.join(SUMMARY)) else {
        site.problems.push(format!("{SUMMARY} is not there"));
        return site;
    };
    let kinds = kinds(root);
    let summary = with_the_rest(root, with_kinds(&summary, &kinds));
    // Path in the repository to the page's text.
    let mut pages: BTreeMap<String, String> = BTreeMap::new();
    for link in links(&summary) {
        let path = resolve(SUMMARY, &link.path);
        let text = if path == KINDS { Ok(list_of_kinds(&kinds)) } else { fs::read_to_string(root.join(&path)) };
        match text {
            Ok(text) => drop(pages.insert(path, text)),
            Err(error) => site.problems.push(format!("{SUMMARY}:{}: {path}: {error}", link.line)),
        }
    }
    let mut pictures = Vec::new();
    for (path, text) in &pages {
        let content = rewrite(root, path, text, &pages, &mut pictures, &mut site.problems);
        site.files.push(SiteFile { path: place(path), content: content.into_bytes() });
    }
    let mut nothing = Vec::new();
    let content = rewrite(root, SUMMARY, &summary, &pages, &mut nothing, &mut site.problems);
    site.files.push(SiteFile { path: "SUMMARY.md".to_owned(), content: content.into_bytes() });
    pictures.sort();
    pictures.dedup();
    for path in pictures {
        match fs::read(root.join(&path)) {
            Ok(content) => site.files.push(SiteFile { path: place(&path), content }),
            Err(error) => site.problems.push(format!("{path}: {error}")),
        }
    }
    site
}

/// Where a file of the repository lies in the site: `docs/` is its root, and a README is called after its folder.
fn place(path: &str) -> String {
    if path == "README.md" {
        return "index.md".to_owned();
    }
    if let Some(kind) = path.strip_prefix(KIND_PAGES) {
        return format!("kinds/{kind}");
    }
    let path = path.strip_prefix("docs/").unwrap_or(path);
    match path.strip_suffix("/README.md") {
        Some(folder) => format!("{folder}.md"),
        None => path.to_owned(),
    }
}

/// The page with links as the site has them.
fn rewrite(
    root: &Path,
    from: &str,
    text: &str,
    pages: &BTreeMap<String, String>,
    pictures: &mut Vec<String>,
    problems: &mut Vec<String>,
) -> String {
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for link in links(text) {
        if link.is_address() {
            continue;
        }
        let to = if link.path.is_empty() { from.to_owned() } else { resolve(from, &link.path) };
        let anchor = link.anchor.as_ref().map_or(String::new(), |anchor| format!("#{anchor}"));
        let target = match pages.get(&to) {
            Some(page) => {
                if link.anchor.as_ref().is_some_and(|anchor| !anchors(page).contains(anchor)) {
                    problems.push(format!("{from}:{}: {to} has no heading `{anchor}`", link.line));
                }
                Some(format!("{}{anchor}", relative(&place(from), &place(&to))))
            }
            None if !root.join(&to).exists() => {
                problems.push(format!("{from}:{}: {to} does not exist", link.line));
                None
            }
            None if link.image => {
                pictures.push(to.clone());
                Some(relative(&place(from), &place(&to)))
            }
            None => None,
        };
        out.push_str(&text[copied..link.range.start]);
        match target {
            Some(target) => {
                let mark = if link.image { "!" } else { "" };
                out.push_str(&format!("{mark}[{}]({target})", link.text));
            }
            None => out.push_str(&link.text),
        }
        copied = link.range.end;
    }
    out.push_str(&text[copied..]);
    // What the site's highlighter knows it by.
    out.replace("\n```gluon", "\n```python").replace("\n```triton", "\n```python")
}

/// A path that a page names, from the root of the repository.
pub(crate) fn resolve(from: &str, path: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// The way from one page of the site to another.
fn relative(from: &str, to: &str) -> String {
    let depth = from.matches('/').count();
    format!("{}{to}", "../".repeat(depth))
}

/// Name of each kind and what it says, in the order of the README's table.
fn kinds(root: &Path) -> Vec<(String, String)> {
    let readme = fs::read_to_string(root.join("README.md")).unwrap_or_default();
    let row = |line: &str| {
        let rest = line.strip_prefix("| [")?;
        let (name, rest) = rest.split_once("](")?;
        let says = rest.strip_prefix(KIND_PAGES)?.split_once(" | ")?.1.trim_end_matches(" |");
        Some((name.to_owned(), says.to_owned()))
    };
    readme.lines().filter_map(row).collect()
}

/// The summary with a page for each kind below the list of them.
fn with_kinds(summary: &str, kinds: &[(String, String)]) -> String {
    let mut out = String::new();
    for line in summary.lines() {
        out.push_str(line);
        out.push('\n');
        if line.ends_with("(kinds.md)") {
            for (name, _) in kinds {
                out.push_str(&format!("  - [{name}](../{KIND_PAGES}{name}.md)\n"));
            }
        }
    }
    out
}

/// The summary with the pages of `docs/` that it does not name, at its end.
fn with_the_rest(root: &Path, mut summary: String) -> String {
    let named: Vec<String> = links(&summary).iter().map(|link| resolve(SUMMARY, &link.path)).collect();
    let entries = fs::read_dir(root.join("docs")).into_iter().flatten().flatten();
    let mut rest: Vec<String> = entries.map(|entry| format!("docs/{}", entry.file_name().to_string_lossy())).collect();
    rest.retain(|path| path.ends_with(".md") && path != SUMMARY && !named.contains(path));
    rest.sort();
    if !rest.is_empty() {
        summary.push_str("\n# More\n\n");
    }
    for path in rest {
        let text = fs::read_to_string(root.join(&path)).unwrap_or_default();
        let title = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or(&path).to_owned();
        summary.push_str(&format!("- [{title}]({})\n", path.trim_start_matches("docs/")));
    }
    summary
}

fn list_of_kinds(kinds: &[(String, String)]) -> String {
    let mut out =
        "# The kinds of findings\n\n`fencepost explain KIND` prints the page of a kind: what it says, why it \
                   matters, a kernel that has it, its clean twin, and the fix. Each kernel there is a test.\n\n\
                   | kind | says |\n| --- | --- |\n"
            .to_owned();
    for (name, says) in kinds {
        out.push_str(&format!("| [{name}](../{KIND_PAGES}{name}.md) | {says} |\n"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_where_they_stand() {
        assert_eq!(resolve("docs/a.md", "../editors/nvim/README.md"), "editors/nvim/README.md");
        assert_eq!(resolve("README.md", "docs/a.md"), "docs/a.md");
        assert_eq!(place("editors/nvim/README.md"), "editors/nvim.md");
        assert_eq!(place("docs/a.md"), "a.md");
        assert_eq!(relative("editors/nvim.md", "index.md"), "../index.md");
    }

    #[test]
    fn a_page_that_the_summary_does_not_name_stands_at_its_end() {
        let summary = with_the_rest(&crate::root(), "# All\n\n- [A](gsan.md)\n".to_owned());
        let (listed, rest) = summary.split_once("\n# More\n").expect("others");
        assert!(listed.contains("(gsan.md)") && !rest.contains("(gsan.md)"), "{summary}");
        assert!(rest.contains("](agents.md)\n"), "{summary}");
        assert!(!rest.contains("SUMMARY"), "{summary}");
    }

    #[test]
    fn a_link_out_of_the_site_becomes_its_words_and_a_dead_one_is_named() {
        let root = crate::root();
        let pages = BTreeMap::from([("docs/b.md".to_owned(), "# B c\n".to_owned())]);
        let text = "[a](b.md#b-c) [code](../Cargo.toml) [dead](none.md) [bad](b.md#none) ![p](trace.svg)";
        let (mut pictures, mut problems) = (Vec::new(), Vec::new());
        let out = rewrite(&root, "docs/x.md", text, &pages, &mut pictures, &mut problems);
        assert_eq!(out, "[a](b.md#b-c) code dead [bad](b.md#none) ![p](trace.svg)");
        assert_eq!(pictures, ["docs/trace.svg"]);
        assert_eq!(
            problems,
            ["docs/x.md:1: docs/none.md does not exist", "docs/x.md:1: docs/b.md has no heading `#none`"]
        );
    }
}
