//! TLX, of the facebookexperimental fork: storage that buffers share.

use super::{Row, Table};
use crate::view::Window;

pub(super) const ROWS: Table = &[
    ("storage_alias_spec", Row::StorageSpec),
    ("storage_alias_local_alloc", Row::StorageAlloc),
    ("local_alias", Row::View(Window::Reinterpret)),
    ("require_layout", Row::Layout),
    // The spec reads both.
    ("reuse_group", Row::Nothing),
    ("set_buffer_overlap", Row::Nothing),
    ("release_layout", Row::Nothing),
    ("assert_same_layout", Row::Nothing),
    ("assert_same_layout_expected", Row::Nothing),
    ("dump_layout", Row::Nothing),
];
