//! What every stage uses: byte ranges, sets of bits, line numbers, random numbers, limits and cancellation.

pub mod bits;
mod cancel;
mod limits;
mod line_index;
mod range;
pub mod rng;

pub use cancel::{Cancel, Cancelled};
pub use limits::{Limits, Semantics};
pub use line_index::{LineCol, LineIndex};
pub use range::TextRange;
