//! The limits of this crate: what they bound, how much that is, and what happens when one is met.

base::limits! { "asserts":
    mod log {
        /// Asserts that are told apart in one log; further ones are only counted.
        DISTINCT: usize = 1024, Count, Said;
        /// Threads and programs that are remembered of one assert.
        REMEMBERED: usize = 64, Count, Said;
        /// Bytes of a line of a log; a longer one is no assert.
        LINE: usize = 16 << 10, Bytes, Skipped;
    }
}
