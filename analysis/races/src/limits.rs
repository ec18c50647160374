//! The limits of this crate: what they bound, how much that is, and what happens when one is met.

base::limits! { "races":
    mod runs {
        /// Values that the runs of one launch may compute.
        WORK: u64 = 3_000_000, Steps, Undecided;
        /// Part of that which each further launch of a kernel may take, once the runs of one were not finished: they
        /// can show races and make nothing clean.
        RATION: u64 = 16, Count, Undecided;
        /// Programs of a launch that are run at most.
        PROGRAMS: i64 = 4096, Count, Undecided;
        /// Programs of a launch with sizes that are no multiples of blocks; of more, a few that are near each other.
        OVERHANG: i64 = 64, Count, Assumed;
        /// How many times more may be computed where programs cannot notice each other, so that there is one order.
        ALONE: u64 = 4, Count, Undecided;
        /// Rounds of one loop that are run.
        ROUNDS: i64 = 4096, Count, Undecided;
        /// Turns of programs that are taken in all orders of all launches together.
        TURNS: usize = 40_000, Steps, Undecided;
        /// Values that are computed lane by lane, not along each dimension by itself, in all runs of one launch together.
        SPELLED: u64 = 8_000_000, Count, Undecided;
        /// Pairs of accesses of one program that meet while the first is under way.
        OWN: usize = 8, Count, Shown;
    }

    mod proofs {
        /// Pairs of accesses that are proved at most.
        PAIRS: usize = 4000, Count, NotProved;
        /// Pairs that are looked at where there are more than are proved: what strides have to be shows in few.
        PAIRS_OF_MANY: usize = 256, Count, NotProved;
        /// Pairs of accesses of two partitions of one program that are looked at.
        BESIDE: usize = 256, Count, NotProved;
        /// Exchanges of variables (pivots) before a system of inequalities is given up.
        PIVOTS: usize = 400, Steps, NotProved;
        /// Choices inside choices that are tried.
        DEPTH: usize = 8, Count, NotProved;
        /// Choices inside choices that are tried before anything is assumed.
        SHALLOW: usize = 2, Count, NotProved;
        /// Rows of constraints that one pair of accesses may cost.
        BUDGET: usize = 1500, Count, NotProved;
        /// Rounds in which equations are taken apart.
        ROUNDS: usize = 40, Count, NotProved;
        /// Rows of constraints that all proofs of one kernel by what tables hold may cost.
        BY_TABLES: usize = 30_000, Count, NotProved;
        /// Ways in which a round of a loop makes a value that it carries.
        ROUND_WAYS: usize = 3, Count, NotProved;
        /// Tables that are tried as the lengths of stretches.
        LENGTHS: usize = 3, Count, NotProved;
        /// Values of a row of a table that are told apart.
        COLUMNS: i128 = 8, Count, NotProved;
        /// Programs up to which a loop that a constant strides through is not taken for a persistent one.
        PERSISTENT: i128 = 16, Count, NotProved;
        /// Monomials of a polynomial that is worked with.
        MONOMIALS: usize = 200, Count, NotProved;
        /// Bounds of what one access does at which an assumption is tried before it is made.
        BOUNDS: usize = 48, Count, Assumed;
    }

    mod choose {
        /// Tries to make all strides large enough.
        ROUNDS: u32 = 10, Count, NotProved;
        /// Programs that are looked at for one that shares a word with the first.
        COMPANIONS: u32 = 300, Count, NotProved;
        /// The largest divisor of a program's number of which all remainders are run.
        LONGEST: i64 = 64, Count, NotProved;
        /// Programs along an axis for which sizes that nobody gives have a tile each.
        TILES: i64 = 16, Count, Said;
        /// Lanes that all these tiles have together, about: of large tiles there are fewer.
        TILE_LANES: i64 = 1 << 14, Count, Said;
        /// Programs of a launch whose sizes are no two alike; larger ones are not tried.
        UNLIKE: i64 = 256, Count, NotProved;
        /// Sizes of a kernel of which each once is much larger than the others.
        SIZES: usize = 4, Count, NotProved;
        /// Constants of a kernel up to which tiles count as taken together.
        TOGETHER: i64 = 32, Count, NotProved;
        /// Tiles along the long side of a launch in which what is assumed of strides cannot hold.
        LONG_SIDE: i64 = 9, Count, NotProved;
        /// Divisors of programs' numbers of which two programs are run that are so far apart.
        CONGRUENT: usize = 2, Count, NotProved;
        /// The largest step of a persistent loop, in programs, for which a launch with more of them is looked for.
        FARTHEST: i64 = 1 << 13, Count, NotProved;
        /// How often the sizes of a launch are doubled until a program has two tiles.
        LONGER: u32 = 12, Count, NotProved;
        /// Lanes of all tiles together in such a launch.
        STRIDED_LANES: i64 = 1 << 24, Count, NotProved;
        /// Programs of a launch in which heads share memory that are all run; of more, a few that are near each other.
        GROUPED: i64 = 64, Count, NotProved;
        /// Parts of two addresses that are looked at for strides.
        STRIDES: usize = 256, Count, NotProved;
        /// How many times the largest number of a launch a stride becomes, where a race is to stay with a larger one: more
        /// than programs and rounds of loops make of the other numbers.
        FARTHER: i64 = 16, Count, Undecided;
        /// The same where that would be too large for what a kernel computes with.
        LARGER: i64 = 3, Count, Undecided;
        /// Sizes of which each is as small as it can be beside others that are not, to see whether what is assumed fails then.
        SMALL: usize = 6, Count, Assumed;
        /// Factors of a number of programs of which each is larger than the others in a launch of its own.
        FACTORS: usize = 4, Count, NotProved;
        /// Programs for which a persistent loop has room where an argument says how many, and heads and batches where they
        /// are to be several.
        FEW: i64 = 2, Count, NotProved;
        /// Programs along an axis, from the first on, at which it is looked whether what is assumed holds, beside a few others.
        PLACES: i64 = 6, Count, Assumed;
        /// The largest size or stride that is chosen where none is known.
        LARGEST: i64 = 1 << 24, Count, Undecided;
        /// Numbers that are looked at for those from which the host computes a constant.
        SCANNED: i64 = 1 << 17, Count, Assumed;
    }

    mod extract {
        /// Calls inside calls that are followed.
        CALLS: usize = 32, Count, Undecided;
        /// Expressions that one kernel may have.
        TERMS: usize = 400_000, Count, Undecided;
        /// Elements of one access. Triton itself refuses tensors of more than 2^20, and shared memory of all CTAs of a
        /// cluster has fewer bytes than this.
        LANES: i64 = 1 << 22, Count, Undecided;
        /// Tensors that one pointer may point into, by conditions.
        WAYS: usize = 16, Count, Undecided;
    }

    mod launches {
        /// Launches of a kernel that are decided one by one; of the rest, a proof for what they have in common is sought.
        LAUNCHES: usize = 64, Count, Undecided;
    }
}
