//! TritonAMDGPU: nothing of it is followed yet, but most of it only computes.

use super::{Row, Table};

pub(super) const ROWS: Table = &[
    ("extract_slice", Row::Nothing),
    ("concat", Row::Nothing),
    ("in_thread_transpose", Row::Nothing),
    ("scaled_upcast_fp4", Row::Nothing),
    ("scaled_upcast_fp8", Row::Nothing),
    ("scaled_downcast_fp4", Row::Nothing),
    ("scaled_downcast_fp8", Row::Nothing),
    ("buffer_load", Row::Nothing),
    ("buffer_store", Row::Nothing),
    ("buffer_atomic_rmw", Row::Nothing),
    ("buffer_atomic_cas", Row::Nothing),
    ("instruction_sched_hint", Row::Nothing),
    ("update_tensor_descriptor", Row::Nothing),
];
