//! What every stage uses: byte ranges, line numbers, limits and cancellation.

mod cancel;
mod limits;
mod line_index;
mod range;

pub use cancel::{Cancel, Cancelled};
pub use limits::{Limits, Semantics};
pub use line_index::{LineCol, LineIndex};
pub use range::TextRange;
