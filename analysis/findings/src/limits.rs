//! The limits of this crate: what they bound, how much that is, and what happens when one is met.

base::limits! { "findings":
    mod words {
        /// Other inputs whose runs are looked at to say when a finding shows.
        OTHERS: usize = 24, Count, Shown;
        /// Steps of all these runs.
        OTHER_STEPS: u64 = 50_000, Steps, Shown;
        /// Blocks of a kernel up to which the conditions of a finding are looked for.
        BLOCKS: usize = 1000, Count, Shown;
        /// Steps of a run that the related lines of a finding tell; of a longer one its first and its last are told.
        STEPS: usize = 256, Count, Shown;
    }

    mod extent {
        /// Runs of numbers that a phrase spells out.
        RUNS: usize = 3, Count, Shown;
        /// Elements of a tile that are looked at one by one.
        ELEMENTS: u64 = 1 << 20, Count, Shown;
    }

    mod phases {
        /// How deep operands are spelled in the words of a phase; deeper ones are named.
        DEPTH: u32 = 4, Count, Shown;
        /// Kernels with another phase that are decided for one finding.
        DECIDED: usize = 6, Count, Shown;
        /// Kernels with another phase that are decided for one report.
        ALL_DECIDED: usize = 12, Count, Shown;
        /// Machine steps of a kernel up to which its phases are looked into.
        STEPS: u64 = 150_000, Steps, Shown;
        /// Machine steps of all runs that look for another phase in one report.
        ALL_STEPS: u64 = 240_000, Steps, Shown;
    }

    mod minimal {
        /// Steps that the search for fewer iterations may cost.
        SPARE: usize = 6_000, Steps, Shown;
        /// Steps that may go into leaving out single ones; a run too long for that stays as it is.
        EFFORT: usize = 60_000, Steps, Shown;
        /// Machine steps that may go into the attempts to shorten the run of one finding.
        SHORTEN: usize = 150_000, Steps, Shown;
        /// Machine steps that may go into shortening the runs of all findings of a kernel: with long runs the later ones stay as they were found.
        SHORTEN_ALL: usize = 300_000, Steps, Shown;
        /// Machine steps of the repeated runs of all findings of a kernel, each of which is repeated three times; the findings behind are counted.
        REPEAT: usize = 300_000, Steps, Said;
    }

    mod cause {
        /// Violations of a kernel up to which common causes are looked for.
        VIOLATIONS: usize = 12, Count, Shown;
        /// Machine steps of the runs that look for common causes.
        STEPS: u64 = 200_000, Steps, Shown;
        /// Machine steps of the run of a kernel that is told other bytes or counts.
        TRIAL: u64 = 20_000, Steps, Shown;
    }

    mod deadlock {
        /// How many forced steps are tried to find out who would have arrived.
        GHOST_STEPS: u32 = 20_000, Steps, Shown;
    }
}
