//! What was decided of a kernel, in ids.

use explore::Schedule;
use kernel::{InputId, SiteId};
use machine::{MachineError, Valuation, Violation};

/// A violation with the run that shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// The rule that broke, and where.
    pub violation: Violation,
    /// With which inputs.
    pub valuation: Valuation,
    /// Under which schedule.
    pub schedule: Schedule,
    /// Whether it depends on the schedule: another one gets through.
    pub alternative: bool,
    /// Whether the run stands for all schedules.
    pub confluent: bool,
}

/// A wait that a schedule can bring to see another flip.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lapped {
    /// Step of the wait in the canonical run of the same valuation.
    pub wait: u32,
    /// Step of the arrival that flips past it there.
    pub flip: u32,
    /// The canonical schedule.
    pub canonical: Schedule,
    /// The schedule in which the flip comes first.
    pub schedule: Schedule,
    /// With which inputs.
    pub valuation: Valuation,
}

/// Why there is no verdict for all inputs and all schedules.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Gap {
    /// The machine could not follow.
    Machine(MachineError),
    /// An unmodelled op was executed.
    Unmodelled,
    /// A run is not confluent and its schedules were too many to visit.
    Schedules {
        /// States that were visited.
        states: usize,
    },
    /// Words of global memory steer the kernel, and it writes them itself ([`kernel::InputKind::Rewritten`]).
    Rewritten,
    /// The kernel runs on a cluster of CTAs.
    Cluster {
        /// How many CTAs the cluster has.
        ctas: u32,
    },
}

/// How far a clean verdict reaches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reach {
    /// Nothing that the kernel does to barriers and memory depends on inputs.
    NoInputs,
    /// Every path that inputs can take was followed until it ended or came to a state that was
    /// seen: one entry for each group of loops that did.
    Closed(Vec<Closure>),
    /// Only the inputs that were run, for these reasons; none where something was found.
    Runs(Vec<OpenReason>),
}

/// Why the runs do not cover all inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpenReason {
    /// An index or a phase depends on this input in a way that is not followed.
    Noticed(InputId),
    /// An index, a phase or a condition is not followed, whatever it depends on.
    Unfollowed,
    /// The states at this loop's head did not repeat.
    Aperiodic {
        /// Number in [`Kernel::loops`](kernel::Kernel::loops).
        loop_number: usize,
        /// Iterations that were made.
        trips: u64,
    },
    /// A rule breaks at this op where trip counts of inner loops may differ from one outer
    /// iteration to the next; no inputs are known that lead there.
    Broken(SiteId),
    /// On some path the order of steps may matter.
    Order,
    /// The share of steps that a proof may use was spent.
    Budget,
    /// No proof was asked for.
    NotAsked,
}

/// A loop whose state repeats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Closure {
    /// Number in [`Kernel::loops`](kernel::Kernel::loops).
    pub loop_number: usize,
    /// Iterations before the state first repeats.
    pub warm_up: u64,
    /// Iterations from one repetition to the next.
    pub period: u64,
}

/// An op that no run executed, though constants do not rule it out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NeverExecuted {
    /// The first op of those that share the reason.
    pub site: SiteId,
    /// Why.
    pub why: Never,
}

/// Why an op was not executed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Never {
    /// This loop around it never ran.
    Loop {
        /// Number in [`Kernel::loops`](kernel::Kernel::loops).
        loop_number: usize,
        /// The inputs that its bounds are known to depend on.
        inputs: Vec<InputId>,
    },
    /// A condition never held.
    Condition,
    /// It was, but no iteration of this loop was followed by another one.
    Again {
        /// Number in [`Kernel::loops`](kernel::Kernel::loops).
        loop_number: usize,
    },
}

/// What was decided.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// Broken rules, one a place and kind, smallest inputs first.
    pub found: Vec<Found>,
    /// Broken only where an argument-driven loop runs fewer times than its ring has slots, which
    /// kernels usually exclude: hints, no findings. What never ends is among those that were found.
    pub assumed: Vec<Found>,
    /// Reads of an accumulator that nobody wrote whose value goes back there and is overwritten by a product
    /// before anybody else reads it: hints, no findings.
    pub discarded: Vec<Found>,
    /// Deadlocks that some schedules of a kernel with races end in. They may follow from a race, so they
    /// are not findings; nor is a kernel right that only loses its races.
    pub consequences: Vec<Found>,
    /// An operation that the kernel ends with under way: a hint, where nothing is wrong.
    pub outlives: Option<Found>,
    /// Waits that can be lapped without anything worse following.
    pub lapped: Vec<Lapped>,
    /// What keeps "nothing found" from meaning "nothing there".
    pub gaps: Vec<Gap>,
    /// How far the runs reach.
    pub reach: Reach,
    /// What no run executed, where nothing was found and not all inputs are covered.
    pub never: Vec<NeverExecuted>,
    /// How many runs were made.
    pub runs: u32,
    /// How many steps were taken.
    pub steps: u64,
    /// The proof among them that kernels of other sizes have in common.
    pub proof: Option<SharedProof>,
    /// States visited where schedules differ.
    pub states: u64,
    /// Valuations run: first those under which loops run as often as is expected.
    pub valuations: Vec<Valuation>,
    /// How many these first ones are.
    pub ample: usize,
    /// Whether valuations were left out because of the limit.
    pub cut: bool,
}

/// A proof that kernels which differ in sizes alone have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SharedProof {
    /// The same of those kernels, and of no others.
    pub of: u128,
    /// Machine steps that it took.
    pub steps: u64,
}
