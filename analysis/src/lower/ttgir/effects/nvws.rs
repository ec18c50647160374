//! NVWS: what automatic warp specialisation puts between its passes. Tokens are not followed yet.

use super::{Row, Table};

const TOKEN: &str = "tokens of automatic warp specialisation are not followed yet";
const PHI: &str = "an op of one version only, whose stage no text says";

pub(super) const ROWS: Table = &[
    ("create_token", Row::Unmodelled(TOKEN)),
    ("producer_acquire", Row::Unmodelled(TOKEN)),
    ("producer_commit", Row::Unmodelled(TOKEN)),
    ("consumer_wait", Row::Unmodelled(TOKEN)),
    ("consumer_release", Row::Unmodelled(TOKEN)),
    ("aref.create", Row::ArefCreate),
    ("aref.buffer", Row::ArefBuffer),
    ("aref.get.enter", Row::ArefEnter { put: false }),
    ("aref.get.exit", Row::ArefExit { put: false }),
    ("aref.put.enter", Row::ArefEnter { put: true }),
    ("aref.put.exit", Row::ArefExit { put: true }),
    ("aref.phi", Row::Unmodelled(PHI)),
    ("descriptor_load", Row::DescriptorLoad),
    ("descriptor_gather", Row::DescriptorLoad),
];
