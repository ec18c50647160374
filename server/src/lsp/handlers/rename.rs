//! `textDocument/prepareRename` and `textDocument/rename`.

use std::path::Path;

use engine::Source;
use ide::Refused;
use ide::python::navigate;
use tower_lsp::ls_types::{Position, PrepareRenameResponse, TextEdit, WorkspaceEdit};

use crate::lsp::session_snapshot::SessionFiles;
use crate::lsp::snapshot::Snapshot;
use crate::lsp::to_proto;
use workspace::TritonSources;

/// What is renamed at a position.
///
/// # Errors
///
/// Where nothing can be, with the reason.
pub(crate) fn prepare(
    snapshot: &Snapshot,
    files: &SessionFiles<'_>,
    position: Position,
) -> Result<PrepareRenameResponse, Refused> {
    let offset = snapshot.mapper().offset(position);
    let found = match &*snapshot.source {
        Source::Other(_) => return Err("nothing is renamed in this file".to_owned()),
        Source::Ir(document) => ide::renamable(document, offset)?,
        Source::Python(script) => {
            let sources = TritonSources::new(&files.sources, Path::new(script.module().path()));
            navigate::renamable(script.module(), offset, &sources)?
        }
    };
    let range = snapshot.mapper().range(found.range);
    Ok(PrepareRenameResponse::RangeWithPlaceholder { range, placeholder: found.name })
}

/// The edits that give the name at a position another one.
///
/// # Errors
///
/// Where the text would not mean the same then, with the reason.
pub(crate) fn rename(
    snapshot: &Snapshot,
    files: &SessionFiles<'_>,
    position: Position,
    name: &str,
) -> Result<WorkspaceEdit, Refused> {
    let offset = snapshot.mapper().offset(position);
    let edits = match &*snapshot.source {
        Source::Other(_) => return Err("nothing is renamed in this file".to_owned()),
        Source::Ir(document) => ide::rename(document, offset, name)?,
        Source::Python(script) => {
            let sources = TritonSources::new(&files.sources, Path::new(script.module().path()));
            navigate::rename(script.module(), offset, name, &sources)?
        }
    };
    let edit = |(range, text)| TextEdit::new(snapshot.mapper().range(range), text);
    Ok(to_proto::workspace_edit(snapshot, edits.into_iter().map(edit).collect()))
}
