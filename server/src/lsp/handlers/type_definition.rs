//! `textDocument/typeDefinition`: the aliases of a type, the class of an object, the layout of a tensor.

use std::path::Path;

use engine::Source;
use ide::python::navigate;
use tower_lsp::ls_types::{GotoDefinitionResponse, Location, Position};

use super::definition::answer;
use crate::lsp::session_snapshot::SessionFiles;
use crate::lsp::snapshot::Snapshot;
use crate::lsp::to_proto;
use workspace::TritonSources;

/// Where the type of what stands at a position is defined.
pub(crate) fn type_definition(
    snapshot: &Snapshot,
    files: &SessionFiles<'_>,
    position: Position,
) -> Option<GotoDefinitionResponse> {
    let offset = snapshot.mapper().offset(position);
    match &*snapshot.source {
        Source::Other(_) => None,
        Source::Ir(document) => {
            let found = ide::type_definition(document, offset);
            let found: Vec<Location> = found.into_iter().map(|range| to_proto::location(snapshot, range)).collect();
            (!found.is_empty()).then_some(GotoDefinitionResponse::Array(found))
        }
        Source::Python(script) => {
            let sources = TritonSources::new(&files.sources, Path::new(script.module().path()));
            answer(files, navigate::type_definition(script.module(), offset, &sources))
        }
    }
}
