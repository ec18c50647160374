//! The limits of this crate: what they bound, how much that is, and what happens when one is met.

base::limits! { "verify":
    mod demand {
        /// Largest modulus of a counter that is tracked.
        MODULUS: u64 = 4096, Count, NotProved;
        /// Largest number of iterations that a condition looks ahead and that is tracked.
        HORIZON: i64 = 4096, Count, NotProved;
    }

    mod directed {
        /// Walks backwards from a condition that nothing has reached, to find inputs that reach it.
        WALKS: usize = 160, Count, NotProved;
        /// Values that all walks compute.
        COST: usize = 3_000_000, Steps, NotProved;
        /// Walks from one goal, from one state.
        TRIES: usize = 5, Count, NotProved;
        /// States that a goal is tried from.
        STATES: usize = 6, Count, NotProved;
        /// Ways that are followed at one operation.
        WAYS: usize = 12, Count, NotProved;
        /// Operations from a condition to an input.
        DEPTH: u32 = 160, Count, NotProved;
        /// Operations that are followed backwards for one condition.
        VISITS: u32 = 20_000, Count, NotProved;
        /// Values that a walk computes at most.
        VALUES: usize = 1 << 15, Count, NotProved;
        /// Values of a condition that is looked at.
        OPERATIONS: usize = 1 << 12, Count, NotProved;
    }

    mod linear {
        /// How deep a sum is looked into.
        DEPTH: usize = 24, Count, NotProved;
        /// Terms of a sum.
        TERMS: usize = 16, Count, NotProved;
    }

    mod bounds {
        /// Iterations from which on a loop with a constant bound is run for fewer, and proved for all.
        HUGE: u64 = 4096, Count, NotProved;
    }

    mod memo {
        /// Memory that outcomes and their kernels may take.
        OUTCOMES: usize = 32 << 20, Bytes, Forgotten;
        /// Memory that proofs and the kernels of their sizes may take.
        PROOFS: usize = 16 << 20, Bytes, Forgotten;
    }

    mod proof {
        /// Iterations of a loop after which it is not expected to come back to a state.
        FAR: i64 = 200, Count, NotProved;
        /// Choices of inputs that are tried where a proof fails.
        LEADS: usize = 16, Count, NotProved;
        /// Blocks of a kernel times its variables: a proof keeps tables of that size.
        CELLS: usize = 1 << 24, Count, NotProved;
        /// States that a proof may visit.
        STATES: usize = 20_000, Count, NotProved;
        /// Largest modulus by which a symbol is split.
        SPLIT: i64 = 64, Count, NotProved;
    }

    mod launches {
        /// Known launches of which a kernel is run with the numbers, where no proof covers all of them.
        LAUNCHES: usize = 4, Count, NotProved;
        /// Machine steps of one such run; a longer one is judged by what comes before.
        STEPS: u64 = 15_000, Steps, NotProved;
        /// Machine steps of all such runs of a kernel; what a file may cost does not count them.
        TOTAL_STEPS: u64 = 30_000, Steps, NotProved;
    }

    mod further {
        /// Choices of inputs that vary several things at once, run where no proof covers all inputs.
        INPUTS: usize = 64, Count, NotProved;
        /// Inputs by which one condition is turned for them.
        WAYS: usize = 3, Count, NotProved;
        /// Machine steps of one such run; a longer one is judged by what comes before.
        STEPS: u64 = 8_000, Steps, NotProved;
        /// Machine steps of all such runs of a kernel; what a file may cost does not count them.
        TOTAL_STEPS: u64 = 40_000, Steps, NotProved;
    }

    mod crossed {
        /// Choices of inputs that are kept of all combinations, run where no proof covers all inputs.
        INPUTS: usize = 96, Count, NotProved;
        /// Of one loop.
        EACH: usize = 48, Count, NotProved;
        /// Inputs of one loop that are moved.
        COUNTS: usize = 4, Count, NotProved;
        /// Constants of the kernel through whose multiples they are moved.
        WAYS: usize = 8, Count, NotProved;
        /// The largest of these multiples.
        ROUNDS: i64 = 12, Count, NotProved;
    }

    mod never {
        /// Inputs that are looked at for code that no run has reached.
        INPUTS: usize = 24, Count, NotProved;
        /// Choices of inputs from which those are made.
        FROM: usize = 8, Count, NotProved;
    }
}
