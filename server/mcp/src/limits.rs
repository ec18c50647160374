//! The limits of this crate: what they bound, how much that is, and what happens when one is met.

use std::time::Duration;

base::limits! { "mcp":
    mod messages {
        /// Bytes of a message: it may hold a text.
        MESSAGE: u64 = 256 << 20, Bytes, Ended;
    }

    mod end {
        /// How long calls go on after the client has closed its end.
        GRACE: Duration = Duration::from_secs(2), Time, Ended;
    }

    mod answers {
        /// Characters of the text of an answer at most, where a call says nothing else.
        TEXT: usize = 24_000, Bytes, Said;
    }
}
