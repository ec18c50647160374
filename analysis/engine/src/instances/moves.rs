//! How the statements of a file moved.

use base::TextRange;

/// How a top-level statement moves: where it stood, and what is added to its places.
pub(super) type Move = (TextRange, i64);

/// An offset after the moves.
pub(super) fn shift(moves: &[Move], offset: u32) -> u32 {
    let at = moves.partition_point(|(range, _)| range.start <= offset);
    let by = at.checked_sub(1).and_then(|at| moves.get(at)).map_or(0, |(_, by)| *by);
    u32::try_from(i64::from(offset) + by).unwrap_or(0)
}
