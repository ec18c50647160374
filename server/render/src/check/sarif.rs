//! SARIF 2.1.0: one run, one rule a kind, the run of a finding as a code flow.
//!
//! A thread flow stands for a partition; `executionOrder` gives the order across partitions.
//! Columns count UTF-16 code units, which SARIF calls its default.

use std::collections::BTreeMap;
use ttgir::SyntaxError;

use base::TextRange;
use findings::{Finding, Fix, KernelReport, PrintedCode, Severity, Suppressed, SuppressedBy, TextProblem};
use serde_json::{Value, json};

use crate::SourceText;
use crate::check::{CheckedFile, FileOutput, Printer, Tally, UNDECIDED, fingerprint, undecided};
use crate::lanes;

/// The name of our fingerprints; another way of making them has another one.
const FINGERPRINT: &str = "fencepost/v1";

/// Prints the log.
#[derive(Debug, Default)]
pub struct Sarif {
    /// Whether results are compared with a baseline, so that those that are not in it are new.
    pub baseline: bool,
}

impl Printer for Sarif {
    fn begin(&self) -> String {
        let tool = json!({
            "driver": {
                "name": "fencepost",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules(),
            }
        });
        let schema = "https://json.schemastore.org/sarif-2.1.0.json";
        format!(
            "{{\"$schema\":\"{schema}\",\"version\":\"2.1.0\",\"runs\":[{{\"tool\":{tool},\
             \"originalUriBaseIds\":{{\"%SRCROOT%\":{{\"description\":{{\"text\":\"The folder that fencepost ran in\"}}}}}},\
             \"columnKind\":\"utf16CodeUnits\",\"results\":[\n"
        )
    }

    fn file(&self, file: &CheckedFile) -> FileOutput {
        let places = SourceText::new(&file.text);
        let artifact = artifact(&file.path);
        let mut results: Vec<String> = Vec::new();
        let mut notifications: Vec<String> = Vec::new();
        if file.is_unchanged() {
            notifications.push(note(&format!("{} is unchanged and was not looked at", file.path), &artifact));
        }
        for name in file.left_out() {
            notifications.push(note(&format!("@{name} is unchanged and was not looked at"), &artifact));
        }
        match &file.result {
            Ok(analysis) => {
                results.extend(analysis.syntax.iter().map(|error| syntax(error, &artifact, &places).to_string()));
                results.extend(analysis.problems.iter().map(|it| refused(it, &artifact, &places).to_string()));
                results.extend(analysis.kernels.iter().filter_map(|it| open(it, &artifact, &places)));
            }
            Err(trouble) => {
                let mut location = json!({ "artifactLocation": artifact });
                if let Some(at) = trouble.position {
                    location["region"] = json!({ "startLine": at.line, "startColumn": at.utf16 });
                }
                let note = json!({
                    "level": "error",
                    "message": { "text": trouble.message },
                    "locations": [{ "physicalLocation": location }],
                });
                notifications.push(note.to_string());
            }
        }
        // Of findings that look alike each has a number behind its fingerprint.
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let mut add = |finding: &Finding, suppressed: Option<&Suppressed>| {
            let mut value = result(finding, &artifact, &places);
            let print = fingerprint::of_finding(finding, &file.text, file.is_python());
            let number = seen.entry(print.clone()).and_modify(|number| *number += 1).or_insert(1);
            if self.baseline {
                let known = suppressed.is_some_and(|it| it.by == SuppressedBy::Baseline);
                value["baselineState"] = json!(if known { "unchanged" } else { "new" });
            }
            value["partialFingerprints"] = json!({ FINGERPRINT: format!("{print}:{number}") });
            if let Some(suppressed) = suppressed {
                suppress(&mut value, suppressed, &artifact, &places);
            }
            results.push(value.to_string());
        };
        file.findings().for_each(|finding| add(finding, None));
        file.suppressed().for_each(|it| add(&it.finding, Some(it)));
        FileOutput { body: results.join(",\n"), notifications: notifications.join(",\n") }
    }

    fn separator(&self) -> &'static str {
        ",\n"
    }

    fn end(&self, tally: &Tally, notifications: &[String]) -> String {
        let stale = tally.stale.iter().map(|entry| note(&entry.words(), &artifact(&entry.path)));
        let notes: Vec<String> = notifications.iter().cloned().chain(stale).collect();
        let notes = notes.join(",\n");
        let successful = tally.unreadable == 0;
        format!(
            "\n],\"invocations\":[{{\"executionSuccessful\":{successful},\
             \"toolExecutionNotifications\":[{notes}]}}]}}]}}\n"
        )
    }
}

/// What is said of a file and is no result.
fn note(text: &str, artifact: &Value) -> String {
    let note = json!({
        "level": "note",
        "message": { "text": text },
        "locations": [{ "physicalLocation": { "artifactLocation": artifact } }],
    });
    note.to_string()
}

fn rules() -> Vec<Value> {
    let rule = |code: PrintedCode| {
        json!({
            "id": code.name,
            "name": code.name,
            "shortDescription": { "text": code.summary() },
            "fullDescription": { "text": code.summary() },
            "help": { "text": code.page, "markdown": code.page },
            "defaultConfiguration": { "level": level(code.severity) },
            "properties": { "tags": ["correctness", "gpu"], "problem.severity": problem_severity(code.severity) },
        })
    };
    PrintedCode::all().map(rule).collect()
}

/// Names the rule of a result.
fn set_rule(value: &mut Value, name: &str) {
    value["ruleId"] = json!(name);
    if let Some(index) = PrintedCode::all().position(|code| code.name == name) {
        value["ruleIndex"] = json!(index);
    }
}

/// A kernel that is not decided: SARIF calls that an open result, and gives it no level.
fn open(kernel: &KernelReport, artifact: &Value, places: &SourceText<'_>) -> Option<String> {
    let mut value = json!({
        "kind": "open",
        "level": "none",
        "message": { "text": undecided(kernel)? },
        "locations": [{
            "physicalLocation": { "artifactLocation": artifact, "region": region(places, kernel.range) },
            "logicalLocations": [{ "name": kernel.name, "kind": "function" }],
        }],
    });
    set_rule(&mut value, UNDECIDED);
    Some(value.to_string())
}

fn refused(problem: &TextProblem, artifact: &Value, places: &SourceText<'_>) -> Value {
    let mut value = json!({
        "level": level(problem.severity),
        "message": { "text": problem.message },
        "locations": [{
            "physicalLocation": { "artifactLocation": artifact, "region": region(places, problem.range) },
        }],
    });
    set_rule(&mut value, problem.code);
    if let Some(fix) = &problem.fix {
        value["fixes"] = json!([fix_value(fix, artifact, places)]);
    }
    value
}

fn result(finding: &Finding, artifact: &Value, places: &SourceText<'_>) -> Value {
    let related: Vec<Value> = finding
        .sites
        .iter()
        .chain(&finding.context)
        .enumerate()
        .map(|(at, site)| {
            let mut location = location(artifact, places, site.range, &site.text);
            location["id"] = json!(at + 1);
            location
        })
        .collect();
    let with = lanes::inputs(&finding.inputs);
    let text = if with.is_empty() { finding.message.clone() } else { format!("{} ({with})", finding.message) };
    let mut value = json!({
        "level": level(finding.severity),
        "message": { "text": text },
        "locations": [{
            "physicalLocation": { "artifactLocation": artifact, "region": region(places, finding.range) },
            "logicalLocations": [{ "name": finding.kernel, "kind": "function" }],
        }],
        "relatedLocations": related,
    });
    set_rule(&mut value, finding.kind.name());
    if !finding.run.is_empty() {
        value["codeFlows"] = json!([{
            "message": { "text": format!("The run{}{with}", if with.is_empty() { "" } else { " " }) },
            "threadFlows": thread_flows(finding, artifact, places),
        }]);
    }
    if let Some(fix) = &finding.fix {
        value["fixes"] = json!([fix_value(fix, artifact, places)]);
    }
    value
}

/// Says of a result that it is not to be shown, and who says so.
fn suppress(value: &mut Value, suppressed: &Suppressed, artifact: &Value, places: &SourceText<'_>) {
    value["suppressions"] = match suppressed.by {
        SuppressedBy::Comment(range) => json!([{
            "kind": "inSource",
            "status": "accepted",
            "justification": suppressed.reason,
            "location": {
                "physicalLocation": { "artifactLocation": artifact, "region": region(places, range) },
            },
        }]),
        SuppressedBy::Baseline | SuppressedBy::Settings => {
            json!([{ "kind": "external", "status": "accepted", "justification": suppressed.reason }])
        }
    };
}

/// One flow a partition, in the order in which partitions first act.
fn thread_flows(finding: &Finding, artifact: &Value, places: &SourceText<'_>) -> Vec<Value> {
    let mut order: Vec<&str> = Vec::new();
    let mut flows: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for (at, step) in finding.run.iter().enumerate() {
        let partition = step.partition.as_str();
        if !order.contains(&partition) {
            order.push(partition);
        }
        flows.entry(partition).or_default().push(json!({
            "executionOrder": at + 1,
            "importance": if step.site.is_some() { "essential" } else { "important" },
            "location": location(artifact, places, step.range, &step.text),
        }));
    }
    order
        .into_iter()
        .map(|partition| {
            let locations = flows.remove(partition).unwrap_or_default();
            json!({ "id": partition, "message": { "text": partition }, "locations": locations })
        })
        .collect()
}

fn fix_value(fix: &Fix, artifact: &Value, places: &SourceText<'_>) -> Value {
    let replacements: Vec<Value> = fix
        .edits
        .iter()
        .map(|edit| json!({ "deletedRegion": region(places, edit.range), "insertedContent": { "text": edit.text } }))
        .collect();
    json!({
        "description": { "text": fix.title },
        "artifactChanges": [{ "artifactLocation": artifact, "replacements": replacements }],
    })
}

fn syntax(error: &SyntaxError, artifact: &Value, places: &SourceText<'_>) -> Value {
    let related: Vec<Value> =
        error.related.iter().map(|(range, text)| location(artifact, places, *range, text)).collect();
    let mut value = json!({
        "level": "error",
        "message": { "text": error.message },
        "locations": [{
            "physicalLocation": { "artifactLocation": artifact, "region": region(places, error.range) },
        }],
        "relatedLocations": related,
    });
    set_rule(&mut value, TextProblem::SYNTAX);
    value
}

fn location(artifact: &Value, places: &SourceText<'_>, range: TextRange, text: &str) -> Value {
    json!({
        "physicalLocation": { "artifactLocation": artifact, "region": region(places, range) },
        "message": { "text": text },
    })
}

fn region(places: &SourceText<'_>, range: TextRange) -> Value {
    let (line, column) = places.utf16(range.start);
    let (end_line, end_column) = places.utf16(range.end);
    json!({
        "startLine": line + 1,
        "startColumn": column + 1,
        "endLine": end_line + 1,
        "endColumn": end_column + 1,
    })
}

/// The same in the words of GitHub's code scanning.
fn problem_severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Information | Severity::Hint => "recommendation",
    }
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Information | Severity::Hint => "note",
    }
}

/// A path as a URI: absolute ones by scheme, others relative to the checkout.
fn artifact(path: &str) -> Value {
    let mut uri = String::new();
    for byte in path.replace('\\', "/").bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(byte as char),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    match uri.strip_prefix('/') {
        Some(_) => json!({ "uri": format!("file://{uri}") }),
        None => json!({ "uri": uri.strip_prefix("./").unwrap_or(&uri), "uriBaseId": "%SRCROOT%" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_a_uri() {
        assert_eq!(artifact("./a b/k.ttgir"), json!({ "uri": "a%20b/k.ttgir", "uriBaseId": "%SRCROOT%" }));
        assert_eq!(artifact("/tmp/ü"), json!({ "uri": "file:///tmp/%C3%BC" }));
    }
}
