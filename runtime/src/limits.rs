//! The limits of this crate: what they bound, how much that is, and what happens when one is met.

use std::time::Duration;

base::limits! { "runtime":
    mod run {
        /// Time of a kernel and of what launches it, by the clock.
        TIME: Duration = Duration::from_secs(120), Time, Ended, "fencepost run --time";
        /// Bytes that a child process may write to its outputs; what follows is counted and dropped.
        OUTPUT: u64 = 64 << 20, Bytes, Shown;
        /// Bytes of memory that a run on the CPU may hold.
        MEMORY: u64 = 4 << 30, Bytes, Ended;
        /// Steps of a run on the CPU over all programs.
        STEPS: u64 = 50_000_000, Steps, Ended;
    }

    mod triton_cache {
        /// Folders of Triton's cache that are looked at; a cache is never cleaned, and may hold hundreds of thousands.
        FOLDERS: usize = 100_000, Count, Skipped;
        /// Bytes of a file of the cache.
        BYTES: u64 = 16 << 20, Bytes, Skipped;
    }

    mod process {
        /// Between the request that a child process ends and its end.
        GRACE: Duration = Duration::from_secs(2), Time, Ended;
        /// How long outputs are waited for after the end, and an ended process for its end.
        LINGER: Duration = Duration::from_secs(3), Time, Ended;
        /// Bytes of a line of a child's standard output; the rest of it is dropped.
        LINE: usize = 1 << 20, Bytes, Shown;
        /// Bytes that are kept from the end of a child's standard error.
        TAIL: usize = 64 << 10, Bytes, Shown;
    }

    mod triton {
        /// Kernels of one run under Triton that are looked at.
        KERNELS: usize = 64, Count, Said;
        /// Elements of a tensor that is made for a parameter that nobody gives.
        ELEMENTS: u64 = 1 << 22, Count, Refused;
    }

    mod tensors {
        /// Bytes of a tensor of a recipe.
        BYTES: u64 = 8 << 30, Bytes, Refused;
    }

    mod recipes {
        /// Bytes of the workspace's store of recipes.
        FILE: u64 = 4 << 20, Bytes, Refused;
    }

    mod npy {
        /// Bytes of a `.npy` file.
        FILE: u64 = 16 << 30, Bytes, Refused;
        /// Bytes of its header.
        HEADER: u64 = 1 << 16, Bytes, Refused;
    }

    mod gsan {
        /// Atomics on a word that are remembered of those that do not race with each other.
        ATOMICS: u32 = 64, Count, Missed;
    }
}
