//! TLX, of the facebookexperimental fork: its storage aliases are not followed yet.

use super::Table;

pub(super) const ROWS: Table = &[];
