//! `textDocument/codeAction`: actions on kernels, and quick fixes: the re-checked fixes of findings, the
//! suggestions of syntax errors.

use base::{Cancel, TextRange};
use findings::Edit;
use tower_lsp::ls_types::{CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, Diagnostic};

use super::{pin_action, run_action};
use crate::lsp::capabilities::wants_action;
use crate::lsp::snapshot::Snapshot;
use crate::lsp::{diagnostics, to_proto};

/// Findings at one place of Python for which a fix is looked for.
const PYTHON_FIXES: usize = 3;

/// The fixes for what touches the range.
pub(crate) fn code_actions(snapshot: &Snapshot, params: &CodeActionParams) -> Vec<CodeActionOrCommand> {
    let Some(known) = &snapshot.analysis else { return Vec::new() };
    if !snapshot.client.action_literals {
        return Vec::new();
    }
    let asked = snapshot.mapper().text_range(params.range);
    let touches = |range: TextRange| range.start <= asked.end && asked.start <= range.end;
    let mut actions = pin_action::actions(snapshot, params);
    actions.extend(run_action::actions(snapshot, params));
    if !wants_action(&CodeActionKind::QUICKFIX, params) {
        return actions;
    }
    for problem in known.analysis.problems.iter().filter(|problem| touches(problem.range)) {
        if let Some(found) = &problem.fix {
            let diagnostic = diagnostics::problem(snapshot, problem);
            actions.push(quick_fix(snapshot, found.title.clone(), &found.edits, diagnostic));
        }
    }
    for error in known.analysis.syntax.iter().filter(|error| touches(error.range)) {
        if let Some(text) = &error.suggestion {
            let edits = [Edit { range: error.range, text: text.clone() }];
            actions.push(quick_fix(
                snapshot,
                format!("Replace by `{text}`"),
                &edits,
                diagnostics::syntax(snapshot, error),
            ));
        }
    }
    actions.extend(fixes_in_python(snapshot, asked));
    let findings = known.analysis.kernels.iter().flat_map(|kernel| &kernel.findings);
    for finding in findings.filter(|finding| touches(finding.range)) {
        if let Some(found) = &finding.fix {
            let diagnostic = diagnostics::diagnostic(snapshot, finding);
            actions.push(quick_fix(snapshot, found.title.clone(), &found.edits, diagnostic));
        }
    }
    actions
}

/// Fixes of findings in Python that touch a range, looked for now.
fn fixes_in_python(snapshot: &Snapshot, asked: TextRange) -> Vec<CodeActionOrCommand> {
    let (Some(known), Some(elaboration)) = (&snapshot.analysis, snapshot.elaboration_now()) else { return Vec::new() };
    let stop = || snapshot.cache.is_outdated();
    let cancel = Cancel::when(&stop);
    let not_blocked = |_| {};
    let sources = snapshot.sources(&cancel, &not_blocked);
    let mut actions = Vec::new();
    for (at, report) in known.analysis.kernels.iter().enumerate() {
        let touched = report.findings.iter().filter(|it| it.range.start <= asked.end && asked.start <= it.range.end);
        for finding in touched.take(PYTHON_FIXES) {
            let found = snapshot.cache.engine().fix_python(&elaboration, at, finding, &sources, &cancel);
            if let Ok(Some(found)) = found {
                let diagnostic = diagnostics::diagnostic(snapshot, finding);
                actions.push(quick_fix(snapshot, found.title, &found.edits, diagnostic));
            }
        }
    }
    actions
}

/// A quick fix.
fn quick_fix(snapshot: &Snapshot, title: String, edits: &[Edit], diagnostic: Diagnostic) -> CodeActionOrCommand {
    let edits = edits.iter().map(|edit| to_proto::text_edit(snapshot.mapper(), edit)).collect();
    CodeActionOrCommand::CodeAction(CodeAction {
        title,
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![diagnostic]),
        edit: Some(to_proto::workspace_edit(snapshot, edits)),
        is_preferred: Some(true),
        ..CodeAction::default()
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use engine::Analysis;
    use engine::Source;
    use findings::{Finding, Fix, KernelReport, Kind, Severity, Verdict};
    use ropey::Rope;
    use serde_json::json;
    use tower_lsp::ls_types::Uri;

    use super::*;
    use crate::lsp::client_config::ClientConfig;
    use crate::lsp::snapshot::AnalysisCache;

    const TEXT: &str = "module {\n  \"é\"() : () -> ()\n  wait\n}\n";

    /// A text with a finding on `wait`, which an inserted line puts right.
    fn snapshot(versioned_edits: bool) -> Option<Snapshot> {
        let at = TEXT.find("wait")? as u32;
        let range = TextRange::new(at, at + 4);
        let edits = vec![Edit { range: TextRange::empty(at - 2), text: "  arrive\n".to_owned() }];
        let finding = Finding {
            kind: Kind::Deadlock,
            severity: Severity::Error,
            message: "nobody arrives".to_owned(),
            range,
            sites: Vec::new(),
            run: Vec::new(),
            witness: None,
            context: Vec::new(),
            instance: 0,
            phases: Vec::new(),
            order: None,
            inputs: Vec::new(),
            kernel: "f".to_owned(),
            fix: Some(Fix { title: "Insert the arrival".to_owned(), edits }),
        };
        let kernel = KernelReport {
            name: "f".to_owned(),
            range,
            verdict: Verdict::Found,
            findings: vec![finding],
            suppressed: Vec::new(),
            runs: 1,
            steps: 1,
            pin: None,
            global: None,
            broken: false,
        };
        let analysis = Analysis { kernels: vec![kernel], ..Analysis::default() };
        let client = ClientConfig { action_literals: true, versioned_edits, ..ClientConfig::default() };
        let mut snapshot = Snapshot {
            uri: "file:///k.ttgir".parse::<Uri>().ok()?,
            version: 7,
            rope: Rope::from_str(TEXT),
            source: Arc::new(Source::new("", TEXT)),
            workspace: Arc::default(),
            loader: None,
            client: Arc::new(client),
            analysis: None,
            interim: None,
            cache: AnalysisCache::new(Arc::default()),
        };
        snapshot.analysis = Some(Arc::new(diagnostics::document_analysis(&snapshot, analysis, None, None)));
        Some(snapshot)
    }

    fn asked(line: u32) -> Option<CodeActionParams> {
        let place = json!({ "line": line, "character": 3 });
        let params = json!({
            "textDocument": { "uri": "file:///k.ttgir" },
            "range": { "start": place, "end": place },
            "context": { "diagnostics": [] },
        });
        serde_json::from_value(params).ok()
    }

    #[test]
    fn a_fix_is_offered_on_its_finding_and_nowhere_else() {
        let (Some(snapshot), Some(here), Some(there)) = (snapshot(true), asked(2), asked(1)) else {
            panic!("the test's own values are wrong")
        };
        assert_eq!(code_actions(&snapshot, &there), []);
        let actions = serde_json::to_value(code_actions(&snapshot, &here)).unwrap_or_default();
        assert_eq!(actions[0]["title"], json!("Insert the arrival"));
        assert_eq!(actions[0]["diagnostics"][0]["code"], json!("deadlock"));
        let start = json!({ "line": 2, "character": 0 });
        let expected = json!({ "documentChanges": [{
            "textDocument": { "uri": "file:///k.ttgir", "version": 7 },
            "edits": [{ "range": { "start": start, "end": start }, "newText": "  arrive\n" }],
        }] });
        assert_eq!(actions[0]["edit"], expected);
    }

    #[test]
    fn a_client_without_versioned_edits_gets_plain_ones() {
        let (Some(snapshot), Some(here)) = (snapshot(false), asked(2)) else {
            panic!("the test's own values are wrong")
        };
        let actions = serde_json::to_value(code_actions(&snapshot, &here)).unwrap_or_default();
        assert_eq!(actions[0]["edit"]["changes"]["file:///k.ttgir"][0]["newText"], json!("  arrive\n"));
    }
}
