//! `textDocument/codeAction`: actions on kernels, and quick fixes: the re-checked fixes of findings, the
//! suggestions of syntax errors, comments by which a finding is suppressed.

use base::{Cancel, Cancelled, TextRange};
use findings::Kind;
use tower_lsp::ls_types::{CodeActionKind, CodeActionOrCommand, CodeActionParams};

use super::deferred::{Change, Offer, action};
use super::fixes::fix_of;
use super::{fix_all_action, pin_action, run_action};
use crate::limits::fixes::PLACE as PYTHON_FIXES;
use crate::lsp::capabilities::wants_action;
use crate::lsp::diagnostics;
use crate::lsp::snapshot::Snapshot;

/// The actions for what touches the range.
///
/// # Errors
///
/// Where `cancel` says so.
pub(crate) fn code_actions(
    snapshot: &Snapshot,
    params: &CodeActionParams,
    cancel: &Cancel<'_>,
) -> Result<Vec<CodeActionOrCommand>, Cancelled> {
    if snapshot.analysis.is_none() || !snapshot.client.action_literals {
        return Ok(Vec::new());
    }
    let mut actions = pin_action::actions(snapshot, params);
    actions.extend(run_action::actions(snapshot, params));
    let mut offers = Vec::new();
    if wants_action(&CodeActionKind::QUICKFIX, params) {
        let asked = snapshot.mapper().text_range(params.range);
        offers.extend(suggestions(snapshot, asked));
        offers.extend(of_findings(snapshot, params, asked, cancel)?);
    }
    offers.extend(fix_all_action::of_all(snapshot, params, cancel)?);
    for offer in offers {
        actions.extend(action(snapshot, offer, cancel)?);
    }
    Ok(actions)
}

fn touches(range: TextRange, asked: TextRange) -> bool {
    range.start <= asked.end && asked.start <= range.end
}

/// What to write instead of what is wrong in the text, or is of no use.
fn suggestions(snapshot: &Snapshot, asked: TextRange) -> Vec<Offer> {
    let Some(known) = &snapshot.analysis else { return Vec::new() };
    let offer = |title, diagnostic, change| Offer {
        title,
        kind: CodeActionKind::QUICKFIX,
        diagnostic: Some(diagnostic),
        change,
        preferred: true,
    };
    let problems = known.analysis.problems.iter().enumerate().filter(|(_, problem)| touches(problem.range, asked));
    let mut offers: Vec<Offer> = problems
        .filter_map(|(at, problem)| {
            let title = problem.fix.as_ref()?.title.clone();
            Some(offer(title, diagnostics::problem(snapshot, problem), Change::Problem(at)))
        })
        .collect();
    let errors = known.analysis.syntax.iter().enumerate().filter(|(_, error)| touches(error.range, asked));
    offers.extend(errors.filter_map(|(at, error)| {
        let title = format!("Replace by `{}`", error.suggestion.as_ref()?);
        Some(offer(title, diagnostics::syntax(snapshot, error), Change::Syntax(at)))
    }));
    offers
}

/// Fixes of the findings that touch a range, each alone and of all of a kind at once; then the comments by which they
/// are suppressed.
fn of_findings(
    snapshot: &Snapshot,
    params: &CodeActionParams,
    asked: TextRange,
    cancel: &Cancel<'_>,
) -> Result<Vec<Offer>, Cancelled> {
    let Some(known) = &snapshot.analysis else { return Ok(Vec::new()) };
    let python = snapshot.source.python().is_some();
    let (mut fixes, mut comments, mut kinds): (Vec<Offer>, Vec<Offer>, Vec<Kind>) = Default::default();
    for (kernel, report) in known.analysis.kernels.iter().enumerate() {
        let touched = report.findings.iter().enumerate().filter(|(_, finding)| touches(finding.range, asked));
        for (number, (finding, it)) in touched.enumerate() {
            let offer = |title, change, preferred| Offer {
                title,
                kind: CodeActionKind::QUICKFIX,
                diagnostic: Some(diagnostics::diagnostic(snapshot, it)),
                change,
                preferred,
            };
            let looked_for = !python || number < PYTHON_FIXES;
            if let Some(fix) = if looked_for { fix_of(snapshot, (kernel, finding), cancel)? } else { None } {
                fixes.push(offer(fix.title, Change::Finding { kernel, finding }, true));
                if !kinds.contains(&it.kind) {
                    kinds.push(it.kind);
                }
            }
            let title = format!("Suppress `{}` here (and write the reason)", it.kind.name());
            // One comment does for all findings of a kind at a place.
            let room = || engine::suppress::suppression(snapshot.source.text(), python, it).is_some();
            if !comments.iter().any(|known| known.title == title) && room() {
                comments.push(offer(title, Change::Suppress { kernel, finding }, false));
            }
        }
    }
    for kind in kinds {
        fixes.extend(fix_all_action::of_kind(snapshot, params, kind, cancel)?);
    }
    fixes.extend(comments);
    Ok(fixes)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use engine::Analysis;
    use engine::Source;
    use findings::{Edit, Finding, Fix, KernelReport, Kind, Severity, Verdict};
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
            proof: None,
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
        assert_eq!(code_actions(&snapshot, &there, &Cancel::never()), Ok(Vec::new()));
        let actions = serde_json::to_value(code_actions(&snapshot, &here, &Cancel::never()).unwrap_or_default())
            .unwrap_or_default();
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
        let actions = serde_json::to_value(code_actions(&snapshot, &here, &Cancel::never()).unwrap_or_default())
            .unwrap_or_default();
        assert_eq!(actions[0]["edit"]["changes"]["file:///k.ttgir"][0]["newText"], json!("  arrive\n"));
    }
}
