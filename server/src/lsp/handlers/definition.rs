//! `textDocument/definition`: of names; from TTGIR's locations and ops to Python, too.

use std::path::Path;

use engine::Source;
use ide::python::navigate::{self, FilePlace};
use tower_lsp::ls_types::{GotoDefinitionResponse, Location, Position, Uri};
use ttgir::SourceLoc;

use crate::lsp::session_snapshot::SessionFiles;
use crate::lsp::snapshot::Snapshot;
use crate::lsp::to_proto;
use workspace::TritonSources;

/// Where the name at a position is defined.
pub(crate) fn definition(
    snapshot: &Snapshot,
    files: &SessionFiles<'_>,
    position: Position,
) -> Option<GotoDefinitionResponse> {
    let offset = snapshot.mapper().offset(position);
    match &*snapshot.source {
        Source::Other(_) => None,
        Source::Ir(document) => {
            let source = ide::leads_to_source(document, offset);
            let own = ide::definition(document, offset).filter(|range| !(source && range.touches(offset)));
            if let Some(range) = own {
                return Some(GotoDefinitionResponse::Scalar(to_proto::location(snapshot, range)));
            }
            let places = if source { ide::source_places(document, offset) } else { Vec::new() };
            let found = places.iter().find_map(|place| python_location(files, &snapshot.uri, place));
            found.map(GotoDefinitionResponse::Scalar)
        }
        Source::Python(script) => {
            let module = script.module();
            let sources = TritonSources::new(&files.sources, Path::new(module.path()));
            answer(files, navigate::definition(module, offset, &sources))
        }
    }
}

/// The place in a file of Python that is open or on disk.
pub(super) fn python_location(files: &SessionFiles<'_>, from: &Uri, place: &SourceLoc) -> Option<Location> {
    let path = files.source(&place.file, from)?;
    let range = asserts::python_range(files.text(&path)?.text(), place.line, place.col);
    files.location(&path, range)
}

/// Places of Python files.
pub(super) fn locations(files: &SessionFiles<'_>, places: &[FilePlace]) -> Vec<Location> {
    places.iter().filter_map(|place| files.location(Path::new(place.module.path()), place.range)).collect()
}

/// One place as such, several as a list.
pub(super) fn answer(files: &SessionFiles<'_>, places: Vec<FilePlace>) -> Option<GotoDefinitionResponse> {
    let mut found = locations(files, &places);
    match found.len() {
        0 => None,
        1 => found.pop().map(GotoDefinitionResponse::Scalar),
        _ => Some(GotoDefinitionResponse::Array(found)),
    }
}
