//! The limits of this crate: what they bound, how much that is, and what happens when one is met.

base::limits! { "tensors":
    mod tensors {
        /// Elements of a tensor or buffer that are followed.
        ELEMENTS: u64 = 1 << 26, Count, Refused;
    }

    mod prints {
        /// Lines of `device_print` that are kept of a run.
        KEPT: usize = 1000, Count, Shown;
    }

    mod memory {
        /// Bytes that one CTA's memory may take.
        LOCAL: u64 = 1 << 30, Bytes, Refused;
        /// Bytes that an elastic allocation may reach.
        ELASTIC: u64 = 1 << 40, Bytes, Refused;
    }

    mod atomics {
        /// Times that a poll with a time limit looks before its time counts as over.
        LOOKS: u32 = 64, Count, Shown;
    }
}
