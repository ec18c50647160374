//! The limits of this crate: what they bound, how much that is, and what happens when one is met.

base::limits! { "lower":
    mod simplify {
        /// Branches that decide over blocks, in all; loops that nest thousands deep have a square of them.
        DECIDERS: usize = 4_000_000, Count, Undecided;
        /// Operations that the condition of a loop may be made of to be asked at its head.
        QUESTION: usize = 64, Count, NotProved;
    }

    mod lifetimes {
        /// Bits of the sets that say which allocations are needed where: their number times those of variables and
        /// blocks. With more of them no allocation gets the memory of another.
        SETS: usize = 64_000_000, Count, Assumed;
    }

    mod tensor_memory {
        /// How many tiles of tensor memory one access has that is followed.
        TILES: usize = 256, Count, Undecided;
    }

    mod partitions {
        /// Partitions of a kernel with the default one; ConSan counts as many.
        PARTITIONS: usize = 16, Count, Undecided;
    }

    mod tlx {
        /// How deep reuse groups may nest.
        DEPTH: u32 = 16, Count, Undecided;
    }

    mod calls {
        /// How deep regions and calls may nest before the rest is unmodelled.
        DEPTH: u32 = 100, Count, Undecided;
        /// How many calls are inlined before the rest is unmodelled: functions that call each other twice
        /// double at every level.
        CALLS: u32 = 2_000, Count, Undecided;
    }

    mod amd {
        /// How many updates of a descriptor are followed back to the last that writes its predicate.
        UPDATES: usize = 16, Count, Assumed;
    }

    mod plan {
        /// Slots that a buffer may have: each has barriers of its own.
        COPIES: u64 = 1024, Count, Undecided;
    }
}
