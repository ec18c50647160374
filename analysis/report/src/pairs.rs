//! Pairs of accesses, and what orders them. Ids only.

use kernel::{BufferId, EffectId, Mode};
use machine::{BarrierKind, BarrierPlace};

/// An access of the text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct AccessSite {
    /// The op's effect.
    pub effect: EffectId,
    /// Which of its accesses.
    pub access: u16,
    /// The partition that executes it.
    pub partition: u16,
    /// Read or write.
    pub mode: Mode,
}

/// A barrier array, or the rendezvous at a place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum BarrierArray {
    /// The mbarriers of one allocation.
    Barriers(BufferId),
    /// A named barrier, by number.
    Named(u64),
    /// The barrier of all CTAs.
    Cluster,
}

impl BarrierArray {
    pub(super) fn of(place: BarrierPlace) -> BarrierArray {
        match place.kind() {
            BarrierKind::Barrier => BarrierArray::Barriers(place.buffer),
            BarrierKind::Named(id) => BarrierArray::Named(id),
            BarrierKind::Cluster(_) => BarrierArray::Cluster,
        }
    }
}

/// A link between partitions: an arrival and a wait that saw it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct SyncLink {
    /// On what; `None` for starts and ends of partitions.
    pub array: Option<BarrierArray>,
    /// The partition that arrived.
    pub from: u16,
    /// The partition that waited.
    pub to: u16,
    /// The arriving op.
    pub arrival: Option<EffectId>,
    /// The waiting op.
    pub wait: Option<EffectId>,
}

/// What orders a pair.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum OrderedBy {
    /// The thread itself: program order, or its own commit groups.
    Program,
    /// An arrival and a wait; the last ones where a chain of them does.
    Sync(SyncLink),
    /// Nothing orders them.
    Missing,
    /// Nothing, and nobody has read what is written over.
    Unread,
    /// Nothing that the machine knows of, in a run with an op that it cannot follow.
    Unsure,
}

/// What a pair of accesses was like, whenever they met.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct Pair {
    /// The one before.
    pub earlier: AccessSite,
    /// The one after.
    pub later: AccessSite,
    /// What orders them.
    pub how: OrderedBy,
}
