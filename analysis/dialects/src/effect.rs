//! What an op does to memory and barriers: the vocabulary of the `effect` field.
//!
//! The declarations follow the effect table of Triton's concurrency sanitizer in the release on PyPI
//! (3.9), which knows a thread of its own for the tensor core and for TMA in each partition.
//! Where we deviate: the accumulator of an MMA is also read, so that an uninitialised one shows
//! (a read by the thread that then writes orders nothing else); an MMA of the form that Triton's
//! own pipeline has before it is lowered (it depends on a token, has no barriers, and is not marked
//! asynchronous) is synchronous.

use kernel::{CommitKind, Issuer, Mode, Proxy};

/// One memdesc operand that an op reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OperandAccess {
    /// The operand group's name in the op's syntax.
    pub group: &'static str,
    /// Read or write.
    pub mode: Mode,
    /// Through which proxy where it lies in shared memory.
    pub proxy: Proxy,
    /// The name that the sanitizer prints for it, empty where it prints none.
    pub operand: &'static str,
}

/// How a memory operation completes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpCompletion {
    /// In program order of its issuer.
    InOrder,
    /// With the transaction of the barrier in this operand group.
    Transaction {
        /// The operand group of the barrier.
        barrier: &'static str,
        /// The operand group whose size is the number of bytes.
        of: &'static str,
    },
    /// With a commit group.
    Group {
        /// Which kind of group.
        kind: CommitKind,
        /// Whether the op is a group by itself.
        implicit: bool,
        /// The attribute without which it is [`OpCompletion::InOrder`].
        when: Option<&'static str>,
    },
    /// In the order of the partition's data mover; each warp arrives on the optional barrier.
    InTurn {
        /// The operand group of the barrier.
        barrier: &'static str,
    },
}

/// What is done to a slot of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenOp {
    /// `producer_acquire`: waits until the slot is free.
    Acquire,
    /// `producer_commit`: the slot is full.
    Commit,
    /// `consumer_wait`: waits until the slot is full.
    Wait,
    /// `consumer_release`: the slot is free.
    Release,
}

/// Which view of its source an op gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ViewKind {
    /// One slot of the leading dimension.
    Index,
    /// A part at static offsets.
    Subslice,
    /// One offset a dimension: a slot of the leading dimension where the result has a dimension less, else a part.
    Subview,
    /// Static offset along the columns.
    Columns,
    /// Dimensions in another order.
    Trans,
    /// Other dimensions over the same elements.
    Reshape,
    /// Another type at the same place.
    Reinterpret,
}

/// How a store to another CTA's memory completes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RemoteStoreKind {
    /// In program order.
    Store,
    /// With the transaction of a barrier there.
    AsyncStore,
    /// The same, from shared memory.
    AsyncCopy,
}

/// What an op does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpEffect {
    /// It only computes, if no memdesc goes in or out; its scalar results are free inputs.
    Pure,
    /// It may synchronise, and nothing is known of it.
    Unknown,
    /// Regions that the lowering follows by the op's code.
    Structure,
    /// Nothing that matters here, memdescs or not; its scalar results are free inputs.
    Nothing,
    /// It matters, and the machine does not know it; why.
    Unmodelled(&'static str),
    /// Memory is read or written. All have an optional operand `pred`.
    Memory {
        /// Whose operation it is.
        issuer: Issuer,
        /// What is read and written.
        accesses: &'static [OperandAccess],
        /// When it is complete.
        completion: OpCompletion,
    },
    /// Makes a buffer, and writes it where there is a source.
    Allocate,
    /// A view of a memdesc.
    View(ViewKind),
    /// Waits for commit groups; the results are the operands.
    WaitGroup {
        /// Which groups are counted.
        kind: CommitKind,
        /// The attribute that says how many may stay open.
        pending: &'static str,
    },
    /// A wait that counts instructions.
    LoweredWaitGroup {
        /// Which groups are counted.
        kind: CommitKind,
        /// The attribute that still says how many groups that was.
        groups: &'static str,
        /// The attribute with the number of instructions.
        instructions: &'static str,
    },
    /// Gives a barrier the count of its phases.
    InitBarrier,
    /// Ends the use of a barrier.
    InvalidateBarrier,
    /// Arrives once and announces bytes.
    ExpectBytes,
    /// Arrives `count` times, once a thread with `perThread`.
    ArriveBarrier,
    /// `amdg.arrive_barrier`: every thread arrives, and is told the phase that it arrives for.
    ArriveByThreads,
    /// Reads the phase of a barrier without waiting.
    ReadPhase,
    /// Waits until a phase of a barrier is over.
    WaitBarrier,
    /// Arrives when the tensor core is done so far.
    TensorCoreCommit,
    /// Arrives when the thread's `cp.async` so far are done.
    AsyncCopyArrive {
        /// Whether it counts as a further arrival unless the attribute `noIncrement` is there.
        increments: bool,
    },
    /// Closes a commit group.
    Commit(CommitKind),
    /// `async_tma_store_token_wait` (fork only).
    StoreTokenWait,
    /// Orders generic accesses before those of the async proxy.
    ProxyFence,
    /// Arrives at the barrier of the cluster and waits there.
    ClusterBarrier,
    /// The first half of one.
    ClusterArrive,
    /// The second half of one.
    ClusterWait,
    /// The number of CTAs of the cluster.
    ClusterSize,
    /// Arrives at a hardware barrier by its number.
    NamedArrive,
    /// Arrives at a hardware barrier by its number and waits.
    NamedWait,
    /// Asks cluster launch control for a tile.
    ClcRequest {
        /// The operand group that the answer is written to.
        result: &'static str,
        /// The operand group of the barrier.
        barrier: &'static str,
    },
    /// Loads the answer of cluster launch control.
    ClcLoad,
    /// Whether that answer is a tile.
    ClcGranted,
    /// `clc_query_cancel` (fork only).
    ClcQuery,
    /// Asks for a tile, with a token for the answer (fork only, before it has memory and barriers).
    ClcAsk,
    /// What the answer to such a request is; one without a token asks too.
    ClcAnswer,
    /// `map_to_remote_buffer` (fork only).
    MapToRemote,
    /// Stores into another CTA's memory (fork only).
    RemoteStore(RemoteStoreKind),
    /// Storage that several buffers share.
    StorageAliasSpec,
    /// A buffer in shared storage.
    StorageAliasAlloc,
    /// Another layout of a value or view.
    RequireLayout,
    /// Makes an aref over buffers.
    ArefCreate,
    /// `aref.put.enter` and `aref.get.enter`.
    ArefEnter {
        /// Whether a producer enters.
        put: bool,
    },
    /// `aref.put.exit` and `aref.get.exit`.
    ArefExit {
        /// Whether a producer leaves.
        put: bool,
    },
    /// The buffers of an aref's slot.
    ArefBuffer,
    /// Makes a semaphore over buffers.
    SemaphoreCreate,
    /// Waits for a slot of a semaphore.
    SemaphoreAcquire,
    /// The buffers of a semaphore's slot.
    SemaphoreBuffer,
    /// Releases a slot of a semaphore.
    SemaphoreRelease,
    /// `nvws.descriptor_load` and `nvws.descriptor_gather`.
    DescriptorLoad,
    /// Makes a token with slots.
    CreateToken,
    /// An op on a token.
    Token(TokenOp),
    /// A matrix product of the tensor core into tensor memory.
    Mma {
        /// Whether its operands have scales.
        scaled: bool,
    },
}

/// A read of an operand.
pub(crate) const fn read(group: &'static str, proxy: Proxy, operand: &'static str) -> OperandAccess {
    OperandAccess { group, mode: Mode::Read, proxy, operand }
}

/// A write of an operand.
pub(crate) const fn write(group: &'static str, proxy: Proxy, operand: &'static str) -> OperandAccess {
    OperandAccess { group, mode: Mode::Write, proxy, operand }
}

/// Accesses by the partition's own threads, in program order.
pub(crate) const fn by_threads(accesses: &'static [OperandAccess]) -> OpEffect {
    OpEffect::Memory { issuer: Issuer::Base, accesses, completion: OpCompletion::InOrder }
}

/// An asynchronous copy (`cp.async`) by the partition's own threads.
pub(crate) const fn async_copy(accesses: &'static [OperandAccess]) -> OpEffect {
    let completion = OpCompletion::Group { kind: CommitKind::AsyncCopy, implicit: false, when: None };
    OpEffect::Memory { issuer: Issuer::Base, accesses, completion }
}
