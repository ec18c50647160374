//! The texts of asserts, as values.
//!
//! Sources: the strings of the wheels of triton 3.5.1, 3.6.0, 3.7.1, 3.8.0 and 3.9.0, and the device library
//! of 3.9.0's global-memory sanitizer. [`Message::text`] gives the words of the newest release that has the
//! form; [`Message::read`] knows all of them. What it does not know is kept as it is ([`Message::Other`]):
//! kernels have asserts of their own.

use findings::Kind;
use kernel::{CommitKind, EffectKind, Mode};
use machine::{BlockedOn, Event, Machine, Object, Rule, State, Violation};

/// What is asserted.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Message {
    /// An access that does not see the last write, of this operand (empty where none is named).
    OutstandingWrites(String),
    /// A write that does not see a read, of this operand.
    OutstandingReads(String),
    /// An access to what an open commit group uses.
    Pending(PendingKind),
    /// An async access after a generic one that is not fenced, of this operand.
    MissingFence(String),
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
    Race(Race),
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
    /// At the wait that was the last to block.
    Wait,
    /// At a rendezvous of the cluster.
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
pub enum Race {
    ReadAfterWrite,
    WriteAfterRead,
    WriteAfterWrite,
}

/// A group of messages that different schedules may exchange for one another, or not at all.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum Class {
    OutstandingWrites,
    OutstandingReads,
    Pending,
    Fence,
    Lifecycle,
    Underflow,
    Deadlock,
    Scatter,
    Internal,
    Global,
    Other,
}

const WRITES: &str = "Buffer being accessed has outstanding writes";
const READS: &str = "Buffer being accessed has outstanding reads";
const PENDING: &str = "Accessing buffer with pending access. Pending access type: ";
const FENCE: &str = "Async shared-memory access is missing fence_async_shared";
const OPERAND: &str = "Operand: ";

/// Messages without parts.
const PLAIN: &[(&str, Message)] = &[
    ("Barrier re-initialized without prior invalidation", Message::Reinit),
    ("Barrier used before initialization or after invalidation", Message::NotLive),
    ("Barrier invalidated while a thread is waiting", Message::WaitedInvalidation),
    ("Shared memory reused before barrier invalidation", Message::StorageReuse),
    ("Barrier is being reused while still tracking writes", Message::ReusedWhileTracking),
    (
        "Barrier arrive underflow: current count or tx-count would become invalid",
        Message::Underflow(Overflow::CountOrBytes),
    ),
    ("Barrier arrive underflow: current count would become negative", Message::Underflow(Overflow::Count)),
    ("Deadlock detected while waiting on an mbarrier", Message::Deadlock(DeadlockAt::Wait)),
    ("Deadlock detected at a cluster barrier", Message::Deadlock(DeadlockAt::Cluster)),
    ("Deadlock detected after a warp-specialized thread exited", Message::Deadlock(DeadlockAt::PartitionExit)),
    ("Deadlock detected when the kernel returned", Message::Deadlock(DeadlockAt::Return)),
    ("Deadlock detected: all active threads are waiting on mbarriers", Message::Deadlock(DeadlockAt::AllActive)),
    (
        "Deadlock detected: all unfinished threads are waiting on mbarriers",
        Message::Deadlock(DeadlockAt::AllUnfinished),
    ),
    ("Non-atomic local scatter has conflicting values for the same destination", Message::ScatterConflict),
    ("internal ConSan error: active memdesc resolved to no buffer state", Message::NoBuffer),
    ("Read after write race detected", Message::Race(Race::ReadAfterWrite)),
    ("Write after read race detected", Message::Race(Race::WriteAfterRead)),
    ("Write after write race detected", Message::Race(Race::WriteAfterWrite)),
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
type Made = fn(String) -> Message;

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

    /// What an access of a commit family is called.
    pub fn of(kind: CommitKind, mode: Mode) -> PendingKind {
        match (kind, mode) {
            (CommitKind::AsyncCopy, Mode::Write) => PendingKind::AsyncCopyIn,
            (CommitKind::AsyncCopy, Mode::Read) | (CommitKind::TmaStore, _) => PendingKind::AsyncCopyOut,
            (CommitKind::Wgmma, _) => PendingKind::Wgmma,
            (CommitKind::Tdm, Mode::Write) => PendingKind::TdmIn,
            (CommitKind::Tdm, Mode::Read) => PendingKind::TdmOut,
        }
    }
}

impl Message {
    /// The words of the newest release that has the form.
    pub fn text(&self) -> String {
        let with = |text: &str, operand: &str, between: &str| match operand {
            "" => text.to_owned(),
            operand => format!("{text}{between}{OPERAND}{operand}"),
        };
        match self {
            Message::OutstandingWrites(operand) => with(&format!("{WRITES}."), operand, " "),
            Message::OutstandingReads(operand) => with(READS, operand, ". "),
            Message::MissingFence(operand) => with(FENCE, operand, ". "),
            Message::Pending(kind) => format!("{PENDING}{}", kind.name()),
            Message::Global(text) | Message::Other(text) => text.clone(),
            plain => {
                PLAIN.iter().find(|(_, known)| known == plain).map_or_else(String::new, |(text, _)| (*text).into())
            }
        }
    }

    /// What a text says.
    pub fn read(text: &str) -> Message {
        let text = text.trim();
        if let Some((_, message)) = PLAIN.iter().find(|(known, _)| *known == text) {
            return message.clone();
        }
        let named: [(&str, Made); 3] =
            [(WRITES, Message::OutstandingWrites), (READS, Message::OutstandingReads), (FENCE, Message::MissingFence)];
        for (start, message) in named {
            if let Some(operand) = text.strip_prefix(start).and_then(operand) {
                return message(operand.to_owned());
            }
        }
        if let Some(kind) = text.strip_prefix(PENDING).and_then(|name| {
            let name = name.split(OPERAND).next().unwrap_or(name).trim().trim_end_matches('.');
            PendingKind::ALL.into_iter().find(|kind| kind.name() == name)
        }) {
            return Message::Pending(kind);
        }
        if GLOBAL.iter().any(|start| text.starts_with(start)) {
            return Message::Global(text.to_owned());
        }
        Message::Other(text.to_owned())
    }

    /// The operand that it names.
    pub fn operand(&self) -> &str {
        match self {
            Message::OutstandingWrites(operand)
            | Message::OutstandingReads(operand)
            | Message::MissingFence(operand) => operand,
            _ => "",
        }
    }

    /// Its group.
    pub fn class(&self) -> Class {
        match self {
            Message::OutstandingWrites(_) => Class::OutstandingWrites,
            Message::OutstandingReads(_) => Class::OutstandingReads,
            Message::Pending(_) => Class::Pending,
            Message::MissingFence(_) => Class::Fence,
            Message::Reinit
            | Message::NotLive
            | Message::WaitedInvalidation
            | Message::StorageReuse
            | Message::ReusedWhileTracking => Class::Lifecycle,
            Message::Underflow(_) => Class::Underflow,
            Message::Deadlock(_) => Class::Deadlock,
            Message::ScatterConflict => Class::Scatter,
            Message::NoBuffer => Class::Internal,
            Message::Race(_) | Message::Global(_) => Class::Global,
            Message::Other(_) => Class::Other,
        }
    }

    /// What is wrong, as far as the message says it. The kind of a finding may say more: a deadlock may be a
    /// phase that does not fit.
    pub fn kind(&self) -> Kind {
        match self {
            Message::OutstandingWrites(_) => Kind::MissingForwardBarrier,
            Message::OutstandingReads(_) => Kind::MissingBackwardBarrier,
            Message::Pending(_) => Kind::PendingAccess,
            Message::MissingFence(_) => Kind::MissingProxyFence,
            Message::Reinit => Kind::BarrierReinit,
            Message::NotLive => Kind::BarrierNotLive,
            Message::WaitedInvalidation => Kind::WaitedInvalidation,
            Message::StorageReuse | Message::ReusedWhileTracking => Kind::BarrierStorageReuse,
            Message::Underflow(_) => Kind::ArrivalOverflow,
            Message::Deadlock(_) => Kind::Deadlock,
            Message::NoBuffer => Kind::OutOfBounds,
            Message::Race(_) => Kind::GlobalRace,
            Message::ScatterConflict | Message::Global(_) | Message::Other(_) => Kind::DeviceAssert,
        }
    }

    /// What the sanitizer of 3.9 says where the machine's rule breaks; `None` where it says nothing: it
    /// poisons what nobody wrote, and knows no members. `state` is the one in which the violation was found.
    pub fn of(machine: &Machine<'_>, state: &State, violation: &Violation) -> Option<Message> {
        Some(match &violation.rule {
            Rule::Race { earlier, later } => of_race(machine, state, earlier, later),
            Rule::ProxyFence { later, .. } => Message::MissingFence(operand_of(machine, later)),
            Rule::Foreign { .. } | Rule::Uninitialised { .. } | Rule::ArrivedTwice | Rule::Unfinished { .. } => {
                return None;
            }
            Rule::NotLive { .. } => Message::NotLive,
            Rule::Reinit => Message::Reinit,
            Rule::Overflow => Message::Underflow(Overflow::CountOrBytes),
            Rule::OutOfBounds { .. } => Message::NoBuffer,
            Rule::BarrierStorage => Message::StorageReuse,
            Rule::WaitedOn { .. } => Message::WaitedInvalidation,
            Rule::Deadlock(blocked) => {
                let at_cluster = |on: &BlockedOn| matches!(on, BlockedOn::Barrier { barrier, .. } if matches!(barrier.object(), Object::Cluster(_)));
                let cluster = blocked.iter().any(|stuck| at_cluster(&stuck.on));
                Message::Deadlock(if cluster { DeadlockAt::Cluster } else { DeadlockAt::Wait })
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

fn of_race(machine: &Machine<'_>, state: &State, earlier: &Event, later: &Event) -> Message {
    let operand = operand_of(machine, later);
    // A group that its own thread has waited for is an access like any other, which others may not see.
    let waited = state
        .threads
        .get(usize::from(earlier.thread))
        .is_some_and(|thread| thread.seen.get(earlier.channel) >= earlier.number);
    match machine.channels().family(earlier.channel) {
        Some(kind) if !waited && !told(machine, earlier) => Message::Pending(PendingKind::of(kind, earlier.mode)),
        _ if earlier.mode == Mode::Read => Message::OutstandingReads(operand),
        _ => Message::OutstandingWrites(operand),
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
            assert_eq!(Message::read(text), *message);
        }
        for kind in PendingKind::ALL {
            assert_eq!(Message::read(&Message::Pending(kind).text()), Message::Pending(kind));
        }
        for operand in ["", "A", "Scratch"] {
            for message in [Message::OutstandingWrites, Message::OutstandingReads, Message::MissingFence] {
                let message = message(operand.to_owned());
                assert_eq!(Message::read(&message.text()), message);
                assert_eq!(message.operand(), operand);
            }
        }
    }

    #[test]
    fn older_releases_word_it_otherwise() {
        let acc = Message::OutstandingWrites("Acc".to_owned());
        assert_eq!(Message::read("Buffer being accessed has outstanding writes Operand: Acc"), acc);
        assert_eq!(Message::read("Buffer being accessed has outstanding writes. Operand: Acc"), acc);
        assert_eq!(acc.text(), "Buffer being accessed has outstanding writes. Operand: Acc");
        let none = Message::OutstandingReads(String::new());
        assert_eq!(Message::read("Buffer being accessed has outstanding reads"), none);
    }

    #[test]
    fn the_rest_keeps_its_words() {
        let own = Message::read("row out of range");
        assert_eq!((own.class(), own.text().as_str()), (Class::Other, "row out of range"));
        assert_eq!(Message::read("Vector clock overflowed").class(), Class::Global);
        assert_eq!(Message::read("GSan mbarrier table is full").kind(), Kind::DeviceAssert);
        assert_eq!(Message::read("Write after read race detected").kind(), Kind::GlobalRace);
    }
}
