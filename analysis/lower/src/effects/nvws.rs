//! NVWS: what automatic warp specialisation puts between its passes.

use super::{Row, Table, TokenOp};

const PHI: &str = "an op of one version only, whose stage no text says";

pub(super) const ROWS: Table = &[
    ("create_token", Row::CreateToken),
    ("producer_acquire", Row::Token(TokenOp::Acquire)),
    ("producer_commit", Row::Token(TokenOp::Commit)),
    ("consumer_wait", Row::Token(TokenOp::Wait)),
    ("consumer_release", Row::Token(TokenOp::Release)),
    ("aref.create", Row::ArefCreate),
    ("aref.buffer", Row::ArefBuffer),
    ("aref.get.enter", Row::ArefEnter { put: false }),
    ("aref.get.exit", Row::ArefExit { put: false }),
    ("aref.put.enter", Row::ArefEnter { put: true }),
    ("aref.put.exit", Row::ArefExit { put: true }),
    ("aref.phi", Row::Unmodelled(PHI)),
    ("semaphore.create", Row::SemaphoreCreate),
    ("semaphore.acquire", Row::SemaphoreAcquire),
    ("semaphore.buffer", Row::SemaphoreBuffer),
    ("semaphore.release", Row::SemaphoreRelease),
    ("descriptor_load", Row::DescriptorLoad),
    ("descriptor_gather", Row::DescriptorLoad),
];
