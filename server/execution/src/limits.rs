//! The limits of this crate: what they bound, how much that is, and what happens when one is met.

use std::time::Duration;

base::limits! { "execution":
    mod triton {
        /// How long importing Triton, and compiling all kernels of a file, may take.
        ANSWER: Duration = Duration::from_secs(120), Time, Ended;
    }
}
