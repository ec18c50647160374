//! The texts of asserts, as values.
//!
//! Sources: the strings of the wheels of triton 3.5.1, 3.6.0, 3.7.1, 3.8.0 and 3.9.0, and the device library
//! of 3.9.0's global-memory sanitizer. [`AssertMessage::text`] gives the words of the newest release that has the
//! form; [`AssertMessage::read`] knows all of them. What it does not know is kept as it is ([`AssertMessage::Other`]):
//! kernels have asserts of their own.

use findings::Kind;
use kernel::{CommitKind, EffectKind, Mode};
use machine::{BarrierKind, BlockedOn, Event, Machine, Rule, State, Violation};

/// What is asserted.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum AssertMessage {
    /// An access that does not see the last write, of this operand (empty where none is named).
    OutstandingWrites(String),
    /// A write that does not see a read, of this operand.
    OutstandingReads(String),
    /// An access to what an open commit group uses.
    Pending(PendingKind),
    /// An async access after a generic one that is not fenced, of this operand.
    MissingFence(String),
    /// A read of what nobody has written, of this operand.
    Unwritten(String),
    /// An initialisation of a live barrier.
    Reinit,
    /// A use of a barrier that is not live.
    NotLive,
    /// An invalidation of a barrier that somebody waits on.
    WaitedInvalidation,
    /// A write over the storage of a live barrier.
    StorageReuse,
    /// Triton 3.5: a barrier that still tracks writes is given another use.
    ReusedWhileTracking,
    /// More arrivals than are pending, or bytes out of range.
    Underflow(Overflow),
    /// Nobody can go on.
    Deadlock(DeadlockAt),
    /// Two lanes of a scatter write different values to one place.
    ScatterConflict,
    /// An index that names no buffer.
    NoBuffer,
    /// Two accesses to global memory that nothing orders.
    Race(AssertedRace),
    /// What else the global-memory sanitizer says, in its words.
    Global(String),
    /// Any other assert, in its words.
    Other(String),
}

/// What an open commit group does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum PendingKind {
    AsyncCopyIn,
    AsyncCopyOut,
    Wgmma,
    TdmIn,
    TdmOut,
}

/// How a release words an arrival too many.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Overflow {
    /// From 3.8 on: the count or the bytes.
    CountOrBytes,
    /// 3.6 and 3.7: the count.
    Count,
}

/// Where a deadlock was noticed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum DeadlockAt {
    /// AssertLocation the wait that was the last to block.
    Wait,
    /// AssertLocation a rendezvous of the cluster.
    Cluster,
    /// When a partition ended.
    PartitionExit,
    /// When the kernel's entry function returned.
    Return,
    /// 3.6 and 3.7, which do not say.
    AllActive,
    /// 3.8, which does not say.
    AllUnfinished,
}

/// A race in global memory: the later access, after the earlier one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum AssertedRace {
    ReadAfterWrite,
    WriteAfterRead,
    WriteAfterWrite,
}

/// A group of messages that different schedules may exchange for one another, or not at all.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum AssertClass {
    OutstandingWrites,
    OutstandingReads,
    Pending,
    Fence,
    Unwritten,
    Lifecycle,
    Underflow,
    Deadlock,
    Scatter,
    Internal,
    Global,
    Other,
}

const WRITES: &str = "Buffer being accessed has outstanding writes";
const UNWRITTEN: &str = "Buffer being read before any write";
const READS: &str = "Buffer being accessed has outstanding reads";
const PENDING: &str = "Accessing buffer with pending access. Pending access type: ";
const FENCE: &str = "Async shared-memory access is missing fence_async_shared";
const OPERAND: &str = "Operand: ";

/// Messages without parts.
const PLAIN: &[(&str, AssertMessage)] = &[
    ("Barrier re-initialized without prior invalidation", AssertMessage::Reinit),
    ("Barrier used before initialization or after invalidation", AssertMessage::NotLive),
    ("Barrier invalidated while a thread is waiting", AssertMessage::WaitedInvalidation),
    ("Shared memory reused before barrier invalidation", AssertMessage::StorageReuse),
    ("Barrier is being reused while still tracking writes", AssertMessage::ReusedWhileTracking),
    (
        "Barrier arrive underflow: current count or tx-count would become invalid",
        AssertMessage::Underflow(Overflow::CountOrBytes),
    ),
    ("Barrier arrive underflow: current count would become negative", AssertMessage::Underflow(Overflow::Count)),
    ("Deadlock detected while waiting on an mbarrier", AssertMessage::Deadlock(DeadlockAt::Wait)),
    ("Deadlock detected at a cluster barrier", AssertMessage::Deadlock(DeadlockAt::Cluster)),
    ("Deadlock detected after a warp-specialized thread exited", AssertMessage::Deadlock(DeadlockAt::PartitionExit)),
    ("Deadlock detected when the kernel returned", AssertMessage::Deadlock(DeadlockAt::Return)),
    ("Deadlock detected: all active threads are waiting on mbarriers", AssertMessage::Deadlock(DeadlockAt::AllActive)),
    (
        "Deadlock detected: all unfinished threads are waiting on mbarriers",
        AssertMessage::Deadlock(DeadlockAt::AllUnfinished),
    ),
    ("Non-atomic local scatter has conflicting values for the same destination", AssertMessage::ScatterConflict),
    ("internal ConSan error: active memdesc resolved to no buffer state", AssertMessage::NoBuffer),
    ("Read after write race detected", AssertMessage::Race(AssertedRace::ReadAfterWrite)),
    ("Write after read race detected", AssertMessage::Race(AssertedRace::WriteAfterRead)),
    ("Write after write race detected", AssertMessage::Race(AssertedRace::WriteAfterWrite)),
];

/// What the global-memory sanitizer says of itself and of memory that it manages, by its start.
const GLOBAL: &[&str] = &[
    "GSan ",
    "Invalid GSan ",
    "Future GSan ",
    "Too many GSan ",
    "Vector clock overflowed",
    "Write-once memory written more than once",
    "Read of write-once memory before its first write",
    "Atomic operations on write-once memory are not supported",
    "Access crosses a GSan memory category boundary",
    "Atomic access spans too many GSan shadow cells",
    "kernel launched with programmatic dependent launch did not call gdc_wait",
];

/// A message of its operand.
type Made = fn(String) -> AssertMessage;

impl PendingKind {
    /// All of them.
    pub const ALL: [PendingKind; 5] = [
        PendingKind::AsyncCopyIn,
        PendingKind::AsyncCopyOut,
        PendingKind::Wgmma,
        PendingKind::TdmIn,
        PendingKind::TdmOut,
    ];

    /// The sanitizer's name.
    pub fn name(self) -> &'static str {
        match self {
            PendingKind::AsyncCopyIn => "async_copy_global_to_shared",
            PendingKind::AsyncCopyOut => "async_copy_shared_to_global",
            PendingKind::Wgmma => "warpgroup_mma operand read",
            PendingKind::TdmIn => "async_tdm_global_to_shared",
            PendingKind::TdmOut => "async_tdm_shared_to_global",
        }
    }

    /// What an access of a commit family is called; `None` where the sanitizer knows none.
    pub fn of(kind: CommitKind, mode: Mode) -> Option<PendingKind> {
        Some(match (kind, mode) {
            (CommitKind::AsyncCopy, Mode::Write) => PendingKind::AsyncCopyIn,
            (CommitKind::AsyncCopy, Mode::Read) | (CommitKind::TmaStore, _) => PendingKind::AsyncCopyOut,
            (CommitKind::Wgmma, _) => PendingKind::Wgmma,
            (CommitKind::Tdm, Mode::Write) => PendingKind::TdmIn,
            (CommitKind::Tdm, Mode::Read) => PendingKind::TdmOut,
            // The sanitizer knows one thread a partition.
            (CommitKind::RelaxedRead | CommitKind::Stage, _) => return None,
        })
    }
}

impl AssertMessage {
    /// The words of the newest release that has the form.
    pub fn text(&self) -> String {
        let with = |text: &str, operand: &str, between: &str| match operand {
            "" => text.to_owned(),
            operand => format!("{text}{between}{OPERAND}{operand}"),
        };
        match self {
            AssertMessage::OutstandingWrites(operand) => with(&format!("{WRITES}."), operand, " "),
            AssertMessage::OutstandingReads(operand) => with(READS, operand, ". "),
            AssertMessage::Unwritten(operand) => with(UNWRITTEN, operand, ". "),
            AssertMessage::MissingFence(operand) => with(FENCE, operand, ". "),
            AssertMessage::Pending(kind) => format!("{PENDING}{}", kind.name()),
            AssertMessage::Global(text) | AssertMessage::Other(text) => text.clone(),
            plain => {
                PLAIN.iter().find(|(_, known)| known == plain).map_or_else(String::new, |(text, _)| (*text).into())
            }
        }
    }

    /// What a text says.
    pub fn read(text: &str) -> AssertMessage {
        let text = text.trim();
        if let Some((_, message)) = PLAIN.iter().find(|(known, _)| *known == text) {
            return message.clone();
        }
        let named: [(&str, Made); 4] = [
            (UNWRITTEN, AssertMessage::Unwritten),
            (WRITES, AssertMessage::OutstandingWrites),
            (READS, AssertMessage::OutstandingReads),
            (FENCE, AssertMessage::MissingFence),
        ];
        for (start, message) in named {
            if let Some(operand) = text.strip_prefix(start).and_then(operand) {
                return message(operand.to_owned());
            }
        }
        if let Some(kind) = text.strip_prefix(PENDING).and_then(|name| {
            let name = name.split(OPERAND).next().unwrap_or(name).trim().trim_end_matches('.');
            PendingKind::ALL.into_iter().find(|kind| kind.name() == name)
        }) {
            return AssertMessage::Pending(kind);
        }
        if GLOBAL.iter().any(|start| text.starts_with(start)) {
            return AssertMessage::Global(text.to_owned());
        }
        AssertMessage::Other(text.to_owned())
    }

    /// The operand that it names.
    pub fn operand(&self) -> &str {
        match self {
            AssertMessage::OutstandingWrites(operand)
            | AssertMessage::OutstandingReads(operand)
            | AssertMessage::Unwritten(operand)
            | AssertMessage::MissingFence(operand) => operand,
            _ => "",
        }
    }

    /// Its group.
    pub fn class(&self) -> AssertClass {
        match self {
            AssertMessage::OutstandingWrites(_) => AssertClass::OutstandingWrites,
            AssertMessage::OutstandingReads(_) => AssertClass::OutstandingReads,
            AssertMessage::Pending(_) => AssertClass::Pending,
            AssertMessage::MissingFence(_) => AssertClass::Fence,
            AssertMessage::Unwritten(_) => AssertClass::Unwritten,
            AssertMessage::Reinit
            | AssertMessage::NotLive
            | AssertMessage::WaitedInvalidation
            | AssertMessage::StorageReuse
            | AssertMessage::ReusedWhileTracking => AssertClass::Lifecycle,
            AssertMessage::Underflow(_) => AssertClass::Underflow,
            AssertMessage::Deadlock(_) => AssertClass::Deadlock,
            AssertMessage::ScatterConflict => AssertClass::Scatter,
            AssertMessage::NoBuffer => AssertClass::Internal,
            AssertMessage::Race(_) | AssertMessage::Global(_) => AssertClass::Global,
            AssertMessage::Other(_) => AssertClass::Other,
        }
    }

    /// What is wrong, as far as the message says it. The kind of a finding may say more: a deadlock may be a
    /// phase that does not fit.
    pub fn kind(&self) -> Kind {
        match self {
            AssertMessage::OutstandingWrites(_) => Kind::MissingForwardBarrier,
            AssertMessage::OutstandingReads(_) => Kind::MissingBackwardBarrier,
            AssertMessage::Pending(_) => Kind::PendingAccess,
            AssertMessage::MissingFence(_) => Kind::MissingProxyFence,
            AssertMessage::Unwritten(_) => Kind::UninitialisedRead,
            AssertMessage::Reinit => Kind::BarrierReinit,
            AssertMessage::NotLive => Kind::BarrierNotLive,
            AssertMessage::WaitedInvalidation => Kind::WaitedInvalidation,
            AssertMessage::StorageReuse | AssertMessage::ReusedWhileTracking => Kind::BarrierStorageReuse,
            AssertMessage::Underflow(_) => Kind::ArrivalOverflow,
            AssertMessage::Deadlock(_) => Kind::Deadlock,
            AssertMessage::NoBuffer => Kind::OutOfBounds,
            AssertMessage::Race(_) => Kind::GlobalRace,
            AssertMessage::ScatterConflict | AssertMessage::Global(_) | AssertMessage::Other(_) => Kind::DeviceAssert,
        }
    }

    /// What the sanitizer of 3.9 says where the machine's rule breaks; `None` where it says nothing: it
    /// poisons what nobody wrote, and knows no members. `state` is the one in which the violation was found.
    pub fn of(machine: &Machine<'_>, state: &State, violation: &Violation) -> Option<AssertMessage> {
        Some(match &violation.rule {
            Rule::Race { earlier, later } => of_race(machine, state, earlier, later),
            Rule::ProxyFence { later, .. } => AssertMessage::MissingFence(operand_of(machine, later)),
            Rule::OverwrittenMember { .. }
            | Rule::Uninitialised { .. }
            | Rule::ArrivedTwice
            | Rule::NotArrived
            | Rule::PendingResult { .. }
            | Rule::Outlives { .. }
            | Rule::Unfinished { .. } => {
                return None;
            }
            Rule::NotLive { .. } => AssertMessage::NotLive,
            Rule::Reinit => AssertMessage::Reinit,
            Rule::Overflow(_) => AssertMessage::Underflow(Overflow::CountOrBytes),
            Rule::OutOfBounds { .. } => AssertMessage::NoBuffer,
            Rule::BarrierStorage => AssertMessage::StorageReuse,
            Rule::WaitedOn { .. } => AssertMessage::WaitedInvalidation,
            // What completes later reads the barrier's word, and invalidating it is a write of that.
            Rule::InFlight { .. } => AssertMessage::OutstandingReads(String::new()),
            Rule::Deadlock(blocked) => {
                let at_cluster = |on: &BlockedOn| matches!(on, BlockedOn::Barrier { barrier, .. } if matches!(barrier.kind(), BarrierKind::Cluster(_)));
                let cluster = blocked.iter().any(|endless_waits| at_cluster(&endless_waits.on));
                AssertMessage::Deadlock(if cluster { DeadlockAt::Cluster } else { DeadlockAt::Wait })
            }
        })
    }
}

/// The operand in what follows a message's start; `None` if that is something else.
fn operand(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches('.').trim_start();
    if rest.is_empty() {
        return Some("");
    }
    rest.strip_prefix(OPERAND).map(str::trim)
}

fn of_race(machine: &Machine<'_>, state: &State, earlier: &Event, later: &Event) -> AssertMessage {
    let operand = operand_of(machine, later);
    // A group that its own thread has waited for is an access like any other, which others may not see.
    let waited = state
        .threads()
        .get(usize::from(earlier.thread))
        .is_some_and(|thread| thread.seen.get(earlier.channel) >= earlier.number);
    match machine.channels().family(earlier.channel) {
        Some(kind)
            if !waited
                && !told(machine, earlier)
                && let Some(pending) = PendingKind::of(kind, earlier.mode) =>
        {
            AssertMessage::Pending(pending)
        }
        _ if earlier.mode == Mode::Read => AssertMessage::OutstandingReads(operand),
        _ => AssertMessage::OutstandingWrites(operand),
    }
}

/// Whether a barrier says when an access is over.
fn told(machine: &Machine<'_>, event: &Event) -> bool {
    let effect = machine.kernel().effects.get(event.effect.index());
    matches!(effect.map(|effect| &effect.kind),
        Some(EffectKind::Operation { completion, .. }) if !completion.arrivals().is_empty())
}

fn operand_of(machine: &Machine<'_>, event: &Event) -> String {
    let effect = machine.kernel().effects.get(event.effect.index());
    let access = effect.and_then(|effect| match &effect.kind {
        EffectKind::Operation { accesses, .. } => accesses.get(usize::from(event.access)),
        EffectKind::ClcLoad { source, .. } => Some(source),
        _ => None,
    });
    access.map_or_else(String::new, |access| access.operand.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_read_back() {
        for (text, message) in PLAIN {
            assert_eq!(message.text(), *text);
            assert_eq!(AssertMessage::read(text), *message);
        }
        for kind in PendingKind::ALL {
            assert_eq!(AssertMessage::read(&AssertMessage::Pending(kind).text()), AssertMessage::Pending(kind));
        }
        for operand in ["", "A", "Scratch"] {
            for message in [
                AssertMessage::OutstandingWrites,
                AssertMessage::OutstandingReads,
                AssertMessage::Unwritten,
                AssertMessage::MissingFence,
            ] {
                let message = message(operand.to_owned());
                assert_eq!(AssertMessage::read(&message.text()), message);
                assert_eq!(message.operand(), operand);
            }
        }
    }

    #[test]
    fn older_releases_word_it_otherwise() {
        let acc = AssertMessage::OutstandingWrites("Acc".to_owned());
        assert_eq!(AssertMessage::read("Buffer being accessed has outstanding writes Operand: Acc"), acc);
        assert_eq!(AssertMessage::read("Buffer being accessed has outstanding writes. Operand: Acc"), acc);
        assert_eq!(acc.text(), "Buffer being accessed has outstanding writes. Operand: Acc");
        let none = AssertMessage::OutstandingReads(String::new());
        assert_eq!(AssertMessage::read("Buffer being accessed has outstanding reads"), none);
    }

    #[test]
    fn the_rest_keeps_its_words() {
        let own = AssertMessage::read("row out of range");
        assert_eq!((own.class(), own.text().as_str()), (AssertClass::Other, "row out of range"));
        assert_eq!(AssertMessage::read("Vector clock overflowed").class(), AssertClass::Global);
        assert_eq!(AssertMessage::read("GSan mbarrier table is full").kind(), Kind::DeviceAssert);
        assert_eq!(AssertMessage::read("Write after read race detected").kind(), Kind::GlobalRace);
    }
}
