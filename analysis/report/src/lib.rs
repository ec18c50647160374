//! The barrier report of a kernel: who the partitions are, which barrier orders what, how slots and
//! phases run, what memory is shared, and which overwrites nothing orders. Plain data; who prints or
//! draws it adds no logic.
//!
//! Edges and the coverage table come from recorded runs of the machine, never from counts of arrivals
//! and waits: an mbarrier is a phase, not a semaphore. What the runs do not reach is said in the row.
//!
//! Ranges are bytes of the document. Indices (`usize`) point into the report's own lists.

mod aliases;
pub mod barriers;
pub mod buffers;
mod build;
mod coming;
mod coverage;
mod edges;
mod expr;
mod limits;
mod loads;
mod names;
mod order;
mod ordering_facts;
mod pairs;
mod partitions;
mod payload;
mod planned;
mod reaching;
mod remarks;
mod runs;
mod scalars;
#[cfg(test)]
mod tests;
pub mod timeline;
mod tokens;
mod trace;
mod uses;

pub use limits::LIMITS;

use base::TextRange;
use findings::{Finding, Verdict};
use kernel::{Half, Mode, Space, Stage};

/// The report of one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Function name, without `@`.
    pub kernel: String,
    /// Range of the name.
    pub range: TextRange,
    /// How far automatic warp specialisation has taken the text.
    pub stage: Stage,
    /// CTAs of the cluster that runs it.
    pub ctas: u32,
    /// The verdict of the analysis; its findings are in [`Report::findings`].
    pub verdict: Verdict,
    /// What is wrong, as `check` says it.
    pub findings: Vec<Finding>,
    /// Inputs of the runs that edges and coverage come from, one list a run.
    pub runs: Vec<Vec<(String, i64)>>,
    /// Section 1, default first.
    pub partitions: Vec<PartitionRow>,
    /// Sections 3 and 5, in the order of their allocations.
    pub barriers: Vec<BarrierSummary>,
    /// The edges between partitions, section 2 of the printed report.
    pub edges: Vec<Edge>,
    /// Section 4: physical buffers, in the order of their allocations.
    pub buffers: Vec<PhysicalBuffer>,
    /// The coverage table: one entry a physical buffer and overwriting op, clean or not.
    pub coverage: Vec<Coverage>,
    /// Waits that order nothing that is not ordered without them, and other remarks that are no findings.
    pub remarks: Vec<Remark>,
    /// What the machine cannot follow, at its place. Where there is any, the graph and the tables are partial:
    /// what it orders, or what orders it, is not in them.
    pub unmodelled: Vec<(TextRange, String)>,
    /// What the text does not hold yet, and which passes add it, in their order.
    pub coming: Vec<Coming>,
}

/// What a later pass adds, so that its absence is no fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Coming {
    /// What the pass does, and its name: `code partitioning (doCodePartition)`.
    pub pass: &'static str,
    /// What it adds.
    pub adds: String,
}

/// A partition (or task).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionRow {
    /// `default`, `partition0`, `task 2`, …
    pub label: String,
    /// Its region or, of a task, the kernel's name.
    pub range: TextRange,
    /// In a few words: `MMA`, `TMA load (%a_desc, %b_desc)`, `softmax`, …
    pub role: String,
    /// Ops that tell it from others, with how often they occur, most telling first.
    pub key_ops: Vec<(String, u32)>,
    /// How many warps execute it.
    pub warps: u32,
}

/// What a store of zeros does, in words.
const ZEROS: &str = "writes zeros";

/// A use of a barrier or buffer by an op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionUse {
    /// The op's name in the text.
    pub range: TextRange,
    /// The op's name, with its dialect.
    pub op: String,
    /// Who: index into [`Report::partitions`].
    pub partition: usize,
    /// What it does, in words: `waits, phase %ph ^ 1`, `arrives when the TMA load has landed`.
    pub what: String,
    /// The slot as it is written, as an expression; empty where there is one slot.
    pub slot: String,
    /// Loops around it in its partition, outermost first: names of their induction variables (`%i`), or
    /// `while`.
    pub cadence: Vec<String>,
}

impl PartitionUse {
    /// Whether it stores a constant tensor of zeros.
    pub fn writes_zeros(&self) -> bool {
        self.what.starts_with(ZEROS)
    }

    /// Whether it is an MMA on its accumulator.
    pub fn accumulates(&self) -> bool {
        self.what.contains(" as the accumulator")
    }
}

/// How a barrier is arrived at.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum Mechanism {
    /// `arrive_barrier` (also a token's commit or release that a thread makes).
    Arrive,
    /// Transaction bytes of a TMA load, gather, remote store or launch-control request.
    Tma,
    /// Barrier operand of an MMA.
    Mma,
    /// A `ttng.tc_gen5_commit`.
    TensorCoreCommit,
    /// A `ttng.async_copy_mbarrier_arrive`.
    AsyncCopy,
    /// AMD's tensor data mover.
    Tdm,
    /// An arrival at a named barrier.
    Named,
    /// Barrier of all CTAs.
    Cluster,
    /// End or start of partitions.
    Join,
}

impl Mechanism {
    /// As it is printed: `mbarrier (arrive)`, `mbarrier (TMA)`, `tcgen05 commit`, …
    pub fn name(self) -> &'static str {
        match self {
            Mechanism::Arrive => "mbarrier (arrive)",
            Mechanism::Tma => "mbarrier (TMA)",
            Mechanism::Mma => "mbarrier (MMA completion)",
            Mechanism::TensorCoreCommit => "mbarrier (tcgen05 commit)",
            Mechanism::AsyncCopy => "mbarrier (cp.async)",
            Mechanism::Tdm => "mbarrier (TDM)",
            Mechanism::Named => "named barrier",
            Mechanism::Cluster => "cluster barrier",
            Mechanism::Join => "partition start and end",
        }
    }
}

/// A barrier array: sections 3 and 5.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BarrierSummary {
    /// As in the text: `%full`, `%tok (empty)`; `named barrier 1`.
    pub name: String,
    /// Its allocation; empty for what has none.
    pub range: TextRange,
    /// What it stands for where it is no mbarrier of the text: `token`, `aref`, `semaphore`, `channel`.
    pub abstract_of: Option<(&'static str, Half)>,
    /// How many slots the array has.
    pub depth: u64,
    /// Arrivals a phase, where all slots have the same.
    pub count: Option<u32>,
    /// All mechanisms by which it is arrived at.
    pub mechanisms: Vec<Mechanism>,
    /// How the slot is computed at its uses, each expression once (`%i mod 3`).
    pub index: Vec<String>,
    /// How the phase is computed at its waits, each expression once.
    pub phase: Vec<String>,
    /// What loops do with the values that [`index`](Self::index) and [`phase`](Self::phase) name: `%acc`,
    /// and `0, then %acc + 1`.
    pub carried: Vec<(String, String)>,
    /// Where slots of uses in one iteration differ by constants: each use with what is added for it
    /// (`%a`, 1). A copy goes by what it writes, another use by its op.
    pub stagger: Vec<(String, i64)>,
    /// Byte expectations and what they are made of.
    pub expects: Vec<Expect>,
    /// Inits, arrivals, waits, invalidations, in the order of the text.
    pub uses: Vec<PartitionUse>,
    /// Every value that names it: allocation, captures, block arguments, iter args, views.
    pub aliases: Vec<Alias>,
    /// Logical buffers whose accesses it orders: indices of buffer and member.
    pub protects: Vec<(usize, usize)>,
    /// Flips of a slot in the longest run, and how many waits saw each flip, `(flips, waits)` a slot.
    pub traffic: Vec<(u32, u32)>,
}

/// A byte expectation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expect {
    /// Where the op stands in the text.
    pub range: TextRange,
    /// What it announces.
    pub bytes: u64,
    /// The copies that count on it: what they write, and how many bytes.
    pub parts: Vec<(String, u64)>,
}

/// A value that names a barrier (or buffer).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    /// Its name in the text, like `%bar_12`.
    pub name: String,
    /// Where it is defined.
    pub range: TextRange,
    /// `allocation`, `capture of partition0`, `loop argument`, `block argument`, `index [%i]`, `subslice 64`, …
    pub how: String,
}

/// Which way an edge of the graph points.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Direction {
    /// Producer to consumer: what was written is there to be read.
    Forward,
    /// Consumer to producer: what was read may be overwritten.
    Backward,
    /// Orders writes only, or nothing that the runs show.
    Control,
}

impl Direction {
    /// `forward`, `backward`, `control`.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Forward => "forward",
            Direction::Backward => "backward",
            Direction::Control => "control",
        }
    }
}

/// An edge of the dependency graph: section 2. One a barrier, direction and pair of partitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The partition that arrives.
    pub from: usize,
    /// The partition that waits.
    pub to: usize,
    /// Index into [`Report::barriers`]; `None` for partition starts and ends.
    pub barrier: Option<usize>,
    /// How the arrival is made.
    pub mechanism: Mechanism,
    /// Whether data flows along it or room for new data.
    pub direction: Direction,
    /// What it orders: indices of buffer and member.
    pub data: Vec<(usize, usize)>,
    /// Where the arriving ops stand in the text.
    pub arrivals: Vec<TextRange>,
    /// Where the waiting ops stand in the text.
    pub waits: Vec<TextRange>,
    /// Pairs of accesses, of all runs, that this edge is the one to order.
    pub pairs: u32,
    /// Nothing in the text makes it yet: it is a channel that code partitioning makes.
    pub planned: bool,
}

/// An allocation, or what allocations share by `buffer.id`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhysicalBuffer {
    /// Name of its owner: the allocation without `buffer.offset`.
    pub name: String,
    /// The owner's allocation.
    pub range: TextRange,
    /// `buffer.id`, where the text has it.
    pub id: Option<i64>,
    /// Shared or tensor memory.
    pub space: Space,
    /// How many slots it has (`buffer.copy`).
    pub slots: u64,
    /// Bytes of a slot; columns in tensor memory.
    pub size: u64,
    /// Its type, as written.
    pub ty: String,
    /// It is a tensor that one task computes and others use, and buffer allocation makes it.
    pub registers: bool,
    /// Logical buffers in it, by offset.
    pub members: Vec<LogicalBuffer>,
}

impl PhysicalBuffer {
    /// What it is where its name is a number: `accumulator`, `tile of %a_desc`.
    pub fn about(&self) -> Option<&str> {
        let own = self.members.iter().find(|member| member.name == self.name);
        own.map(|member| member.about.as_str()).filter(|about| !about.is_empty())
    }
}

/// A logical buffer: accesses through one window of a physical buffer under one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogicalBuffer {
    /// `alpha`, `%m_ij_0`, …: the allocation's or, where windows are views, the views' common name.
    pub name: String,
    /// What its accesses make of it, where the text has but a number for it: `accumulator`, `tile of %a_desc`.
    pub about: String,
    /// Its allocation or its first view.
    pub range: TextRange,
    /// Where in a slot, in bytes (tensor memory: columns): first and one past the last.
    pub extent: (u64, u64),
    /// Its type, as written.
    pub ty: String,
    /// Who writes it.
    pub writers: Vec<PartitionUse>,
    /// Who reads it.
    pub readers: Vec<PartitionUse>,
}

/// A block of the coverage table: one op that overwrites (part of) a physical buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// Index into [`Report::buffers`].
    pub buffer: usize,
    /// The overwriting op.
    pub writer: PartitionUse,
    /// Whether it also clears what it does not name (an MMA that does not accumulate).
    pub clears: bool,
    /// Of an MMA, whether it adds to its accumulator: `true`, `false`, or what decides that
    /// (`%use (0, then 1)`).
    pub use_c: Option<String>,
    /// What it writes of a slot, as in [`LogicalBuffer::extent`].
    pub extent: (u64, u64),
    /// One row a member that it touches and partition that uses the member.
    pub rows: Vec<CoverageRow>,
}

/// A row of the coverage table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoverageRow {
    /// Index into the physical buffer's members.
    pub member: usize,
    /// Who uses what is overwritten.
    pub partition: usize,
    /// Whether that is a read or a write.
    pub mode: Mode,
    /// Where partitions use it.
    pub uses: Vec<PartitionUse>,
    /// Whether the overwrite is ordered after it.
    pub order: CoverageOrder,
}

/// Whether an overwrite is ordered after a use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CoverageOrder {
    /// By program order: the same partition.
    Program,
    /// By the buffer's own barriers, those that hand over this very buffer: the edges that are the last
    /// links, indices into [`Report::edges`].
    Edges(Vec<usize>),
    /// Only through barriers that hand over other buffers, and come later.
    Through {
        /// The last links of the chain: indices into [`Report::edges`].
        edges: Vec<usize>,
        /// Which edit would leave it unordered.
        breaks: String,
    },
    /// Nothing orders it: a race. The index of the finding that says so, where there is one.
    Missing {
        /// The number of its finding in [`Report::findings`], where it has one.
        finding: Option<usize>,
        /// What would order it: who has to tell whom, where, and at which cadence.
        needed: String,
    },
    /// The runs never overwrite after this use, for this reason.
    Never(String),
    /// The machine could not follow.
    Unknown(String),
}

/// A remark that is no finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// `redundant-wait`, `depth-1`, …
    pub kind: RemarkKind,
    /// Where in the text it is drawn.
    pub range: TextRange,
    /// What is said, as one sentence.
    pub text: String,
    /// Other places that it names.
    pub sites: Vec<TextRange>,
}

/// Kinds of remarks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum RemarkKind {
    /// A wait that finds its phase already seen in every run: over-synchronisation.
    RedundantWait,
    /// Counts of arrivals and waits differ, and the phases are right nonetheless.
    CountsDiffer,
    /// A buffer of one slot between partitions, which could be pipelined.
    DepthOne,
    /// Slots that are initialised and never used.
    DeadSlot,
    /// A zeroing store of an accumulator whose first MMA overwrites it anyway, from another partition.
    RedundantZero,
    /// A token that loops carry, or should, and nobody uses.
    DroppedToken,
}

impl RemarkKind {
    /// `redundant-wait`, `counts-differ`, `depth-one`, `dead-slot`, `redundant-zero`, `dropped-token`.
    pub fn name(self) -> &'static str {
        match self {
            RemarkKind::RedundantWait => "redundant-wait",
            RemarkKind::CountsDiffer => "counts-differ",
            RemarkKind::DepthOne => "depth-one",
            RemarkKind::DeadSlot => "dead-slot",
            RemarkKind::RedundantZero => "redundant-zero",
            RemarkKind::DroppedToken => "dropped-token",
        }
    }
}
