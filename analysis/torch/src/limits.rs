//! The limits of this crate: what they bound, how much that is, and what happens when one is met.

base::limits! { "torch":
    mod contents {
        /// How many elements a tensor has at most whose elements are of interest.
        MOST: u64 = 65_536, Count, Assumed;
    }
}
