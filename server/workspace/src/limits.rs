//! The limits of this crate: what they bound, how much that is, and what happens when one is met.

use std::time::Duration;

base::limits! { "workspace":
    mod launches {
        /// Launch sites that are looked at for one name.
        MENTIONS: usize = 24, Count, Assumed;
    }

    mod threads {
        /// Bytes of the stack of a thread that shares the work of an analysis.
        STACK: usize = 64 << 20, Bytes, Ended;
    }

    mod symbols {
        /// Files that are searched for the names of symbols.
        SEARCHED: usize = 2_000, Count, Shown;
    }

    mod index {
        /// How long the list of a workspace's files is good, unless somebody says that files have changed.
        LIFETIME: Duration = Duration::from_secs(10), Time, Forgotten;
        /// Files that are searched for launches.
        FILES: usize = 4_000, Count, Skipped;
        /// Entries of directories that are looked at for launches.
        ENTRIES: usize = 50_000, Count, Skipped;
        /// Bytes of a file that is searched for launches.
        BYTES: u64 = 1 << 20, Bytes, Skipped;
        /// Names whose mentions an index remembers; every prefix of a kernel's name that is typed is one.
        NAMES: usize = 1_024, Count, Forgotten;
        /// Changes of files that are remembered; who has seen less has everything to do again.
        CHANGES: usize = 128, Count, Forgotten;
    }

    mod watched {
        /// Entries of a watched folder that are looked at; a cache is never cleaned, and may hold hundreds of thousands.
        ENTRIES: usize = 100_000, Count, Skipped;
        /// Kernels of a watched folder that count: the newest.
        KERNELS: usize = 1_000, Count, Skipped;
        /// Bytes of a watched file.
        BYTES: u64 = 16 << 20, Bytes, Skipped;
    }

    mod diagnostics {
        /// Files of a workspace that are analysed without being opened.
        FILES: usize = 1_000, Count, Skipped;
        /// Entries of directories that are looked at for those.
        ENTRIES: usize = 50_000, Count, Skipped;
        /// Bytes of a file that is analysed without being opened.
        BYTES: u64 = 4 << 20, Bytes, Skipped;
    }

    mod uses {
        /// Files that are looked at for the uses of a name: somebody asks, and waits.
        FILES: usize = 1_000, Count, Shown;
    }
}
