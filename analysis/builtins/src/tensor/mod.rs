//! Register tensors and scalars: Triton's math.
//!
//! Their ops go into the kernel as Triton's front end would put them, on tensors without layouts; integers that are
//! computed from constants are folded as its canonicalizer would. What no op stands for (sorting, matrix units of
//! AMD) gives registers of which only shape and element type are known.
//!
//! Deviation: layouts of registers are followed through slices and expansions and otherwise forgotten; where
//! one is not known nothing is refused because of it.

mod arith;
mod attributes;
mod blocks;
mod debug;
mod descriptors;
mod dot;
mod dtypes;
mod elementwise;
mod libdevice;
mod memory;
mod program;
mod random;
mod reduce;
mod reshape;
mod shapes;
mod values;

use python::library::Part;

pub use descriptors::padded;
pub use dot::multiplied;

pub use arith::{absolute, cast, ceil_div, extreme};
pub(crate) use arith::{add, mul, operate, sub};
pub use shapes::{broadcast, extent_of, opaque, pointee, shape_of};

/// Triton's share of the table that all languages have.
pub(super) const PARTS: [&Part; 16] = [
    &arith::PART,
    &attributes::PART,
    &blocks::PART,
    &debug::PART,
    &descriptors::PART,
    &dot::PART,
    &dtypes::PART,
    &elementwise::PART,
    &libdevice::PART,
    &libdevice::PTX,
    &memory::PART,
    &program::PART,
    &random::PART,
    &reduce::PART,
    &reshape::PART,
    &values::PART,
];
