//! `textDocument/documentLink`: files that a text names, as far as they are there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use engine::Source;
use ide::TextLink;
use tower_lsp::ls_types::{DocumentLink, Uri};

use crate::lsp::session_snapshot::{SessionFiles, path_of};
use crate::lsp::snapshot::Snapshot;

/// The links of a document.
pub(crate) fn links(snapshot: &Snapshot, files: &SessionFiles<'_>) -> Vec<DocumentLink> {
    let python = matches!(&*snapshot.source, Source::Python(_));
    let folder = path_of(&snapshot.uri).and_then(|path| path.parent().map(Path::to_path_buf)).unwrap_or_default();
    let mut known: BTreeMap<String, Option<PathBuf>> = BTreeMap::new();
    let link = |link: TextLink| {
        let found = known.entry(link.path.clone()).or_insert_with(|| {
            if link.line.is_some() {
                return files.source(&link.path, &snapshot.uri);
            }
            Some(folder.join(&link.path)).filter(|path| path.is_file())
        });
        let target = Uri::from_file_path(found.as_ref()?)?;
        let target = match link.line {
            // As editors write the place of a link.
            Some((line, column)) => format!("{}#L{line},{column}", target.as_str()).parse().ok()?,
            None => target,
        };
        let range = snapshot.mapper().range(link.range);
        Some(DocumentLink { range, target: Some(target), tooltip: None, data: None })
    };
    ide::links(snapshot.source.text(), python).into_iter().filter_map(link).collect()
}
