//! The effects: everything an op can do to memory and barriers, in ConSan's terms.
//!
//! Source of the rows: the effect table of Triton's concurrency sanitizer (PyPI triton 3.9), see
//! `analysis/lower/src/`, which maps each op to these.

use super::{CtaSet, Recipients, SiteId, Var};

/// Read or write.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum Mode {
    Read,
    Write,
}

/// Which of the two views of shared memory an access goes through; tensor memory has none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Proxy {
    /// Ordinary loads and stores.
    Generic,
    /// TMA, wgmma, tcgen05: needs `fence_async_shared` after a generic access.
    Async,
    /// Tensor memory, which no proxy fence concerns.
    Tensor,
}

/// Who performs the access beside the partition's own thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Issuer {
    /// The partition itself, in program order.
    Base,
    /// Its TMA engine (on AMD its tensor data mover).
    Tma,
    /// Its cluster launch control requests.
    Clc,
    /// Its tensor core; operations of one partition complete in order.
    TensorCore,
}

/// Families of operations that complete by group count.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum CommitKind {
    /// `ttg.async_copy_global_to_local`, committed by `ttg.async_commit_group`.
    AsyncCopy,
    /// `ttng.warp_group_dot {isAsync}`, one group an op.
    Wgmma,
    /// `ttng.async_tma_copy_local_to_global` and its like, one group an op.
    TmaStore,
    /// AMD's tensor data mover, one group an op; operations of one partition complete in order.
    Tdm,
    /// Reads of AMD's LDS between which and an asynchronous copy Triton puts no barrier
    /// (`load_shared_relaxed`), one group an op: a wait is a meeting of the partition's warps.
    RelaxedRead,
    /// What the warps of an AMD warp pipeline do to LDS in one stage, a group: half of the warps is one
    /// stage behind. A commit ends the stage, and a wait for the groups but one comes with it; while
    /// a group is open, what other waits of the partition say holds for all warps from the next commit on.
    Stage,
}

impl CommitKind {
    /// Whether it counts what the warps themselves do.
    pub fn is_by_warps(self) -> bool {
        matches!(self, CommitKind::RelaxedRead | CommitKind::Stage)
    }

    /// Whether its operations go on beside the thread and touch memory, so that they can outlive the kernel.
    pub fn outlives(self) -> bool {
        matches!(self, CommitKind::AsyncCopy | CommitKind::TmaStore | CommitKind::Tdm)
    }
}

/// One operand's memory access.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    /// The memdesc variable that names the window.
    pub view: Var,
    /// Read or write.
    pub mode: Mode,
    /// Proxy of the access.
    pub proxy: Proxy,
    /// ConSan's operand name (`A`, `B`, `Acc`, `Src`, …), empty where it prints none.
    pub operand: &'static str,
    /// A write that also destroys what it does not name: an MMA with `useD = false` zeroes the
    /// whole allocation of its accumulator.
    pub clears: bool,
    /// In which CTAs' memory, as seen from the one that issues.
    pub ctas: CtaSet,
}

/// An arrival on an mbarrier that an operation brings when it completes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Arrival {
    /// The barrier's memdesc.
    pub barrier: Var,
    /// `None`: always; else only when the variable is 1.
    pub predicate: Option<Var>,
    /// Pending count it takes off.
    pub count: u32,
    /// Bytes it takes off the transaction count.
    pub bytes: u64,
    /// In which CTAs.
    pub to: Recipients,
}

/// How an operation's accesses become visible to others.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Completion {
    /// In program order of the issuer; for [`Issuer::TensorCore`] a later commit publishes it.
    InOrder,
    /// With the flip of these barriers, which publish this operation's accesses only
    /// (ConSan's `EffectWrites`): TMA loads, `st.async`.
    Transaction(Vec<Arrival>),
    /// With the flip of these barriers, which publish all that the issuer has done and sees
    /// (ConSan's `Frontier`): tcgen05 completion barriers.
    Frontier(Vec<Arrival>),
    /// With a wait for its commit group; `implicit`: the op is its own group.
    Commit {
        /// The commit family, each with groups of its own.
        kind: CommitKind,
        /// No `commit_group` is needed.
        implicit: bool,
        /// What it leaves in registers is used, so that it has to be over before its partition is.
        awaited: bool,
        /// Number of what it leaves in registers, for those who use it; 0 where nobody does.
        result: u32,
    },
    /// In the order in which the partition gave work to AMD's tensor data mover: with a wait that
    /// counts its operations, or with the flip of these barriers, which publish all that the
    /// issuer sees and what the data mover has done so far. Every operation counts, also one with
    /// a barrier; ConSan counts those without.
    InTurn(Vec<Arrival>),
}

impl Completion {
    /// The arrivals that come with it.
    pub fn arrivals(&self) -> &[Arrival] {
        match self {
            Completion::Transaction(arrivals) | Completion::Frontier(arrivals) | Completion::InTurn(arrivals) => {
                arrivals
            }
            Completion::InOrder | Completion::Commit { .. } => &[],
        }
    }

    /// The same, to be changed.
    pub fn arrivals_mut(&mut self) -> &mut [Arrival] {
        match self {
            Completion::Transaction(arrivals) | Completion::Frontier(arrivals) | Completion::InTurn(arrivals) => {
                arrivals
            }
            Completion::InOrder | Completion::Commit { .. } => &mut [],
        }
    }
}

/// What happens at one op.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum EffectKind {
    /// A `local_alloc`/`tmem_alloc` is executed: contents undefined from here.
    Allocate(super::BufferId),
    /// Memory is touched.
    Operation {
        /// Who performs it.
        issuer: Issuer,
        /// Checked and recorded in this order: all reads before all writes.
        accesses: Vec<Access>,
        /// How it completes.
        completion: Completion,
    },
    /// `ttng.init_barrier`: starts the first phase.
    Init {
        /// Memdesc of one barrier.
        barrier: Var,
        /// Arrivals a phase.
        count: u32,
    },
    /// `ttng.inval_barrier`: the storage may be used for something else.
    Invalidate {
        /// Memdesc of one barrier.
        barrier: Var,
    },
    /// `barrier_expect`: one arrival and `bytes` more to come.
    Expect {
        /// Memdesc of one barrier.
        barrier: Var,
        /// Bytes that the phase waits for in addition.
        bytes: u64,
        /// In which CTAs.
        to: Recipients,
    },
    /// `ttng.arrive_barrier`: arrivals of the executing thread.
    Arrive {
        /// Memdesc of one barrier.
        barrier: Var,
        /// How many arrivals it takes off the pending count.
        count: u32,
        /// In which CTAs.
        to: Recipients,
    },
    /// `wait_barrier`: passes when the number of flips has another parity than `phase`.
    Wait {
        /// Memdesc of one barrier.
        barrier: Var,
        /// Awaited parity; only bit 0 counts.
        phase: Var,
    },
    /// Reads the phase that a barrier is in (AMD: an arrival gives back the phase it counts for).
    ReadPhase {
        /// Memdesc of one barrier.
        barrier: Var,
        /// Set to the parity of the phase.
        dst: Var,
    },
    /// `tc_gen5_commit`: one arrival once all earlier tensor-core operations are done.
    TensorCoreCommit {
        /// Memdesc of one barrier.
        barrier: Var,
        /// In which CTAs.
        to: Recipients,
    },
    /// `async_copy_mbarrier_arrive`: one arrival once all earlier `cp.async` are done.
    AsyncCopyArrive {
        /// Memdesc of one barrier.
        barrier: Var,
        /// Without `noIncrement` the op first adds its own arrival to the pending count.
        increments: bool,
        /// In which CTAs.
        to: Recipients,
    },
    /// Closes the group of staged operations.
    Commit(CommitKind),
    /// Waits until at most `pending` groups are open.
    WaitGroup {
        /// The commit family, each with groups of its own.
        kind: CommitKind,
        /// Groups that may stay open.
        pending: u32,
    },
    /// Registers are used that an asynchronous operation may still be writing.
    Use {
        /// The number of the operation's result; 0 where it is known to be there.
        of: Var,
    },
    /// `ttng.fence_async_shared`: orders generic accesses before async ones.
    ProxyFence,
    /// Arrives at the rendezvous of all CTAs of the cluster; the same partitions of each meet.
    ClusterArrive {
        /// Without release: orders time, publishes nothing.
        relaxed: bool,
    },
    /// Waits until the rendezvous that this partition arrived at is complete.
    ClusterWait,
    /// Arrives at a named barrier (`bar.arrive`, and the first half of `bar.sync`) with all threads
    /// of the partition.
    NamedArrive {
        /// Its number within the CTA.
        id: Var,
        /// Threads that make it complete.
        threads: Var,
    },
    /// Waits until the round of a named barrier that this partition arrived at is complete.
    NamedWait {
        /// Its number within the CTA.
        id: Var,
    },
    /// `clc_load_result`: reads the answer of cluster launch control.
    ClcLoad {
        /// The read of the answer in shared memory.
        source: Access,
        /// Set to 1 where the answer hands out a tile, to 0 where it declines or none is there.
        dst: Var,
    },
    /// An op the machine cannot follow is executed here; the verdict becomes undecided.
    Unmodelled,
}

/// An effect with its place and predicate.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Effect {
    /// The op of the text that has this effect.
    pub site: SiteId,
    /// `None`: always; else only when the variable is 1.
    pub predicate: Option<Var>,
    /// Only CTAs whose number has none of these bits do it; 0: all of them.
    pub leaders: u16,
    /// What it does to barriers and memory.
    pub kind: EffectKind,
}

impl EffectKind {
    /// The variable that the effect sets, if it sets one.
    pub fn defines(&self) -> Option<Var> {
        match self {
            EffectKind::ClcLoad { dst, .. } | EffectKind::ReadPhase { dst, .. } => Some(*dst),
            _ => None,
        }
    }

    /// Whether every thread of the partition arrives by itself, so that the number of its warps matters.
    pub fn counts_threads(&self) -> bool {
        matches!(self, EffectKind::NamedArrive { .. } | EffectKind::AsyncCopyArrive { .. })
    }
}
