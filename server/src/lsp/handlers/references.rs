//! `textDocument/references` and `textDocument/documentHighlight`: the uses of one name, and of one barrier or buffer.

use std::path::Path;

use engine::Source;
use ide::python::navigate;
use ide::{Occurrence, OccurrenceAccess};
use tower_lsp::ls_types::{DocumentHighlight, DocumentHighlightKind, Location, Position};

use super::definition::locations;
use crate::lsp::session_snapshot::SessionFiles;
use crate::lsp::snapshot::Snapshot;
use crate::lsp::to_proto;
use workspace::TritonSources;

/// The places of the name at a position, and the ops on the barrier or buffer there.
fn occurrences(snapshot: &Snapshot, files: &SessionFiles<'_>, position: Position) -> Vec<Occurrence> {
    let offset = snapshot.mapper().offset(position);
    match &*snapshot.source {
        Source::Other(_) => Vec::new(),
        Source::Ir(document) => ide::occurrences(document, offset),
        Source::Python(script) => {
            let sources = TritonSources::new(&files.sources, Path::new(script.module().path()));
            navigate::occurrences(script.module(), snapshot.elaboration_now().as_deref(), offset, &sources)
        }
    }
}

/// Where the name at a position is used, and defined if `declaration` asks for it.
pub(crate) fn references(
    snapshot: &Snapshot,
    files: &SessionFiles<'_>,
    position: Position,
    declaration: bool,
) -> Vec<Location> {
    let found = occurrences(snapshot, files, position);
    let found = found.into_iter().filter(|occurrence| declaration || !occurrence.definition);
    let mut found: Vec<Location> = found.map(|occurrence| to_proto::location(snapshot, occurrence.range)).collect();
    if let Source::Python(script) = &*snapshot.source {
        let sources = TritonSources::new(&files.sources, Path::new(script.module().path()));
        let elsewhere = navigate::elsewhere(script.module(), snapshot.mapper().offset(position), &sources);
        found.extend(locations(files, &elsewhere));
    }
    found
}

/// The same for this document alone: definitions, writes and arrivals write; uses, reads and waits read.
pub(crate) fn highlights(snapshot: &Snapshot, files: &SessionFiles<'_>, position: Position) -> Vec<DocumentHighlight> {
    let mapper = snapshot.mapper();
    let highlight = |occurrence: Occurrence| DocumentHighlight {
        range: mapper.range(occurrence.range),
        kind: Some(match occurrence.access {
            OccurrenceAccess::Name => DocumentHighlightKind::TEXT,
            OccurrenceAccess::Read => DocumentHighlightKind::READ,
            OccurrenceAccess::Write => DocumentHighlightKind::WRITE,
        }),
    };
    occurrences(snapshot, files, position).into_iter().map(highlight).collect()
}
