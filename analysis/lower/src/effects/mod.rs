//! What each op does to memory and barriers, as data: one table a dialect.
//!
//! The rows follow the effect table of Triton's concurrency sanitizer in the release on PyPI
//! (3.9), which knows a thread of its own for the tensor core and for TMA in each partition.
//! Where we deviate: the accumulator of an MMA is also read, so that an uninitialised one shows
//! (a read by the thread that then writes orders nothing else); an MMA of the form that Triton's
//! own pipeline has before it is lowered (it depends on a token, has no barriers, and is not marked
//! asynchronous) is synchronous.

mod amdg;
mod misc;
mod nvws;
mod tlx;
mod ttg;
mod ttng;

use super::remote::Remote;
use super::view::Window;
use kernel::{CommitKind, Issuer, Mode, Proxy};

/// One memdesc operand that an op touches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Touch {
    /// The operand's name in the op's definition.
    pub(super) group: &'static str,
    /// Read or write.
    pub(super) mode: Mode,
    /// Through which proxy where it lies in shared memory.
    pub(super) proxy: Proxy,
    /// The name that the sanitizer prints for it.
    pub(super) operand: &'static str,
}

/// How a memory operation completes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Done {
    /// In program order of its issuer.
    InOrder,
    /// With the transaction of the barrier in this operand; the bytes are those of `of`.
    Transaction { barrier: &'static str, of: &'static str },
    /// With a commit group; `when` is an attribute without which it is [`Done::InOrder`].
    Group { kind: CommitKind, implicit: bool, when: Option<&'static str> },
    /// In the order of the partition's data mover; an optional barrier is told, once a warp.
    InTurn { barrier: &'static str },
}

/// What is done to a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TokenOp {
    /// `producer_acquire`: waits until the slot is free.
    Acquire,
    /// `producer_commit`: the slot is full.
    Commit,
    /// `consumer_wait`: waits until the slot is full.
    Wait,
    /// `consumer_release`: the slot is free.
    Release,
}

/// What an op does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Row {
    /// Nothing that matters here; its scalar results are free inputs.
    Nothing,
    /// It matters, and the machine does not know it; why.
    Unmodelled(&'static str),
    /// Memory is touched. All have an optional operand `pred`.
    Memory { issuer: Issuer, touches: &'static [Touch], done: Done },
    /// `local_alloc`, `tmem_alloc`.
    Allocate,
    /// A view of a memdesc.
    View(Window),
    /// The results are the operands.
    Wait(CommitKind, &'static str),
    /// A wait that counts instructions in `rest`; `groups` still says how many groups that was.
    LoweredWait { kind: CommitKind, groups: &'static str, rest: &'static str },
    /// `init_barrier`.
    Init,
    /// `inval_barrier`.
    Invalidate,
    /// `barrier_expect`.
    Expect,
    /// `arrive_barrier`.
    Arrive,
    /// `amdg.arrive_barrier`: every thread arrives, and is told the phase that it arrives for.
    ArriveThreads,
    /// `amdg.read_barrier_phase`.
    ReadPhase,
    /// `wait_barrier`.
    WaitBarrier,
    /// `tc_gen5_commit`.
    TensorCoreCommit,
    /// `async_copy_mbarrier_arrive`; `increments`: unless the attribute `noIncrement` is there.
    AsyncCopyArrive { increments: bool },
    /// Closes a commit group.
    Commit(CommitKind),
    /// `async_tma_store_token_wait` (fork only).
    StoreTokenWait,
    /// `fence_async_shared`.
    ProxyFence,
    /// `cluster_barrier`.
    ClusterBarrier,
    /// The first half of one.
    ClusterArrive,
    /// The second half of one.
    ClusterWait,
    /// The number of CTAs of the cluster.
    ClusterSize,
    /// `arrive_barrier_named`.
    NamedArrive,
    /// `wait_barrier_named`.
    NamedWait,
    /// Asks cluster launch control for a tile; its operands by name.
    ClcRequest { result: &'static str, barrier: &'static str },
    /// `clc_load_result`.
    ClcLoad,
    /// `clc_is_canceled`.
    ClcGranted,
    /// `clc_query_cancel` (fork only).
    ClcQuery,
    /// `map_to_remote_buffer` (fork only).
    MapToRemote,
    /// Stores into another CTA's memory (fork only).
    RemoteStore(Remote),
    /// `storage_alias_spec`.
    StorageSpec,
    /// `storage_alias_local_alloc`.
    StorageAlloc,
    /// `require_layout`.
    Layout,
    /// `aref.create`.
    ArefCreate,
    /// `aref.put.enter` and `aref.get.enter`.
    ArefEnter { put: bool },
    /// `aref.put.exit` and `aref.get.exit`.
    ArefExit { put: bool },
    /// `aref.buffer`.
    ArefBuffer,
    /// `semaphore.create`.
    SemaphoreCreate,
    /// `semaphore.acquire`.
    SemaphoreAcquire,
    /// `semaphore.buffer`.
    SemaphoreBuffer,
    /// `semaphore.release`.
    SemaphoreRelease,
    /// `nvws.descriptor_load` and `nvws.descriptor_gather`.
    DescriptorLoad,
    /// `create_token`.
    CreateToken,
    /// An op on a token.
    Token(TokenOp),
    /// `tc_gen5_mma` and, with scales, `tc_gen5_mma_scaled`.
    Mma { scaled: bool },
}

pub(super) type Table = &'static [(&'static str, Row)];

const fn read(group: &'static str, proxy: Proxy, operand: &'static str) -> Touch {
    Touch { group, mode: Mode::Read, proxy, operand }
}

const fn write(group: &'static str, proxy: Proxy, operand: &'static str) -> Touch {
    Touch { group, mode: Mode::Write, proxy, operand }
}

const fn base(touches: &'static [Touch]) -> Row {
    Row::Memory { issuer: Issuer::Base, touches, done: Done::InOrder }
}

/// What the tables say of an op.
pub(super) enum Known {
    /// A row.
    Row(Row),
    /// No row in a dialect whose every op may synchronise.
    Missing,
    /// No row in a dialect of values: it does nothing unless a memdesc goes in or out.
    Pure,
}

/// Looks an op up by its full name.
pub(super) fn known(name: &str) -> Known {
    let Some((dialect, op)) = name.split_once('.') else { return Known::Pure };
    let (table, strict) = match dialect {
        "ttg" => (ttg::ROWS, false),
        "ttng" => (ttng::ROWS, true),
        "nvws" => (nvws::ROWS, true),
        "amdg" => (amdg::ROWS, true),
        "tlx" => (tlx::ROWS, true),
        "gpu" => (misc::GPU, false),
        "nvvm" | "rocdl" | "nvg" => (misc::NONE, true),
        "llvm" => (misc::LLVM, true),
        _ => (misc::NONE, false),
    };
    match table.iter().find(|row| row.0 == op) {
        Some(row) => Known::Row(row.1),
        None if strict => Known::Missing,
        None => Known::Pure,
    }
}

#[cfg(test)]
pub(super) const TABLES: &[(&str, Table)] = &[
    ("ttg", ttg::ROWS),
    ("ttng", ttng::ROWS),
    ("nvws", nvws::ROWS),
    ("amdg", amdg::ROWS),
    ("tlx", tlx::ROWS),
    ("gpu", misc::GPU),
    ("llvm", misc::LLVM),
];
