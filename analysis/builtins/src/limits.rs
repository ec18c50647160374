//! The limits of this crate: what they bound, how much that is, and what happens when one is met.

base::limits! { "builtins":
    mod values {
        /// Elements of a range or a repetition that is put into a list.
        ITEMS: i128 = 1 << 16, Count, Undecided;
        /// Rows of a table of offsets that a builtin makes.
        ROWS: usize = 1 << 14, Count, Undecided;
    }
}
