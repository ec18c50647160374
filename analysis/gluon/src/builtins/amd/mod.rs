//! AMD: CDNA 3, 4 and 5 (`gfx1250`), RDNA.
//!
//! An arrival on an LDS barrier counts threads, and one that a TDM operation brings counts warps; the lowering
//! knows that. What a stage of a warp pipeline inserts between stages is the compiler's and not said here.

mod async_copy;
mod layouts;
mod matrix;
mod mbarrier;
mod operand;
mod tdm;

use python::library::Part;

/// AMD's share of the table.
pub(super) const PARTS: [&Part; 5] = [&async_copy::PART, &layouts::PART, &matrix::PART, &mbarrier::PART, &tdm::PART];
