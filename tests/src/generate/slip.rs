//! What can be wrong with a ring.

/// One mistake in one ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slip {
    /// What is wrong.
    pub kind: SlipKind,
    /// The ring, counted from the first.
    pub ring: usize,
}

/// Declares the kinds and lists them.
macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// A kind of mistake.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum SlipKind {
            $($(#[$doc])* $name,)*
        }

        impl SlipKind {
            /// All of them.
            pub const ALL: &'static [SlipKind] = &[$(SlipKind::$name),*];
        }
    };
}

kinds! {
    /// A reader does not wait for its slot to be full.
    NoFullWait,
    /// The writer does not wait for its slot to be handed back.
    NoEmptyWait,
    /// A reader hands the slot back before it has read it.
    EarlyRelease,
    /// A reader never hands a slot back.
    NoRelease,
    /// The writer waits for the other phase.
    WriterPhase,
    /// A reader waits for the other phase.
    ReaderPhase,
    /// A phase that flips with every step instead of every lap.
    PhaseEachStep,
    /// `empty` counts one arrival more than there are.
    EmptyCountsMore,
    /// `full` counts one arrival more than there are.
    FullCountsMore,
    /// Half the bytes are announced.
    ShortBytes,
    /// The last barrier of `full` is not initialised.
    LastFullMissing,
    /// A reader takes the next slot.
    NextSlot,
    /// What ordinary stores wrote is handed to the asynchronous proxy without a fence.
    NoFence,
    /// The slot is handed back while a store out of it may be under way.
    StoreNotWaited,
    /// The slot is announced before it is written.
    EarlyAnnounce,
    /// One group, or operation, more may be open than the reader can bear.
    OneTooFewAwaited,
    /// Nothing is waited for before it is read.
    NothingAwaited,
    /// What is copied is not made a group of its own.
    NoCommit,
    /// The CTAs of a cluster do not meet before one of them writes to all.
    NoMeeting,
    /// They meet before they have read.
    EarlyMeeting,
    /// An accumulator is read before its product is done.
    NoReadyWait,
    /// An accumulator is overwritten while it may still be read.
    NoDrainedWait,
    /// An accumulator is handed back before it is read.
    DrainedEarly,
    /// An accumulator is never handed back.
    NeverDrained,
    /// Who multiplies waits for the other phase of what is drained.
    DrainedPhase,
    /// The other accumulator is read.
    OtherAccumulator,
}

impl SlipKind {
    /// Those of a ring that is handed on by barriers.
    pub(super) const HAND_OVER: [SlipKind; 15] = [
        SlipKind::NoFullWait,
        SlipKind::NoEmptyWait,
        SlipKind::EarlyRelease,
        SlipKind::NoRelease,
        SlipKind::WriterPhase,
        SlipKind::ReaderPhase,
        SlipKind::PhaseEachStep,
        SlipKind::EmptyCountsMore,
        SlipKind::FullCountsMore,
        SlipKind::ShortBytes,
        SlipKind::LastFullMissing,
        SlipKind::NextSlot,
        SlipKind::NoFence,
        SlipKind::StoreNotWaited,
        SlipKind::EarlyAnnounce,
    ];
}

/// Whether `slip` is this one.
pub(super) fn is(slip: Option<Slip>, kind: SlipKind, ring: usize) -> bool {
    slip == Some(Slip { kind, ring })
}
