//! A run as a picture without a pen: lanes, steps, bands, spans and marks, as plain data.
//!
//! Time counts steps, from 1. [`of_finding`] lays out the minimal run of a finding, [`of_kernel`]
//! the run of a kernel in which nothing is wrong; who draws adds no logic.

mod bands;
mod build;
mod fold;
mod rounds;
mod spans;
mod stretch;

pub use build::{of_finding, of_kernel};
pub use rounds::{LaneRounds, Round};
pub use stretch::Stretch;

use base::TextRange;
use kernel::{Mode, Space};

/// A run laid out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// Name of the kernel.
    pub kernel: String,
    /// Inputs of the run.
    pub inputs: Vec<(String, i64)>,
    /// Who acts: partitions, those of one CTA side by side.
    pub lanes: Vec<Lane>,
    /// What happens; step `n` is `steps[n - 1]`. Those who wait for ever come last.
    pub steps: Vec<Step>,
    /// Barriers, in the order in which they are first used.
    pub bands: Vec<Band>,
    /// Slots of memory that spans are about.
    pub slots: Vec<BarrierSlot>,
    /// Accesses of memory, by step.
    pub spans: Vec<Span>,
    /// Commit groups, by step.
    pub groups: Vec<CommitGroup>,
    /// What is missing.
    pub missing: Vec<Missing>,
    /// Stretches that a drawing may show as one line, ascending, disjoint.
    pub folds: Vec<FoldedSteps>,
}

/// A partition of a CTA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// `default`, `partition0`, …
    pub name: String,
    /// The CTA that it runs in, by number in the cluster.
    pub cta: u16,
}

/// One step of the run, as a row of the drawing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The lane of the thread that took it.
    pub lane: usize,
    /// The op's name in the text.
    pub range: TextRange,
    /// `file:line` of the program that the text was compiled from.
    pub source: Option<String>,
    /// What in one word: `wait`, `arrive`, `read`, …
    pub verb: &'static str,
    /// What in few words: `%bar[0], phase 1`.
    pub brief: String,
    /// What it did and what it left.
    pub text: String,
    /// Whether the finding's run tells it.
    pub told: bool,
    /// Which of the finding's sites it is.
    pub site: Option<usize>,
    /// Whether it is not taken: the run ends and the lane still stands there.
    pub stuck: bool,
}

/// A barrier over the time of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Band {
    /// As in the text: `%bar[1]`.
    pub name: String,
    /// Whether the finding is about it.
    pub concerned: bool,
    /// Its phases, in the order of time.
    pub phases: Vec<Phase>,
    /// What happens to it, by step.
    pub ticks: Vec<Tick>,
    /// What it counts, by the steps that change it.
    pub counts: Vec<BarrierCount>,
}

impl Band {
    /// What the barrier counts after a step; `None` before its first one.
    pub fn after(&self, step: u32) -> Option<&BarrierCount> {
        let at = self.counts.partition_point(|count| count.step <= step);
        self.counts.get(at.checked_sub(1)?)
    }
}

/// What a barrier counts after a step that has changed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierCount {
    /// The step.
    pub step: u32,
    /// Whether it is between its init and its invalidation.
    pub live: bool,
    /// Flips since its init; its parity is the phase bit.
    pub flips: u32,
    /// Arrivals that the phase still waits for.
    pub pending: i64,
    /// Arrivals that each phase takes.
    pub arrivals: i64,
    /// Bytes that the phase still waits for; negative where more came than was expected.
    pub bytes: i64,
}

/// A phase of a barrier, from the step that begins it to the one that ends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Flips before it; its parity is the phase bit.
    pub number: u32,
    /// The step that begins it.
    pub from: u32,
    /// The step that ends it, or the last one.
    pub to: u32,
    /// How it ends.
    pub end: PhaseEnd,
}

/// How a phase ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseEnd {
    /// All arrivals and bytes came.
    Complete,
    /// The run ends, and nothing of it has come.
    Idle,
    /// The run ends, and so much is missing.
    Incomplete {
        /// Arrivals that are still missing.
        arrivals: i64,
        /// Bytes; negative where more came than was expected.
        bytes: i64,
    },
    /// More arrivals came than it counts.
    Overrun,
    /// The barrier was invalidated.
    Invalidated,
}

impl PhaseEnd {
    /// `complete`, `idle`, `incomplete`, `overrun`, `invalidated`.
    pub fn name(self) -> &'static str {
        match self {
            PhaseEnd::Complete => "complete",
            PhaseEnd::Idle => "idle",
            PhaseEnd::Incomplete { .. } => "incomplete",
            PhaseEnd::Overrun => "overrun",
            PhaseEnd::Invalidated => "invalidated",
        }
    }
}

/// Something that happens to a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tick {
    /// The step at which it happens.
    pub step: u32,
    /// What happens to the barrier.
    pub act: TickAct,
}

/// What happens to a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TickAct {
    /// It is initialised.
    Init,
    /// Something arrives, or is expected.
    Arrive,
    /// Something arrives and completes the phase.
    Flip,
    /// A wait passes.
    Wait,
    /// A wait does not pass.
    Stuck,
    /// It is invalidated.
    Invalidate,
    /// It is used in a way that breaks a rule.
    Broken,
}

impl TickAct {
    /// `init`, `arrive`, `flip`, `wait`, `stuck`, `invalidate`, `broken`.
    pub fn name(self) -> &'static str {
        match self {
            TickAct::Init => "init",
            TickAct::Arrive => "arrive",
            TickAct::Flip => "flip",
            TickAct::Wait => "wait",
            TickAct::Stuck => "stuck",
            TickAct::Invalidate => "invalidate",
            TickAct::Broken => "broken",
        }
    }
}

/// A place in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BarrierSlot {
    /// As in the text: `%a[1]`.
    pub name: String,
    /// Whether the finding is about it; all are where there is no finding.
    pub concerned: bool,
    /// The memory that it lies in.
    pub space: Space,
    /// The CTA whose memory that is, by number in the cluster.
    pub cta: u16,
    /// Its buffer, by number in the kernel; 0 for all where the place in memory is known.
    pub buffer: u32,
    /// From where to where it reaches, in bits: in memory where buffers are allocated, else in its buffer.
    pub bits: (u64, u64),
    /// Whether that is a place in memory.
    pub is_allocated: bool,
}

/// An access of memory, from its issue until someone is told that it is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Index in [`Timeline::slots`].
    pub slot: usize,
    /// Read or write.
    pub mode: Mode,
    /// The step that issues it.
    pub from: u32,
    /// The first step by which another lane, or for an asynchronous access any lane, knows that it
    /// is over; `None` where none does.
    pub until: Option<u32>,
    /// The lane whose wait ends it.
    pub seen_by: Option<usize>,
    /// How it completes: `in order`, `transaction`, `tensor core`, `commit group`.
    pub completes: &'static str,
    /// Which of the finding's sites it is.
    pub site: Option<usize>,
}

/// A commit group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitGroup {
    /// The lane of the thread whose group it is.
    pub lane: usize,
    /// `cp.async`, `wgmma`, `TMA store`, …
    pub family: &'static str,
    /// The first operation of it.
    pub from: u32,
    /// The step that closes it.
    pub closed: Option<u32>,
    /// The wait after which it is over.
    pub over: Option<u32>,
}

/// What is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Nothing orders step `to` after step `from`.
    Order {
        /// The earlier access.
        from: u32,
        /// The later one.
        to: u32,
    },
    /// Nothing brings the phase that a wait needs.
    Flip {
        /// The step at which the wait stands.
        step: u32,
        /// Index in [`Timeline::bands`].
        band: usize,
    },
}

/// Steps that a drawing shows as one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldedSteps {
    /// The first of them.
    pub from: u32,
    /// The last of them.
    pub to: u32,
    /// Why the steps are folded.
    pub what: Folded,
}

/// Why steps are folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folded {
    /// They allocate memory and initialise barriers.
    SetUp,
    /// They do again what the steps before them did.
    Repeats {
        /// How many times the block repeats.
        times: u32,
    },
}

/// A line of a drawing: time goes from one to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimelineRow {
    /// A step by its number.
    Step(u32),
    /// A fold in the place of its steps.
    Fold(FoldedSteps),
}

impl Timeline {
    /// A step by its number.
    pub fn step(&self, number: u32) -> Option<&Step> {
        self.steps.get((number as usize).checked_sub(1)?)
    }

    /// Its lines; without folds, all steps.
    pub fn rows(&self, folded: bool) -> Vec<TimelineRow> {
        let folds = if folded { self.folds.as_slice() } else { &[] };
        let mut rows = Vec::new();
        let mut next = 1;
        for &fold in folds {
            rows.extend((next..fold.from).map(TimelineRow::Step));
            rows.push(TimelineRow::Fold(fold));
            next = fold.to + 1;
        }
        rows.extend((next..=self.steps.len() as u32).map(TimelineRow::Step));
        rows
    }

    /// Moves its ranges.
    pub fn shift(&mut self, by: u32) {
        for step in &mut self.steps {
            step.range = TextRange::new(step.range.start + by, step.range.end + by);
        }
    }
}
