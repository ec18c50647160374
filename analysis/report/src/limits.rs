//! The limits of this crate: what they bound, how much that is, and what happens when one is met.

base::limits! { "report":
    mod ways {
        /// Ways from a variable back to allocations that are followed: choices multiply.
        CHAINS: usize = 64, Count, Shown;
        /// Arrivals of a thread after an access that are looked at for one that says that it is over.
        ARRIVALS: usize = 32, Count, Shown;
    }

    mod runs {
        /// Machine steps over all runs of a report; a run that shows a finding goes on to its place at least.
        STEPS: u32 = 10_000, Steps, Shown;
    }

    mod expressions {
        /// How deep definitions are followed.
        DEPTH: u32 = 12, Count, Shown;
        /// Parts that one expression may be made of on the way.
        FUEL: u32 = 256, Count, Shown;
    }
}
