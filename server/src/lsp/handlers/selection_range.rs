//! `textDocument/selectionRange`: what a selection grows by.

use base::TextRange;
use engine::Source;
use tower_lsp::ls_types::{Position, SelectionRange};

use crate::lsp::position::Mapper;
use crate::lsp::snapshot::Snapshot;

/// One chain of ranges a position; nothing for Python without kernels.
pub(crate) fn selections(snapshot: &Snapshot, positions: &[Position]) -> Option<Vec<SelectionRange>> {
    let mapper = snapshot.mapper();
    let chain = |position: &Position| {
        let offset = mapper.offset(*position);
        let ranges = match &*snapshot.source {
            Source::Ir(document) => ide::selection(document, offset),
            Source::Python(file) => ide::python::selection(file, offset)?,
            Source::Other(_) => return None,
        };
        linked(mapper, &ranges)
    };
    positions.iter().map(chain).collect()
}

/// The ranges from the inside out, each with the next as its parent.
fn linked(mapper: Mapper<'_>, ranges: &[TextRange]) -> Option<SelectionRange> {
    let link = |parent: Option<SelectionRange>, range: &TextRange| {
        Some(SelectionRange { range: mapper.range(*range), parent: parent.map(Box::new) })
    };
    ranges.iter().rev().fold(None, link)
}
