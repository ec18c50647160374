//! Quick fixes: the re-checked fixes of findings, the suggestions of syntax errors.

use analysis::base::TextRange;
use analysis::findings::Edit;
use tower_lsp::ls_types::{CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, Diagnostic};

use super::document::Snapshot;
use super::{diagnostics, from_proto, to_proto};

/// The fixes for what touches the range.
pub fn code_actions(snapshot: &Snapshot, params: &CodeActionParams) -> Vec<CodeActionOrCommand> {
    let Some(checked) = &snapshot.checked else { return Vec::new() };
    let wanted = params.context.only.as_ref().is_none_or(|only| only.iter().any(takes_quick_fixes));
    if !wanted || !snapshot.facts.action_literals {
        return Vec::new();
    }
    let asked = from_proto::text_range(snapshot, params.range);
    let touches = |range: TextRange| range.start <= asked.end && asked.start <= range.end;
    let mut actions = Vec::new();
    for error in checked.analysis.syntax.iter().filter(|error| touches(error.range)) {
        if let Some(text) = &error.suggestion {
            let edits = [Edit { range: error.range, text: text.clone() }];
            actions.push(fix(snapshot, format!("Replace by `{text}`"), &edits, diagnostics::syntax(snapshot, error)));
        }
    }
    let findings = checked.analysis.kernels.iter().flat_map(|kernel| &kernel.findings);
    for finding in findings.filter(|finding| touches(finding.range)) {
        if let Some(found) = &finding.fix {
            let diagnostic = diagnostics::diagnostic(snapshot, finding);
            actions.push(fix(snapshot, found.title.clone(), &found.edits, diagnostic));
        }
    }
    actions
}

/// Kinds are hierarchical: asking for everything asks for quick fixes.
fn takes_quick_fixes(kind: &CodeActionKind) -> bool {
    *kind == CodeActionKind::QUICKFIX || *kind == CodeActionKind::EMPTY
}

fn fix(snapshot: &Snapshot, title: String, edits: &[Edit], diagnostic: Diagnostic) -> CodeActionOrCommand {
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
