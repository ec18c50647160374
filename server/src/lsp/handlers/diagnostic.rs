//! `textDocument/diagnostic`: the diagnostics of a document, for clients that ask for them.

use tower_lsp::ls_types::{
    Diagnostic, DocumentDiagnosticReport, FullDocumentDiagnosticReport, RelatedFullDocumentDiagnosticReport,
    RelatedUnchangedDocumentDiagnosticReport, UnchangedDocumentDiagnosticReport,
};

use crate::lsp::snapshot::Snapshot;

/// The diagnostics, or that they are those of `previous`.
pub(crate) fn report(snapshot: &Snapshot, previous: Option<&str>) -> DocumentDiagnosticReport {
    let Some(known) = snapshot.analysis.as_ref().or(snapshot.interim.as_ref()) else { return full(None, Vec::new()) };
    let result_id = known.result_id.clone();
    if previous != Some(result_id.as_str()) {
        return full(Some(result_id), known.diagnostics.clone());
    }
    DocumentDiagnosticReport::Unchanged(RelatedUnchangedDocumentDiagnosticReport {
        related_documents: None,
        unchanged_document_diagnostic_report: UnchangedDocumentDiagnosticReport { result_id },
    })
}

/// Diagnostics as a whole.
pub(crate) fn full(result_id: Option<String>, items: Vec<Diagnostic>) -> DocumentDiagnosticReport {
    DocumentDiagnosticReport::Full(RelatedFullDocumentDiagnosticReport {
        related_documents: None,
        full_document_diagnostic_report: FullDocumentDiagnosticReport { result_id, items },
    })
}
