//! `textDocument/foldingRange`.

use engine::Source;
use ide::{Fold, FoldKind};
use tower_lsp::ls_types::{FoldingRange, FoldingRangeKind, Range};

use crate::lsp::snapshot::Snapshot;

/// Folds of whole lines: a last line that closes stays visible. Nothing, not even an empty list, for Python without
/// kernels: an editor folds that by indentation, or asks others.
pub(crate) fn folds(snapshot: &Snapshot) -> Option<Vec<FoldingRange>> {
    let folds = match &*snapshot.source {
        Source::Ir(document) => ide::folds(document),
        Source::Python(file) => ide::python::folds(file)?,
        Source::Other(_) => return None,
    };
    let mapper = snapshot.mapper();
    let mut taken = None;
    let fold = |fold: Fold| {
        let Range { start, end } = mapper.range(fold.range);
        let end_line = end.line.saturating_sub(u32::from(fold.closed || end.character == 0));
        // Of folds that start in one line the outermost is the one that people mean.
        if end_line <= start.line || taken == Some(start.line) {
            return None;
        }
        taken = Some(start.line);
        Some(FoldingRange { start_line: start.line, end_line, kind: Some(kind(fold.kind)), ..FoldingRange::default() })
    };
    Some(folds.into_iter().filter_map(fold).collect())
}

fn kind(kind: FoldKind) -> FoldingRangeKind {
    match kind {
        FoldKind::Block => FoldingRangeKind::Region,
        FoldKind::Comment => FoldingRangeKind::Comment,
        FoldKind::Imports => FoldingRangeKind::Imports,
    }
}
