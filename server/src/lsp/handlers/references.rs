//! `textDocument/references` and `textDocument/documentHighlight`: the uses of one name.

use engine::ide::Occurrence;
use engine::instances as gluon;
use tower_lsp::ls_types::{DocumentHighlight, DocumentHighlightKind, Location, Position};

use crate::lsp::snapshot::Snapshot;
use crate::lsp::to_proto;

/// The places of the value at a position; in Python, what uses the barrier or buffer.
fn occurrences(snapshot: &Snapshot, position: Position) -> Vec<Occurrence> {
    let offset = snapshot.mapper().offset(position);
    match snapshot.source.ir() {
        Some(document) => engine::ide::occurrences(document, offset),
        None => snapshot.elaboration_now().map_or_else(Vec::new, |of| gluon::occurrences(&of, offset)),
    }
}

/// Where the name at a position is used, and defined if `declaration` asks for it.
pub(crate) fn references(snapshot: &Snapshot, position: Position, declaration: bool) -> Vec<Location> {
    let found = occurrences(snapshot, position);
    let found = found.into_iter().filter(|occurrence| declaration || !occurrence.definition);
    found.map(|occurrence| to_proto::location(snapshot, occurrence.range)).collect()
}

/// The same for this document alone: a definition writes, a use reads.
pub(crate) fn highlights(snapshot: &Snapshot, position: Position) -> Vec<DocumentHighlight> {
    let found = occurrences(snapshot, position);
    let mapper = snapshot.mapper();
    let highlight = |occurrence: Occurrence| DocumentHighlight {
        range: mapper.range(occurrence.range),
        kind: Some(if occurrence.definition { DocumentHighlightKind::WRITE } else { DocumentHighlightKind::READ }),
    };
    found.into_iter().map(highlight).collect()
}
