//! The channels that a plan implies.

use kernel::Half;
use ttgir::{BlockId, OpId, ValueId};

/// The tasks of an op, as indices of the kernel's partitions.
pub(crate) type Who<'a> = &'a dyn Fn(OpId) -> Vec<usize>;

/// A ring of one buffer, or of several that are ordered as one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Channel {
    /// The buffers that go through it.
    pub(crate) members: Vec<Member>,
    /// The block that is one round.
    pub(crate) level: BlockId,
    /// Slots of its buffers.
    pub(crate) copies: u64,
    /// How many slots a round takes: its buffers, where they take turns, else one.
    pub(crate) turns: u64,
    /// In the order in which their waits and arrivals stand.
    pub(crate) edges: Vec<Edge>,
}

/// A buffer of a channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Member {
    /// The memdesc that it gives.
    pub(crate) value: ValueId,
    /// Ops that make views of it.
    pub(crate) views: Vec<OpId>,
}

/// How an arrival is made.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum By {
    /// The task arrives.
    Task,
    /// The operation arrives when it is complete.
    Operation,
    /// The task's tensor core does, after all that it was given.
    Commit,
}

/// One task tells another that it is done.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Edge {
    /// The block whose rounds are counted.
    pub(crate) level: BlockId,
    /// The op in it after which `from` arrives, and in which tile of a subtiled region.
    pub(crate) after: (OpId, usize),
    /// The op in it before which `to` waits, and in which tile.
    pub(crate) before: (OpId, usize),
    /// Who arrives, by index of the partition.
    pub(crate) from: usize,
    /// The task that waits.
    pub(crate) to: usize,
    /// Whether it waits for an earlier round, so that the first ones are free.
    pub(crate) around: bool,
    pub(crate) by: By,
    pub(crate) half: Half,
    /// The buffer whose access has to be over, by place in the channel.
    pub(crate) member: usize,
    /// Barriers that take turns.
    pub(crate) slots: u64,
    /// Which array of barriers of the channel.
    pub(crate) barriers: usize,
    /// The wait stands after `before`, ahead of the arrivals there: it only keeps rounds apart.
    pub(crate) late: bool,
}

/// What the plan of a function comes to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Implied {
    /// Its channels, in the order of their first buffers.
    pub(crate) channels: Vec<Channel>,
    /// Ops that keep a buffer from having a channel, and why.
    pub(crate) loose: Vec<(OpId, &'static str)>,
    /// Of each value in registers that has a channel: its op and who computes it, then who uses it where.
    pub(crate) registers: Vec<(ValueId, Vec<(OpId, usize)>)>,
    /// All buffers, in the order of the text.
    pub(crate) buffers: Vec<Planned>,
}

/// A buffer as the memory planner has placed it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Planned {
    pub(crate) op: OpId,
    /// The memdesc that it gives.
    pub(crate) value: ValueId,
    /// Its attribute `buffer.id`.
    pub(crate) id: Option<i64>,
    /// Its attribute `buffer.copy`, 1 without.
    pub(crate) copies: u64,
    pub(crate) tensor: bool,
    /// It is a tensor in registers, which gets a buffer only later.
    pub(crate) registers: bool,
    /// `buffer.offset`, in columns; 0 for the owner.
    pub(crate) offset: u64,
    /// Whether it has one, and so is not the owner.
    pub(crate) placed: bool,
}
