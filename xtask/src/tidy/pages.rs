//! One kind, one page: what it says, why it matters, a flagged kernel, its clean twin, the fix; in Gluon first.
//!
//! Whether the analysis agrees with the marks on a page is the fixture tests' matter.

use super::tree::{BrokenRule, File};

const KINDS: &str = "analysis/findings/src/kind.rs";
const FOLDER: &str = "analysis/findings/src/pages/";

/// Kinds that only a run of the kernel finds: their pages show Python that nothing here analyses.
const OF_RUNS: [&str; 1] = ["device-assert"];

const SECTIONS: [&str; 5] = ["What it says", "Why it matters", "Flagged", "Clean", "The fix"];

pub(super) fn check(files: &[File]) -> Vec<BrokenRule> {
    let Some(registry) = files.iter().find(|file| file.path == KINDS) else { return Vec::new() };
    let kinds = kinds(&registry.text);
    let mut problems = Vec::new();
    if kinds.is_empty() {
        problems.push(registry.problem(0, "no kinds found: has the registry's form changed?"));
    }
    for (line, kind, page) in &kinds {
        if *page != format!("pages/{kind}.md") {
            problems.push(registry.problem(*line, format!("the page of `{kind}` is `pages/{kind}.md`")));
        }
        if let Some(readme) = files.iter().find(|file| file.path == "README.md")
            && !readme.text.contains(&format!("| [{kind}]({FOLDER}{kind}.md) |"))
        {
            problems.push(readme.problem(0, format!("the table of kinds has no row that links the page of `{kind}`")));
        }
        match files.iter().find(|file| file.path == format!("{FOLDER}{kind}.md")) {
            None => problems.push(registry.problem(*line, format!("`{kind}` has no page"))),
            Some(file) => problems.extend(page_problems(file, kind)),
        }
    }
    for file in files {
        let Some(name) = file.path.strip_prefix(FOLDER).and_then(|name| name.strip_suffix(".md")) else { continue };
        if !kinds.iter().any(|(_, kind, _)| *kind == name) {
            problems.push(file.problem(0, "a page without a kind"));
        }
    }
    problems
}

/// Line, name and page path of each entry of the `kinds!` table.
fn kinds(text: &str) -> Vec<(usize, &str, &str)> {
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let quoted: Vec<&str> = line.split('"').skip(1).step_by(2).collect();
        if let [name, page] = quoted.as_slice()
            && page.ends_with(".md")
        {
            found.push((at + 1, *name, *page));
        }
    }
    found
}

fn page_problems(file: &File, kind: &str) -> Vec<BrokenRule> {
    let mut problems = Vec::new();
    if file.text.lines().next() != Some(&format!("# {kind}")) {
        problems.push(file.problem(1, format!("the page's title is `# {kind}`")));
    }
    let headings: Vec<&str> = file.text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    for section in SECTIONS {
        if !headings.contains(&section) {
            problems.push(file.problem(0, format!("no section `## {section}`")));
        }
    }
    if OF_RUNS.contains(&kind) {
        let shown = |name| section(&file.text, name).contains("```python");
        if !shown("Flagged") || !shown("Clean") {
            problems.push(file.problem(0, "a kind of runs shows Python under `## Flagged` and `## Clean`"));
        }
        return problems;
    }
    // Most who read it write Python.
    for name in ["Flagged", "Clean"] {
        let shown = section(&file.text, name);
        let first = shown.find("\n```").map_or("", |at| &shown[at + 1..]);
        if !first.starts_with("```gluon") {
            problems.push(file.problem(0, format!("`## {name}` begins with a kernel in Gluon")));
        }
    }
    if !has_mark(section(&file.text, "Flagged"), kind) {
        problems.push(file.problem(0, format!("no case under `## Flagged` marks `^ {kind}`")));
    }
    let clean = section(&file.text, "Clean");
    let shown = ["```ttgir", "```triton"].iter().any(|fence| clean.contains(fence));
    if !shown || clean.lines().any(|line| line.contains("^ ") && line.trim().starts_with("//")) {
        problems.push(file.problem(0, "`## Clean` holds the twin: a kernel without a mark"));
    }
    problems
}

fn has_mark(text: &str, kind: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with(['/', '#']) && line.contains(&format!("^ {kind}")))
}

fn section<'a>(text: &'a str, name: &str) -> &'a str {
    let Some(start) = text.find(&format!("\n## {name}\n")) else { return "" };
    let body = &text[start + 1..];
    let end = body[3..].find("\n## ").map_or(body.len(), |end| end + 3);
    &body[..end]
}
