//! What a code action changes: worked out at once, or by `codeAction/resolve` when the action is chosen.

use base::{Cancel, Cancelled};
use findings::{Edit, Kind};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tower_lsp::ls_types::{CodeAction, CodeActionKind, CodeActionOrCommand, Diagnostic, Uri, WorkspaceEdit};

use super::fixes::{self, fix_of};
use crate::lsp::snapshot::Snapshot;
use crate::lsp::to_proto;

/// What an action changes, in a form that the client keeps till the action is chosen.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Deferred {
    /// The document.
    pub(crate) uri: Uri,
    /// The client's version of the text that the action is for.
    version: i32,
    change: Change,
}

/// What an action changes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Change {
    /// The fix of a problem, by its place among the analysis's.
    Problem(usize),
    /// The suggestion of a syntax error.
    Syntax(usize),
    /// The fix of a finding.
    Finding { kernel: usize, finding: usize },
    /// A comment by which a finding is suppressed.
    Suppress { kernel: usize, finding: usize },
    /// The fixes of all findings of a kind; of all kinds where none is named.
    Many { kind: Option<String> },
}

/// An action that may be offered.
pub(crate) struct Offer {
    pub(crate) title: String,
    pub(crate) kind: CodeActionKind,
    pub(crate) diagnostic: Option<Diagnostic>,
    pub(crate) change: Change,
    pub(crate) preferred: bool,
}

/// The action, with its edit where the client does not ask for that later.
pub(crate) fn action(
    snapshot: &Snapshot,
    offer: Offer,
    cancel: &Cancel<'_>,
) -> Result<Option<CodeActionOrCommand>, Cancelled> {
    let Offer { title, kind, diagnostic, change, preferred } = offer;
    let deferred = Deferred { uri: snapshot.uri.clone(), version: snapshot.version, change };
    let mut action = CodeAction {
        title: sentence(title),
        kind: Some(kind),
        diagnostics: diagnostic.map(|diagnostic| vec![diagnostic]),
        is_preferred: preferred.then_some(true),
        ..CodeAction::default()
    };
    if snapshot.client.lazy_edits {
        action.data = Some(json!(deferred));
    } else {
        action.edit = edit(snapshot, &deferred, cancel)?;
        if action.edit.is_none() {
            return Ok(None);
        }
    }
    Ok(Some(CodeActionOrCommand::CodeAction(action)))
}

/// A title as a menu has it: the command line puts the same words behind `help: `.
fn sentence(title: String) -> String {
    match title.chars().next() {
        Some(first) if first.is_ascii_lowercase() => title.replacen(first, &first.to_ascii_uppercase().to_string(), 1),
        _ => title,
    }
}

/// What the client was given with an action; `None` where the action is no such.
pub(crate) fn of(action: &CodeAction) -> Option<Deferred> {
    serde_json::from_value(action.data.clone()?).ok()
}

/// The edit; `None` where it is for another text.
pub(crate) fn edit(
    snapshot: &Snapshot,
    deferred: &Deferred,
    cancel: &Cancel<'_>,
) -> Result<Option<WorkspaceEdit>, Cancelled> {
    if snapshot.version != deferred.version {
        return Ok(None);
    }
    let edits = edits(snapshot, &deferred.change, cancel)?;
    let proto = |edits: Vec<Edit>| {
        let edits = edits.iter().map(|edit| to_proto::text_edit(snapshot.mapper(), edit)).collect();
        to_proto::workspace_edit(snapshot, edits)
    };
    Ok(edits.map(proto))
}

fn edits(snapshot: &Snapshot, change: &Change, cancel: &Cancel<'_>) -> Result<Option<Vec<Edit>>, Cancelled> {
    let Some(known) = &snapshot.analysis else { return Ok(None) };
    let analysis = &known.analysis;
    Ok(match change {
        Change::Problem(at) => analysis.problems.get(*at).and_then(|problem| problem.fix.clone()).map(|fix| fix.edits),
        Change::Syntax(at) => analysis.syntax.get(*at).and_then(|error| {
            let text = error.suggestion.clone()?;
            Some(vec![Edit { range: error.range, text }])
        }),
        Change::Finding { kernel, finding } => fix_of(snapshot, (*kernel, *finding), cancel)?.map(|fix| fix.edits),
        Change::Suppress { kernel, finding } => {
            let finding = analysis.kernels.get(*kernel).and_then(|kernel| kernel.findings.get(*finding));
            let python = snapshot.source.python().is_some();
            let comment = |finding| engine::suppress::suppression(snapshot.source.text(), python, finding);
            finding.and_then(comment).map(|edit| vec![edit])
        }
        Change::Many { kind } => {
            let named = kind.as_deref().map(Kind::from_name);
            match named {
                Some(None) => None,
                Some(kind) => fixes::many(snapshot, kind, cancel)?.map(|change| change.edits),
                None => fixes::many(snapshot, None, cancel)?.map(|change| change.edits),
            }
        }
    })
}
