//! The channels of a plan in the kernel that is being lowered.

use rustc_hash::{FxHashMap, FxHashSet};

use super::channel::{Channel, Edge};
use kernel::{BufferId, Shape};
use ttgir::{BlockId, OpId, RegionId, ValueId};

/// The channels of the kernel that is being lowered.
#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) channels: Vec<Channel>,
    pub(crate) edges: Vec<Placed>,
    /// What a task waits for ahead of an op in a tile, by the places of edges.
    pub(crate) waits: FxHashMap<(usize, (OpId, usize)), Vec<usize>>,
    /// What it waits for after an op, before it arrives.
    pub(crate) late: FxHashMap<(usize, (OpId, usize)), Vec<usize>>,
    /// What it arrives on after an op.
    pub(crate) arrivals: FxHashMap<(usize, (OpId, usize)), Vec<usize>>,
    /// Values in registers that a task computes for others at an op, or has to have there from another.
    pub(crate) registers: FxHashMap<(usize, OpId), Vec<ValueId>>,
    /// The tasks that fill an allocation with a source.
    pub(crate) fills: FxHashMap<OpId, Vec<usize>>,
    /// The blocks whose rounds are counted, with the regions around each.
    pub(crate) levels: Vec<(BlockId, FxHashSet<RegionId>)>,
    /// Where each buffer lies.
    pub(crate) homes: FxHashMap<ValueId, Home>,
    /// The operation that arrives by itself is lowered.
    pub(crate) told: bool,
}

/// An edge in the kernel.
#[derive(Clone, Copy)]
pub(crate) struct Placed {
    pub(crate) edge: Edge,
    pub(crate) barriers: BufferId,
    /// How many turns a round has, and which of them this is.
    pub(crate) turn: (u64, u64),
}

/// A window of a storage.
#[derive(Clone, Debug)]
pub(crate) struct Home {
    pub(crate) buffer: BufferId,
    /// Bits from a slot's start.
    pub(crate) start: u64,
    pub(crate) shape: Shape,
    /// Bits from slot to slot.
    pub(crate) slot: u64,
    pub(crate) slots: u64,
}
