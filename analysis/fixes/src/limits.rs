//! The limits of this crate: what they bound, how much that is, and what happens when one is met.

base::limits! { "fixes":
    mod search {
        /// Candidates that are tried for one finding.
        TRIES: usize = 16, Count, NoFix;
        /// Candidates that are tried before the phase that explains the finding: they may be simpler.
        FIRST: usize = 6, Count, NoFix;
        /// Candidates that are tried for one kernel.
        KERNEL_TRIES: usize = 32, Count, NoFix;
        /// Bytes that are read for the candidates of one kernel.
        BYTES: usize = 16 << 20, Bytes, NoFix;
        /// Machine steps that the candidates of one kernel may cost.
        STEPS: u64 = 150_000, Steps, NoFix;
    }

    mod hangs {
        /// Inputs with which a changed kernel is compared that hangs, as the one before does.
        INPUTS: usize = 24, Count, NoFix;
    }

    mod code {
        /// How far views and captures are followed.
        HOPS: usize = 64, Count, NoFix;
    }
}
