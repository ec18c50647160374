//! The limits of this crate: what they bound, how much that is, and what happens when one is met.

base::limits! { "syntax":
    mod broken {
        /// How often a text that does not parse is read anew inside of a bracket or a string that is left open.
        READS: usize = 16, Count, Error;
    }
}
