//! From the protocol to the analysis.

use base::TextRange;
use tower_lsp::ls_types::{Position, Range};

use super::document::Snapshot;

/// The byte offset of a position in the snapshot's text.
pub fn offset(snapshot: &Snapshot, position: Position) -> u32 {
    snapshot.mapper().offset(position)
}

/// The bytes of a range in the snapshot's text.
pub fn text_range(snapshot: &Snapshot, range: Range) -> TextRange {
    snapshot.mapper().text_range(range)
}
