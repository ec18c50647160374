//! `textDocument/foldingRange`.

use base::TextRange;
use tower_lsp::ls_types::{FoldingRange, FoldingRangeKind, Range};

use crate::lsp::snapshot::Snapshot;

/// Folds of whole lines: the last line, which holds the closing brace, stays visible.
pub(crate) fn folds(snapshot: &Snapshot) -> Vec<FoldingRange> {
    let Some(document) = snapshot.source.ir() else { return Vec::new() };
    let mapper = snapshot.mapper();
    let fold = |range: TextRange| {
        let Range { start, end } = mapper.range(range);
        let closed = range.of(document.text()).ends_with('}') || end.character == 0;
        let end_line = end.line.saturating_sub(u32::from(closed));
        (end_line > start.line).then_some(FoldingRange {
            start_line: start.line,
            end_line,
            kind: Some(FoldingRangeKind::Region),
            ..FoldingRange::default()
        })
    };
    engine::ide::folds(document).into_iter().filter_map(fold).collect()
}
