//! The kinds of findings, named for what is wrong.

/// How bad a finding is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum Severity {
    Error,
    Warning,
    Information,
    Hint,
}

impl Severity {
    /// `error`, `warning`, `information`, `hint`.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Information => "information",
            Severity::Hint => "hint",
        }
    }
}

macro_rules! kinds {
    ($($variant:ident $name:literal $severity:ident $page:literal),* $(,)?) => {
        /// What is wrong.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        #[allow(missing_docs)]
        pub enum Kind {
            $($variant),*
        }

        impl Kind {
            /// All kinds, in the order of the documentation.
            pub const ALL: &[Kind] = &[$(Kind::$variant),*];

            /// The name that users see, write and link.
            pub fn name(self) -> &'static str {
                match self { $(Kind::$variant => $name),* }
            }

            /// How bad it is.
            pub fn severity(self) -> Severity {
                match self { $(Kind::$variant => Severity::$severity),* }
            }

            /// The Markdown page: what, why, a flagged kernel, its clean twin, the fix.
            pub fn page(self) -> &'static str {
                match self { $(Kind::$variant => include_str!($page)),* }
            }
        }
    };
}

kinds! {
    MissingBackwardBarrier "missing-backward-barrier" Error "pages/missing-backward-barrier.md",
    MissingForwardBarrier "missing-forward-barrier" Error "pages/missing-forward-barrier.md",
    PackedOverwrite "packed-overwrite" Error "pages/packed-overwrite.md",
    ReuseSlotHazard "reuse-slot-hazard" Error "pages/reuse-slot-hazard.md",
    UninitialisedRead "uninitialised-read" Warning "pages/uninitialised-read.md",
    PhaseMismatch "phase-mismatch" Error "pages/phase-mismatch.md",
    LappedWait "lapped-wait" Warning "pages/lapped-wait.md",
    Deadlock "deadlock" Error "pages/deadlock.md",
    PendingAccess "pending-access" Error "pages/pending-access.md",
    MissingProxyFence "missing-proxy-fence" Error "pages/missing-proxy-fence.md",
    ArrivalOverflow "arrival-overflow" Error "pages/arrival-overflow.md",
    ExpectMismatch "expect-mismatch" Error "pages/expect-mismatch.md",
    BarrierNotLive "barrier-not-live" Error "pages/barrier-not-live.md",
    BarrierReinit "barrier-reinit" Error "pages/barrier-reinit.md",
    BarrierStorageReuse "barrier-storage-reuse" Error "pages/barrier-storage-reuse.md",
    WaitedInvalidation "waited-invalidation" Error "pages/waited-invalidation.md",
    OutOfBounds "out-of-bounds" Error "pages/out-of-bounds.md",
    GlobalRace "global-race" Error "pages/global-race.md",
    DeviceAssert "device-assert" Error "pages/device-assert.md",
    Unmodelled "unmodelled" Information "pages/unmodelled.md",
}

impl Kind {
    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}
