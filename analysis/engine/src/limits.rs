//! The limits of this crate: what they bound, how much that is, and what happens when one is met.

base::limits! { "engine":
    mod fix_all {
        /// Texts that are judged to mend all findings of a file at once.
        TRIES: usize = 16, Count, NoFix;
    }

    mod memo {
        /// Memory in which fixes that passed are remembered.
        FIXES_THAT_PASSED: usize = 8 << 20, Bytes, Forgotten;
        /// Memory that reports may take.
        REPORTS: usize = 16 << 20, Bytes, Forgotten;
        /// Memory that the reports on whole kernels in Python may take.
        KERNELS: usize = 8 << 20, Bytes, Forgotten;
        /// Instances that are remembered of a kernel from texts before its last one.
        EARLIER_INSTANCES: usize = 16, Count, Forgotten;
        /// Bytes of their modules; what was made of one takes ten times as much.
        EARLIER_TEXT: usize = 128 << 10, Bytes, Forgotten;
    }

    mod fixes {
        /// Machine steps that checking one fix may cost.
        STEPS: u64 = 100_000, Steps, NoFix;
    }

    mod quick_report {
        /// Machine steps of one run of a kernel whose report is waited for.
        RUN: u64 = 20_000, Steps, Waited;
        /// Machine steps of all runs of such a kernel.
        STEPS: u64 = 30_000, Steps, Waited;
        /// States of a search through the schedules of such a kernel.
        STATES: usize = 500, Count, Waited;
        /// Instances of a kernel that are run for its first answer.
        INSTANCES: usize = 8, Count, Waited;
        /// Machine steps of all runs of each of them but the first.
        FURTHER_STEPS: u64 = 5_000, Steps, Waited;
    }

    mod recipes {
        /// Elements of a tensor in a recipe that is written out.
        ELEMENTS: i64 = 1 << 16, Count, Shown;
    }

    mod python_fixes {
        /// Elaborations that the fix of one finding may cost.
        TRIES: usize = 32, Count, NoFix;
        /// Steps of the machine after which no further candidate for one finding is tried.
        STEPS: u64 = 120_000, Steps, NoFix;
    }

    mod directives {
        /// Elaborations with other values in place of one of a directive, and of those that were chosen beside it, to say
        /// whether it is to blame for what Triton would refuse.
        TRIED: usize = 8, Count, Shown;
    }

    mod premises {
        /// Elaborations with other values, to say which values the races of one kernel depend on.
        RACE_VARIATIONS: usize = 40, Count, Shown;
        /// Elaborations with constants that are unlike, of a kernel without races.
        UNLIKE: usize = 4, Count, Shown;
        /// Bytes of the modules that these elaborations make.
        RACE_TEXT: usize = 512 << 10, Bytes, Shown;
        /// Elaborations with other values, to say which values the findings of one kernel depend on.
        VARIATIONS: usize = 12, Count, Shown;
        /// Bytes of the modules that these elaborations make.
        TEXT: usize = 512 << 10, Bytes, Shown;
    }

    mod budget {
        /// Machine steps that the instances of a file may take together.
        FILE: u64 = 400_000, Steps, Said;
        /// Machine steps after which no further instance of a kernel is begun, whatever the file has left, unless a few
        /// runs of it break a rule.
        KERNEL: u64 = 100_000, Steps, Said;
        /// Bytes of elaborated modules that the instances of a file may have together. Loops that are unrolled over sizes
        /// that were chosen make megabytes of one instance.
        TEXT: usize = 4 << 20, Bytes, Said;
    }
}
