//! `textDocument/definition`.

use tower_lsp::ls_types::{GotoDefinitionResponse, Position};

use crate::lsp::snapshot::Snapshot;
use crate::lsp::to_proto;

/// Where the name at a position is defined.
pub(crate) fn definition(snapshot: &Snapshot, position: Position) -> Option<GotoDefinitionResponse> {
    // Where a name of Python is defined others say.
    let range = engine::ide::definition(snapshot.source.ir()?, snapshot.mapper().offset(position))?;
    Some(GotoDefinitionResponse::Scalar(to_proto::location(snapshot, range)))
}
