//! Every bound of the analysis, named. A met limit is said in the verdict, never silent.

/// How much work one kernel may cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Machine steps of one run.
    pub run_steps: u64,
    /// Machine steps over all runs and explorations of a kernel.
    pub total_steps: u64,
    /// States that an exploration may hold.
    pub states: usize,
    /// Input valuations that are tried.
    pub valuations: usize,
    /// Findings that are reported per kernel.
    pub findings: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { run_steps: 150_000, total_steps: 1_000_000, states: 20_000, valuations: 64, findings: 64 }
    }
}
