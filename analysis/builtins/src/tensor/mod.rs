//! Register tensors and scalars: Triton's math.
//!
//! Registers are opaque, so their functions only work out shapes and element types. Integer scalars are
//! computed: their ops go into the kernel as Triton's front end would put them, and constants are folded as
//! its canonicalizer would. Floating point scalars are opaque as well.
//!
//! Deviation: layouts of registers are followed through slices and expansions and otherwise forgotten; what
//! Triton refuses because of a layout is not refused here.

mod arith;
mod attributes;
mod dtypes;
mod elementwise;
mod memory;
mod program;
mod reduce;
mod reshape;
mod shapes;
mod values;

use python::library::Part;

pub use memory::pointee;

pub use arith::{absolute, cast, ceil_div, extreme};
pub(crate) use arith::{add, mul, operate, sub};
pub use shapes::{broadcast, opaque, shape_of};

/// Triton's share of the table that all languages have.
pub(super) const PARTS: [&Part; 11] = [
    &arith::PART,
    &attributes::PART,
    &dtypes::PART,
    &elementwise::LIBDEVICE,
    &elementwise::PART,
    &elementwise::PREDICATES,
    &memory::PART,
    &program::PART,
    &reduce::PART,
    &reshape::PART,
    &values::PART,
];
