//! TLX (`triton.language.extra.tlx`): buffers, barriers and warp specialisation in kernels of plain Triton, in the release
//! of facebookexperimental.
//!
//! Buffers have a number of slots in front of their shape, and `buffers[i]` is one of them. Layouts are left to the
//! compiler; those that stand here are the ones that it starts from, which tell sizes and no more.
//!
//! The CTAs of a cluster (`ctas_per_cga` of a launch) run programs of their own: a barrier or a buffer is that of the CTA
//! itself, unless an operation names another one.

mod barriers;
mod cluster;
mod copies;
mod launch_control;
mod matrix;
mod memory;
mod operand;
mod questions;
mod sharing;
mod tasks;

use python::library::Part;

/// TLX's parts of the table, one a file.
pub(super) const PARTS: [&Part; 8] = [
    &barriers::PART,
    &copies::PART,
    &launch_control::PART,
    &matrix::PART,
    &memory::PART,
    &questions::PART,
    &sharing::PART,
    &tasks::PART,
];
