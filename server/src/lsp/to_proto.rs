//! From the analysis to the protocol, functions named after what they make.

use findings::{Edit, Severity};
use tower_lsp::ls_types::{
    DiagnosticSeverity, DocumentChanges, Location, OneOf, OptionalVersionedTextDocumentIdentifier, TextDocumentEdit,
    TextEdit, Uri, WorkspaceEdit,
};

use super::position::Mapper;
use super::snapshot::Snapshot;
use base::TextRange;

/// A severity.
pub(crate) fn severity(severity: Severity) -> DiagnosticSeverity {
    match severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
        Severity::Information => DiagnosticSeverity::INFORMATION,
        Severity::Hint => DiagnosticSeverity::HINT,
    }
}

/// A place in the snapshot's document.
pub(crate) fn location(snapshot: &Snapshot, range: TextRange) -> Location {
    Location::new(snapshot.uri.clone(), snapshot.mapper().range(range))
}

/// A replacement.
pub(crate) fn text_edit(mapper: Mapper<'_>, edit: &Edit) -> TextEdit {
    TextEdit::new(mapper.range(edit.range), edit.text.clone())
}

/// Edits of the snapshot's document, for its version only where the client can say so.
pub(crate) fn workspace_edit(snapshot: &Snapshot, edits: Vec<TextEdit>) -> WorkspaceEdit {
    if !snapshot.client.versioned_edits {
        let changes = std::iter::once((snapshot.uri.clone(), edits)).collect();
        return WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() };
    }
    let text_document =
        OptionalVersionedTextDocumentIdentifier { uri: snapshot.uri.clone(), version: Some(snapshot.version) };
    let edits = edits.into_iter().map(OneOf::Left).collect();
    let changes = DocumentChanges::Edits(vec![TextDocumentEdit { text_document, edits }]);
    WorkspaceEdit { document_changes: Some(changes), ..WorkspaceEdit::default() }
}

/// The link of a kind's page. There is no web site behind it: a client that shows the link asks
/// `fencepost/explain` for the text, as the VS Code extension does.
pub(crate) fn explain_link(kind: &str) -> Option<Uri> {
    format!("fencepost:/explain/{kind}.md").parse().ok()
}
