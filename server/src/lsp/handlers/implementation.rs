//! `textDocument/implementation`: what a line of Python became in TTGIR, and what an op was.

use std::path::Path;

use engine::Source;
use tower_lsp::ls_types::{GotoDefinitionResponse, Location, Position};

use super::definition::python_location;
use super::linked_ranges::{Linked, ops_of_line};
use crate::lsp::session_snapshot::{SessionFiles, SessionSnapshot};
use crate::lsp::snapshot::Snapshot;

/// The ops of the line at a position, or the places in Python of the op there, the innermost call first.
pub(crate) fn implementation(
    snapshot: &Snapshot,
    session: &SessionSnapshot,
    files: &SessionFiles<'_>,
    position: Position,
) -> Option<GotoDefinitionResponse> {
    let found: Vec<Location> = match &*snapshot.source {
        Source::Other(_) => Vec::new(),
        Source::Ir(document) => {
            let places = ide::source_places(document, snapshot.mapper().offset(position));
            places.iter().filter_map(|place| python_location(files, &snapshot.uri, place)).collect()
        }
        Source::Python(script) => {
            let path = Path::new(script.module().path());
            ops_of_line(session, files, path, position.line + 1).into_iter().flat_map(Linked::locations).collect()
        }
    };
    (!found.is_empty()).then_some(GotoDefinitionResponse::Array(found))
}
