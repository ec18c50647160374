//! The corpus's manifest, and whether a file's analysis is what it asks for.
//!
//! A clean kernel must not be flagged. A twin must be found with an acceptable kind, at a site
//! whose op comes from an expected line of the Python source. `unmodelled` and hints are no findings.

use base::{Cancel, Limits, TextRange};
use engine::{Analysis, Engine};
use findings::{Finding, Kind, Severity};
use serde_json::Value;
use std::path::Path;
use ttgir::Document;

/// A row of the manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The compiled file, from the corpus's folder.
    pub file: String,
    /// Its Python source, likewise.
    pub source: String,
    /// Its function there.
    pub kernel: String,
    /// What it is compiled for.
    pub arch: String,
    /// What it is compiled with: a key of the manifest's `specs`.
    pub spec: String,
    /// `ttgir` or `alloc`.
    pub stage: String,
    /// Name of the slip; `None` for a clean kernel.
    pub bug: Option<String>,
    /// Acceptable kinds, the best first.
    pub kinds: Vec<String>,
    /// Lines of the source at which a site may be.
    pub lines: Vec<u64>,
}

/// Reads the manifest of a corpus.
pub fn manifest(folder: &Path) -> Result<Vec<Row>, String> {
    let json = json(folder)?;
    let rows = json.get("files").and_then(Value::as_array).ok_or("the manifest has no `files`")?;
    Ok(rows.iter().map(row).collect())
}

/// What the kernels are compiled with, by [`Row::spec`].
pub fn specs(folder: &Path) -> Result<Value, String> {
    Ok(json(folder)?.get("specs").cloned().unwrap_or_default())
}

fn json(folder: &Path) -> Result<Value, String> {
    let path = folder.join("manifest.json");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

fn row(json: &Value) -> Row {
    let text = |key: &str| json.get(key).and_then(Value::as_str).unwrap_or_default().to_string();
    let list = |key: &str| json.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    Row {
        file: text("file"),
        source: text("source"),
        kernel: text("kernel"),
        arch: text("arch"),
        spec: text("spec"),
        stage: text("stage"),
        bug: json.get("bug").and_then(Value::as_str).map(str::to_string),
        kinds: list("kinds").iter().filter_map(Value::as_str).map(str::to_string).collect(),
        lines: list("lines").iter().filter_map(Value::as_u64).collect(),
    }
}

/// Analyses a row's file and compares.
pub fn check(folder: &Path, row: &Row) -> Result<(), String> {
    let text = std::fs::read_to_string(folder.join(&row.file)).map_err(|error| format!("{}: {error}", row.file))?;
    let document = Document::new(text);
    let analysis = Engine::new(Limits::default())
        .analyse(&document, &Cancel::never())
        .map_err(|_| "the analysis says it was cancelled".to_string())?;
    if let Some(error) = analysis.syntax.first() {
        return Err(format!("a syntax error: {}", error.message));
    }
    if analysis.kernels.is_empty() {
        return Err("no kernel was found".into());
    }
    if let Some(defect) = crate::promises::broken(&document, &Limits::default()).first() {
        return Err(defect.clone());
    }
    match row.bug {
        None => clean(&analysis),
        Some(_) => twin(&document, &analysis, row),
    }
}

fn findings(analysis: &Analysis) -> impl Iterator<Item = &Finding> {
    let all = analysis.kernels.iter().flat_map(|kernel| &kernel.findings);
    all.filter(|finding| finding.kind != Kind::Unmodelled && finding.severity != Severity::Hint)
}

fn clean(analysis: &Analysis) -> Result<(), String> {
    let mut lines: Vec<String> = findings(analysis).map(told).collect();
    for kernel in &analysis.kernels {
        if lines.is_empty() && !matches!(kernel.verdict.name(), "proved" | "clean") {
            lines.push(format!("@{}: {:?}", kernel.name, kernel.verdict));
        }
    }
    if lines.is_empty() { Ok(()) } else { Err(format!("a clean kernel is flagged:\n{}", lines.join("\n"))) }
}

fn twin(document: &Document, analysis: &Analysis, row: &Row) -> Result<(), String> {
    let all: Vec<&Finding> = findings(analysis).collect();
    let right: Vec<&&Finding> =
        all.iter().filter(|finding| row.kinds.iter().any(|kind| kind == finding.kind.name())).collect();
    let expected = format!("expected {} at line {:?} of {}", row.kinds.join(" or "), row.lines, row.source);
    let found: Vec<String> = all.iter().map(|finding| told(finding)).collect();
    if all.is_empty() {
        let verdicts: Vec<&str> = analysis.kernels.iter().map(|kernel| kernel.verdict.name()).collect();
        return Err(format!("missed ({}): {expected}", verdicts.join(", ")));
    }
    if right.is_empty() {
        return Err(format!("wrong kind: {expected}\n{}", found.join("\n")));
    }
    let placed = right.iter().any(|finding| {
        let mut ranges = std::iter::once(finding.range).chain(finding.sites.iter().map(|site| site.range));
        ranges.any(|range| lines(document, range, &row.source).iter().any(|line| row.lines.contains(line)))
    });
    if placed { Ok(()) } else { Err(format!("wrong place: {expected}\n{}", found.join("\n"))) }
}

/// Lines of `source` that the op at a range comes from, inlined callers counted in.
fn lines(document: &Document, range: TextRange, source: &str) -> Vec<u64> {
    for section in document.sections() {
        let Some(offset) = range.start.checked_sub(section.offset()) else { continue };
        let tree = section.tree();
        if offset as usize > tree.text().len() {
            continue;
        }
        if let Some(op) = tree.op_at(offset) {
            let places = tree.loc(op);
            return places.iter().filter(|place| place.file == source).map(|place| u64::from(place.line)).collect();
        }
    }
    Vec::new()
}

fn told(finding: &Finding) -> String {
    format!("  {}: {}", finding.kind.name(), finding.message)
}
