//! Dialects of MLIR that may stand between Triton's ops.

use super::{Row, Table};

pub(super) const NONE: Table = &[];

pub(super) const GPU: Table = &[("barrier", Row::Nothing)];

/// What occurs above the LLVM level; anything else is code that we do not read.
pub(super) const LLVM: Table = &[
    ("intr.assume", Row::Nothing),
    ("mlir.constant", Row::Nothing),
    ("mlir.undef", Row::Nothing),
    ("mlir.poison", Row::Nothing),
    ("mlir.zero", Row::Nothing),
];
