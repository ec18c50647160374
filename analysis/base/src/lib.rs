//! What every stage uses: byte ranges, sets of bits, line numbers, random numbers, a cache, a
//! digest, limits and cancellation.

pub mod bits;
pub mod cache;
mod cancel;
pub mod condition;
mod digest;
pub mod format;
pub mod launch;
pub mod limit;
mod limits;
mod line_index;
pub mod linear;
mod message;
mod quantity;
mod range;
pub mod reason;
mod renamed;
pub mod rng;
pub mod spans;
pub mod specialization;
pub mod strides;
pub mod target;
pub mod ways;
pub mod workers;

pub use cancel::{Cancel, Cancelled};
pub use digest::Digest;
pub use limits::{LIMITS, Limits, Semantics};
pub use line_index::{LineCol, LineIndex};
pub use message::{Fragment, IrNames, Message, MessagePart, Names};
pub use quantity::{Operation, Quantity};
pub use range::TextRange;
pub use renamed::renamed;
