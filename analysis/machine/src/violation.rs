//! Violations: ids only. Words and places are made in `findings`.

use super::shadow::Event;
use base::Digest;
use kernel::{BufferId, EffectId, SiteId};
use std::hash::Hash;

/// Which count of a barrier an arrival would take out of its range.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CountOverrun {
    /// Arrivals that the phase in progress waits for.
    Arrivals,
    /// Bytes: the transaction count.
    Bytes,
}

/// Which rule broke.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Rule {
    /// Two accesses that nothing orders, at least one a write.
    Race {
        /// The one that happened first in this run.
        earlier: Event,
        /// The one that happens now.
        later: Event,
    },
    /// A generic access and an async one, ordered but not fenced.
    ProxyFence {
        /// The generic one.
        earlier: Event,
        /// The async one.
        later: Event,
    },
    /// A read of a member of a shared buffer, ordered after the write of another member which was there
    /// last, while the member has writers of its own.
    OverwrittenMember {
        /// The write of the other member.
        earlier: Event,
        /// The read that finds what the other member left.
        later: Event,
    },
    /// A read of what nobody wrote.
    Uninitialised {
        /// The access that reads it.
        read: Event,
    },
    /// A barrier is used before its init or after its invalidation.
    NotLive {
        /// Whether it had been live before.
        invalidated: bool,
    },
    /// A live barrier is initialised.
    Reinit,
    /// More arrivals than the count, or a transaction count out of range.
    Overflow(CountOverrun),
    /// A slot that does not exist.
    OutOfBounds {
        /// The index that was used.
        index: i64,
        /// The number of slots, where it is seen; of a view that ends behind its memory 0, and the index counts the bytes
        /// behind.
        count: Option<u64>,
    },
    /// The storage of a live barrier is overwritten.
    BarrierStorage,
    /// A barrier is invalidated while a thread waits on it.
    WaitedOn {
        /// The thread that waits.
        waiter: u16,
        /// The op at which it waits.
        at: SiteId,
    },
    /// A barrier is invalidated while an operation that arrives on it when it is done may not be done.
    InFlight {
        /// The thread that issued the operation.
        issuer: u16,
        /// The operation.
        at: SiteId,
        /// Its step of the run.
        step: u32,
        /// Whether it is a tensor core's arrival in the CTA that invalidates, and nothing touches memory afterwards:
        /// no violation then, the machine keeps it apart.
        ending: bool,
    },
    /// A thread arrives at a rendezvous again before it has waited for the one before.
    ArrivedTwice,
    /// A thread waits at a rendezvous that it has not arrived at since it last waited there.
    NotArrived,
    /// A thread ends before its asynchronous dots are known to be over: what they leave in registers
    /// was never there to be used.
    Unfinished {
        /// The last of them.
        access: Event,
    },
    /// What an asynchronous dot leaves in registers is used before the dot is known to be over.
    PendingResult {
        /// The dot.
        dot: EffectId,
    },
    /// The kernel ends with an operation under way. No violation: the machine keeps it apart.
    Outlives {
        /// What the last such operation does to memory.
        access: Event,
    },
    /// Nobody can go on.
    Deadlock(Vec<Blocked>),
}

/// A thread that waits for ever.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Blocked {
    /// Which thread of the machine.
    pub thread: u16,
    /// The op at which it waits.
    pub site: SiteId,
    /// What it waits for.
    pub on: BlockedOn,
}

/// What a blocked thread waits for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum BlockedOn {
    /// The next flip of a barrier.
    Barrier {
        /// The barrier by its place.
        barrier: BarrierPlace,
        /// The parity it names.
        phase: u32,
        /// Flips so far.
        flips: u32,
        /// Arrivals still missing.
        pending: i64,
        /// Arrivals a phase.
        initial: i64,
        /// Bytes still missing (negative: too many came).
        bytes: i64,
    },
    /// The end of the partitions.
    Partitions,
}

/// A barrier by its place in memory; also the rendezvous that have none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct BarrierPlace {
    /// The allocation that holds it.
    pub buffer: BufferId,
    /// Its start there, in bits.
    pub start: u64,
    /// In which CTA of the cluster.
    pub cta: u16,
}

/// What a place names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BarrierKind {
    /// An mbarrier in memory.
    Barrier,
    /// The rendezvous of all CTAs, for the partitions of this number.
    Cluster(u64),
    /// A named barrier of a CTA.
    Named(u64),
}

const CLUSTER: BufferId = BufferId(u32::MAX);
const NAMED: BufferId = BufferId(u32::MAX - 1);

impl BarrierPlace {
    /// The rendezvous of a partition with its like in all CTAs.
    pub fn cluster(partition: usize) -> BarrierPlace {
        BarrierPlace { buffer: CLUSTER, start: partition as u64, cta: 0 }
    }

    /// A named barrier.
    pub fn named(cta: u16, id: i64) -> BarrierPlace {
        BarrierPlace { buffer: NAMED, start: id as u64, cta }
    }

    /// What is there.
    pub fn kind(self) -> BarrierKind {
        match self.buffer {
            CLUSTER => BarrierKind::Cluster(self.start),
            NAMED => BarrierKind::Named(self.start),
            _ => BarrierKind::Barrier,
        }
    }
}

/// A broken rule at a step.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Violation {
    /// The rule that broke.
    pub rule: Rule,
    /// Step of the run at which it broke.
    pub step: u32,
    /// The thread of the machine.
    pub thread: u16,
    /// The op of the text, for messages.
    pub site: SiteId,
    /// Its effect, where it is one.
    pub effect: Option<EffectId>,
    /// The barrier concerned, where there is one.
    pub barrier: Option<BarrierPlace>,
}

/// A point where another schedule may go another way.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum ScheduleHazard {
    /// The flip made at step `flip` is not ordered after the wait at step `wait`.
    Lapped {
        /// Step of the wait.
        wait: u32,
        /// Step of the arrival that flips.
        flip: u32,
    },
    /// The wait at this step might have passed two flips earlier.
    EarlyWait {
        /// Step of the wait.
        wait: u32,
    },
    /// The arrival at this step might have counted for the flip before.
    EarlyArrival {
        /// Step of the arrival.
        step: u32,
    },
    /// A thread that is blocked at the end might have passed before the last flip.
    Missed {
        /// The blocked thread of the machine.
        thread: u16,
    },
    /// A use of a barrier is not ordered before its invalidation.
    UnorderedInvalidation,
    /// A use of a barrier is not ordered after its init.
    UnorderedInit,
}

/// The violations of a run, in the order of its steps. A run may have one at each of its steps: what each step asks of them
/// all is kept.
#[derive(Clone, Default, Debug)]
pub(crate) struct Violations {
    list: Vec<Violation>,
    raced: bool,
    digest: Digest,
}

impl Violations {
    pub(crate) fn push(&mut self, violation: Violation) {
        self.raced |= matches!(violation.rule, Rule::Race { .. });
        (std::mem::discriminant(&violation.rule), violation.site).hash(&mut self.digest);
        self.list.push(violation);
    }

    pub(crate) fn last_mut(&mut self) -> Option<&mut Violation> {
        self.list.last_mut()
    }

    pub(crate) fn as_slice(&self) -> &[Violation] {
        &self.list
    }

    /// Whether one of them is a race.
    pub(crate) fn raced(&self) -> bool {
        self.raced
    }

    /// A number that differs where they break other rules or at other sites.
    pub(crate) fn digest(&self) -> u128 {
        self.digest.bits()
    }

    pub(crate) fn into_list(self) -> Vec<Violation> {
        self.list
    }
}
