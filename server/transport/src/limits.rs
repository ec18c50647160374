//! The limits of this crate: what they bound, how much that is, and what happens when one is met.

use std::time::Duration;

base::limits! { "transport":
    mod frames {
        /// Bytes of the headers of a message.
        HEADERS: usize = 64 << 10, Bytes, Ended;
        /// Bytes of the body of a message: documents are smaller than 4 GiB, and so are messages.
        BODY: usize = u32::MAX as usize, Bytes, Ended;
    }

    mod worker {
        /// Bytes of a worker's stack: deep enough for a parser that recurses; only touched pages cost memory.
        STACK: usize = 64 << 20, Bytes, Ended;
    }

    mod client {
        /// How long an answer of the client that nobody needs is waited for.
        ANSWER: Duration = Duration::from_secs(5), Time, Waited;
        /// How long the client may take to create a progress bar.
        PROGRESS: Duration = Duration::from_secs(2), Time, Waited;
        /// How long the client may take to answer that it asks again.
        REFRESH: Duration = Duration::from_secs(5), Time, Waited;
        /// How long the client may take to answer that a text has changed.
        CONTENT_REFRESH: Duration = Duration::from_secs(2), Time, Waited;
    }

    mod end {
        /// How long answers may take after the client has gone.
        GRACE: Duration = Duration::from_millis(500), Time, Ended;
    }
}
