//! How much work one kernel may cost. A met limit is said in the verdict, never silent.

crate::limits! { "kernel":
    mod runs {
        /// Machine steps of one run.
        STEPS: u64 = 150_000, Steps, Undecided, "limits.run_steps";
        /// Machine steps over all runs and explorations of a kernel, about a second on a slow processor. Steps are
        /// counted rather than time, so that an answer depends on no computer.
        TOTAL_STEPS: u64 = 500_000, Steps, Undecided, "limits.total_steps";
        /// States that an exploration may hold.
        STATES: usize = 20_000, Count, Undecided, "limits.states";
        /// Input valuations that are tried.
        VALUATIONS: usize = 64, Count, NotProved, "limits.valuations";
        /// Findings that are reported per kernel.
        FINDINGS: usize = 64, Count, Said, "limits.findings";
    }
}

/// Whose rules hold where versions of the sanitizer differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Semantics {
    /// The concurrency sanitizer of PyPI triton 3.9: a TMA copy has to see the write before it.
    #[default]
    Release,
    /// The one of the facebookexperimental fork: TMA copies of one partition are in order among
    /// themselves.
    Fork,
}

/// How much work one kernel may cost, and by whose rules it is judged.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Machine steps of one run.
    pub run_steps: u64,
    /// Machine steps over all runs and explorations of a kernel, about a second on a slow processor. Steps are
    /// counted rather than time, so that an answer depends on no computer.
    pub total_steps: u64,
    /// States that an exploration may hold.
    pub states: usize,
    /// Input valuations that are tried.
    pub valuations: usize,
    /// Findings that are reported per kernel.
    pub findings: usize,
    /// By whose rules.
    pub semantics: Semantics,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            run_steps: runs::STEPS,
            total_steps: runs::TOTAL_STEPS,
            states: runs::STATES,
            valuations: runs::VALUATIONS,
            findings: runs::FINDINGS,
            semantics: Semantics::default(),
        }
    }
}
