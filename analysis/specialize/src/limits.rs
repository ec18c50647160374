//! The limits of this crate: what they bound, how much that is, and what happens when one is met.

base::limits! { "specialize":
    mod flow {
        /// How many files are read beside the kernel's own for where its values come from.
        FILES: usize = 24, Count, Assumed;
        /// How many classes stand for one that a kernel is handed.
        CLASSES: usize = 8, Count, Assumed;
    }

    mod search {
        /// How many elaborations one kernel may cost.
        ATTEMPTS: u32 = 220, Count, Assumed;
        /// How many steps of Python all elaborations of one kernel may take.
        STEPS: u64 = 400_000, Steps, Assumed;
        /// How many steps of Python the elaborations of all kernels of a file may take, where each kernel can do with the least.
        STEPS_OF_FILE: u64 = 1_200_000, Steps, Assumed;
        /// The least number of steps that a kernel of a file with many gets.
        LEAST_STEPS: u64 = 120_000, Steps, Assumed;
        /// How many steps one elaboration of the search may take.
        STEPS_OF_ONE: u64 = 150_000, Steps, Undecided;
        /// How many values are tried for one place at which Triton would refuse the kernel.
        TRIED: usize = 48, Count, Assumed;
        /// How many, where none mended the same place for an earlier launch.
        TRIED_AGAIN: usize = 6, Count, Assumed;
        /// How many parameters are blamed for one such place.
        BLAMED: usize = 10, Count, Assumed;
    }

    mod memo {
        /// How many searches for values are remembered.
        FILLED: usize = 64, Count, Forgotten;
        /// How many texts' host code is remembered by what it launches.
        LAUNCHES: usize = 3, Count, Forgotten;
    }

    mod entries {
        /// How many functions are named of those that are not read as kernels.
        NAMED: usize = 4, Count, Said;
    }

    mod usage {
        /// How deep calls of helpers are followed to see how a parameter is used.
        DEPTH: u32 = 4, Count, Assumed;
    }

    mod discover {
        /// How many calls of one host function are run to find launches.
        CASES: usize = 32, Count, Assumed;
        /// How many other files are looked at for one name of host code.
        FILES: usize = 8, Count, Assumed;
        /// How many other files of host code are run.
        MODULES: usize = 12, Count, Assumed;
        /// How many functions may call each other across files between a test and a launch.
        LEVELS: usize = 3, Count, Assumed;
        /// How many runs of one function there are in all, each a call or another way through it.
        RUNS: usize = 64, Count, Assumed;
        /// How many of those runs go on from one that launched nothing new.
        FRUITLESS: usize = 4, Count, Assumed;
        /// Steps of runs of one function, one after the other, that launch no kernel with what it was not launched with before.
        IDLE: u64 = 20_000, Steps, Assumed;
        /// How many launches of a kernel are recorded; in global memory any other counts as possible then.
        LAUNCHES: usize = 256, Count, Said;
        /// Others of one instance that are kept apart; of the rest is kept what they have in common.
        APART: usize = 16, Count, Said;
        /// Steps after which no other host code is looked at for launches, imports included: about half a second.
        TOTAL: u64 = 400_000, Steps, Assumed;
        /// Steps of one look at a file of host code and all that it imports.
        ONCE: u64 = 250_000, Steps, Assumed;
        /// Steps that each function of it may take at least; where there are few, they have equal shares of all.
        SHARE: u64 = 6_000, Steps, Assumed;
        /// Steps of all host code of one file, without what its imports run.
        STEPS: u64 = 200_000, Steps, Assumed;
    }

    mod imports {
        /// How many files a name is followed through.
        FILES: u32 = 8, Count, Assumed;
    }

    mod chosen {
        /// How many classes stand for one that is a parameter.
        CLASSES: usize = 3, Count, Assumed;
        /// The largest constant that is computed as the host computes it from chosen ones.
        COMPUTED: i64 = 8192, Count, Assumed;
    }

    mod instances {
        /// How many instances a kernel has at most.
        MOST: usize = 16, Count, Said;
    }
}
