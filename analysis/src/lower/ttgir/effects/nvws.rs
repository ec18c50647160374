//! NVWS: tokens and arefs of automatic warp specialisation. None is followed yet.

use super::{Row, Table};

const TOKEN: &str = "tokens of automatic warp specialisation are not followed yet";
const AREF: &str = "arefs of automatic warp specialisation are not followed yet";

pub(super) const ROWS: Table = &[
    ("create_token", Row::Unmodelled(TOKEN)),
    ("producer_acquire", Row::Unmodelled(TOKEN)),
    ("producer_commit", Row::Unmodelled(TOKEN)),
    ("consumer_wait", Row::Unmodelled(TOKEN)),
    ("consumer_release", Row::Unmodelled(TOKEN)),
    ("aref.create", Row::Unmodelled(AREF)),
    ("aref.buffer", Row::Unmodelled(AREF)),
    ("aref.get.enter", Row::Unmodelled(AREF)),
    ("aref.get.exit", Row::Unmodelled(AREF)),
    ("aref.put.enter", Row::Unmodelled(AREF)),
    ("aref.put.exit", Row::Unmodelled(AREF)),
];
