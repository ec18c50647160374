//! Values of all lanes of a tensor at once.
//!
//! An address is mostly a sum of what each dimension adds to it, and a mask a product of one question a dimension: such values
//! are kept so, [`Separable`] and [`LaneMask`], and computed with along each dimension by itself. What is neither is spelled
//! out lane by lane. Lanes are numbered in row-major order.

mod column;
mod integer;
mod separable;

pub use column::{Column, truncated, with_sign, without_sign};
pub use integer::{BinOp, apply, unsigned, wrap, wraps};
pub use separable::{LaneMask, OfOne, Separable};
