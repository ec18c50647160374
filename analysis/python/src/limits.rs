//! The limits of this crate: what they bound, how much that is, and what happens when one is met.

base::limits! { "python":
    mod run {
        /// How many statements and expressions one elaboration may run.
        STEPS: u64 = 400_000, Steps, Undecided;
        /// How deep calls may nest.
        CALLS: u32 = 40, Count, Undecided;
        /// How deep expressions, blocks and calls may nest all together: threads have small stacks.
        NESTING: u32 = 240, Count, Undecided;
        /// How many values an element with an unknown index is looked for in.
        CHOICES: usize = 8, Count, Undecided;
        /// How many ops one elaboration may emit: loops that are unrolled multiply.
        OPS: u64 = 120_000, Count, Undecided;
        /// Steps that may be run for what one decorator of a kernel says.
        DECORATOR: u64 = 20_000, Steps, Assumed;
        /// How often a loop is read to find out which variables it changes.
        ROUNDS: u32 = 4, Count, Undecided;
    }

    mod values {
        /// Containers that a value may hold, each counted as often as it is held.
        CONTAINERS: u32 = 100_000, Count, Undecided;
        /// How deeply containers may be nested.
        LEVELS: u32 = 64, Count, Undecided;
        /// Items that a collection may have.
        ITEMS: usize = 100_000, Count, Undecided;
        /// Bytes after which a text of a value is cut off: parts may be shared, and a text has each of them anew.
        TEXT: usize = 1 << 16, Bytes, Undecided;
        /// How long a chain of base classes is followed.
        BASES: u32 = 16, Count, Undecided;
        /// How deeply an aggregate is taken apart: one that is nested more deeply, or holds itself, is a leaf below that.
        AGGREGATES: u32 = 16, Count, Undecided;
    }

    mod host {
        /// How often a `while` of host code may run.
        TURNS: u32 = 2_500, Count, Undecided;
        /// Bytes that a string of host code may have.
        TEXT: usize = 1 << 20, Bytes, Undecided;
        /// How deeply values of host code are nested that are compared, as in Python.
        NESTED: u32 = 500, Count, Undecided;
        /// Parts that one comparison may look at.
        COMPARISONS: u32 = 1_000_000, Count, Undecided;
    }

    mod files {
        /// How many files one kernel may draw in.
        KERNEL: usize = 64, Count, Undecided;
        /// How many files the host code around kernels may draw in.
        HOST: usize = 128, Count, Assumed;
    }

    mod open {
        /// How deep a value of host code is looked into for parts that are not known.
        DEPTH: u32 = 6, Count, Assumed;
        /// How many parts of a value of host code are looked at for that.
        PARTS: usize = 64, Count, Assumed;
        /// How many comparisons that host code took to hold are kept for its launches.
        CONDITIONS: usize = 64, Count, Assumed;
    }

    mod tests {
        /// How many values of one `parametrize` are looked at.
        VALUES: usize = 256, Count, Assumed;
        /// How many folders are looked into for a `conftest.py`, from the test's own upwards.
        CONFTESTS: usize = 4, Count, Assumed;
        /// Conditions of host code around a launch that are told apart.
        WAYS: usize = 64, Count, Assumed;
        /// Calls that hand a parameter on which are asked whether it is a tensor.
        HANDED: usize = 8, Count, Assumed;
    }

    mod print {
        /// How deeply nested values are written out.
        DEPTH: u32 = 12, Count, Shown;
    }

    mod launches {
        /// How many configurations of one launch are recorded.
        CONFIGS: usize = 32, Count, Said;
    }
}
